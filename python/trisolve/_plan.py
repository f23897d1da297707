"""Plans: a triangle analysed once, and solved with many times."""

from __future__ import annotations

import os
from ctypes import POINTER, byref, c_int32, c_int64
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _abi
from ._arrays import BY_ROWS, Matrix, contiguous, empty_like, solution, stream_of
from ._library import C, Handle, check
from ._show import html
from ._solver import OPS, PerThread, PlanOptions, Solver, copy_array, pick, plan_info, plan_options
from ._types import AnyArray, AnyMatrix, Trans

if TYPE_CHECKING:
    from typing_extensions import Unpack


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
    sweeps : int
        0: solves are exact but for rounding.  k > 0: they approximate x by k Jacobi sweeps, in place of a solver: for
        `ilu0` and `ic0` of many levels in an iteration.  `info.sweep_error` bounds max |error| / max |x|.
    devices : sequence of int
        GPUs of this machine that may share the solves, ascending; `device` is the first of them or "cpu".  The plan cuts
        the triangle over them if it predicts that one is slower or has too little memory; `info.reason` tells.

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
    _refine, _estimate, _determinant = C.trs_refine, C.trs_condest, C.trs_plan_determinant
    _work_member = "work"

    def _plans(self) -> list[Any]:
        return [self._handle.pointer]

    def tune(self) -> Plan:
        """Grow now: choose the fastest solver and build it.  No solve may be running meanwhile."""
        check(C.trs_plan_tune(self._handle.pointer))
        self._grows, self._local = False, PerThread()
        return self

    def __init__(self, A: AnyMatrix, lower: bool | None = True, unit_diagonal: bool = False, strict: bool = False,
                 permuted: bool = False, *, ops: str = "N", saved: str | os.PathLike[str] | None = None,
                 **options: Unpack[PlanOptions]):
        triangle = 0 if lower is None else _abi.TRS_LOWER if lower else _abi.TRS_UPPER
        kind = triangle | _abi.TRS_UNIT * bool(unit_diagonal) | _abi.TRS_STRICT * bool(strict)
        matrix = Matrix(A, _abi.TRS_PERMUTED if permuted else kind)
        settings = plan_options(matrix.device, ops=ops, **options)
        handle = Handle(C.trs_plan_destroy)
        check(C.trs_plan_create(handle.pointer, matrix.struct, settings))
        check(C.trs_plan_load(handle.pointer, os.fsencode(saved)) if saved else C.trs_plan_analyse(handle.pointer))
        self._set_up(handle, matrix, settings.device)

    @classmethod
    def load(cls, file: str | os.PathLike[str], A: AnyMatrix, *args: Any, **options: Any) -> Plan:
        """Make a plan with the analysis that `save` kept in a file.

        A has the pattern, and the options are those, of the plan that was saved; else it is a FormatError,
        MatrixError, ArgumentError or UnsupportedError.
        """
        return cls(A, *args, saved=file, **options)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Keep the analysis in a file: levels, permutation, choice of the solver; no values."""
        check(C.trs_plan_save(self._handle.pointer, os.fsencode(file)))

    def update(self, A: AnyMatrix, stream: Any = None) -> Plan:
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

    def solve_batch(self, values: AnyArray, b: AnyArray, trans: Trans = "N", out: Any = None,
                    stream: Any = None) -> Any:
        """Solve many systems, whose triangles have the pattern of the plan and values of their own, by substitution.

        Parameters
        ----------
        values : array, shape (count, nnz) or (nnz,)
            The values of each triangle, in the order of the matrix that the plan was made of; or of all of them.
        b : array, shape (count, n), (count, n, k), or (n,), which all share
        trans : {'N', 'T', 'H'}
        out, stream : optional
            As in `solve`; x has the shape (count, n) or (count, n, k).

        Raises
        ------
        PivotError
            A pivot is missing, zero or not finite.

        Notes
        -----
        All arrays are contiguous, with the last index fastest, and have the plan's type.

        Examples
        --------
        >>> import numpy as np, trisolve
        >>> from scipy.sparse import csr_array
        >>> plan = trisolve.Plan(csr_array([[1.0, 0], [1, 1]]))
        >>> plan.solve_batch(np.array([[1.0, 1, 1], [2, 2, 4]]), np.array([2.0, 6]))
        array([[2., 4.],
               [1., 1.]])
        """
        V, B = (contiguous(a, self.dtype, self._device) for a in (values, b))
        n, nnz = self.shape[0], self._values.shape[0] if len(self._values.shape) == 1 else -1
        one = len(B.shape) == 1
        count = B.shape[0] if not one else V.shape[0] if len(V.shape) == 2 else 1
        if V.shape not in ((nnz,), (count, nnz)) or B.shape not in ((n,), (count, n), (count, n, *B.shape[2:3])):
            raise ValueError(f"values of shape {V.shape} and b of shape {B.shape}, for {n} rows with {nnz} values")
        k = B.shape[2] if len(B.shape) == 3 else 1
        shape = (count, n) if one else B.shape
        if out is None and one and self._device:
            raise TypeError("an array for x cannot be made like b: give out=")
        if out is None:
            out = empty_like(B._replace(shape=shape), BY_ROWS)
        X = solution(out, B._replace(shape=shape))
        if contiguous(out, self.dtype, self._device).owner is not out or X.shape != shape:
            raise ValueError(f"out must be a contiguous array of shape {shape} and dtype {self.dtype} where b is")
        batch = _abi.trs_batch(count=count, val=V.address, val_stride=nnz if len(V.shape) == 2 else 0,
                               b_stride=0 if one else n * k, x_stride=n * k)
        bad = (c_int64 * 2)()
        exec_ = _abi.trs_exec(stream=stream_of(B.owner, stream), layout=BY_ROWS)
        check(C.trs_solve_batch(self._handle.pointer, pick(OPS, str(trans).upper(), "trans"), batch, k, B.address, k,
                                X.address, k, exec_, bad))
        return X.owner

    @property
    def info(self) -> SimpleNamespace:
        """The members of trs_info: n, nnz, levels, widest, longest, solver, reason, predicted, bytes_host, ..."""
        return plan_info(self._handle.pointer)

    def levels(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
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

    def permutation(self) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
        """Rows P and columns Q such that A[P][:, Q] is a lower triangle, of a plan with ``permuted``; else None.

        Examples
        --------
        >>> import trisolve
        >>> from scipy.sparse import csr_array
        >>> P, Q = trisolve.Plan(csr_array([[1.0, 3], [0, 2]]), permuted=True).permutation()
        >>> P.tolist(), Q.tolist()
        ([1, 0], [1, 0])
        """
        P, Q = POINTER(c_int32)(), POINTER(c_int32)()
        check(C.trs_plan_permutation(self._handle.pointer, P, Q))
        return (copy_array(P, self.shape[0], "i4"), copy_array(Q, self.shape[0], "i4")) if P else None

    def __repr__(self) -> str:
        info = self.info
        kinds = {0: "dense matrix", _abi.TRS_LOWER: "lower triangle", _abi.TRS_UPPER: "upper triangle",
                 _abi.TRS_PERMUTED: "permuted triangle"}
        kind = kinds[self._kind & ~(_abi.TRS_UNIT | _abi.TRS_STRICT)]
        levels = f", {info.levels} levels" if info.levels else ""
        return f"<trisolve.Plan: {info.n} x {info.n} {kind} of {self.dtype}, {info.nnz} entries{levels}, {info.solver}>"

    def _repr_html_(self) -> str:
        return html(repr(self).strip("<>"), self._plans())

    def pivots(self) -> tuple[int, int]:
        """How many pivots are missing, zero or not finite, and the first row with one (-1: none)."""
        count, first = c_int64(), c_int64()
        check(C.trs_plan_pivots(self._handle.pointer, byref(count), byref(first)))
        return count.value, first.value
