"""Factors that are pickled, copied, or come from SciPy; what objects say of themselves."""

import copy
import multiprocessing
import pickle
from xml.etree import ElementTree

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import eps, needs_suitesparse, random_triangle, values

import trisolve

pytestmark = needs_suitesparse
DTYPES = ["f4", "f8", "c8", "c16"]
MAKERS = {"umfpack": lambda A: trisolve.splu(A, method="umfpack"), "klu": lambda A: trisolve.splu(A, method="klu"),
          "cholmod": lambda A: trisolve.splu(sp.csc_array(A @ A.conj().T), method="cholmod"),
          "single": lambda A: trisolve.splu(A, single=True), "ilu": lambda A: trisolve.ilu0(A, level=1, ordering="rcm"),
          "ic": lambda A: trisolve.ic0(sp.csr_array(A @ A.conj().T)), "ops": lambda A: trisolve.splu(A, ops="T"),
          "scipy": lambda A: trisolve.from_superlu(sla.splu(sp.csc_matrix(A)))}


def matrix(rng, dtype):
    A = random_triangle(rng, 50, dtype) + random_triangle(rng, 50, dtype, lower=False)
    return sp.csc_array(sp.diags(10.0 ** rng.integers(-2, 3, 50)) @ A).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", list(MAKERS))
def test_copies_solve_the_same(rng, dtype, name):
    if name == "single" and dtype in ("f4", "c8"):
        pytest.skip("single precision is meant for matrices in double")
    try:
        lu = MAKERS[name](matrix(rng, dtype))
    except trisolve.UnsupportedError as error:
        pytest.skip(str(error))
    trans = "T" if name == "ops" else "N"
    b = values(rng, 50, dtype)
    expected = lu.solve(b, trans)
    tolerance = (1e4 if name == "single" else 100) * max(eps(dtype), eps("f4") if name == "single" else 0)
    for other in (pickle.loads(pickle.dumps(lu)), copy.copy(lu), copy.deepcopy(lu), copy.copy(copy.copy(lu))):
        np.testing.assert_allclose(other.solve(b, trans), expected, rtol=0, atol=tolerance * abs(expected).max())
        assert (other.dtype, other.shape, other.nnz) == (lu.dtype, lu.shape, lu.nnz)
        np.testing.assert_array_equal(other.perm_r, lu.perm_r)
        np.testing.assert_array_equal(other.perm_c, lu.perm_c)
        with pytest.raises(trisolve.StateError):
            other.update(matrix(rng, dtype))


def test_nothing_to_copy():
    lu = copy.deepcopy(trisolve.splu(sp.csc_array((0, 0))))
    assert lu.solve(np.zeros(0)).shape == (0,)


def test_plans_refuse(rng):
    plan = trisolve.Plan(random_triangle(rng, 10, "f8"))
    for travel in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="pickle the matrix"):
            travel(plan)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("make", [sla.splu, sla.spilu])
@pytest.mark.parametrize("trans", "NTH")
def test_from_superlu(rng, dtype, make, trans):
    theirs = make(sp.csc_matrix(matrix(rng, dtype)))
    ours = trisolve.from_superlu(theirs)
    assert ours.info.library == "imported"
    b = values(rng, (50, 2), dtype)
    x = theirs.solve(b, trans)
    np.testing.assert_allclose(ours.solve(b, trans), x, rtol=0, atol=1e4 * eps(dtype) * abs(x).max())


def test_from_factors(rng):
    L = random_triangle(rng, 20, "c16")
    x = trisolve.from_factors(L).solve(np.ones(20, "c16"))
    np.testing.assert_allclose(L @ (L.conj().T @ x), np.ones(20), atol=1e-12)
    with pytest.raises(trisolve.PivotError):
        trisolve.from_factors(sp.csr_array(np.diag([1.0, 0])))
    with pytest.raises(TypeError, match="dtype"):
        trisolve.from_factors(sp.csr_array(np.eye(2)), sp.csr_array(np.eye(2, dtype="f4")))
    with pytest.raises(ValueError, match="permutation"):
        trisolve.from_factors(sp.csr_array(np.eye(2)), sp.csr_array(np.eye(2)), perm_r=[0])


@pytest.mark.parametrize("dtype", ["f8", "c16"])
def test_adjoint_of_a_preconditioner(rng, dtype):
    A = sp.csr_array(matrix(rng, dtype))
    for M in (trisolve.ilu0(A), trisolve.ilu0(A, ops="NH"), trisolve.splu(A, ops="N"),
              trisolve.ic0(sp.csr_array(A @ A.conj().T))):
        LU = sp.csc_array(M.L @ M.U)[M.perm_r][:, M.perm_c]
        for b in (values(rng, 50, dtype), values(rng, (50, 2), dtype), values(rng, 50, "c16")):
            x = M.H @ b
            assert abs(LU.conj().T @ x - b).max() <= 1e-9 * (sla.norm(LU) * abs(x).max())
    M = trisolve.ilu0(A)
    before = M.H @ np.ones(50)
    np.testing.assert_allclose(M.update(A * 2).H @ np.ones(50), before / 2, rtol=1e-10)


def convection(k, wind):
    """-Laplace u + wind u_x on a grid of k^3 points."""
    second = sp.diags([-1.0, 2, -1], [-1, 0, 1], shape=(k, k))
    first = second + wind * sp.diags([-1.0, 1], [-1, 1], shape=(k, k))
    one = sp.eye(k)
    return sp.csc_matrix(sp.kron(sp.kron(first, one), one) + sp.kron(sp.kron(one, second), one)
                         + sp.kron(sp.kron(one, one), second))


def iterations(A, M):
    steps = []
    inverse = sla.LinearOperator(A.shape, lambda b: M.solve(b))
    sla.gmres(A, np.ones(A.shape[0]), M=inverse, restart=50, maxiter=10, callback=steps.append,
              callback_type="pr_norm")
    return len(steps)


@pytest.mark.parametrize("wind", [0.0, 0.8])
@pytest.mark.parametrize("drop_tol, fill_factor", [(1e-1, 10), (1e-2, 10), (1e-4, 10), (1e-4, 2)])
def test_spilu_is_as_good_as_that_of_scipy(wind, drop_tol, fill_factor):
    """With at most as many entries or iterations, and at most a fifth and two more of the others."""
    A = convection(12, wind)
    ours, theirs = (f(A, drop_tol=drop_tol, fill_factor=fill_factor) for f in (trisolve.spilu, sla.spilu))
    entries = (ours.nnz, theirs.L.nnz + theirs.U.nnz)
    steps = (iterations(A, ours), iterations(A, theirs))
    print(entries, steps)
    assert entries[0] <= fill_factor * A.nnz + A.shape[0]
    assert entries[0] <= 1.2 * entries[1] and steps[0] <= 1.2 * steps[1] + 2


def test_levels_and_pivots_of_spilu(rng):
    A = convection(6, 0.0)
    assert trisolve.spilu(A, level=2).nnz == trisolve.ilu0(A, level=2, ordering="rcm").nnz
    full = trisolve.spilu(A, drop_tol=0, fill_factor=1e9)
    np.testing.assert_allclose(A @ full.solve(np.ones(216)), 1, rtol=1e-12)
    with pytest.raises(RuntimeError, match="Factor is exactly singular"):
        trisolve.spilu(sp.csc_array((3, 3)))
    with pytest.raises(ValueError):
        trisolve.spilu(A, permc_spec="amd")


def test_reprs(rng):
    T = random_triangle(rng, 10, "f8")
    assert repr(trisolve.Plan(T, solver="cpu-serial")) == (
        f"<trisolve.Plan: 10 x 10 lower triangle of float64, {T.nnz} entries, {trisolve.Plan(T).info.levels} levels, "
        "cpu-serial>")
    lu = trisolve.splu(sp.csc_array(np.eye(3)), method="klu")
    assert repr(lu) == ("<trisolve.Factors: 3 x 3 of float64, by KLU, ordering AMD, 6 entries, 1 and 1 levels>")
    assert "imported" in repr(copy.copy(lu)) and "0 x 0" in repr(trisolve.splu(sp.csc_array((0, 0))))


@pytest.mark.parametrize("ops, pictures", [("N", 2), ("T", 0)])
def test_html_of_notebooks(rng, ops, pictures):
    A = matrix(rng, "f8")
    lu = trisolve.splu(A, ops=ops)
    root = ElementTree.fromstring(lu._repr_html_())
    found = [svg.attrib["aria-label"] for svg in root.iter("svg")]
    assert len(found) == pictures and lu.info.l.solver in [b.text for b in root.iter("b")]
    if pictures:
        assert f"{lu.info.u.levels} levels, at most {lu.info.u.widest} rows" in found[1]
    T = sp.csr_array(np.eye(500) + np.eye(500, k=-1))
    bars = list(ElementTree.fromstring(trisolve.Plan(T)._repr_html_()).iter("rect"))
    assert len(bars) == 100 and {bar.attrib["height"] for bar in bars} == {"60.0"}
    for solver in (trisolve.Plan(np.eye(3), lower=None), trisolve.splu(sp.csc_array((0, 0)))):
        ElementTree.fromstring(solver._repr_html_())


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_solves_with_the_factors_of_its_parent(rng):
    A = matrix(rng, "f8")
    solvers = trisolve.splu(A), trisolve.ilu0(A), trisolve.Plan(random_triangle(rng, 50, "f8"))
    expected = [lu.solve(np.ones(50)) for lu in solvers]
    context = multiprocessing.get_context("fork")
    ends = context.Pipe(duplex=False)
    child = context.Process(target=lambda: ends[1].send([lu.solve(np.ones(50)) for lu in solvers]))
    child.start()
    assert ends[0].poll(60)
    for x, y in zip(ends[0].recv(), expected):
        np.testing.assert_allclose(x, y, rtol=1e-12)
    child.join()
