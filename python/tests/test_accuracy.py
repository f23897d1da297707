"""Refinement, condition, determinants and backward errors, against NumPy."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import backward_error, eps, needs_suitesparse, random_triangle, values

import trisolve

DTYPES = ["f4", "f8", "c8", "c16"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("trans", "NTH")
def test_backward_error(rng, dtype, trans):
    A = random_triangle(rng, 30, dtype)
    M = {"N": A, "T": A.T, "H": A.conj().T}[trans].astype("c16" if A.dtype.kind == "c" else "f8")
    for shape, order in (((30,), "C"), ((30, 3), "C"), ((30, 3), "F")):
        x, b = (np.asarray(values(rng, shape, dtype), order=order) for _ in range(2))
        x.flags.writeable = False
        error = trisolve.backward_error(A, x, b, trans)
        wide = x.astype(M.dtype)
        r, below = b - M @ wide, abs(M) @ abs(wide) + abs(b)
        tolerance = 1e-6 if dtype in ("f8", "f4") else 0.5  # |z| is that of LAPACK, up to 1.42 |z|
        np.testing.assert_allclose(error.omega, (abs(r) / below).max(), rtol=tolerance)
        np.testing.assert_allclose(error.residual, abs(r).max(), rtol=tolerance)
        assert 0 <= error.row < 30 and 0 <= error.col < (shape + (1,))[1]


@needs_suitesparse
@pytest.mark.parametrize("dtype", ["f8", "c16"])
@pytest.mark.parametrize("trans", "NTH")
def test_refine(rng, dtype, trans):
    T, L = random_triangle(rng, 60, dtype), random_triangle(rng, 60, dtype, lower=False)
    A = sp.csc_array(T + L)
    narrow = {"f8": "f4", "c16": "c8"}[dtype]
    for solver, M in ((trisolve.splu(A, single=True), A), (trisolve.Plan(T.astype(narrow), ops="NTH"), T)):
        op = {"N": M, "T": M.T, "H": M.conj().T}[trans]
        for b in (values(rng, 60, dtype), values(rng, (60, 3), dtype)):
            x, error = solver.refine(M, b, trans=trans)
            assert error.stop == "converged" and 0 < error.steps <= 10 and x.dtype == np.dtype(dtype)
            assert backward_error(op, x, b) < 60 * eps(dtype)
            start = np.zeros_like(x)
            same, error = solver.refine(M, b, start, trans, max_steps=1)
            assert same is start and error.stop == "steps"


@needs_suitesparse
@pytest.mark.parametrize("dtype", DTYPES)
def test_slogdet(rng, dtype):
    A = random_triangle(rng, 40, dtype)[rng.permutation(40)]
    for M, solver in ((A, trisolve.splu(A)), (A, trisolve.Plan(A, permuted=True)),
                      (A.toarray(), trisolve.Plan(A.toarray(), lower=None))):
        expected = np.linalg.slogdet(M.toarray() if sp.issparse(M) else M)
        found = solver.slogdet()
        np.testing.assert_allclose(found.sign, expected[0], rtol=500 * eps(dtype))
        np.testing.assert_allclose(found.logabsdet, expected[1], rtol=500 * eps(dtype))
    assert trisolve.Plan(sp.csr_array(np.diag([1.0, 0, 2])), pivot="skip").slogdet() is not None
    huge = trisolve.Plan(sp.csr_array(np.diag([1e300] * 10))).slogdet()
    np.testing.assert_allclose(huge.logabsdet, 3000 * np.log(10))
    with pytest.raises(trisolve.UnsupportedError):
        trisolve.ilu0(sp.csr_array(np.eye(3))).slogdet()


@needs_suitesparse
@pytest.mark.parametrize("norm", ["1", "inf"])
def test_rcond(rng, norm):
    T = random_triangle(rng, 40, "f8")
    A = sp.csc_array(T + random_triangle(rng, 40, "f8", lower=False))
    for solver, M in ((trisolve.splu(A), A), (trisolve.Plan(T, ops="NH"), T)):
        exact = 1 / np.linalg.cond(M.toarray(), {"1": 1, "inf": np.inf}[norm])
        assert exact * (1 - 1e-12) <= solver.rcond(M, norm) <= 3 * exact
    with pytest.raises(ValueError):
        trisolve.splu(A).rcond(A, norm="fro")


def test_permutation(rng):
    L = random_triangle(rng, 30, "f8").toarray()
    A = sp.csr_array(L[rng.permutation(30)][:, rng.permutation(30)])
    P, Q = trisolve.Plan(A, permuted=True).permutation()
    found = A.toarray()[P][:, Q]
    np.testing.assert_array_equal(found, np.tril(found))
    assert trisolve.Plan(sp.csr_array(L)).permutation() is None


def test_wisdom(tmp_path):
    with pytest.raises(trisolve.FileError):
        trisolve.import_wisdom(tmp_path / "none")
    (tmp_path / "bad").write_text("folly\n")
    with pytest.raises(trisolve.FormatError):
        trisolve.import_wisdom(tmp_path / "bad")


@needs_suitesparse
@pytest.mark.parametrize("dtype", ["f8", "c16"])
def test_ldlt(rng, dtype):
    T = random_triangle(rng, 40, dtype)
    A = sp.csc_array(T + T.conj().T)
    A.setdiag(np.where(np.arange(40) < 25, 30.0, -30.0))
    b = values(rng, (40, 2), dtype)
    lu = trisolve.splu(A, method="ldlt")
    for solver in lu, pickle.loads(pickle.dumps(lu)):
        assert backward_error(A, solver.solve(b), b) < 60 * eps(dtype)
    np.testing.assert_allclose((lu.L @ lu.U).toarray()[lu.perm_r][:, lu.perm_r], A.toarray(), atol=1e-12)
    assert lu.inertia() == (25, 15) and lu.info.boosted == 0
    eigenvalues = np.linalg.eigvalsh(A.toarray())
    assert (eigenvalues > 0).sum() == 25
    sign, log = np.linalg.slogdet(A.toarray())
    np.testing.assert_allclose(lu.slogdet(), (sign.real, log), rtol=1e-12)


@needs_suitesparse
@pytest.mark.parametrize("dtype", ["f8", "c16"])
def test_saddle_point(rng, dtype):
    B = sp.csc_array(random_triangle(rng, 12, dtype))
    H = sp.csc_array(sp.diags([0.1] * 12 + [3.0] * 8).astype(dtype))
    A = sp.csc_array(sp.bmat([[H, sp.vstack([B, sp.csc_array((8, 12))])],
                              [sp.hstack([B.conj().T, sp.csc_array((12, 8))]), None]]))
    b = values(rng, (32, 2), dtype)
    lu = trisolve.splu(A, method="ldlt")
    for solver in lu, pickle.loads(pickle.dumps(lu)):
        assert backward_error(A, solver.solve(b), b) < 1000 * eps(dtype)
    Pr = sp.csc_array((np.ones(32), (lu.perm_r, np.arange(32))))
    Pc = sp.csc_array((np.ones(32), (np.arange(32), lu.perm_c)))
    np.testing.assert_allclose((Pr.T @ (lu.L @ lu.U) @ Pc.T).toarray(), A.toarray(), atol=1e-11)
    assert (lu.perm_r != lu.perm_c).any()  # there are blocks
    eigenvalues = np.linalg.eigvalsh(A.toarray())
    assert lu.inertia() == ((eigenvalues > 0).sum(), (eigenvalues < 0).sum())


@needs_suitesparse
@pytest.mark.parametrize("dtype", ["f8", "c16", "f4"])
def test_schur(rng, dtype):
    T = random_triangle(rng, 40, dtype)
    A = sp.csr_array(T + T.conj().T + 20 * sp.identity(40, dtype=dtype))
    s = rng.permutation(40)[:7]
    r = np.setdiff1d(np.arange(40), s)
    F = A.toarray().astype(np.result_type(dtype, "f8"))
    for method in None, "ldlt":
        S, lu = trisolve.schur(A, s, method=method)
        expected = F[np.ix_(s, s)] - F[np.ix_(s, r)] @ np.linalg.solve(F[np.ix_(r, r)], F[np.ix_(r, s)])
        np.testing.assert_allclose(S, expected, atol=1e-12)
        b = values(rng, 33, F.dtype)
        np.testing.assert_allclose(F[np.ix_(r, r)] @ lu.solve(b), b, atol=1e-12)
        np.testing.assert_allclose(lu.update(2 * sp.csc_array(F[np.ix_(r, r)])).solve(2 * b), lu.solve(b) * 2)
    with pytest.raises(trisolve.ArgumentError):
        trisolve.schur(A, [1, 1])
    with pytest.raises(trisolve.UnsupportedError, match="on the host"):
        trisolve.schur(A, s, device=0)
    S, lu = trisolve.schur(A, [])
    assert S.shape == (0, 0) and lu.shape == (40, 40)


@needs_suitesparse
def test_ldlt_pivots():
    A = sp.csc_array([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(trisolve.PivotError):
        trisolve.splu(A, method="ldlt", signs=[0, 0])
    lu = trisolve.splu(A, method="ldlt", boost=1e-9, signs=[1, -1])
    np.testing.assert_allclose(lu.solve(np.array([2.0, 3.0])), [3, 2], rtol=1e-12)
    assert lu.info.boosted == 1
    with pytest.raises(trisolve.PivotError):
        lu.inertia()
    with pytest.raises(ValueError):
        trisolve.splu(A, method="ldlt", signs=[1])
