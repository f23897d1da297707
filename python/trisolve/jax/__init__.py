"""Sparse solves in JAX programs, on the CPU and on CUDA devices: under jit, grad, vjp, jvp and vmap.

>>> import jax, jax.numpy as jnp, scipy.sparse as sp
>>> import trisolve.jax
>>> A = sp.diags([-1.0, 4.0, -2.0], [-1, 0, 1], shape=(100, 100), format="csr")
>>> solver = trisolve.jax.Solver(A)
>>> def energy(values, b):
...     return jnp.sum(solver(values, b) ** 2)
>>> gradient = jax.jit(jax.grad(energy))(jnp.asarray(A.data), jnp.ones(100))
>>> gradient.shape
(298,)

A derivative uses the factors of the solve: with lambda = A^-T g, that of b is lambda, and that of the value at (i, j)
is -lambda(i) x(j).  The library works on XLA's buffers, on a CUDA device in the order of XLA's stream, where it needs
CuPy: only the values are copied, once for each factorization.  A singular matrix gives NaN.
"""

from __future__ import annotations

from typing import Any, Callable, Literal

import numpy as np
from scipy.sparse import csr_array

import jax
import jax.numpy as jnp

from . import _cuda, _xla
from .._patterns import Home, Triangle, run

OPS = ("N", "T")
TARGETS = {"cpu": _xla.target(run), "CUDA": _xla.target(run, _cuda.over, _cuda.on)}
for platform, (capsule, _) in TARGETS.items():
    jax.ffi.register_ffi_target("trisolve_solve", capsule, platform=platform)


def call(home: Home, op: int, values: Any, b: Any, pattern: tuple[Any, ...]) -> Any:
    function = jax.ffi.ffi_call("trisolve_solve", jax.ShapeDtypeStruct(b.shape, b.dtype), vmap_method="expand_dims")
    return function(values, b, *pattern, home=np.int64(home.number), op=np.int64(op), rank=np.int64(b.ndim))


def products(home: Home, values: Any, indices: Any, indptr: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The functions x -> A x and x -> A^T x."""
    triangle, unit, *_ = home.settings
    n = indptr.shape[0] - 1
    xp = jnp if isinstance(indptr, jax.core.Tracer) else np  # XLA would take minutes to fold the constants
    rows = xp.repeat(xp.arange(n), xp.diff(indptr), **({"total_repeat_length": indices.shape[0]} if xp is jnp else {}))
    entries = values
    if triangle:
        inside = (rows > indices if unit else rows >= indices) if triangle == "lower" else (
            rows < indices if unit else rows <= indices)
        entries = jnp.where(inside, values, 0)

    def product(to: Any, of: Any, x: Any) -> Any:
        terms = (entries[:, None] if x.ndim == 2 else entries) * x[of]
        return jax.ops.segment_sum(terms, to, n) + (x if triangle and unit else 0)

    return lambda x: product(rows, indices, x), lambda x: product(indices, rows, x)


def linear_solve(home: Home, values: Any, indices: Any, indptr: Any, b: Any, trans: str,
                 pattern: tuple[Any, ...]) -> Any:
    """x = op(A)^-1 b, whose derivatives are those of the product op(A) x."""
    if trans not in OPS:
        raise ValueError(f"trans must be one of N, T, not {trans!r}")
    n = indptr.shape[0] - 1
    if values.shape != indices.shape:
        raise ValueError(f"{values.shape} values, where the pattern has {indices.shape}")
    if b.ndim not in (1, 2) or b.shape[0] != n:
        raise ValueError(f"b has shape {b.shape}, and the matrix {n} rows")
    dtype = jnp.promote_types(jnp.promote_types(values.dtype, b.dtype), jnp.float32)
    values, b = values.astype(dtype), b.astype(dtype)
    k = OPS.index(trans)
    return jax.lax.custom_linear_solve(products(home, values, indices, indptr)[k], b,
                                       lambda _, b: call(home, k, values, b, pattern),
                                       lambda _, b: call(home, 1 - k, values, b, pattern))


class Solver:
    """Solves with matrices of one pattern; a factorization serves all solves and derivatives with its values.

    Parameters
    ----------
    A : sparse matrix or array, shape (n, n)
        Its pattern, in CSR, or converted to it; and its values, for calls without others.
    triangle : {None, 'lower', 'upper'}
        None: complete factors (UMFPACK, CHOLMOD or KLU).  Else A is this triangle, and other entries are ignored.
    unit_diagonal : bool
        Of a triangle: its diagonal counts as 1.
    keep : int
        For how many different values at a time factors are kept.
    **options
        Of splu or Plan.

    Examples
    --------
    >>> import jax, jax.numpy as jnp, scipy.sparse as sp
    >>> from trisolve.jax import Solver
    >>> solver = Solver(sp.csr_array([[2.0, 1], [0, 4]]))
    >>> solver(jnp.array([2.0, 1, 8]), jnp.array([3.0, 8])).tolist()
    [1.0, 1.0]
    >>> jax.jacobian(solver, argnums=1)(jnp.array([2.0, 1, 8]), jnp.array([3.0, 8])).tolist()
    [[0.5, -0.0625], [0.0, 0.125]]
    """

    def __init__(self, A: Any, triangle: Triangle | None = None, unit_diagonal: bool = False, *, keep: int = 2,
                 **options: Any):
        A = A.tocsr() if hasattr(A, "tocsr") else csr_array(A)
        if A.shape[0] != A.shape[1]:
            raise ValueError(f"matrix must be square (has shape {A.shape})")
        self.indices, self.indptr, self.values = A.indices.copy(), A.indptr.copy(), A.data.copy()
        self._home = Home(triangle, unit_diagonal, keep, options, (self.indices, self.indptr))

    def __call__(self, values: Any, b: Any, trans: Literal["N", "T"] = "N") -> Any:
        """Solve op(A) x = b, with these values of the entries, in the order of the pattern.

        b has shape (n,) or (n, k).  The type of x is the one of both, at least single precision.
        """
        return linear_solve(self._home, jnp.asarray(values), self.indices, self.indptr, jnp.asarray(b), trans, ())

    def solve(self, b: Any, trans: Literal["N", "T"] = "N") -> Any:
        """The same with the values of A."""
        return self(self.values, b, trans)


HOMES = {(triangle, unit): Home(triangle, unit, 2, {})  # type: ignore[arg-type]
         for triangle in (None, "lower", "upper") for unit in (False, True)}


def spsolve(data: Any, indices: Any, indptr: Any, b: Any, trans: Literal["N", "T"] = "N") -> Any:
    """Solve A x = b with a sparse matrix in CSR, as jax.experimental.sparse.linalg.spsolve does.

    Its pattern is looked up in each call; Solver has one of its own.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from trisolve.jax import spsolve
    >>> pattern = jnp.array([0, 1, 1]), jnp.array([0, 2, 3])
    >>> jax.jit(spsolve)(jnp.array([2.0, 1, 4]), *pattern, jnp.array([3.0, 4])).tolist()
    [1.0, 1.0]
    """
    arrays = tuple(map(jnp.asarray, (indices, indptr)))
    return linear_solve(HOMES[None, False], jnp.asarray(data), *arrays, jnp.asarray(b), trans, arrays)


def triangular_solve(data: Any, indices: Any, indptr: Any, b: Any, lower: bool = True, unit_diagonal: bool = False,
                     trans: Literal["N", "T"] = "N") -> Any:
    """Solve with a triangle of a sparse matrix in CSR; entries of the other triangle are ignored.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from trisolve.jax import triangular_solve
    >>> pattern = jnp.array([0, 0, 1]), jnp.array([0, 1, 3])
    >>> triangular_solve(jnp.array([2.0, 1, 4]), *pattern, jnp.array([2.0, 5])).tolist()
    [1.0, 1.0]
    """
    arrays = tuple(map(jnp.asarray, (indices, indptr)))
    home = HOMES["lower" if lower else "upper", bool(unit_diagonal)]
    return linear_solve(home, jnp.asarray(data), *arrays, jnp.asarray(b), trans, arrays)
