"""What JAX and PyTorch programs solve with: factors of the last values of a pattern, found by a number.

Arrays are NumPy's, or on a CUDA device tensors of PyTorch or arrays of CuPy.
"""

from __future__ import annotations

import itertools
import math
import sys
import threading
import weakref
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array

from ._arrays import device_of
from ._batch import BatchLU
from ._factorize import splu
from ._library import GrowthError, MatrixError, OutOfMemoryError, PivotError, UnsupportedError
from ._plan import Plan

Triangle = Literal["lower", "upper"]
Trans = Literal["N", "T", "H"]
OPS: tuple[Trans, ...] = ("N", "T", "H")
PATTERNS = 8  # that spsolve and triangular_solve remember for each kind of solve


def package(a: Any) -> Any:
    """NumPy, CuPy or PyTorch: their functions have the same names, but for those below."""
    return sys.modules[type(a).__module__.partition(".")[0]]


def same(a: Any, b: Any) -> bool:
    """Are two arrays equal, in shape, type and numbers?  On a GPU this waits."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return bool(a.equal(b) if hasattr(a, "equal") else package(a).array_equal(a, b))


def copied(a: Any) -> Any:
    return a.clone() if hasattr(a, "clone") else a.copy()


def spread(a: Any, shape: tuple[int, ...]) -> Any:
    return package(a).broadcast_to(a, shape)


def contiguous(a: Any) -> Any:
    return a.contiguous() if hasattr(a, "contiguous") else package(a).ascontiguousarray(a)


def place_of(a: Any) -> int:
    """0: the host; k + 1: CUDA device k."""
    return 0 if isinstance(a, np.ndarray) else 1 + device_of(a)


def wait(a: Any) -> None:
    """Wait until an array is computed: functions that make factors read it without regard to streams."""
    if not isinstance(a, np.ndarray):
        cuda = package(a).cuda
        (cuda.current_stream(a.device) if hasattr(cuda, "current_stream") else cuda.get_current_stream()).synchronize()


class Batch:
    """Factors of many matrices by the pivots of the first one.  `bad` are those that these pivots do not suit."""

    def __init__(self, recent: Recent, values: Any):
        self.recent = recent
        self.begin(values)

    def begin(self, values: Any) -> None:
        self.lu = BatchLU(self.recent.make(values[0]), self.recent.matrix(values[0]), len(values), keep=True,
                          device=None if isinstance(values, np.ndarray) else values, growth_limit=1e3)
        self.factor(values)

    def factor(self, values: Any) -> None:
        self.bad = np.flatnonzero(self.lu.update(values).status().code)

    def update(self, values: Any) -> None:
        self.factor(values)
        if 2 * len(self.bad) > len(values):  # its pivots are too old
            self.begin(values)


class Recent:
    """The factors of the last values of a pattern; `fixed`: of the first ones, which all calls have."""

    def __init__(self, indices: Any, indptr: Any, triangle: Triangle | None, unit_diagonal: bool, keep: int,
                 options: dict[str, Any]):
        self.indices, self.indptr, self.fixed = indices, indptr, False
        self.triangle, self.unit, self.options = triangle, unit_diagonal, options
        self.keep, self.lock = keep, threading.Lock()
        self.factors: list[tuple[Any, Any]] = []

    def matrix(self, values: Any) -> Any:
        shape = (len(self.indptr) - 1,) * 2
        if isinstance(values, np.ndarray):
            return csr_array((values, self.indices, self.indptr), shape=shape)
        return SimpleNamespace(format="csr", shape=shape, indptr=self.indptr, indices=self.indices, data=values)

    def make(self, values: Any) -> Any:
        wait(values)
        if values.ndim == 2:
            return Batch(self, values)
        if self.triangle:
            return Plan(self.matrix(values), self.triangle == "lower", self.unit, ops="NTH", **self.options)
        return splu(self.matrix(values), ops="NTH", **self.options)

    def of(self, values: Any) -> Any:
        """The factors for these values, or for a batch: those at hand, else an update of the oldest ones."""
        for k, (known, solver) in enumerate(self.factors):
            if self.fixed and (known.shape, known.dtype) == (values.shape, values.dtype) or same(known, values):
                self.factors.append(self.factors.pop(k))
                return solver
        values = copied(values)
        solver = None
        if len(self.factors) >= self.keep:
            known, solver = self.factors.pop(0)
            if known.dtype != values.dtype or known.shape != values.shape:
                solver = None
        if solver is None:
            solver = self.make(values)
        else:
            solver.update(values if values.ndim == 2 else self.matrix(values))
        self.factors.append((values, solver))
        return solver

    def solve(self, trans: Trans, values: Any, b: Any, x: Any) -> None:
        try:
            self.of(values).solve(b, trans, out=x)
        except (PivotError, MatrixError, GrowthError) as error:
            if isinstance(error, MatrixError) and (values - values == 0).all():
                raise
            x[...] = math.nan

    def solve_batch(self, trans: Trans, values: Any, b: Any, x: Any) -> bool:
        """Solve a batch by the analysis of its first matrix; False: that is not possible."""
        try:
            if self.triangle:
                self.of(values[0]).solve_batch(contiguous(values), contiguous(b), trans, out=x)
                return True
            batch = self.of(values)
        except (PivotError, MatrixError, OutOfMemoryError, UnsupportedError):
            return False
        batch.lu.solve(None, b, trans, out=x)
        self.keep = max(self.keep, 1 + len(batch.bad))
        for k in batch.bad:
            self.solve(trans, values[k], b[k], x[k])
        return True


class Home:
    """What a call in a program refers to, by number: the factors of one pattern, or of several."""

    every: weakref.WeakValueDictionary[int, Home] = weakref.WeakValueDictionary()
    numbers = itertools.count()

    def __init__(self, triangle: Triangle | None, unit_diagonal: bool, keep: int, options: dict[str, Any],
                 pattern: tuple[Any, Any] | None = None):
        if triangle not in (None, "lower", "upper"):
            raise ValueError(f"triangle must be 'lower', 'upper' or None, not {triangle!r}")
        self.settings = triangle, unit_diagonal, keep, options
        self.pattern = pattern
        self.places: dict[int, list[Recent]] = {}
        self.lock = threading.Lock()
        self.number = next(self.numbers)
        self.every[self.number] = self

    @classmethod
    def of(cls, number: int) -> Home:
        home = cls.every.get(number)
        if home is None:
            raise RuntimeError("the Solver is gone: make it outside of the function that is compiled")
        return home

    def find(self, values: Any, *pattern: Any) -> Recent:
        """The factors of a pattern where the values are; without one those of the only pattern."""
        with self.lock:
            patterns = self.places.setdefault(place_of(values), [])
            if self.pattern:
                if not patterns:
                    there = isinstance(values, np.ndarray) or not isinstance(self.pattern[0], np.ndarray)
                    own = self.pattern if there else [package(values).asarray(a) for a in self.pattern]
                    patterns.append(Recent(*own, *self.settings))
                return patterns[0]
            for k, recent in enumerate(patterns):
                if same(recent.indices, pattern[0]) and same(recent.indptr, pattern[1]):
                    patterns.append(patterns.pop(k))
                    return recent
            patterns.append(Recent(copied(pattern[0]), copied(pattern[1]), *self.settings))
            del patterns[:-PATTERNS]
            return patterns[-1]


def solve_many(recent: Recent, trans: Trans, values: Any, b: Any, x: Any, rank: int) -> None:
    """Solve with one matrix; the columns of all right-hand sides are solved at once."""
    count, each = math.prod(x.shape[: x.ndim - rank]), tuple(x.shape[x.ndim - rank:])
    B, X = (a.reshape(count, *each) for a in (b, x))
    if rank == 1:
        recent.solve(trans, values, B.T, X.T)
    elif count == 1:
        recent.solve(trans, values, B[0], X[0])
    else:
        n, k = each
        columns = copied(B.swapaxes(0, 1).reshape(n, count * k))
        recent.solve(trans, values, columns, columns)
        X[...] = columns.reshape(n, count, k).swapaxes(0, 1)


def run(arguments: list[Any], results: list[Any], home: int, op: int, rank: int) -> None:
    """Solve, for the program: b has `rank` dimensions behind those of vmap; what all share has 1 instead of those."""
    values, b, *pattern = arguments
    x, trans = results[0], OPS[op]
    lead = tuple(x.shape[: x.ndim - rank])
    count = math.prod(lead)
    one_pattern, one_matrix = (all(math.prod(a.shape[:-1]) == 1 for a in arrays)
                               for arrays in (pattern, (values, *pattern)))
    recent = Home.of(home).find(values, *(a.reshape(-1) for a in pattern)) if one_pattern else None
    if recent and one_matrix:  # with a right-hand side, or several, for each of the batch
        with recent.lock:
            solve_many(recent, trans, values.reshape(-1), spread(b, x.shape), x, rank)
        return
    values, b, *pattern = (spread(a, lead + tuple(a.shape[a.ndim - own:]))
                           for a, own in zip(arguments, (1, rank, 1, 1)))
    if recent and count > 1:
        with recent.lock:
            if recent.solve_batch(trans, *(a.reshape(count, *a.shape[len(lead):]) for a in (values, b, x))):
                return
    for k in np.ndindex(lead):
        each = recent or Home.of(home).find(values, *(a[k] for a in pattern))
        with each.lock:
            each.keep = max(each.keep, count)  # a gradient needs all of them again
            each.solve(trans, values[k], b[k], x[k])
