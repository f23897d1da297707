#!/usr/bin/env python3
"""compare.py [--device cpu|cuda] [MATRIX.mtx...]: time and accuracy of sparse solves in JAX and PyTorch, as CSV.

Libraries that are not installed, or that fail, are rows with the reason.  `step_ms` is a gradient with new values:
factors, a solve, and an adjoint solve, under jit.  `solve_ms` is a solve with the values of the last call, where the
library can keep their factors.  `error` is the backward error of x, and `gradient_error` the largest error of the
gradient with respect to the values, over the largest entry, beside SciPy's.  Each time is the median of up to 20 calls
with new numbers.
"""

import argparse
import importlib.metadata
import os
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import jax
import jax.numpy as jnp

import trisolve

SECONDS = 4.0  # of the calls of one row, about
CALLS = 22  # at most; two are not counted.  No values come twice, since libraries keep several factors.


def grid(n, d):
    """Convection and diffusion on a grid of n^d points: upwind differences."""
    T = sp.diags([-1.5, 2.6, -1.0], [-1, 0, 1], shape=(n, n))
    A = sum(sp.kron(sp.kron(sp.eye(n**k), T), sp.eye(n ** (d - 1 - k))) for k in range(d))
    return sp.csr_array(A)


class Case:
    def __init__(self, name, A):
        self.name, self.A, self.n = name, sp.csr_array(A).astype(float), A.shape[0]
        self.A.sum_duplicates()
        self.rows = np.repeat(np.arange(self.n), np.diff(self.A.indptr)).astype(np.int32)
        self.cols = self.A.indices.astype(np.int32)
        self.indptr = self.A.indptr.astype(np.int32)
        self.values = self.A.data
        self.b = np.random.default_rng(1).uniform(0.5, 1.5, self.n)
        lu = sla.splu(self.A.tocsc())
        x = lu.solve(self.b)
        x += lu.solve(self.b - self.A @ x)
        adjoint = lu.solve(2 * x, "T")
        self.gradient = -adjoint[self.rows] * x[self.cols]

    def error(self, x):
        x = np.asarray(x)
        return float((abs(self.b - self.A @ x) / (abs(self.A) @ abs(x) + abs(self.b))).max())

    def gradient_error(self, g):
        return float(abs(np.asarray(g) - self.gradient).max() / abs(self.gradient).max())


# ---- the libraries: each function gives solve(values, b), which is differentiable -------------------

def ours_jax(case, device):
    import trisolve.jax
    return trisolve.jax.Solver(case.A)


def jax_spsolve(case, device):
    from jax.experimental.sparse.linalg import spsolve
    cols, indptr = jnp.asarray(case.cols), jnp.asarray(case.indptr)
    return lambda values, b: spsolve(values, cols, indptr, b, tol=0.0)


def klujax(case, device):
    import klujax
    rows, cols = jnp.asarray(case.rows), jnp.asarray(case.cols)
    symbol = klujax.analyze(rows, cols, case.n)
    return lambda values, b: klujax.solve_with_symbol(rows, cols, values, b, symbol)


def sparsax(case, device):
    import sparsax
    return lambda values, b: sparsax.lu_solve(case.rows, case.cols, values, b)


def splineax(case, device):
    import lineax as lx
    import splineax as splx
    from jax.experimental.sparse import BCSR
    cols, indptr = jnp.asarray(case.cols), jnp.asarray(case.indptr)
    solver = splx.CuDSS() if device == "cuda" else splx.KLU()

    def operator(values):
        return splx.BCSRLinearOperator(BCSR((values, cols, indptr), shape=(case.n, case.n), indices_sorted=True,
                                            unique_indices=True))

    state = splx.linear_solve(operator(jnp.asarray(case.values)), jnp.asarray(case.b), solver)[1]
    return lambda values, b: splx.linear_solve(operator(values), b, solver, state=state, throw=False)[0].value


def ours_torch(case, device):
    import torch
    import trisolve.torch
    A = torch.sparse_csr_tensor(*map(torch.tensor, (case.indptr, case.cols, case.values)), size=case.A.shape)
    return trisolve.torch.Solver(A.to(device))


def torch_sla(case, device):
    import torch
    import torch_sla
    rows, cols = (torch.tensor(a, device=device).long() for a in (case.rows, case.cols))
    backend = "cudss" if device == "cuda" else "scipy"
    return lambda values, b: torch_sla.spsolve(values, rows, cols, (case.n, case.n), b, backend=backend, method="lu")


JAX = {"trisolve.jax": ("trisolve", ours_jax), "jax.experimental spsolve": ("jax", jax_spsolve),
       "klujax": ("klujax", klujax), "sparsax": ("sparsax", sparsax), "splineax": ("splineax", splineax)}
TORCH = {"trisolve.torch": ("trisolve", ours_torch), "torch-sla": ("torch-sla", torch_sla)}
CPU_ONLY = {"klujax": "KLU runs on the CPU", "sparsax": "SuiteSparse runs on the CPU"}


# ---- what is measured -----------------------------------------------------------------------------

def with_jax(case, device, make):
    with jax.default_device(jax.devices(device)[0]):
        solve = make(case, device)
        values, b = jnp.asarray(case.values), jnp.asarray(case.b)
        forward = jax.jit(solve)
        step = jax.jit(jax.value_and_grad(lambda v, b: jnp.sum(solve(v, b) ** 2), argnums=(0, 1)))
        x, gradient = forward(values, b), step(values, b)[1][0]
        several = [jax.block_until_ready((values * (1 + 1e-3 * k), b * (1 + 1e-3 * k))) for k in range(CALLS)]
        of_step = median(lambda k: jax.block_until_ready(step(several[k][0], b)))
        jax.block_until_ready(forward(values, b))
        of_solve = median(lambda k: jax.block_until_ready(forward(values, several[k][1])))
    return x, gradient, of_step, of_solve


def with_torch(case, device, make):
    import torch
    solve = make(case, device)
    values, b = (torch.tensor(a, device=device, requires_grad=True) for a in (case.values, case.b))

    def wait():
        if device == "cuda":
            torch.cuda.synchronize()

    def step(values, b):
        result = torch.autograd.grad((solve(values, b) ** 2).sum(), (values, b))
        wait()
        return result

    def forward(values, b):
        with torch.no_grad():
            x = solve(values, b)
        wait()
        return x

    x, gradient = forward(values, b).cpu(), step(values, b)[0].cpu()
    several = [((values * (1 + 1e-3 * k)).detach().requires_grad_(), (b * (1 + 1e-3 * k)).detach()) for k in range(CALLS)]
    of_step = median(lambda k: step(several[k][0], b))
    forward(values, b)
    return x, gradient, of_step, median(lambda k: forward(values, several[k][1]))


def median(call):
    """Milliseconds of a call, after two others."""
    for k in range(2):
        begin = time.perf_counter()
        call(k)
        first = time.perf_counter() - begin
    times = []
    for k in range(max(1, min(CALLS - 2, int(SECONDS / 2 / first)))):
        begin = time.perf_counter()
        call(k + 2)
        times.append(time.perf_counter() - begin)
    return 1e3 * float(np.median(times))


def row(case, device, name, package, make, run):
    try:
        version = trisolve.__version__ if package == "trisolve" else importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return [case.name, case.n, case.A.nnz, device, name, "", "", "", "", "", "not installed"]
    facts = [case.name, case.n, case.A.nnz, device, name, version]
    if device == "cuda" and name in CPU_ONLY:
        return [*facts, "", "", "", "", CPU_ONLY[name]]
    try:
        x, gradient, step, solve = run(case, device, make)
    except Exception as error:  # of another library
        why = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        return [*facts, "", "", "", "", why.replace(",", ";")[:120]]
    return [*facts, f"{step:.4g}", f"{solve:.4g}", f"{case.error(x):.1e}", f"{case.gradient_error(gradient):.1e}", ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--small", action="store_true", help="one small grid only")
    parser.add_argument("--only", help="a library; splineax needs another klujax than that of PyPI")
    parser.add_argument("files", nargs="*")
    chosen = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    cases = [("grid 30^2", grid(30, 2))] if chosen.small else [
        ("grid 100^2", grid(100, 2)), ("grid 200^2", grid(200, 2)), ("grid 25^3", grid(25, 3))]
    cases += [(os.path.basename(file).partition(".")[0], trisolve.mmread(file)) for file in chosen.files]
    print("matrix,n,nnz,device,library,version,step_ms,solve_ms,error,gradient_error,why_not", flush=True)
    for name, A in cases:
        case = Case(name, A)
        for libraries, run in ((JAX, with_jax), (TORCH, with_torch)):
            for library, (package, make) in libraries.items():
                if chosen.only in (None, library):
                    print(*row(case, chosen.device, library, package, make, run), sep=",", flush=True)


if __name__ == "__main__":
    main()
