"""Plans: a triangle analysed once, and solved with many times."""

from __future__ import annotations

import os
import threading
from contextlib import nullcontext
from ctypes import POINTER, byref, c_char, c_int32, c_int64, c_void_p, cast
from types import SimpleNamespace
from typing import Any, Callable

import numpy as np

from . import _abi
from ._arrays import Matrix, sides, stream_of
from ._library import C, Handle, StateError, check, facts

OPS = {"N": _abi.TRS_N, "T": _abi.TRS_T, "H": _abi.TRS_H}
LAYOUTS = {"F": _abi.TRS_COL_MAJOR, "C": _abi.TRS_ROW_MAJOR}
ORDERS = {"auto": _abi.TRS_ORDER_AUTO, "natural": _abi.TRS_ORDER_NATURAL, "level": _abi.TRS_ORDER_LEVEL}
PIVOTS = {"fail": _abi.TRS_PIVOT_FAIL, "skip": _abi.TRS_PIVOT_SKIP, "replace": _abi.TRS_PIVOT_REPLACE}
MANY = 2**63 - 1  # for `solves`: so many that only the time of a solve counts
WORK_COLUMNS = 64  # of a work space at most; more right-hand sides are done in turns


def pick(table: dict, name, what: str) -> int:
    """The code of a name, or a ValueError that lists the names."""
    if name not in table:
        raise ValueError(f"{what} must be one of {', '.join(table)}, not {name!r}")
    return table[name]


def whole(number, what: str) -> int:
    """A number that fits into an int of C, of which ctypes would take the last 32 bits without a word."""
    if not -2**31 <= number < 2**31:
        raise ValueError(f"{what} = {number} is out of range")
    return int(number)


def plan_options(A: Matrix, *, ops: str = "N", solver: str | None = None, device: int | str | None = None,
                 nrhs: int = 1, layout: str = "F", threads: int = 0, memory_limit: int = 0, order: str = "auto",
                 bitwise: bool = False, pivot: str = "fail", pivot_value: float = 0.0, measure: bool = False,
                 solves: int = 0):
    """Put the options of a plan into a trs_options; Plan tells what they mean."""
    device = A.device if device is None else 0 if device == "cpu" else whole(device, "device") + 1
    bits = sum(1 << pick(OPS, op, "each of ops") for op in set(ops))
    return _abi.trs_options(
        solver=solver.encode() if solver else None, device=device, ops=bits, nrhs=whole(nrhs, "nrhs"),
        threads=whole(threads, "threads"), layout=pick(LAYOUTS, layout, "layout"), memory_limit=memory_limit,
        order=pick(ORDERS, order, "order"), bitwise=bitwise, pivot=pick(PIVOTS, pivot, "pivot"),
        pivot_value=pivot_value, measure=measure, solves=solves)


class Solver:
    """What plans and factors have in common: solves, from any thread, on any stream.

    Each thread has a work space for each stream that it solves on.  A plan that may still grow (doc/growing.md) solves
    with its own one on the first stream, because only such a solve can grow; until it has grown, solves take turns.
    """

    # of the library: the solve, what makes and destroys a work space, and the member of trs_exec that takes it
    _solve: Callable
    _make_work: Callable
    _destroy_work: Callable
    _work_member: str

    dtype: np.dtype
    shape: tuple[int, int]
    _handle: Handle
    _device: int  # where b and x live

    def _set_up(self, handle: Handle, A: Matrix, device: int) -> None:
        self._handle, self._device, self._local = handle, max(device, 0), threading.local()
        self._turns, self._first_stream, self._grows, self._solved = threading.Lock(), None, True, 0
        self._pattern, self._values = A.pattern, A.values
        self.dtype, self.shape = A.dtype, A.shape

    def _plans(self) -> list:
        """The plans of the library that solve."""
        raise NotImplementedError

    def _may_grow(self) -> bool:
        info = _abi.trs_info()
        for plan in self._plans():
            check(C.trs_plan_info(plan, info))
            if info.grows_at:
                return True
        return False

    def _work(self, stream: int, nrhs: int, anew: bool) -> Handle:
        """This thread's work space for a stream, with room for so many right-hand sides."""
        if not hasattr(self._local, "works"):
            self._local.works = {}
        work, room = self._local.works.get(stream, (None, 0))
        if anew or room < nrhs:
            work = Handle(self._destroy_work, self._handle)
            check(self._make_work(work.pointer, self._handle.pointer, nrhs))
            self._local.works[stream] = work, nrhs
        return work

    def solve(self, b, trans: str = "N", out=None, stream=None):
        """Solve op(A) x = b.

        Parameters
        ----------
        b : array_like, shape (n,) or (n, k)
            The right-hand sides, by columns or by rows, where the solver takes them: on the host, or an array with
            ``__cuda_array_interface__`` on its device.  Their type must be the matrix's, or cast to it safely.
        trans : {'N', 'T', 'H'}
            The matrix, its transpose, or its conjugate transpose; it must be among the ops that were announced.
        out : array, optional
            Where x goes: of b's shape, the matrix's type, and where b is.  It may be b.
        stream : optional
            A CUDA stream of CuPy, PyTorch or numba, or its number.  None: the current one of b's package.

        Returns
        -------
        x : array, of the shape of b
            ``out``, or a new array stored as b is, on a GPU by the package that b is from.  There it is complete when
            the stream gets there.

        Raises
        ------
        ValueError
            The shape or the place of b or out does not fit, or they are not contiguous on a GPU.
        TypeError
            b cannot be cast to the type of the matrix safely.
        StateError
            The op was not announced, or the last update failed.
        """
        op = pick(OPS, str(trans).upper(), "trans")
        s = sides(b, out, self.shape[0], self.dtype, self._device)
        stream = stream_of(s.B.owner, stream)
        with self._turns if self._grows else nullcontext():
            check(self._solve_sides(op, s, stream))
        return s.X.owner

    def _solve_sides(self, op: int, s, stream) -> int:
        if self._first_stream is None:
            self._first_stream = stream
        own = self._grows and stream == self._first_stream
        columns = min(max(s.nrhs, 1), WORK_COLUMNS)
        for anew in (False, True):  # an update may have made work spaces invalid
            work = {} if own else {self._work_member: self._work(stream, columns, anew).pointer}
            status = self._solve(self._handle.pointer, op, s.nrhs, s.B.address, s.ldb, s.X.address, s.ldx,
                                 _abi.trs_exec(stream=stream, layout=s.layout, **work))
            if own or status != StateError.status:
                break
        if own:
            self._solved += 1
        if own and self._is_time_to_ask() and not self._may_grow():
            self._grows, self._local = False, threading.local()  # the work spaces solve as before it has grown
        return status

    def _is_time_to_ask(self) -> bool:
        """To ask whether a plan may still grow lets it find its levels: not after one solve, and then ever more rarely."""
        return self._solved > 1 and self._solved & (self._solved - 1) == 0


class Plan(Solver):
    """A triangle, analysed once: levels, choice of a solver, storage.

    Parameters
    ----------
    A : sparse matrix or array, or dense array, shape (n, n)
        CSR, CSC or BSR of SciPy, CSR or CSC of CuPy, sparse CSR of PyTorch, or dense.  It is copied, and none of its
        entries may be given twice.
    lower : bool or None
        The triangle of A that is solved with; entries of the other one are ignored.  None: a general dense matrix,
        which is factored.
    unit_diagonal : bool
        The diagonal is 1, whatever is stored there.
    strict : bool
        An entry in the other triangle is a MatrixError.
    permuted : bool
        A is a triangle after permutations of its rows and columns, which are found.
    ops : str
        The ops that will be solved, as "N" or "NTH".
    solver : str, optional
        The name of a solver (trisolve.solvers()); None: the one that is predicted to be the fastest.
    device : int or 'cpu', optional
        The CUDA device where b and x live; None: where A is.
    nrhs, layout : int, {'F', 'C'}
        How many right-hand sides are usually solved at once, and how they are stored; others work as well.
    threads : int
        Of CPU solvers; 0: what OpenMP says.
    memory_limit : int
        Bytes that the plan may keep; 0: no limit for most solvers.
    order : {'auto', 'natural', 'level'}
        Of the rows in memory.
    bitwise : bool
        Take only solvers that give the same bits every time.
    pivot : {'fail', 'skip', 'replace'}
        What is done about a pivot that is missing, zero or not finite: a PivotError, x(row) = 0, or `pivot_value`.
    measure : bool
        Solve with the few solvers that are predicted to be cheapest, and keep the fastest.
    solves : int
        How many solves the plan is made for.  0: it begins with what is prepared fastest, and grows when that pays;
        1: it stays so; trisolve.MANY: it begins with the solver that is fastest.

    Raises
    ------
    MatrixError, PivotError, UnsupportedError, DeviceError, OutOfMemoryError
        With the library's sentence.

    Notes
    -----
    A solve allocates a work space for each thread and stream on its first call.  Before it is captured in a CUDA
    graph it has to be done once on that stream.  No solve may be running during an update.

    Examples
    --------
    >>> import numpy as np, trisolve
    >>> from scipy.sparse import csr_array
    >>> L = csr_array([[2.0, 0, 0], [1, 4, 0], [0, 3, 5]])
    >>> plan = trisolve.Plan(L, ops="NT")
    >>> plan.solve(np.array([2.0, 9, 16]))
    array([1., 2., 2.])
    >>> plan.solve(np.array([3.0, 7, 5]), trans="T")
    array([1., 1., 1.])
    >>> plan.info.levels, plan.info.solver
    (3, 'cpu-serial')
    >>> plan.update(2 * L).solve(np.array([2.0, 9, 16]))
    array([0.5, 1. , 1. ])
    """

    _solve, _make_work, _destroy_work = C.trs_solve, C.trs_work_create, C.trs_work_destroy
    _work_member = "work"

    def _plans(self) -> list:
        return [self._handle.pointer]

    def tune(self) -> "Plan":
        """Grow now: choose the fastest solver and build it.  No solve may be running meanwhile."""
        check(C.trs_plan_tune(self._handle.pointer))
        self._grows, self._local = False, threading.local()
        return self

    def __init__(self, A, lower: bool | None = True, unit_diagonal: bool = False, strict: bool = False,
                 permuted: bool = False, *, saved: str | os.PathLike | None = None, **options: Any):
        triangle = 0 if lower is None else _abi.TRS_LOWER if lower else _abi.TRS_UPPER
        kind = triangle | _abi.TRS_UNIT * bool(unit_diagonal) | _abi.TRS_STRICT * bool(strict)
        matrix = Matrix(A, _abi.TRS_PERMUTED if permuted else kind)
        settings = plan_options(matrix, **options)
        handle = Handle(C.trs_plan_destroy)
        check(C.trs_plan_create(handle.pointer, matrix.struct, settings))
        check(C.trs_plan_load(handle.pointer, os.fsencode(saved)) if saved else C.trs_plan_analyse(handle.pointer))
        self._set_up(handle, matrix, settings.device)

    @classmethod
    def load(cls, file: str | os.PathLike, A, *args: Any, **options: Any) -> "Plan":
        """Make a plan with the analysis that `save` kept in a file.

        A has the pattern, and the options are those, of the plan that was saved; else it is a FormatError,
        MatrixError, ArgumentError or UnsupportedError.
        """
        return cls(A, *args, saved=file, **options)

    def save(self, file: str | os.PathLike) -> None:
        """Keep the analysis in a file: levels, permutation, choice of the solver; no values."""
        check(C.trs_plan_save(self._handle.pointer, os.fsencode(file)))

    def update(self, A, stream=None) -> "Plan":
        """Take new values in the same pattern, without an analysis.

        A is a matrix as at first, on the host or on the device; ValueError: its pattern is another one.  Returns the
        plan.
        """
        matrix = Matrix(A, dtype=self.dtype)
        if not matrix.same_pattern(self._pattern):
            raise ValueError("the pattern of the matrix is not that of the plan")
        exec_ = _abi.trs_exec(stream=stream_of(matrix.values.owner, stream))
        check(C.trs_plan_update(self._handle.pointer, matrix.struct, exec_))
        return self

    @property
    def info(self) -> SimpleNamespace:
        """The members of trs_info: n, nnz, levels, widest, longest, solver, reason, predicted, bytes_host, ..."""
        return plan_info(self._handle.pointer)

    def levels(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows level by level, and where each level starts among them.

        Examples
        --------
        >>> import trisolve
        >>> from scipy.sparse import csr_array
        >>> rows, starts = trisolve.Plan(csr_array([[1.0, 0, 0], [0, 1, 0], [1, 1, 1]])).levels()
        >>> [rows[a:b].tolist() for a, b in zip(starts, starts[1:])]
        [[0, 1], [2]]
        """
        rows, starts = POINTER(c_int32)(), POINTER(c_int32)()
        check(C.trs_plan_levels(self._handle.pointer, rows, starts))
        return copy_array(rows, self.shape[0], "i4"), copy_array(starts, self.info.levels + 1, "i4")

    def pivots(self) -> tuple[int, int]:
        """How many pivots are missing, zero or not finite, and the first row with one (-1: none)."""
        count, first = c_int64(), c_int64()
        check(C.trs_plan_pivots(self._handle.pointer, byref(count), byref(first)))
        return count.value, first.value


def plan_info(pointer) -> SimpleNamespace:
    info = _abi.trs_info()
    check(C.trs_plan_info(pointer, info))
    return facts(info)


def copy_array(pointer, n: int, dtype) -> np.ndarray:
    """A copy of n numbers of the library's, at a pointer or an address."""
    size = n * np.dtype(dtype).itemsize
    return np.frombuffer(bytearray((c_char * size).from_address(cast(pointer, c_void_p).value) if size else b""), dtype)
