"""What plans and factors have in common: options, work spaces, solves, and how good x is."""

from __future__ import annotations

import math
import threading
from contextlib import nullcontext
from ctypes import POINTER, byref, c_char, c_double, c_int, c_int32, c_int64, c_void_p, cast
from types import SimpleNamespace
from typing import Any, Callable, Literal, Sequence, TypedDict, overload

import numpy as np
from numpy.typing import NDArray

from . import _abi
from ._arrays import Matrix, Sides, canonical, right_side, sides, stream_of, zeros_like
from ._library import C, Handle, StateError, check, facts
from ._types import AnyArray, AnyMatrix, HostArray, Layout, Norm, OnDevice, Order, Pivot, SlogDet, Trans

OPS = {"N": _abi.TRS_N, "T": _abi.TRS_T, "H": _abi.TRS_H}
LAYOUTS = {"F": _abi.TRS_COL_MAJOR, "C": _abi.TRS_ROW_MAJOR}
ORDERS = {"auto": _abi.TRS_ORDER_AUTO, "natural": _abi.TRS_ORDER_NATURAL, "level": _abi.TRS_ORDER_LEVEL}
PIVOTS = {"fail": _abi.TRS_PIVOT_FAIL, "skip": _abi.TRS_PIVOT_SKIP, "replace": _abi.TRS_PIVOT_REPLACE}
NORMS = {"1": _abi.TRS_NORM_ONE, "inf": _abi.TRS_NORM_INF}
STOPS = ("none", "converged", "steps", "stagnated", "diverged")  # trs_stop
ADDRESS = (c_char * 0).from_buffer  # of a writable array, in a fifth of the time of array.ctypes.data
MANY = 2**63 - 1  # for `solves`: so many that only the time of a solve counts
WORK_COLUMNS = 64  # of a work space at most; more right-hand sides are done in turns


def pick(table: dict[str, int], name: object, what: str) -> int:
    """The code of a name, or a ValueError that lists the names."""
    if not isinstance(name, str) or name not in table:
        raise ValueError(f"{what} must be one of {', '.join(table)}, not {name!r}")
    return table[name]


def whole(number: int, what: str) -> int:
    """A number that fits into an int of C, of which ctypes would take the last 32 bits without a word."""
    if not -2**31 <= number < 2**31:
        raise ValueError(f"{what} = {number} is out of range")
    return int(number)


class PlanOptions(TypedDict, total=False):
    """The options of Plan, which factors take too."""

    solver: str | None
    device: int | Literal["cpu"] | None
    nrhs: int
    layout: Layout
    threads: int
    memory_limit: int
    order: Order
    bitwise: bool
    pivot: Pivot
    pivot_value: float
    measure: bool
    solves: int
    sweeps: int
    devices: Sequence[int]


def devices_of(devices: Sequence[int]) -> Any:
    """The array of trs_options.devices; the structure that it is put into keeps it."""
    return (c_int * len(devices))(*(whole(k, "each of devices") + 1 for k in devices))


def plan_options(place: int, *, ops: str = "N", solver: str | None = None,
                 device: int | Literal["cpu"] | None = None, nrhs: int = 1, layout: Layout = "F", threads: int = 0,
                 memory_limit: int = 0, order: Order = "auto", bitwise: bool = False, pivot: Pivot = "fail",
                 pivot_value: float = 0.0, measure: bool = False, solves: int = 0,
                 sweeps: int = 0, devices: Sequence[int] = ()) -> Any:
    """Put the options of a plan into a trs_options, on trs_mat.device = place by default; Plan tells what they mean."""
    device = place if device is None else 0 if device == "cpu" else whole(device, "device") + 1
    bits = sum(1 << pick(OPS, op, "each of ops") for op in set(ops))
    return _abi.trs_options(
        solver=solver.encode() if solver else None, device=device, ops=bits, nrhs=whole(nrhs, "nrhs"),
        threads=whole(threads, "threads"), layout=pick(LAYOUTS, layout, "layout"), memory_limit=memory_limit,
        order=pick(ORDERS, order, "order"), bitwise=bitwise, pivot=pick(PIVOTS, pivot, "pivot"),
        pivot_value=pivot_value, measure=measure, solves=solves, sweeps=whole(sweeps, "sweeps"),
        devices=devices_of(devices), device_count=len(devices))


class PerThread(threading.local):
    """What a thread solves with: its work spaces by stream, and the trs_exec of short solves on the host."""

    def __init__(self) -> None:
        self.works: dict[int, tuple[Handle, int]] = {}
        self.short: Any = None


class Solver:
    """What plans and factors have in common: solves, from any thread, on any stream.

    Each thread has a work space for each stream that it solves on.  A plan that may still grow (doc/growing.md) solves
    with its own one on the first stream, because only such a solve can grow; until it has grown, solves take turns.
    """

    # of the library: the solve, what makes and destroys a work space, and the member of trs_exec that takes it
    _solve: Callable[..., int]
    _make_work: Callable[..., int]
    _destroy_work: Callable[..., None]
    _work_member: str
    # and its functions that refine x, estimate the condition, and compute the determinant
    _refine: Callable[..., int]
    _estimate: Callable[..., int]
    _determinant: Callable[..., int]

    dtype: np.dtype[Any]
    shape: tuple[int, int]
    _handle: Handle
    _device: int  # where b and x live
    _kind: int  # bits of trs_mat.kind

    def _set_up(self, handle: Handle, A: Matrix, device: int) -> None:
        self._handle, self._device, self._local = handle, max(device, 0), PerThread()
        self._turns, self._grows, self._solved = threading.Lock(), True, 0
        self._first_stream: int | None = None
        self._pattern, self._values, self._kind = A.pattern, A.values, A.struct.kind
        self.dtype, self.shape = A.dtype, A.shape
        self._vector, self._strides = (A.shape[0],), (A.dtype.itemsize,)

    def _plans(self) -> list[Any]:
        """The plans of the library that solve."""
        raise NotImplementedError

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} is not pickled or copied: pickle the matrix, or use save and load")

    def _may_grow(self) -> bool:
        info = _abi.trs_info()
        for plan in self._plans():
            check(C.trs_plan_info(plan, info))
            if info.grows_at:
                return True
        return False

    def _work(self, stream: int, nrhs: int, anew: bool) -> Handle:
        """This thread's work space for a stream, with room for so many right-hand sides."""
        work, room = self._local.works.get(stream, (None, 0))
        if work is None or anew or room < nrhs:
            work = Handle(self._destroy_work, self._handle)
            check(self._make_work(work.pointer, self._handle.pointer, nrhs))
            self._local.works[stream] = work, nrhs
            if not self._device:
                self._local.short = byref(_abi.trs_exec(**{self._work_member: work.pointer}))
        return work

    @overload
    def solve(self, b: HostArray, trans: Trans = "N", out: NDArray[Any] | None = None,
              stream: Any = None) -> NDArray[Any]: ...
    @overload
    def solve(self, b: OnDevice, trans: Trans = "N", out: OnDevice | None = None, stream: Any = None) -> Any: ...

    def solve(self, b: AnyArray, trans: Trans = "N", out: Any = None, stream: Any = None) -> Any:
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
        if (not self._device and out is None and type(b) is np.ndarray and b.shape == self._vector and b.size
                and b.strides == self._strides and b.dtype == self.dtype and b.flags.writeable and trans in OPS):
            x = np.empty(b.shape, b.dtype)
            if self._solve_vector(OPS[trans], b, x):
                return x
        op = pick(OPS, str(trans).upper(), "trans")
        s = sides(b, out, self.shape[0], self.dtype, self._device)
        stream = stream_of(s.B.owner, stream)
        with self._turns if self._grows else nullcontext():
            check(self._solve_sides(op, s, stream))
        return s.X.owner

    def _solve_vector(self, op: int, b: NDArray[Any], x: NDArray[Any]) -> bool:
        """Solve with a vector on the host; False: nothing was done, because this thread has no valid work space yet."""
        n, exec_ = b.shape[0], self._local.short
        if exec_ is not None:
            return not self._solve(self._handle.pointer, op, 1, ADDRESS(b), n, ADDRESS(x), n, exec_)
        if not self._grows:
            return False
        with self._turns:
            if not self._grows or self._first_stream:
                return False
            self._first_stream = 0
            check(self._solve(self._handle.pointer, op, 1, ADDRESS(b), n, ADDRESS(x), n, None))
            self._has_solved()
        return True

    def _solve_sides(self, op: int, s: Sides, stream: int) -> int:
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
            self._has_solved()
        return status

    def _has_solved(self) -> None:
        """Count solves, and ask whether it may still grow, which lets a plan find its levels: not after one, and then ever
        more rarely."""
        self._solved += 1
        if self._solved > 1 and self._solved & (self._solved - 1) == 0 and not self._may_grow():
            self._grows, self._local = False, PerThread()  # the work spaces solve as before it has grown

    def refine(self, A: AnyMatrix, b: AnyArray, x: Any = None, trans: Trans = "N", max_steps: int = 10,
               stream: Any = None) -> tuple[Any, SimpleNamespace]:
        """Refine x iteratively: x += op(A)^-1 (b - op(A) x), with residuals in more digits than A has.

        Parameters
        ----------
        A : sparse matrix or array, shape (n, n)
            The matrix that was factored or analysed, on the host or on the device where b is.  A plan of a matrix that
            was rounded to single precision refines x of the matrix in double precision.
        b : array, shape (n,) or (n, k)
            Where A is.
        x : array, optional
            The start, of the type of A, which is overwritten.  None: zeros.
        trans : {'N', 'T', 'H'}
        max_steps : int

        Returns
        -------
        x : array
            The one with the smallest backward error.
        error : SimpleNamespace
            That of `backward_error`, with `steps`, how many were done, and `stop`, why it ended: "converged", "steps",
            "stagnated" or "diverged".

        Examples
        --------
        >>> import numpy as np, trisolve
        >>> from scipy.sparse import csr_array
        >>> L = csr_array(np.tri(4) + np.eye(4))
        >>> x, error = trisolve.Plan(L.astype("f4")).refine(L, np.ones(4))
        >>> error.stop, bool(abs(L @ x - 1).max() < 1e-15)
        ('converged', True)
        """
        matrix = Matrix(A, self._kind)
        if x is None:
            x = zeros_like(right_side(b, matrix.shape[0], matrix.dtype, matrix.device))
        s = sides(b, x, matrix.shape[0], matrix.dtype, matrix.device)
        steps, error = c_int(), _abi.trs_error()
        exec_ = _abi.trs_exec(stream=stream_of(s.B.owner, stream), layout=s.layout)
        with self._turns:  # it uses the work space of the plan
            check(self._refine(self._handle.pointer, matrix.struct, pick(OPS, str(trans).upper(), "trans"), s.nrhs,
                               s.B.address, s.ldb, s.X.address, s.ldx, exec_, whole(max_steps, "max_steps"),
                               byref(steps), byref(error)))
        result = facts(error)
        result.steps, result.stop = steps.value, STOPS[error.stop]
        return s.X.owner, result

    def rcond(self, A: AnyMatrix, norm: Norm = "1") -> float:
        """Estimate 1 / (|A| |A^-1|) by a few solves, in the 1-norm or the infinity norm; A is the matrix of the solver.

        The ops must include "N" and "H".  For factors without them it is a bound from above, which is less sharp.
        """
        value = c_double()
        matrix = Matrix(canonical(A), self._kind, dtype=self.dtype)
        with self._turns:
            check(self._estimate(self._handle.pointer, matrix.struct, pick(NORMS, norm, "norm"), value))
        return value.value

    def slogdet(self) -> SlogDet:
        """The sign and the logarithm of the determinant of A, as numpy.linalg.slogdet gives them; not for ilu0 and ic0.

        Examples
        --------
        >>> import trisolve
        >>> from scipy.sparse import csr_array
        >>> sign, log = trisolve.Plan(csr_array([[2.0, 0], [1, -8]])).slogdet()
        >>> sign, round(log / 0.6931471805599453)
        (-1.0, 4)
        """
        det = _abi.trs_det()
        check(self._determinant(self._handle.pointer, byref(det)))
        if not det.mantissa:
            return SlogDet(0.0, -math.inf)
        sign = complex(det.re, det.im) if self.dtype.kind == "c" else det.re
        return SlogDet(sign, math.log(det.mantissa) + det.exponent * math.log(2))


def plan_info(pointer: Any) -> SimpleNamespace:
    info = _abi.trs_info()
    check(C.trs_plan_info(pointer, info))
    return facts(info)


def copy_array(pointer: Any, n: int, dtype: Any) -> NDArray[Any]:
    """A copy of n numbers of the library's, at a pointer or an address."""
    size = n * np.dtype(dtype).itemsize
    return np.frombuffer(bytearray((c_char * size).from_address(cast(pointer, c_void_p).value) if size else b""), dtype)
