"""Plan: ops, formats, types, layouts, updates, files, threads, errors."""

import gc
import multiprocessing
import threading

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from conftest import backward_error, eps, random_triangle, values

import trisolve

DTYPES = ["f4", "f8", "c8", "c16"]
OPERATORS = {"N": lambda A: A, "T": lambda A: A.T, "H": lambda A: A.conj().T}


def formats(T):
    """The same triangle in all that a plan takes."""
    yield from (T.asformat(name) for name in ("csr", "csc"))
    yield sp.bsr_array(T, blocksize=(4, 4))
    yield np.asarray(T.toarray(), order="C")
    yield np.asarray(T.toarray(), order="F")
    wide = T.copy()
    wide.indices, wide.indptr = T.indices.astype("i8"), T.indptr.astype("i8")
    yield wide


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [True, False])
def test_all_formats_and_ops_as_lapack(rng, dtype, lower):
    T = random_triangle(rng, 40, dtype, lower=lower)
    B = values(rng, (40, 3), dtype)
    for A in formats(T):
        plan = trisolve.Plan(A, lower, ops="NTH")
        for op, apply in OPERATORS.items():
            expected = scipy.linalg.solve_triangular(T.toarray(), B, lower=lower, trans="NTH".index(op))
            np.testing.assert_allclose(plan.solve(B, op), expected, rtol=0, atol=300 * eps(dtype) * abs(expected).max())
            assert backward_error(apply(T), plan.solve(B[:, 0], op), B[:, 0]) < 60 * eps(dtype)


def test_layouts_and_out(rng):
    plan = trisolve.Plan(random_triangle(rng, 30, "f8"))
    big = rng.uniform(size=(60, 10))
    expected = plan.solve(np.ascontiguousarray(big[:30, :4]))
    for b in (big[:30, :4], np.asfortranarray(big)[:30, :4], np.asfortranarray(big[:30, :4])):
        np.testing.assert_array_equal(plan.solve(b), expected)
        for order in "CF":
            out = np.zeros((30, 4), order=order)
            assert plan.solve(b, out=out) is out
            np.testing.assert_array_equal(out, expected)
    assert plan.solve(np.asfortranarray(big[:30, :4])).flags.f_contiguous
    column = big[:30, 1]  # with a stride
    np.testing.assert_array_equal(plan.solve(column), plan.solve(column.copy()))
    reverse = big[:30, 1][::-1]
    np.testing.assert_array_equal(plan.solve(reverse), plan.solve(reverse.copy()))
    np.testing.assert_array_equal(plan.solve(reverse, out=np.zeros(30)), plan.solve(reverse.copy()))
    np.testing.assert_array_equal(plan.solve(np.broadcast_to(big[:30, :1], (30, 3))), plan.solve(big[:30, [0, 0, 0]]))
    assert plan.solve(np.ones((30, 0))).shape == (30, 0)
    in_place, shifted = big[:30, 0].copy(), rng.uniform(size=40)
    expected = plan.solve(in_place)
    assert plan.solve(in_place, out=in_place) is in_place
    np.testing.assert_array_equal(in_place, expected)
    expected = plan.solve(shifted[5:35].copy())
    np.testing.assert_array_equal(plan.solve(shifted[5:35], out=shifted[:30]), expected)


def test_update_takes_new_values_and_refuses_other_patterns(rng):
    T = random_triangle(rng, 30, "f8")
    plan, b = trisolve.Plan(T, ops="NT"), rng.uniform(size=30)
    T2 = T.copy()
    T2.data = T2.data * rng.uniform(1, 2, T.nnz)
    x = plan.update(T2).solve(b)
    assert backward_error(T2, x, b) < 60 * eps("f8")
    assert backward_error(T2.T, plan.solve(b, "T"), b) < 60 * eps("f8")
    moved = T2.copy()
    moved.indices = moved.indices[::-1].copy()
    for other in (moved, T2.astype("f4")[:20, :20], T2.tocsc(), sp.csr_array(np.eye(30))):
        with pytest.raises(ValueError):
            plan.update(other)
    with pytest.raises(TypeError):
        plan.update(T2.astype("c16"))
    singular = T2.copy()
    singular.data = np.zeros(T.nnz)
    with pytest.raises(trisolve.PivotError, match="row 0"):
        plan.update(singular)
    with pytest.raises(trisolve.StateError):
        plan.solve(b)
    np.testing.assert_array_equal(plan.update(T2).solve(b), x)


def test_save_and_load(rng, tmp_path):
    T, b = random_triangle(rng, 30, "f8"), rng.uniform(size=30)
    plan = trisolve.Plan(T)
    try:
        plan.save(tmp_path / "plan")
    except trisolve.UnsupportedError as error:
        pytest.skip(str(error))
    again = trisolve.Plan.load(tmp_path / "plan", T)
    assert again.info.analysis == "from a saved plan"
    np.testing.assert_array_equal(again.solve(b), plan.solve(b))
    with pytest.raises(trisolve.MatrixError):
        trisolve.Plan.load(tmp_path / "plan", random_triangle(rng, 31, "f8"))
    with pytest.raises(OSError):
        trisolve.Plan.load(tmp_path / "nowhere", T)
    (tmp_path / "plan").write_bytes((tmp_path / "plan").read_bytes()[:50])
    with pytest.raises(trisolve.FormatError):
        trisolve.Plan.load(tmp_path / "plan", T)


def test_levels_are_a_topological_order(rng):
    T = random_triangle(rng, 50, "f8")
    plan = trisolve.Plan(T)
    rows, starts = plan.levels()
    level = np.empty(50, int)
    for k, (a, b) in enumerate(zip(starts, starts[1:])):
        level[rows[a:b]] = k
    L = sp.tril(T, -1).tocoo()
    assert sorted(rows) == list(range(50)) and (level[L.row] > level[L.col]).all()
    assert plan.info.levels == len(starts) - 1 and plan.info.nnz == T.nnz and plan.info.reason


def test_pivots(rng):
    T = sp.csr_array(np.array([[1.0, 0, 0], [2, 0, 0], [0, 0, 4]]))
    with pytest.raises(trisolve.PivotError) as caught:
        trisolve.Plan(T)
    assert isinstance(caught.value, np.linalg.LinAlgError) and caught.value.status == -6
    assert "row 1" in str(caught.value)
    skipped = trisolve.Plan(T, pivot="skip")
    assert skipped.pivots() == (1, 1)
    np.testing.assert_array_equal(skipped.solve([1.0, 7, 8]), [1, 0, 2])
    np.testing.assert_array_equal(trisolve.Plan(T, pivot="replace", pivot_value=5.0).solve([1.0, 7, 8]), [1, 1, 2])
    skipped.update(sp.csr_array((np.array([0.0, 2, 4]), T.indices, T.indptr), shape=T.shape))
    np.testing.assert_array_equal(skipped.solve([1.0, 7, 8]), [0, 0, 2])


def test_permuted_and_general(rng):
    T, b = random_triangle(rng, 30, "f8"), rng.uniform(size=30)
    A = T[rng.permutation(30)][:, rng.permutation(30)]
    assert backward_error(A, trisolve.Plan(A, permuted=True).solve(b), b) < 60 * eps("f8")
    G = rng.uniform(size=(30, 30)) + 9 * np.eye(30)
    try:
        np.testing.assert_allclose(trisolve.Plan(G, lower=None).solve(b), np.linalg.solve(G, b), rtol=1e-12)
    except trisolve.UnsupportedError as error:
        pytest.skip(str(error))


def test_threads_share_a_plan(rng):
    T = random_triangle(rng, 2000, "f8", density=0.005)
    for solver in (None, "cpu-level"):
        plan = trisolve.Plan(T, ops="NT", solver=solver)
        B = [rng.uniform(size=(2000, k % 3 + 1)) for k in range(8)]
        expected = [plan.solve(b, op) for b in B for op in "NT"]
        wrong = []

        def work(k):
            for _ in range(50):
                for m, op in enumerate("NT"):
                    if not np.array_equal(plan.solve(B[k], op), expected[2 * k + m]):
                        wrong.append(k)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for action in (threading.Thread.start, threading.Thread.join):
            for thread in threads:
                action(thread)
        assert not wrong


def test_a_plan_grows(rng):
    T = random_triangle(rng, 2000, "f8")
    b = values(rng, 2000, "f8")
    plan = trisolve.Plan(T, ops="NT")
    last = plan.info.grows_at
    assert last > 1 and plan.info.solver == "cpu-serial"
    for count in range(1, last):
        plan.solve(b)
        assert plan.info.solves == count
    plan.solve(b)
    plan.solve(b, "T")
    assert "; after " in plan.info.reason and plan.info.grows_at == last  # for T
    for _ in range(last):
        assert backward_error(T.T, plan.solve(b, "T"), b) < 60 * eps("f8")
    assert plan.info.grows_at == 0
    assert backward_error(T, plan.update(2 * T).solve(b) * 2, b) < 60 * eps("f8")
    assert trisolve.Plan(T, solves=1).info.grows_at == 0
    assert trisolve.Plan(T, solves=trisolve.MANY).info.grows_at == 0
    assert trisolve.Plan(T).tune().info.grows_at == 0
    with pytest.raises(trisolve.ArgumentError):
        trisolve.Plan(T, solves=-1)


def test_threads_share_a_plan_that_grows(rng):
    T = random_triangle(rng, 2000, "f8")
    b = values(rng, 2000, "f8")
    plan, errors = trisolve.Plan(T), []

    def many():
        errors.extend(backward_error(T, plan.solve(b), b) for _ in range(50))

    threads = [threading.Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 200 and max(errors) < 60 * eps("f8")
    assert plan.info.grows_at == 0


def _in_a_child(T, b, path):
    trisolve.mmwrite(path, T)
    return trisolve.Plan(T, solver="cpu-supernodal", threads=4).solve(b) + 0 * trisolve.mmread(path).diagonal()


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_fork_after_threads(rng, tmp_path):
    """The child of a process that has had threads does not wait for those that it has not inherited."""
    n = 60_000
    T = sp.csr_array(sp.diags([np.full(n - abs(k), 20.0 if k == 0 else rng.uniform()) for k in range(0, -12, -1)],
                              offsets=list(range(0, -12, -1))))
    b = rng.uniform(size=n)
    expected = _in_a_child(T, b, tmp_path / "parent.mtx")
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = [pool.apply_async(_in_a_child, (T, b, tmp_path / f"{k}.mtx")) for k in range(2)]
        for x in found:
            np.testing.assert_array_equal(x.get(timeout=120), expected)


def test_bad_arguments_are_exceptions(rng):
    T = random_triangle(rng, 10, "f8")
    plan = trisolve.Plan(T)
    b = np.ones(10)
    for arguments in ([np.ones(9)], [np.ones((10, 1, 1))], [b, "X"], [b, 1], [b, "N", np.ones(9)],
                      [b, "N", np.ones(10, "f4")], [b, "N", [0.0] * 10], [b, "N", np.ones(20)[::-2]]):
        with pytest.raises(ValueError):
            plan.solve(*arguments)
    for A, options in ((T, {"ops": "X"}), (T, {"pivot": "hope"}), (T, {"nrhs": -1}), (T, {"nrhs": 2**40}),
                       (T, {"threads": 10**6}), (T[:5], {}), (np.ones(3), {})):
        with pytest.raises(ValueError):
            trisolve.Plan(A, **options)
    read_only = np.ones(10)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        plan.solve(np.ones(10), out=read_only)
    with pytest.raises(TypeError):
        plan.solve(np.ones(10) * 1j)
    with pytest.raises(trisolve.StateError):
        plan.solve(np.ones(10), "T")
    with pytest.raises(trisolve.UnsupportedError, match="nothing-such"):
        trisolve.Plan(T, solver="nothing-such")
    with pytest.raises(trisolve.MatrixError):
        trisolve.Plan(sp.csr_array(np.ones((3, 3))), strict=True)
    with pytest.raises(MemoryError):
        trisolve.Plan(T, solver="cpu-dense", memory_limit=10)


def test_damaged_matrices_are_refused(rng):
    T = random_triangle(rng, 10, "f8")
    for member, bad in (("indices", T.indices + 5), ("indices", T.indices - 3), ("indices", T.indices[:-2]),
                        ("data", T.data[:-2]), ("indptr", T.indptr[:-2]), ("indptr", T.indptr[::-1].copy()),
                        ("indptr", T.indptr * 0 - 4)):
        A = T.copy()
        setattr(A, member, bad)
        with pytest.raises(ValueError):
            trisolve.Plan(A)


@pytest.mark.parametrize("n", [0, 1])
def test_smallest(n):
    A = sp.csr_array(2 * np.eye(n))
    assert trisolve.Plan(A).solve(np.ones(n)).tolist() == [0.5] * n
    assert trisolve.Plan(A).solve(np.ones((n, 2))).shape == (n, 2)


def test_memory_is_given_back(rng):
    T = random_triangle(rng, 3000, "f8", density=0.01)

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    def use():
        for _ in range(40):
            trisolve.Plan(T, ops="NT").solve(np.ones((3000, 8)))
        gc.collect()

    use()
    before = resident()
    use()
    assert resident() - before < 20e6  # one plan is 2 MB or so


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("trans", "NTH")
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_batches(rng, dtype, trans, form):
    T = random_triangle(rng, 30, dtype).asformat(form)
    plan = trisolve.Plan(T, ops="NTH")
    many = (T.data * rng.uniform(0.5, 2, (4, 1))).astype(dtype)
    for V in (many, many[0]):
        for shape in ((4, 30), (4, 30, 3), (30,)):
            b = values(rng, shape, dtype)
            x = plan.solve_batch(V, b, trans)
            assert x.shape == (((4, 30) if V.ndim == 2 else (1, 30)) if len(shape) == 1 else shape)
            for k in range(len(x)):
                A = T.copy()
                A.data = V[k] if V.ndim == 2 else V
                A = {"N": A, "T": A.T, "H": A.conj().T}[trans]
                assert backward_error(A, x[k], b if len(shape) == 1 else b[k]) < 60 * eps(dtype)
    b = values(rng, (4, 30), dtype)
    assert plan.solve_batch(many, b, out=b) is b
    for arguments in ((many[:, 1:], b), (many, b[:, 1:]), (many[:3], b), (many, b, "N", b[:, ::-1]), (many, b, "Q")):
        with pytest.raises(ValueError):
            plan.solve_batch(*arguments)
    with pytest.raises(trisolve.PivotError):
        plan.solve_batch(0 * many, b)
