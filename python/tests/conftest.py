"""Matrices to test with: random ones, files of the tree and, where it is there, of a larger collection beside it."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy
import scipy.sparse as sp

import trisolve
from trisolve._library import C

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("TRS_SHARED", ROOT.parent / "shared"))
FILES = sorted((ROOT / "matrices").glob("*.mtx*")) + sorted((SHARED / "matrices").glob("*.mtx*"))
FILES = list({path.name: path for path in reversed(FILES)}.values())
GPU = any(s.needs == "cuda" and s.available for s in trisolve.solvers())
# older ones promote types, write files and read them in other ways
new_scipy = pytest.mark.skipif(np.lib.NumpyVersion(scipy.__version__) < "1.14.0", reason="SciPy is older than 1.14")
needs_suitesparse = pytest.mark.skipif(not hasattr(C, "trs_factor"), reason="built without SuiteSparse")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.name.rpartition(".")[2] in ("splu", "spsolve", "factorized", "jax", "lineax", "torch", "Solver", "md"):  # doctests
            item.add_marker(needs_suitesparse)


def entries_of(path):
    """Rows, columns and entries, of a coordinate file; else None."""
    rows, cols, entries, form, *_ = trisolve.mminfo(path)
    return (rows, cols, entries) if form == "coordinate" else None


def pytest_generate_tests(metafunc):
    if "square_file" in metafunc.fixturenames:
        sizes = {path: entries_of(path) for path in FILES}
        chosen = [path for path, size in sizes.items() if size and size[0] == size[1] and size[2] < 60_000]
        metafunc.parametrize("square_file", chosen, ids=[path.name for path in chosen])


@pytest.fixture
def rng():
    return np.random.default_rng(20)


def random_triangle(rng, n, dtype, density=0.05, lower=True):
    """A random triangle with a diagonal that keeps its condition small."""
    A = sp.random(n, n, density, random_state=np.random.RandomState(7)).tocsr()
    A.data = values(rng, A.nnz, dtype)
    A = (sp.tril if lower else sp.triu)(A, -1 if lower else 1)
    return sp.csr_array(A + sp.diags(values(rng, n, dtype) + 4 * n * density)).astype(dtype)


def values(rng, shape, dtype):
    x = rng.uniform(-1, 1, shape)
    return (x + 1j * rng.uniform(-1, 1, shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def eps(dtype):
    return np.finfo(dtype).eps


def backward_error(A, x, b):
    """max |b - A x| / (|A| |x| + |b|), by rows, in twice the precision of single matrices at least."""
    wide = "c16" if np.dtype(A.dtype).kind == "c" or np.iscomplexobj(x) else "f8"
    A, x, b = A.astype(wide), x.astype(wide), np.asarray(b).astype(wide)
    below = abs(A) @ abs(x) + abs(b)
    return float((abs(b - A @ x) / np.where(below == 0, 1, below)).max(initial=0))
