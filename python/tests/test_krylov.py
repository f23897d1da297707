"""cg, minres, bicgstab and gmres against SciPy's iteration counts and direct solutions."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import values

import trisolve

METHODS = ["cg", "minres", "bicgstab", "gmres"]
TOL = "rtol" if np.lib.NumpyVersion(scipy.__version__) >= "1.12.0" else "tol"


def grid(m, wind=0.0, shift=0.0):
    """The 5-point matrix of m x m points."""
    line = sp.diags([-1.0 - wind, 2.0 - shift, -1.0 + wind], [-1, 0, 1], shape=(m, m))
    unit = sp.identity(m)
    return sp.csr_array(sp.kron(line, unit) + sp.kron(unit, line))


def steps(solve, *args, **options):
    """x, info, and the number of calls of the callback."""
    count = []
    x, info = solve(*args, callback=count.append, **options)
    return x, info, len(count)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("preconditioned", [False, True])
def test_counts_of_scipy(rng, method, preconditioned):
    symmetric = method in ("cg", "minres")
    A = grid(20, 0.0 if symmetric else 0.3)
    b = rng.uniform(-1, 1, A.shape[0])
    M = (trisolve.ic0 if symmetric else trisolve.ilu0)(A) if preconditioned else None
    more = {"restart": 30} if method == "gmres" else {}
    x, info, count = steps(getattr(trisolve, method), A, b, M=M, rtol=1e-8, **more)
    assert info == 0
    assert np.linalg.norm(b - A @ x) <= 1e-8 * np.linalg.norm(b)
    if method == "minres":  # SciPy's test is another one: at which of its iterations is ours fulfilled?
        residuals = []
        sla.minres(A, b, M=M, **{TOL: 1e-12}, callback=lambda x: residuals.append(np.linalg.norm(b - A @ x)))
        theirs = 1 + next(k for k, r in enumerate(residuals) if r <= 1e-8 * np.linalg.norm(b))
    else:
        if method == "gmres":
            more["callback_type"] = "legacy"
        _, _, theirs = steps(getattr(sla, method), A, b, M=M, atol=0, **{TOL: 1e-8}, **more)
    assert abs(count - theirs) <= 2


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_types_and_operators(rng, method, dtype):
    A = values(rng, (30, 30), dtype)
    A = A + A.conj().T + 40 * np.eye(30, dtype=dtype)
    b = values(rng, 30, dtype)
    rtol = 1e-5 if np.dtype(dtype).itemsize // (1 + (A.dtype.kind == "c")) == 4 else 1e-12
    exact = np.linalg.solve(A, b)
    solve = getattr(trisolve, method)
    # the inverse of the diagonal in every form, on the left a matrix, an array and functions
    inverse = sp.diags(1 / A.diagonal()).tocsr().astype(dtype)
    for of in (A, sp.csr_array(A), sp.csc_array(A), sp.coo_array(A).tocsr(), sla.aslinearoperator(A)):
        for M in (None, inverse, sla.aslinearoperator(inverse), trisolve.Plan(np.diag(A.diagonal()).astype(dtype))):
            x, info = solve(of, b, M=M, rtol=rtol)
            assert info == 0 and x.dtype == np.dtype(dtype) and x.shape == (30,)
            np.testing.assert_allclose(x, exact, atol=20 * rtol)
    x, info = solve(A, b[:, None], x0=exact, rtol=rtol)
    assert info == 0 and x.shape == (30,)


def test_mixed_types(rng):
    A = grid(5)
    b = rng.uniform(-1, 1, 25) + 1j
    x, info = trisolve.cg(A, b, M=trisolve.ic0(A), rtol=1e-12)
    assert info == 0 and x.dtype == np.dtype("c16")
    np.testing.assert_allclose(A @ x, b, atol=1e-10)
    x, info = trisolve.cg(sp.csr_array(np.array([[2, 1], [1, 3]])), [1, 2], rtol=1e-12)
    np.testing.assert_allclose(x, [0.2, 0.6])


def test_info_and_x0(rng):
    A = grid(12)
    b = rng.uniform(-1, 1, 144)
    seen = []
    x, info = trisolve.cg(A, b, maxiter=5, rtol=1e-12, callback=lambda x: seen.append(x.copy()))
    assert info == 5 and len(seen) == 5
    np.testing.assert_array_equal(seen[-1], x)
    theirs = []
    sla.cg(A, b, maxiter=5, atol=0, **{TOL: 1e-12}, callback=lambda x: theirs.append(x.copy()))
    np.testing.assert_allclose(seen, theirs, rtol=1e-9)
    more, info = trisolve.cg(A, b, x0=x, rtol=1e-12)
    assert info == 0
    np.testing.assert_allclose(A @ more, b, atol=1e-10)
    assert trisolve.gmres(A, b, restart=3, maxiter=2, rtol=1e-12)[1] == 6
    norms = []
    x, info = trisolve.gmres(A, b, rtol=1e-6, callback=norms.append, callback_type="pr_norm")
    assert info == 0 and norms[-1] <= 1e-6 < norms[-2]
    assert trisolve.bicgstab(np.array([[0.0, -1], [-1, -1]]), [1.0, 0])[1] == -10
    assert trisolve.bicgstab(np.array([[-2.0, -2], [-2, 0]]), [1.0, 0])[1] == -11
    assert trisolve.cg(np.diag([1.0, -1]), [1.0, 1])[1] < 0
    x, info = trisolve.cg(A, np.zeros(144), x0=b)
    assert info == 0 and not x.any()
    x, info = trisolve.cg(sp.csr_array((0, 0)), np.zeros(0))
    assert info == 0 and x.shape == (0,)


def test_indefinite_and_shift(rng):
    A = grid(8)
    b = rng.uniform(-1, 1, 64)
    for of in (A, A.toarray(), sla.aslinearoperator(A)):
        x, info = trisolve.minres(of, b, shift=3.3, rtol=1e-10)
        assert info == 0
        np.testing.assert_allclose(A @ x - 3.3 * x, b, atol=1e-8)


def test_errors(rng):
    A = grid(4)
    b = np.ones(16)

    def fail(x):
        raise ZeroDivisionError("in the callback")

    for options in ({"callback": fail}, {"M": sla.LinearOperator((16, 16), fail, dtype="f8")}):
        for method in METHODS:
            with pytest.raises(ZeroDivisionError, match="in the callback"):
                getattr(trisolve, method)(A, b, **options)
    with pytest.raises(ZeroDivisionError):
        trisolve.cg(sla.LinearOperator((16, 16), fail, dtype="f8"), b)
    for wrong in (b[:15], np.ones((16, 2))):
        with pytest.raises(ValueError):
            trisolve.cg(A, wrong)
    with pytest.raises(ValueError):
        trisolve.cg(A, b, x0=np.ones(3))
    with pytest.raises(ValueError):
        trisolve.cg(A, b, M=sp.identity(15, format="csr"))
    with pytest.raises(ValueError):
        trisolve.gmres(A, b, callback_type="x")
    with pytest.raises(ValueError):
        trisolve.cg(A, b, maxiter=0)


@pytest.mark.parametrize("method", ["cg", "gmres"])
def test_threads_share_a_preconditioner(rng, method):
    A = grid(30)
    M, bs = trisolve.ic0(A), rng.uniform(-1, 1, (4, A.shape[0]))
    with ThreadPoolExecutor(4) as pool:
        solutions = list(pool.map(lambda b: getattr(trisolve, method)(A, b, M=M, rtol=1e-8), bs))
    for b, (x, info) in zip(bs, solutions):
        assert info == 0 and np.linalg.norm(b - A @ x) <= 1e-8 * np.linalg.norm(b)


def test_plan_of_another_type():
    A = grid(4).astype("f4")
    with pytest.raises(TypeError, match="Plan"):
        trisolve.cg(grid(4), np.ones(16), M=trisolve.Plan(sp.tril(A, format="csr")))
