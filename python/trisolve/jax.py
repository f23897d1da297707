"""Sparse solves in JAX programs, on the CPU: under jit, grad, vjp, jvp and vmap.

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
is -lambda(i) x(j).  Host and program share the buffers: only the values are copied, once for each factorization.  A
singular matrix gives NaN.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

import jax
import jax.numpy as jnp

from . import _xla
from ._factorize import splu
from ._library import MatrixError, PivotError
from ._plan import Plan

Triangle = Literal["lower", "upper"]
OPS: tuple[Literal["N"], Literal["T"]] = ("N", "T")
PATTERNS = 8  # that spsolve and triangular_solve remember for each kind of solve


class Recent:
    """The factors of the last values of a pattern."""

    def __init__(self, indices: NDArray[Any], indptr: NDArray[Any], triangle: Triangle | None, unit_diagonal: bool,
                 keep: int, options: dict[str, Any]):
        self.indices, self.indptr = indices, indptr
        self.triangle, self.unit, self.options = triangle, unit_diagonal, options
        self.keep, self.lock = keep, threading.Lock()
        self.factors: list[tuple[NDArray[Any], Any]] = []

    def make(self, A: csr_array) -> Any:
        if self.triangle:
            return Plan(A, self.triangle == "lower", self.unit, ops="NTH", **self.options)
        return splu(A, ops="NTH", **self.options)

    def of(self, values: NDArray[Any]) -> Any:
        """The factors for these values: those at hand, else an update of the oldest ones."""
        for k, (known, solver) in enumerate(self.factors):
            if known.dtype == values.dtype and np.array_equal(known, values):
                self.factors.append(self.factors.pop(k))
                return solver
        n = len(self.indptr) - 1
        values = values.copy()
        A = csr_array((values, self.indices, self.indptr), shape=(n, n))
        solver = None
        if len(self.factors) >= self.keep:
            known, solver = self.factors.pop(0)
        solver = solver.update(A) if solver and known.dtype == values.dtype else self.make(A)
        self.factors.append((values, solver))
        return solver

    def solve(self, trans: Literal["N", "T"], values: NDArray[Any], b: NDArray[Any], x: NDArray[Any]) -> None:
        try:
            self.of(values).solve(b, trans, out=x)
        except (PivotError, MatrixError) as error:
            if isinstance(error, MatrixError) and np.isfinite(values).all():
                raise
            x[...] = np.nan

    def solve_batch(self, trans: Literal["N", "T"], values: NDArray[Any], b: NDArray[Any], x: NDArray[Any]) -> bool:
        """Solve a batch by the analysis of one triangle; False: they are not triangles, or one is singular."""
        if not self.triangle or not len(values):
            return False
        try:
            self.of(values[0]).solve_batch(values, b, trans, out=x)
        except (PivotError, MatrixError):
            return False
        return True


class Home:
    """What a call in a program refers to, by number: the factors of one pattern, or of several."""

    every: weakref.WeakValueDictionary[int, Home] = weakref.WeakValueDictionary()
    numbers = itertools.count()

    def __init__(self, triangle: Triangle | None, unit_diagonal: bool, keep: int, options: dict[str, Any],
                 pattern: tuple[NDArray[Any], NDArray[Any]] | None = None):
        if triangle not in (None, "lower", "upper"):
            raise ValueError(f"triangle must be 'lower', 'upper' or None, not {triangle!r}")
        self.settings = triangle, unit_diagonal, keep, options
        self.patterns = [] if pattern is None else [Recent(*pattern, *self.settings)]
        self.lock = threading.Lock()
        self.number = next(self.numbers)
        self.every[self.number] = self

    @classmethod
    def of(cls, number: int) -> Home:
        home = cls.every.get(number)
        if home is None:
            raise RuntimeError("the Solver is gone: make it outside of the function that JAX compiles")
        return home

    def find(self, *pattern: NDArray[Any]) -> Recent:
        """The factors of a pattern; without one those of the only pattern."""
        with self.lock:
            if not pattern:
                return self.patterns[0]
            for k, recent in enumerate(self.patterns):
                if np.array_equal(recent.indices, pattern[0]) and np.array_equal(recent.indptr, pattern[1]):
                    self.patterns.append(self.patterns.pop(k))
                    return self.patterns[-1]
            recent = Recent(pattern[0].copy(), pattern[1].copy(), *self.settings)
            self.patterns = [*self.patterns[1 - PATTERNS:], recent]
            return recent


def run(arguments: list[NDArray[Any]], results: list[NDArray[Any]], home: int, op: int, rank: int) -> None:
    """Solve, for the program: b has `rank` dimensions behind those of vmap; what all share has 1 instead of those."""
    values, b, *pattern = arguments
    x, trans = results[0], OPS[op]
    lead = x.shape[: x.ndim - rank]
    count = int(np.prod(lead, dtype=np.int64))
    one_pattern, one_matrix = (all(a.size == a.shape[-1] for a in arrays) for arrays in (pattern, (values, *pattern)))
    recent = Home.of(home).find(*(a.reshape(-1) for a in pattern)) if one_pattern else None
    if recent and one_matrix and rank == 1:  # one matrix, with a right-hand side for each of the batch
        n = x.shape[-1]
        with recent.lock:
            B = np.broadcast_to(b, x.shape).reshape(count, n).T
            recent.solve(trans, values.reshape(-1), B, x.reshape(count, n).T)
        return
    values, b, *pattern = (np.broadcast_to(a, lead + a.shape[a.ndim - own:])
                           for a, own in zip(arguments, (1, rank, 1, 1)))
    if recent and count > 1:
        with recent.lock:
            if recent.solve_batch(trans, *(a.reshape(count, *a.shape[len(lead):]) for a in (values, b, x))):
                return
    for k in np.ndindex(lead):
        each = recent or Home.of(home).find(*(a[k] for a in pattern))
        with each.lock:
            each.keep = max(each.keep, 1 if one_matrix else count)  # a gradient needs all of them again
            each.solve(trans, values[k], b[k], x[k])


CAPSULE, HANDLER = _xla.target(run)
jax.ffi.register_ffi_target("trisolve_solve", CAPSULE, platform="cpu")


def call(home: Home, op: int, values: Any, b: Any, pattern: tuple[Any, ...]) -> Any:
    function = jax.ffi.ffi_call("trisolve_solve", jax.ShapeDtypeStruct(b.shape, b.dtype), vmap_method="expand_dims")
    return function(values, b, *pattern, home=np.int64(home.number), op=np.int64(op), rank=np.int64(b.ndim))


def linear_solve(home: Home, values: Any, indices: Any, indptr: Any, b: Any, trans: str,
                 pattern: tuple[Any, ...]) -> Any:
    """x = op(A)^-1 b, whose derivatives are those of the product op(A) x."""
    triangle, unit, *_ = home.settings
    if trans not in OPS:
        raise ValueError(f"trans must be one of N, T, not {trans!r}")
    n = indptr.shape[0] - 1
    if values.shape != indices.shape:
        raise ValueError(f"{values.shape} values, where the pattern has {indices.shape}")
    if b.ndim not in (1, 2) or b.shape[0] != n:
        raise ValueError(f"b has shape {b.shape}, and the matrix {n} rows")
    dtype = jnp.promote_types(jnp.promote_types(values.dtype, b.dtype), jnp.float32)
    values, b = values.astype(dtype), b.astype(dtype)
    xp = jnp if isinstance(indptr, jax.core.Tracer) else np  # XLA would take minutes to fold the constants
    rows = xp.repeat(xp.arange(n), xp.diff(indptr), **({"total_repeat_length": indices.shape[0]} if xp is jnp else {}))
    if triangle:
        inside = (rows > indices if unit else rows >= indices) if triangle == "lower" else (
            rows < indices if unit else rows <= indices)
        entries = jnp.where(inside, values, 0)
    else:
        entries = values

    def product(to: Any, of: Any, x: Any) -> Any:
        terms = (entries[:, None] if x.ndim == 2 else entries) * x[of]
        return jax.ops.segment_sum(terms, to, n) + (x if triangle and unit else 0)

    first, second = (rows, indices) if trans == "N" else (indices, rows)
    k = OPS.index(trans)
    return jax.lax.custom_linear_solve(lambda x: product(first, second, x), b,
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
        For how many different values at a time factors are kept; under vmap, for as many as there are matrices.
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
