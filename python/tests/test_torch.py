"""trisolve.torch against dense solves of PyTorch: values, gradients of first and second order, batches, compilation."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import needs_suitesparse, random_triangle

import trisolve

torch = pytest.importorskip("torch")
if not hasattr(getattr(torch, "library", None), "register_vmap"):
    pytest.skip("PyTorch is older than 2.5", allow_module_level=True)
tt = pytest.importorskip("trisolve.torch")
pytestmark = [needs_suitesparse, pytest.mark.filterwarnings("ignore:Sparse")]
N = 12
GPU = torch.cuda.is_available() and any(s.needs == "cuda" and s.available for s in trisolve.solvers())
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not GPU, reason="needs a GPU and a build with CUDA"))]
pytestmark.append(pytest.mark.parametrize("device", DEVICES))
OPS = {"N": lambda M: M, "T": lambda M: M.mT, "H": lambda M: M.mH}
TRIANGLES = {None: lambda M: M, "lower": torch.tril, "upper": torch.triu}


def matrix(rng, dtype, device):
    """A matrix of SciPy, and its values."""
    A = sp.csr_array(random_triangle(rng, N, dtype, 0.3) + random_triangle(rng, N, dtype, 0.3, lower=False))
    A.sort_indices()
    return A, torch.tensor(A.data, device=device)


def order_of(A, layout):
    """Rows, and the order in which a tensor has the values of A."""
    rows = np.repeat(np.arange(N), np.diff(A.indptr))
    if layout == "coo":
        return rows, np.random.default_rng(1).permutation(len(rows))
    return rows, np.lexsort((rows, A.indices)) if layout == "csc" else np.arange(len(rows))


def made(A, values, layout="csr"):
    """A tensor with the pattern of A; values are in the order of CSR."""
    rows, order = order_of(A, layout)
    if layout == "coo":
        indices = torch.tensor(np.stack([rows, A.indices])[:, order], device=values.device)
        return torch.sparse_coo_tensor(indices, values[order], (N, N))
    major, minor = (A.indices, rows) if layout == "csc" else (rows, A.indices)
    ptr, idx = (torch.tensor(a, device=values.device).expand(*values.shape[:-1], -1)
                for a in (np.searchsorted(major[order], np.arange(N + 1)), minor[order].astype("i8")))
    return torch.sparse_compressed_tensor(ptr, idx, values[..., order], (*values.shape[:-1], N, N),
                                          layout=getattr(torch, "sparse_" + layout))


def dense(A, values, triangle=None, unit=False):
    rows = torch.tensor(np.repeat(np.arange(N), np.diff(A.indptr)), device=values.device)
    place = rows * N + torch.tensor(A.indices, device=values.device)
    M = values.new_zeros(*values.shape[:-1], N * N).index_add(-1, place.long(), values).unflatten(-1, (N, N))
    M = TRIANGLES[triangle](M)
    return M - torch.diag_embed(M.diagonal(dim1=-2, dim2=-1)) + torch.eye(N, device=M.device) if unit else M


def random(rng, shape, dtype, device):
    z = rng.uniform(-1, 1, shape) + (1j * rng.uniform(-1, 1, shape) if np.dtype(dtype).kind == "c" else 0)
    return torch.tensor(z.astype(dtype), device=device)


def close(x, y, tolerance=1e-9):
    torch.testing.assert_close(x.resolve_conj(), y, rtol=tolerance, atol=tolerance * float(abs(y.detach()).max()))


@pytest.mark.parametrize("triangle, unit", [(None, False), ("lower", False), ("upper", True), ("lower", True)])
@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
@pytest.mark.parametrize("trans, dtype", [("N", "f8"), ("T", "c16"), ("H", "c16"), ("N", "c16")])
def test_gradients(rng, device, triangle, unit, layout, trans, dtype):
    A, values = matrix(rng, dtype, device)

    def ours(values, b):
        if dtype == "c16" and layout != "coo":  # PyTorch does not differentiate through what makes them
            solver = tt.Solver(made(A, values.detach(), layout), triangle, unit)
            return solver(values[order_of(A, layout)[1]], b, trans)
        M = made(A, values, layout)
        if triangle:
            return tt.triangular_solve(M, b, triangle == "lower", unit, trans)
        return tt.spsolve(M, b, trans)

    for shape in ((N,), (N, 2)):
        b = random(rng, shape, dtype, device)
        x = torch.linalg.solve(OPS[trans](dense(A, values, triangle, unit)), b)
        close(ours(values, b), x)
        inputs = values.clone().requires_grad_(), b.requires_grad_()
        assert torch.autograd.gradcheck(ours, inputs, fast_mode=True)
        cotangent = random(rng, shape, dtype, device)
        ours(*inputs).backward(cotangent)
        found = [t.grad for t in inputs]
        want = torch.autograd.grad(torch.linalg.solve(OPS[trans](dense(A, inputs[0], triangle, unit)), inputs[1]),
                                   inputs, cotangent)
        for ours_, theirs in zip(found, want):
            close(ours_, theirs)


@pytest.mark.parametrize("trans, dtype, triangle", [("N", "f8", None), ("T", "c16", None), ("H", "c16", "upper")])
def test_second_gradients(rng, device, trans, dtype, triangle):
    A, values = matrix(rng, dtype, device)
    solver = tt.Solver(A if device == "cpu" else made(A, values), triangle)
    inputs = values.requires_grad_(), random(rng, (N, 2), dtype, device).requires_grad_()
    nondeterministic = 0.0 if device == "cpu" else 1e-10  # PyTorch adds what belongs to one row in any order
    assert torch.autograd.gradgradcheck(lambda v, b: solver(v, b, trans), inputs, fast_mode=True,
                                        nondet_tol=nondeterministic)


@pytest.mark.parametrize("trans", "NTH")
@pytest.mark.parametrize("triangle", [None, "lower"])
@pytest.mark.parametrize("shape, batch", [((N,), (3,)), ((3, N), (3,)), ((3, N, 2), (3,)), ((2, 3, N, 2), (2, 3)),
                                          ((2, 3, N, 2), ())])
def test_batches(rng, device, trans, triangle, shape, batch):
    A, values = matrix(rng, "c16", device)
    solver = tt.Solver(made(A, values), triangle)
    values = (values * torch.tensor(rng.uniform(0.9, 1.1, (*batch, 1)), device=device)).requires_grad_()
    b = random(rng, shape, "c16", device).requires_grad_()
    vectors = len(shape) in (1, len(batch) + 1)
    right = b[..., None] if vectors else b
    x = torch.linalg.solve(OPS[trans](dense(A, values, triangle)), right)
    x = x[..., 0] if vectors else x
    close(solver(values, b, trans), x)
    assert torch.autograd.gradcheck(lambda v, b: solver(v, b, trans), (values, b), fast_mode=True)
    if batch and triangle is None:
        close(tt.spsolve(made(A, values.detach()), b, trans), x)


def test_vmap(rng, device):
    A, values = matrix(rng, "f8", device)
    solver = tt.Solver(made(A, values))
    several = values * torch.tensor(rng.uniform(0.9, 1.1, (3, 1)), device=device)
    b = random(rng, (3, N), "f8", device)
    for dims, arguments in (((0, 0), (several, b)), ((0, None), (several, b[0])), ((None, 0), (values, b)),
                            ((None, 1), (values, b.T))):
        close(torch.func.vmap(solver, dims)(*arguments),
              torch.func.vmap(lambda v, b: torch.linalg.solve(dense(A, v), b), dims)(*arguments))
    found, want = (torch.func.vmap(torch.func.grad(lambda v, b, f=f: (f(v, b) ** 2).sum()))(several, b)
                   for f in (solver, lambda v, b: torch.linalg.solve(dense(A, v), b)))
    close(found, want)


def test_a_gradient_factors_once(rng, device, monkeypatch):
    A, values = matrix(rng, "f8", device)
    b, calls = torch.ones(N, dtype=torch.float64, device=device), []
    splu, update, batched = trisolve.splu, trisolve.Factors.update, trisolve.BatchLU.update
    monkeypatch.setattr("trisolve._patterns.splu", lambda *a, **k: calls.append("new") or splu(*a, **k))
    monkeypatch.setattr(trisolve.Factors, "update", lambda *a, **k: calls.append("update") or update(*a, **k))
    monkeypatch.setattr(trisolve.BatchLU, "update", lambda *a, **k: calls.append("batch") or batched(*a, **k))
    solver = tt.Solver(made(A, values), keep=1)
    for k in range(3):
        v = (values * (1 + k)).requires_grad_()
        solver(v, b).sum().backward()
        solver(v, 2 * b).sum().backward()
    assert calls == ["new", "update", "update"]
    calls.clear()
    batch = (values * torch.tensor([[1.0], [2]], device=device)).requires_grad_()
    solver(batch, b).sum().backward()
    assert calls == ["new", "batch"]
    calls.clear()
    values.requires_grad_()
    fixed = solver.factor(values)
    monkeypatch.setattr("trisolve._patterns.same", None)  # nothing is compared
    fixed.solve(b).sum().backward()
    want, = torch.autograd.grad(torch.linalg.solve(dense(A, values), b).sum(), values)
    close(values.grad, want)
    assert calls == ["new"]
    with pytest.raises(trisolve.PivotError):
        solver.factor(0 * values)


def test_compiled_in_one_graph(rng, device):
    A, values = matrix(rng, "f8", device)
    solver, b = tt.Solver(made(A, values)), torch.ones(N, dtype=torch.float64, device=device)

    def energy(v, b):
        return (solver(v, b) ** 2).sum() + (solver(v, 2 * b, "T") ** 2).sum()

    grads = []
    for f in (energy, torch.compile(energy, fullgraph=True, backend="aot_eager")):
        v = values.clone().requires_grad_()
        f(v, b).backward()
        grads.append(v.grad)
    close(*grads)
    torch.library.opcheck(tt.operator, (values, b, *solver._pattern, solver._home.number, 0, 1))


def test_streams(rng, device):
    if device == "cpu":
        pytest.skip("of a GPU")
    A, values = matrix(rng, "f8", device)
    solver = tt.Solver(made(A, values)).factor()
    b = torch.ones(N, dtype=torch.float64, device=device)
    expected = torch.linalg.solve(dense(A, values), 2 * b)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(10_000_000)
        x = solver.solve(b * 2)
    stream.synchronize()
    close(x, expected)


def test_types_and_errors(rng, device):
    A, values = matrix(rng, "f8", device)
    solver, b = tt.Solver(made(A, values)), torch.ones(N, device=device)
    assert solver.solve(b).dtype == torch.float64
    assert solver(values.float(), b).dtype == solver(values.float(), b.long()).dtype == torch.float32
    close(solver(values, 1j * b), 1j * solver.solve(b) + 0j)
    close(solver(values, (1j * b).conj()), -1j * solver.solve(b) + 0j)
    assert solver(0 * values, b).isnan().all() and solver(torch.nan * values, b).isnan().all()
    assert solver(values * torch.tensor([[0.0], [1]], device=device), b).isnan().any(1).tolist() == [True, False]
    close(solver.solve(b), torch.linalg.solve(dense(A, values), b.double()))
    for arguments in ((values[1:], b), (values, b[1:]), (values, b, "Q"), (values, b.sum())):
        with pytest.raises(ValueError):
            solver(*arguments)
    with pytest.raises(ValueError, match="square"):
        tt.Solver(A[1:])
    with pytest.raises(TypeError, match="layout"):
        tt.spsolve(dense(A, values), b)
    x = tt.Solver(made(A, values)).solve(b)  # whose solver the graph keeps
    v = values.clone().requires_grad_()
    tt.Solver(made(A, values))(v, b).sum().backward()
    assert v.grad.isfinite().all() and x.isfinite().all()
