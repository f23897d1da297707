"""spsolve_triangular, spsolve and factorized against SciPy's."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import backward_error, eps, needs_suitesparse, new_scipy, random_triangle, values
from scipy.linalg import LinAlgWarning

import trisolve

DTYPES = ["f4", "f8", "c8", "c16"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("unit", [True, False])
def test_triangles_as_scipy(rng, dtype, form, lower, unit):
    T = random_triangle(rng, 60, dtype, lower=lower).asformat(form)
    for shape, order in [((60,), "C"), ((60, 1), "C"), ((60, 3), "C"), ((60, 3), "F")]:
        b = np.asarray(values(rng, shape, dtype), order=order)
        x = trisolve.spsolve_triangular(T, b, lower=lower, unit_diagonal=unit)
        y = sla.spsolve_triangular(T, b, lower=lower, unit_diagonal=unit)
        assert (x.shape, x.dtype) == (y.shape, np.dtype(dtype))
        np.testing.assert_allclose(x, y, rtol=200 * eps(dtype), atol=200 * eps(dtype) * abs(y).max())


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
def test_entries_of_the_other_triangle_are_ignored(rng, form, lower):
    A = rng.uniform(1, 2, (12, 12)) + 12 * np.eye(12)
    T = sp.bsr_array(A, blocksize=(3, 3)) if form == "bsr" else sp.csr_array(A).asformat(form)
    b = rng.uniform(size=12)
    expected = np.linalg.solve(np.tril(A) if lower else np.triu(A), b)
    np.testing.assert_allclose(trisolve.spsolve_triangular(T, b, lower=lower), expected, rtol=1e-12)
    np.testing.assert_array_equal(T.toarray(), A)


@needs_suitesparse
@new_scipy
@pytest.mark.parametrize("a_type, b_type", [("i8", "i8"), ("f4", "f8"), ("f4", "i8"), ("f8", "c8"), ("f4", "f4")])
def test_types_are_promoted_as_in_scipy(a_type, b_type):
    A, b = sp.csr_array(np.array([[2, 0], [1, 4]], dtype=a_type)), np.array([2, 9], dtype=b_type)
    for solve in ("spsolve_triangular", "spsolve"):
        x, y = (getattr(module, solve)(A, b) for module in (trisolve, sla))
        assert x.dtype == y.dtype, solve
        np.testing.assert_allclose(x, y, rtol=1e-6)


def test_overwrite_b_gives_b(rng):
    T, b = random_triangle(rng, 20, "f8"), rng.uniform(size=20)
    expected = trisolve.spsolve_triangular(T, b)
    assert trisolve.spsolve_triangular(T, b, overwrite_b=True) is b
    np.testing.assert_array_equal(b, expected)


@pytest.mark.parametrize("A, b, error", [
    (sp.csr_array(np.diag([1.0, 0, 2])), np.ones(3), np.linalg.LinAlgError),
    (sp.csr_array((3, 3)), np.ones(3), np.linalg.LinAlgError),
    (sp.csr_array(np.eye(3)[:2]), np.ones(3), ValueError),
    (sp.csr_array(np.eye(3)), np.ones(2), ValueError),
    (sp.csr_array(np.eye(3)), np.ones((3, 1, 1)), ValueError),
    (sp.csr_array(np.eye(3)), 1.0, ValueError),
    (np.eye(3, dtype=np.longdouble), np.ones(3), TypeError),
])
@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
def test_triangle_errors(A, b, error):
    with pytest.raises(error):
        trisolve.spsolve_triangular(A, b)


@needs_suitesparse
def test_conversion_is_warned_of():
    for solve in (trisolve.spsolve_triangular, trisolve.spsolve):
        with pytest.warns(sp.SparseEfficiencyWarning):
            solve(sp.coo_array(np.eye(3)), np.ones(3))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            solve(sp.csr_array(np.eye(3)), np.ones(3))


@needs_suitesparse
def test_duplicates_are_summed_and_a_is_not_changed():
    A = sp.csr_array((np.array([1.0, 1, 3, 4]), np.array([0, 0, 0, 1]), np.array([0, 2, 4])), shape=(2, 2))
    np.testing.assert_allclose(trisolve.spsolve_triangular(A, [2.0, 7]), [1, 1])
    np.testing.assert_allclose(trisolve.spsolve(A, [2.0, 7]), [1, 1])
    assert A.nnz == 4


@needs_suitesparse
@pytest.mark.filterwarnings("ignore:splu converted")
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_spsolve_as_scipy(rng, form, dtype):
    A = random_triangle(rng, 50, dtype) + 0.1 * random_triangle(rng, 50, dtype, lower=False)
    A = A.asformat(form).astype(dtype)
    dense = values(rng, (50, 4), dtype)
    for b in (dense[:, 0], dense[:, :1], dense, sp.csc_array(dense), sp.csc_array(dense[:, :1])):
        x, y = trisolve.spsolve(A, b), sla.spsolve(A, b)
        assert (type(x), x.shape, x.dtype) == (type(y), y.shape, y.dtype)
        x, y = (z.toarray() if sp.issparse(z) else z for z in (x, y))
        np.testing.assert_allclose(x, y, rtol=0, atol=1000 * eps(dtype) * abs(y).max())


@needs_suitesparse
def test_spsolve_warns_of_the_condition():
    A = sp.csc_array([[6.0, -2, -3, -1], [-2, 5, -1, -2], [-3, -1, 7, -3], [-1, -2, -3, 6]])  # a graph's Laplacian
    with pytest.warns(LinAlgWarning, match="Ill-conditioned matrix"):
        trisolve.spsolve(A, np.ones(4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trisolve.spsolve(A + sp.eye(4, format="csc"), np.ones(4))
        trisolve.spsolve(1e160 * (A + sp.eye(4, format="csc")), np.ones(4))
    B = sp.csc_array(np.tri(6) + np.eye(6))
    exact = 1 / np.linalg.cond(B.toarray(), 1)
    assert exact * (1 - 1e-12) <= trisolve.splu(B).rcond(B) <= 3 * exact


@needs_suitesparse
@pytest.mark.parametrize("k", [5, 20, 50])
def test_spsolve_warns_of_a_singular_grid(rng, k):
    T = sp.diags([np.full(k - 1, -1.0), np.r_[1, np.full(k - 2, 2.0), 1], np.full(k - 1, -1.0)], [-1, 0, 1])
    A = sp.kron(T, sp.eye(k)) + sp.kron(sp.eye(k), T)  # A (1, ..., 1) = 0
    A = sp.csc_array(sp.diags(rng.uniform(1, 2, k * k)) @ A)
    with pytest.warns((LinAlgWarning, sla.MatrixRankWarning)):
        trisolve.spsolve(A, rng.uniform(size=k * k))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trisolve.spsolve(A + 1e-8 * sp.eye(k * k, format="csc"), np.ones(k * k))


@needs_suitesparse
@pytest.mark.parametrize("diagonal", [1e-3, 1.0, 4.0])
def test_spsolve_is_as_accurate_as_superlu(rng, diagonal):
    k = 20
    T = sp.diags([rng.uniform(-2, 2, k - 1), np.full(k, diagonal), rng.uniform(-2, 2, k - 1)], [-1, 0, 1])
    A = sp.csc_array((sp.kron(T, sp.eye(k)) + sp.kron(sp.eye(k), T)).astype(np.float32).astype(float))
    y = rng.integers(1, 9, k * k).astype(float)
    b = A @ y  # exact: few bits a number
    error, superlu = (abs(solve(A, b) - y).max() for solve in (trisolve.spsolve, sla.spsolve))
    assert error <= max(3 * superlu, 8 * eps(np.float64))


@needs_suitesparse
def test_spsolve_of_a_singular_matrix():
    with pytest.warns(sla.MatrixRankWarning):
        x = trisolve.spsolve(sp.csc_array(np.diag([1.0, 0, 2])), np.ones(3))
    assert np.isnan(x).all()
    for A, b in [(np.ones((2, 3)), np.ones(2)), (np.eye(3), np.ones(2))]:
        with pytest.raises(ValueError):
            trisolve.spsolve(sp.csc_array(A), b)


@needs_suitesparse
@pytest.mark.parametrize("spec", [None, "NATURAL", "MMD_ATA", "MMD_AT_PLUS_A", "COLAMD"])
def test_orderings_of_scipy_are_taken(rng, spec):
    A = random_triangle(rng, 30, "f8").tocsc()
    for M in (A, A @ A.T):
        x = trisolve.spsolve(M, np.ones(30), permc_spec=spec)
        assert backward_error(M, x, np.ones(30)) < 1e-13


@pytest.mark.parametrize("unit", [False, True])
def test_factors_of_superlu_are_solved_with_as_they_come(rng, unit):
    """In no order within a column, and with several right-hand sides; b is overwritten only if that was allowed."""
    A = sp.csc_matrix(sp.random(80, 80, 0.1, random_state=5) + 5 * sp.eye(80))
    lu, b = sla.splu(A), rng.uniform(size=(80, 20))
    for T, lower in ((lu.L, True), (lu.U, False)):
        if unit:
            T.setdiag(1)
        for columns in (1, 3, 20):
            B = b[:, :columns].copy()
            x = trisolve.spsolve_triangular(T, B, lower=lower, unit_diagonal=unit)
            assert abs(T @ x - B).max() < 1e-12 and (B == b[:, :columns]).all()
            y = trisolve.spsolve_triangular(T, B, lower=lower, overwrite_b=True, unit_diagonal=unit)
            assert (x == y).all() and np.shares_memory(y, B)


@needs_suitesparse
def test_factorized(rng):
    A = random_triangle(rng, 30, "f8").tocsc()
    solve, expected = trisolve.factorized(A), sla.factorized(A)
    np.testing.assert_allclose(solve(np.ones(30)), expected(np.ones(30)), rtol=1e-10)


def test_triangles_of_files(square_file):
    A = sp.csr_array(trisolve.mmread(square_file)).astype("c16" if "complex" in trisolve.mminfo(square_file) else "f8")
    T = sp.csr_array(sp.tril(A, -1) + sp.diags(abs(A).sum(axis=1).ravel() + 1))
    b = np.arange(1.0, A.shape[0] + 1)
    for M, lower in ((T, True), (sp.csr_array(T.T), False)):
        x = trisolve.spsolve_triangular(M, b, lower=lower)
        assert backward_error(M, x, b) < 4 * (np.diff(M.indptr).max() + 1) * eps("f8")
