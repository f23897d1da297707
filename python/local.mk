# python: the package, which its own setup.py builds from this tree
EXTRA_DIST += python/README.md python/pyproject.toml python/setup.py python/generate_abi.py python/check python/wheels \
	python/MANIFEST.in python/trisolve/__init__.py python/trisolve/py.typed python/trisolve/_accuracy.py \
	python/trisolve/_arrays.py python/trisolve/_batch.py python/trisolve/_factorize.py python/trisolve/_factors.py python/trisolve/_io.py \
	python/trisolve/_krylov.py python/trisolve/_library.py python/trisolve/_patterns.py python/trisolve/_plan.py python/trisolve/_show.py python/trisolve/_solve.py \
	python/trisolve/_solver.py python/trisolve/_types.py python/trisolve/_wisdom.py python/trisolve/torch.py \
	python/trisolve/jax/__init__.py python/trisolve/jax/_xla.py python/trisolve/jax/lineax.py python/tests/as_scipy.py python/tests/as_scipy.txt python/tests/conftest.py \
	python/tests/test_abi.py python/tests/test_accuracy.py python/tests/test_batch.py python/tests/test_factors.py python/tests/test_gpu.py \
	python/tests/test_guide.py python/tests/test_io.py python/tests/test_jax.py python/tests/test_krylov.py python/tests/test_plan.py \
	python/tests/test_progress.py python/tests/test_solve.py python/tests/test_suites.py \
	python/tests/test_torch.py python/tests/test_travel.py python/tests/test_types.py
