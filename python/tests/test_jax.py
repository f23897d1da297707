"""trisolve.jax against dense solves of JAX: values and derivatives, under jit and vmap, on the CPU and on a GPU."""

import gc
import importlib.util
import os

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import GPU, needs_suitesparse, random_triangle

import trisolve

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # others need memory of the device, too
jax = pytest.importorskip("jax")
if not hasattr(jax, "ffi"):
    pytest.skip("JAX is older than 0.5", allow_module_level=True)


def devices():
    """A device of each platform on which trisolve.jax runs here."""
    result = {"cpu": jax.devices("cpu")[0]}
    if GPU and importlib.util.find_spec("cupy"):
        try:
            result["cuda"] = jax.devices("cuda")[0]
        except RuntimeError:  # JAX is that for the CPU
            pass
    return result


DEVICES = devices()
jnp = jax.numpy
tj = pytest.importorskip("trisolve.jax")
pytestmark = needs_suitesparse
N = 12


@pytest.fixture(autouse=True, params=["cpu", "cuda"])
def device(request):
    """All tests run in double precision, on each platform."""
    if request.param not in DEVICES:
        pytest.skip("needs a GPU, JAX for CUDA, a build with CUDA, and CuPy")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    with jax.default_device(DEVICES[request.param]):
        yield DEVICES[request.param]
    jax.config.update("jax_enable_x64", before)


def matrix(rng, dtype="f8"):
    A = random_triangle(rng, N, dtype, 0.3) + random_triangle(rng, N, dtype, 0.3, lower=False)
    A = sp.csr_array(A)
    A.sort_indices()
    return A


def dense(A, values, triangle=None, unit=False):
    rows = np.repeat(np.arange(N), np.diff(A.indptr))
    full = jnp.zeros((N, N), values.dtype).at[rows, A.indices].set(values)
    full = {None: lambda M: M, "lower": jnp.tril, "upper": jnp.triu}[triangle](full)
    return full - jnp.diag(jnp.diag(full)) + jnp.eye(N) if unit else full


def close(x, y):
    for a, b in zip(jax.tree.leaves(x), jax.tree.leaves(y), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10 * float(abs(b).max()))


CASES = [(None, False, "N", (N,), "f8"), (None, False, "T", (N, 3), "c16"), ("lower", False, "T", (N,), "c16"),
         ("upper", False, "N", (N, 3), "f8"), ("lower", True, "N", (N, 3), "f8"), ("upper", True, "T", (N,), "f8")]


@pytest.mark.parametrize("triangle, unit, trans, shape, dtype", CASES)
def test_derivatives(rng, triangle, unit, trans, shape, dtype):
    A = matrix(rng, dtype)
    solver = tj.Solver(A, triangle, unit)

    def ours(values, b):
        return solver(values, b, trans)

    def theirs(values, b):
        M = dense(A, values, triangle, unit)
        return jnp.linalg.solve(M.T if trans == "T" else M, b)

    primals = jnp.asarray(A.data), jnp.asarray(rng.uniform(size=shape)).astype(dtype)
    tangents = tuple(jnp.asarray(rng.uniform(size=p.shape)).astype(dtype) for p in primals)
    cotangent = jnp.asarray(rng.uniform(size=shape)).astype(dtype)
    for transform in (lambda f: f, jax.jit):
        close(transform(ours)(*primals), theirs(*primals))
        close(transform(lambda *t: jax.jvp(ours, primals, t))(*tangents), jax.jvp(theirs, primals, tangents))
        close(transform(lambda g: jax.vjp(ours, *primals)[1](g))(cotangent), jax.vjp(theirs, *primals)[1](cotangent))

    def norm(f):
        return lambda values, b: jnp.sum(jnp.abs(f(values, b)) ** 2)

    close(jax.grad(norm(ours), (0, 1))(*primals), jax.grad(norm(theirs), (0, 1))(*primals))
    if triangle is None and dtype == "f8":
        close(jax.hessian(norm(ours))(*primals), jax.hessian(norm(theirs))(*primals))


@pytest.mark.parametrize("axes, shape, triangle", [
    ((None, 0), (N,), None), ((0, None), (N,), "lower"), ((0, 0), (N, 3), None), ((0, 0), (N, 3), "upper"),
    ((None, 0), (N, 3), None)])
def test_vmap(rng, axes, shape, triangle):
    A = matrix(rng)
    solver = tj.Solver(A, triangle)
    values = A.data * rng.uniform(0.9, 1.1, (4, 1) if axes[0] == 0 else (1,))
    b = rng.uniform(size=(4, *shape) if axes[1] == 0 else shape)
    systems = [(jnp.asarray(values[k] if axes[0] == 0 else values), b[k] if axes[1] == 0 else b) for k in range(4)]
    expected = [jnp.linalg.solve(dense(A, v, triangle), each) for v, each in systems]
    arguments = jnp.asarray(values), jnp.asarray(b)
    close(jax.vmap(solver, axes)(*arguments), jnp.stack(expected))
    close(jax.jit(jax.vmap(jax.vmap(solver, axes), (None, 0)))(arguments[0], jnp.stack([arguments[1]] * 2)),
          jnp.stack([jnp.stack(expected)] * 2))
    gradient = jax.vmap(jax.grad(lambda v, b: jnp.sum(solver(v, b) ** 2)), axes)(*arguments)
    each = [jax.grad(lambda v, b=b: jnp.sum(jnp.linalg.solve(dense(A, v, triangle), b) ** 2))(v) for v, b in systems]
    close(gradient, jnp.stack(each))


def test_a_gradient_factors_once(rng, monkeypatch):
    A = matrix(rng)
    solver, made = tj.Solver(A, keep=1), []
    splu, update, batched = trisolve.splu, trisolve.Factors.update, trisolve.BatchLU.update
    monkeypatch.setattr("trisolve._patterns.splu", lambda *a, **k: made.append("new") or splu(*a, **k))
    monkeypatch.setattr(trisolve.BatchLU, "update", lambda *a, **k: made.append("batch") or batched(*a, **k))
    monkeypatch.setattr(trisolve.Factors, "update", lambda *a, **k: made.append("update") or update(*a, **k))
    step = jax.jit(jax.value_and_grad(lambda v, b: jnp.sum(solver(v, b) ** 2), argnums=(0, 1)))
    values, b = jnp.asarray(A.data), jnp.ones(N)
    for _ in range(3):
        value, (dA, db) = step(values, b)
        values = values - 1e-3 * dA
        jax.block_until_ready(values)
    assert made == ["new", "update", "update"]
    batch = jnp.asarray(A.data) * jnp.linspace(1, 2, 5)[:, None]
    made.clear()
    gradients = jax.jit(jax.vmap(jax.grad(lambda v: jnp.sum(solver(v, b) ** 2))))
    jax.block_until_ready([gradients(batch), gradients(2 * batch)])
    assert made == ["new", "batch", "batch"]


def test_systems_of_a_batch_with_other_pivots():
    """The pivots of the first matrix are 0 in the second one, and tiny in the third one."""
    A = sp.csr_array(np.array([[1.0, 2, 0], [3, 4, 5], [0, 6, 7]]))
    solver = tj.Solver(A)
    values = np.array([A.data, A.data, A.data])
    values[1] = 0, 2, 3, 0, 5, 6, 7
    values[2] = 1e-9, 2, 3, 1e-9, 5, 6, 7
    M = np.stack([sp.csr_array((v, A.indices, A.indptr), (3, 3)).toarray() for v in values])
    b = np.arange(1.0, 10).reshape(3, 3)
    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0), (1, 1, 1)):
        x = jax.vmap(solver)(jnp.asarray(values[list(order)]), jnp.asarray(b))
        close(x, np.linalg.solve(M[list(order)], b[..., None])[..., 0])


@pytest.mark.parametrize("name", ["spsolve", "triangular_solve"])
def test_functions(rng, name):
    A = matrix(rng)
    function = getattr(tj, name)
    triangle = "lower" if name == "triangular_solve" else None
    arrays = jnp.asarray(A.data), jnp.asarray(A.indices), jnp.asarray(A.indptr)
    b = jnp.asarray(rng.uniform(size=N))
    close(function(*arrays, b, trans="T"), jnp.linalg.solve(dense(A, arrays[0], triangle).T, b))
    for f in (function, jax.jit(function)):
        close(f(*arrays, b), jnp.linalg.solve(dense(A, arrays[0], triangle), b))
        gradient = jax.grad(lambda v, f=f: jnp.sum(f(v, *arrays[1:], b) ** 2))(arrays[0])
        close(gradient, jax.grad(lambda v: jnp.sum(jnp.linalg.solve(dense(A, v, triangle), b) ** 2))(arrays[0]))
    close(jax.vmap(function, (None, None, None, 0))(*arrays, jnp.stack([b, 2 * b])),
          jnp.stack([function(*arrays, b), 2 * function(*arrays, b)]))


def test_the_order_of_the_stream(rng, device):
    """b comes of a long computation, and x goes into another one: a solve on another stream would miss b."""
    A = matrix(rng)
    solver = tj.Solver(A)
    start = jnp.asarray(rng.uniform(size=(1500, 1500)) / 750)

    @jax.jit
    def chain(M):
        x = jnp.ones(N)
        for _ in range(4):
            for _ in range(8):
                M = M @ start
            b = x + M.sum(axis=0)[:N]
            x = solver.solve(b)
        return b, x

    for b, x in [chain(start) for _ in range(5)]:
        assert x.devices() == {device}
        close(x, np.linalg.solve(A.toarray(), b))


@pytest.mark.skipif(len(DEVICES) < 2, reason="needs a GPU, JAX for CUDA, a build with CUDA, and CuPy")
def test_a_solver_on_two_devices(rng):
    A = matrix(rng)
    solver = tj.Solver(A)
    for k in range(2):
        for device in DEVICES.values():
            values, b = (jax.device_put(a, device) for a in ((1 + k) * A.data, rng.uniform(size=N)))
            x = solver(values, b)
            assert x.devices() == {device}
            close(x, np.linalg.solve((1 + k) * A.toarray(), b))


def test_in_a_loop(rng):
    """Implicit Euler steps in lax.scan: a solve a step, differentiated through all of them."""
    A = matrix(rng)
    solver = tj.Solver(A)

    def end(solve):
        def run(values):
            return jnp.sum(jax.lax.scan(lambda x, _: (solve(values, x), None), jnp.ones(N), None, length=5)[0])
        return run

    close(jax.jit(jax.grad(end(solver)))(jnp.asarray(A.data)),
          jax.grad(end(lambda v, x: jnp.linalg.solve(dense(A, v), x)))(jnp.asarray(A.data)))


def test_a_singular_matrix_of_a_batch(rng):
    A = matrix(rng)
    for triangle in (None, "lower"):
        x = jax.vmap(tj.Solver(A, triangle), (0, None))(jnp.asarray(A.data) * jnp.array([[1.0], [0], [2]]), jnp.ones(N))
        assert jnp.isnan(x).any(axis=1).tolist() == [False, True, False]
        close(x[2], x[0] / 2)


def test_a_solver_made_in_a_function_is_gone(rng):
    A = matrix(rng)
    function = jax.jit(lambda b: tj.Solver(A).solve(b))
    with pytest.raises(Exception, match="make it outside of the function"):
        gc.collect()
        jax.block_until_ready(function(jnp.ones(N)))
        gc.collect()
        jax.block_until_ready(function(jnp.ones(N)))


def test_types_and_errors(rng):
    A = matrix(rng)
    solver = tj.Solver(A)
    assert solver.solve(jnp.ones(N, "f4")).dtype == jnp.float64
    assert solver(A.data.astype("f4"), jnp.ones(N, "f4")).dtype == jnp.float32
    assert solver(A.data, np.ones(N, int)).dtype == jnp.float64
    close(solver(A.data, 1j * jnp.ones(N)), 1j * solver.solve(jnp.ones(N)))
    assert bool(jnp.isnan(solver(0 * A.data, jnp.ones(N))).all())
    assert bool(jnp.isnan(jax.jit(solver)(np.nan * A.data, jnp.ones(N))).all())
    close(solver.solve(jnp.ones(N)), np.linalg.solve(A.toarray(), np.ones(N)))  # which nothing has spoilt
    for arguments in ((A.data[1:], jnp.ones(N)), (A.data, jnp.ones(N + 1)), (A.data, jnp.ones(N), "H")):
        with pytest.raises(ValueError):
            solver(*arguments)
    with pytest.raises(ValueError):
        tj.Solver(A, "left")
    damaged = jnp.asarray(A.indices).at[0].set(N + 5)
    with pytest.raises(Exception, match="row 0: column 17"):
        jax.block_until_ready(tj.spsolve(jnp.asarray(A.data), damaged, jnp.asarray(A.indptr), jnp.ones(N)))


@pytest.mark.parametrize("triangle, dtype", [(None, "f8"), ("upper", "f8"), (None, "c16")])
def test_lineax(rng, triangle, dtype):
    lx = pytest.importorskip("lineax")
    from trisolve.jax.lineax import SparseLinearOperator, SparseLU

    A = matrix(rng, dtype)
    solver = tj.Solver(A, triangle)
    values, b = jnp.asarray(A.data), jnp.asarray(rng.uniform(size=N)).astype(dtype)
    operator = SparseLinearOperator(solver, values, lx.upper_triangular_tag if triangle else ())
    M = dense(A, values, triangle)
    close(operator.as_matrix(), M)
    close(operator.T.as_matrix(), M.T)
    close(lx.conj(operator).mv(b), M.conj() @ b)
    close(lx.diagonal(operator), jnp.diag(M))
    assert lx.is_upper_triangular(operator) == (triangle == "upper") == lx.is_lower_triangular(operator.T)

    def ours(values, b, how=lambda op: op):
        return lx.linear_solve(how(SparseLinearOperator(solver, values)), b, SparseLU()).value

    def theirs(values, b):
        return jnp.linalg.solve(dense(A, values, triangle), b)

    close(jax.jit(ours)(values, b), theirs(values, b))
    close(ours(values, b, lambda op: op.T), jnp.linalg.solve(M.T, b))
    close(ours(values, b, lx.conj), jnp.linalg.solve(M.conj(), b))
    tangents = jnp.cos(values.real).astype(dtype), jnp.cos(b.real).astype(dtype)
    close(jax.jvp(ours, (values, b), tangents), jax.jvp(theirs, (values, b), tangents))
    close(jax.vjp(ours, values, b)[1](tangents[1]), jax.vjp(theirs, values, b)[1](tangents[1]))
    several = values * jnp.array([[1.0], [2]])
    close(jax.jit(jax.vmap(ours, (0, None)))(several, b), jax.vmap(theirs, (0, None))(several, b))
    with pytest.raises(ValueError, match="SparseLinearOperator"):
        lx.linear_solve(lx.MatrixLinearOperator(M), b, SparseLU())
