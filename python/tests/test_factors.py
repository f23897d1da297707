"""splu, ilu0 and ic0 against SciPy's splu, dense factors and iteration counts."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import backward_error, eps, needs_suitesparse, random_triangle, values

import trisolve

DTYPES = ["f4", "f8", "c8", "c16"]
pytestmark = needs_suitesparse


def random_matrix(rng, n, dtype):
    return (random_triangle(rng, n, dtype) + random_triangle(rng, n, dtype, lower=False)).astype(dtype)


def hermitian(rng, n, dtype):
    L = random_triangle(rng, n, dtype)
    return sp.csr_array(L @ L.conj().T)


def reassembled(lu):
    """Pr.T @ (L @ U) @ Pc.T, with the permutation matrices of SciPy's documentation."""
    n = lu.shape[0]
    Pr = sp.csc_array((np.ones(n), (lu.perm_r, np.arange(n))), shape=lu.shape)
    Pc = sp.csc_array((np.ones(n), (np.arange(n), lu.perm_c)), shape=lu.shape)
    return Pr.T @ (lu.L @ lu.U) @ Pc.T


def check_factors(lu, A, dtype):
    assert lu.L.dtype == lu.U.dtype == np.dtype(dtype) and lu.perm_r.dtype == lu.perm_c.dtype == np.intc
    assert sp.tril(lu.L).nnz == lu.L.nnz and sp.triu(lu.U).nnz == lu.U.nnz
    np.testing.assert_array_equal(lu.L.diagonal(), 1)
    bound = (abs(lu.L) @ abs(lu.U)).max() * lu.shape[0] * eps(dtype)
    assert abs(reassembled(lu) - A).max() <= bound


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("method", ["umfpack", "cholmod", "klu"])
def test_factors_and_solves(rng, dtype, method):
    A = hermitian(rng, 50, dtype) if method == "cholmod" else random_matrix(rng, 50, dtype)
    if method != "cholmod":  # badly scaled, and the pivots are not on the diagonal
        A = (sp.diags(10.0 ** rng.integers(-3, 3, 50)) @ A).tocsr()[rng.permutation(50)]
    A = sp.csc_array(A.astype(dtype))
    try:
        lu = trisolve.splu(A, method=method)
    except trisolve.UnsupportedError as error:
        pytest.skip(str(error))
    assert lu.info.library == method.upper()
    check_factors(lu, A, dtype)
    assert lu.nnz >= lu.L.nnz and lu.shape == (50, 50)
    for b in (values(rng, 50, dtype), values(rng, (50, 3), dtype), np.asfortranarray(values(rng, (50, 3), dtype))):
        for op, M in (("N", A), ("T", A.T), ("H", A.conj().T)):
            x = lu.solve(b, op)
            assert (x.shape, x.dtype) == (b.shape, b.dtype)
            assert np.linalg.norm(b - M @ x) < 1e3 * eps(dtype) * (sla.norm(M) * np.linalg.norm(x) + np.linalg.norm(b))
            np.testing.assert_allclose(lu.solve(b, op.lower(), out=np.empty_like(b)), x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_update(rng, dtype):
    A = random_matrix(rng, 40, dtype).tocsc()
    lu, b = trisolve.splu(A), values(rng, 40, dtype)
    for _ in range(3):
        A = A.copy()
        A.data = (A.data * rng.uniform(0.5, 2, A.nnz)).astype(dtype)
        x = lu.update(A).solve(b)
        assert backward_error(A, x, b) < 1e4 * eps(dtype)
        check_factors(lu, A, dtype)
    other = sp.csc_array(A + sp.csc_array(np.eye(40, k=3, dtype=dtype))).astype(dtype)
    assert backward_error(other, lu.update(other).solve(b), b) < 1e4 * eps(dtype)
    zero = A.copy()
    zero.data = zero.data * 0
    with pytest.raises(trisolve.PivotError):
        lu.update(zero)
    with pytest.raises(trisolve.StateError):
        lu.solve(b)
    assert backward_error(A, lu.update(A).solve(b), b) < 1e4 * eps(dtype)
    with pytest.raises(ValueError):
        lu.update(A[:20, :20])


def test_errors_as_scipy():
    for A in (sp.csc_array((5, 5)), sp.csc_array(np.diag([1.0, 0, 2])), sp.csc_array(np.ones((3, 4)))):
        for module in (sla, trisolve):
            with pytest.raises((RuntimeError, ValueError)):
                module.splu(A)
    lu = trisolve.splu(sp.csc_array(np.eye(3)))
    for b, error in ((np.ones(4), ValueError), (np.ones(3) * 1j, TypeError), (np.ones((3, 1, 1)), ValueError)):
        for factors in (lu, sla.splu(sp.csc_array(np.eye(3)))):
            with pytest.raises(error):
                factors.solve(b)
    for factors in (lu, sla.splu(sp.csc_array(np.eye(3)))):
        with pytest.raises(ValueError):
            factors.solve(np.ones(3), "X")
    for options in ({"method": "superlu"}, {"permc_spec": "COLAMB"}, {"on_growth": "hope"}):
        with pytest.raises(ValueError, match=list(options.values())[0]):
            trisolve.splu(sp.csc_array(np.eye(3)), **options)
    with pytest.warns(sp.SparseEfficiencyWarning):
        trisolve.splu(np.eye(3))


def weak_grid(rng, side, dtype, size):
    """A grid whose neighbours have weights near 1, and whose diagonal is small."""
    n = side * side
    k = np.arange(n).reshape(side, side)
    a, b = (np.concatenate([s.ravel() for s in pair]) for pair in ((k[1:], k[:, 1:]), (k[:-1], k[:, :-1])))
    i, j = np.concatenate([a, b, k.ravel()]), np.concatenate([b, a, k.ravel()])
    return sp.csc_array((values(rng, len(i), dtype) * np.where(i == j, size, 1), (i, j)), shape=(n, n))


@pytest.mark.parametrize("dtype", ["f8", "c16"])
@pytest.mark.parametrize("method", [None, "klu", "umfpack"])
@pytest.mark.parametrize("trans", "NTH")
def test_weak_diagonals_are_as_accurate_as_superlu(rng, dtype, method, trans):
    A = weak_grid(rng, 50, dtype, 1e-3)
    op = {"N": A, "T": A.T, "H": A.conj().T}[trans]
    ours, superlu = trisolve.splu(A, method=method), sla.splu(A)
    assert ours.info.refines == 1
    x = values(rng, (A.shape[0], 9), dtype)
    error = [abs(lu.solve(op @ x, trans) - x).max(axis=0) for lu in (ours, superlu)]
    assert np.median(error[0] / error[1]) <= 3
    if trans == "N":
        assert abs(trisolve.spsolve(A, A @ x) - x).max() <= 10 * error[1].max()
    assert trisolve.splu(A + 100 * sp.eye(A.shape[0]), method=method).info.refines == 0


@pytest.mark.parametrize("make", [trisolve.splu, trisolve.ilu0, trisolve.ic0])
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_no_rows(make, form, dtype):
    A = sp.csr_array((0, 0), dtype=dtype).asformat(form)
    lu = make(A)
    for T in (lu.L, lu.U):
        assert (T.shape, T.dtype, T.format) == ((0, 0), np.dtype(dtype), "csc")
    assert lu.perm_r.shape == lu.perm_c.shape == (0,) and lu.nnz == 0
    for shape in ((0,), (0, 3)):
        assert lu.update(A).solve(np.zeros(shape, dtype)).shape == shape


def test_single_precision_factors(rng):
    A = random_matrix(rng, 40, "f8").tocsc()
    x, y = (trisolve.splu(A, single=single).solve(np.ones(40)) for single in (True, False))
    assert 1e-16 < abs(x - y).max() / abs(y).max() < 1e-4


def laplacian(n, dtype="f8"):
    I, T = sp.identity(n), sp.diags([-1.0, 2, -1], [-1, 0, 1], shape=(n, n))
    return sp.csr_array(sp.kron(I, T) + sp.kron(T, I)).astype(dtype)


def dense_incomplete(A):
    """ILU(0) by its definition: Gaussian elimination that keeps the pattern of A."""
    F, pattern = A.toarray(), A.toarray() != 0
    for k in range(len(F)):
        for i in np.flatnonzero(pattern[k + 1:, k]) + k + 1:
            F[i, k] /= F[k, k]
            F[i, k + 1:] -= np.where(pattern[i, k + 1:], F[i, k] * F[k, k + 1:], 0)
    return F


@pytest.mark.parametrize("dtype", DTYPES)
def test_ilu0_is_elimination_on_the_pattern(rng, dtype):
    A = random_matrix(rng, 30, dtype).tocsr()
    F = dense_incomplete(A)
    M = trisolve.ilu0(A, ops="NH")
    np.testing.assert_allclose(M.L.toarray(), np.tril(F, -1) + np.eye(30), atol=100 * eps(dtype))
    np.testing.assert_allclose(M.U.toarray(), np.triu(F), atol=100 * eps(dtype) * abs(F).max())
    b = values(rng, 30, dtype)
    LU = M.L.toarray() @ M.U.toarray()
    np.testing.assert_allclose(M @ b, np.linalg.solve(LU, b), rtol=0, atol=1e4 * eps(dtype))
    np.testing.assert_allclose(M.rmatvec(b), np.linalg.solve(LU.conj().T, b), rtol=0, atol=1e4 * eps(dtype))
    A2 = A * A.dtype.type(2)
    np.testing.assert_allclose(M.update(A2) @ b, trisolve.ilu0(A2) @ b)
    moved = A.copy()
    moved.indices = moved.indices[::-1].copy()
    with pytest.raises(ValueError):
        M.update(moved)


@pytest.mark.parametrize("dtype", DTYPES)
def test_ic0_and_block_formats(rng, dtype):
    A = laplacian(12, dtype)
    b = values(rng, 144, dtype)
    expected = dense_incomplete(A)
    for matrix in (A, A.tocsc(), sp.bsr_array(A, blocksize=(1, 1))):
        for M in (trisolve.ic0(matrix), trisolve.ilu0(matrix)):
            L = np.tril(expected, -1) + np.eye(144)
            x = np.linalg.solve(L @ np.triu(expected), b)
            np.testing.assert_allclose(M.L.toarray(), L, atol=100 * eps(dtype))
            np.testing.assert_allclose(M @ b, x, rtol=0, atol=1e3 * eps(dtype))
    for ordering in ("rcm", "multicolour"):
        M = trisolve.ic0(A, ordering=ordering)
        assert sorted(M.perm_r) == list(range(144)) and (M.perm_r == M.perm_c).all()
        pattern = abs(A).toarray() > 0
        np.testing.assert_allclose(reassembled(M).toarray()[pattern], A.toarray()[pattern], atol=100 * eps(dtype))


def iterations(solver, A, M, **more):
    count = []
    x, info = solver(A, np.ones(A.shape[0]), M=M, maxiter=2000, callback=lambda _: count.append(1), **more)
    assert info == 0
    return len(count)


def test_preconditioners_of_scipy(rng):
    A = laplacian(40)
    plain, zero, two = (iterations(sla.cg, A, M) for M in (None, trisolve.ic0(A), trisolve.ic0(A, level=2)))
    assert two < zero < plain
    B = sp.csr_array(A + sp.diags([0.4, -0.4], [1, -1], shape=A.shape))
    for solver, more in ((sla.gmres, {"callback_type": "pr_norm"}), (sla.bicgstab, {})):
        preconditioners = None, trisolve.ilu0(B), trisolve.splu(B.tocsc())
        plain, zero, full = (iterations(solver, B, M, **more) for M in preconditioners)
        assert full < zero < plain
    assert sla.bicg(B, np.ones(1600), M=trisolve.ilu0(B, ops="NH"))[1] == 0


def test_sweeps_are_a_polynomial_and_exact_in_the_end(rng):
    n = 60
    A = (sp.random(n, n, 0.1, random_state=rng.integers(1 << 30)) + 5 * sp.eye(n)).tocsr()
    b = rng.standard_normal(n)
    L = sp.tril(A, format="csr")
    D, x = L.diagonal(), b / L.diagonal()
    plan = trisolve.Plan(L, sweeps=3)
    for _ in range(3):
        x = (b - (L @ x - D * x)) / D
    np.testing.assert_allclose(plan.solve(b), x, rtol=1e-12)
    N = abs(L - sp.diags(D)).toarray() / abs(D)[:, None]
    bound = np.linalg.matrix_power(N, 4).sum(axis=1).max()
    np.testing.assert_allclose(plan.info.sweep_error, bound, rtol=1e-12)
    np.testing.assert_allclose(trisolve.ilu0(A, sweeps=n).solve(b), trisolve.ilu0(A).solve(b), rtol=1e-10)
    assert trisolve.Plan(L).info.sweep_error == 0
    with pytest.raises(ValueError):
        trisolve.Plan(L, sweeps=-1)
    with pytest.raises(trisolve.UnsupportedError):
        trisolve.splu(A, sweeps=2)


def test_several_devices_are_for_plans(rng):
    L = sp.tril(laplacian(12), format="csr")
    b = rng.standard_normal(L.shape[0])
    with pytest.raises(ValueError, match="ascend"):
        trisolve.Plan(L, devices=[1, 0])
    with pytest.raises(trisolve.UnsupportedError, match="several devices"):
        trisolve.ilu0(laplacian(12), devices=[0])
    try:
        plan = trisolve.Plan(L, devices=[0, 0], solver="cuda-peers")
    except (trisolve.UnsupportedError, trisolve.DeviceError):
        return  # there is no GPU
    np.testing.assert_allclose(L @ plan.solve(b), b, rtol=1e-12)


def test_threads_share_factors(rng):
    A = laplacian(40)
    for M in (trisolve.splu(A.tocsc(), solves=trisolve.MANY), trisolve.ic0(A, solves=trisolve.MANY)):
        B = rng.uniform(size=(8, 1600))
        expected, found = [M.solve(b) for b in B], [None] * 8

        def work(k):
            found[k] = [M.solve(B[k]) for _ in range(30)]

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for action in (threading.Thread.start, threading.Thread.join):
            for thread in threads:
                action(thread)
        for x, several in zip(expected, found):
            assert all(np.array_equal(x, y) for y in several)


def test_factors_of_files(square_file):
    A = sp.csc_array(trisolve.mmread(square_file))
    A = A if A.dtype.kind in "fc" else A.astype("f8")
    try:
        lu = trisolve.splu(A)
    except trisolve.PivotError:
        with pytest.raises(RuntimeError):
            if sla.splu(A).U.diagonal().prod() == 0 or sla.norm(A, 1) * sla.onenormest(sla.inv(A)) > 1e15:
                raise RuntimeError("singular to working precision")
        return
    b = np.arange(1.0, A.shape[0] + 1)
    identity = abs(reassembled(lu) - A).max() / max((abs(lu.L) @ abs(lu.U)).max(), abs(A).max())
    solutions = lu.solve(b), sla.spsolve(A, b)
    ours, scipys = (np.linalg.norm(b - A @ x) / (sla.norm(A) * np.linalg.norm(x)) for x in solutions)
    print(f"{square_file.name}: A - L U {identity:.1e}, residual {ours:.1e}, SciPy's {scipys:.1e}")
    assert identity < A.shape[0] * eps("f8")
    assert ours < max(100 * scipys, 1e-13)


@pytest.mark.parametrize("make", [trisolve.ilu0, trisolve.dilu, trisolve.block_jacobi])
def test_blocks_of_bsr(make):
    rng = np.random.default_rng(3)
    block = rng.uniform(-1, 1, (4, 3, 3)) + [[0, 9, 0], [0, 0, 9], [9, 0, 0]]  # rows must be exchanged
    A = sp.bsr_array((block, [0, 1, 2, 3], [0, 1, 2, 3, 4]), shape=(12, 12))
    b = rng.uniform(size=12)
    M = make(A, ops="NTH")
    assert M.info.block == 3 and "blocks of 3" in repr(M)
    for trans in "NTH":
        dense = A.toarray() if trans == "N" else A.toarray().T
        np.testing.assert_allclose(dense @ M.solve(b, trans), b, atol=1e-13)
    np.testing.assert_allclose(M.update(2 * A).solve(2 * A @ b), b, atol=1e-13)
    with pytest.raises(trisolve.UnsupportedError, match="block = 1"):
        M.L
    with pytest.raises(trisolve.PivotError):
        trisolve.ilu0(A - sp.diags(A.diagonal()), block_size=1)
    assert trisolve.spilu(A.tocsr(), block_size=3).info.block == 3
    assert trisolve.ilu0(A, block_size=1, boost=1.0).info.block == 0
