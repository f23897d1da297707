"""Factors of many matrices with one pattern: arrays with a leading dimension for the systems."""

from __future__ import annotations

from ctypes import POINTER, c_double, c_int, c_int64
from types import SimpleNamespace

import numpy as np

from . import _abi
from ._arrays import BY_ROWS, Matrix, View, cast, contiguous, device_of, empty_like, solution, stream_of, view
from ._factors import Factors
from ._library import C, Handle, check, facts
from ._solver import OPS, pick, whole


def in_systems(v: View, what: str) -> View:
    """The same array with contiguous numbers within each system, and a stride of at least 0 between systems."""
    count, *inner = v.shape
    size = v.dtype.itemsize
    expected = [size * int(np.prod(inner[k + 1:], dtype=np.int64)) for k in range(len(inner))]
    good = all(n <= 1 or s == e for n, s, e in zip(inner, v.strides[1:], expected))
    if good and v.strides[0] >= 0 and v.strides[0] % size == 0:
        return v
    if v.device:
        raise ValueError(f"{what} of a system must be contiguous on a GPU")
    return view(np.ascontiguousarray(v.owner))


class BatchLU:
    """Factors of up to `count` matrices with the pattern of A, by the pivots and the ordering of A's factors.

    Parameters
    ----------
    lu : Factors
        Of one representative matrix, from splu, ilu0 or ic0.
    A : sparse matrix or array, shape (n, n)
        That matrix, in CSR or CSC.
    count : int
        The largest number of systems.
    keep : bool
        Keep the factors of `update` for solves without values.
    device : optional
        The number of the CUDA device where values, b and x are; an array there; None: the host.
    threads, memory_limit, growth_limit : optional
        As in trs_lu_batch_options.

    Attributes
    ----------
    info : SimpleNamespace
        The members of trs_lu_batch_info.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, trisolve
    >>> A = sp.csr_array(np.array([[4.0, 1], [2, 5]]))
    >>> batch = trisolve.BatchLU(trisolve.ilu0(A), A, 3)
    >>> values = A.data * np.array([[1], [2], [4]])
    >>> batch.solve(values, np.array([9.0, 18]))[:, 1]
    array([3.  , 1.5 , 0.75])
    """

    def __init__(self, lu: Factors, A, count: int, *, keep: bool = False, device=None, threads: int = 0,
                 memory_limit: int = 0, growth_limit: float = 0.0):
        A = Matrix(A, dtype=lu.dtype)
        if count < 1:
            raise ValueError("count must be at least 1")
        if device is not None and not isinstance(device, int):
            device = device_of(device)
        self._device = 0 if device is None else 1 + device
        options = _abi.trs_lu_batch_options(count=whole(count, "count"), keep=keep, device=self._device,
                                            threads=whole(threads, "threads"), memory_limit=memory_limit,
                                            growth_limit=growth_limit)
        self._handle = Handle(C.trs_lu_batch_destroy)
        check(C.trs_lu_batch_create(self._handle.pointer, lu._handle.pointer, A.struct, options))
        self.dtype, self.shape, self._nnz, self._count = lu.dtype, lu.shape, A.struct.nnz, int(count)

    def _view(self, array, what: str) -> View:
        v = view(array)
        if v.device != self._device:
            raise ValueError(f"{what} must be where the batch solves (device=)")
        return cast(v, self.dtype) if v.dtype != self.dtype else v

    def _systems(self, values, mask=None, **more) -> tuple:
        """A trs_systems, and the arrays that it points to."""
        s = _abi.trs_systems(count=self._count, **more)
        owners = []
        if values is not None:
            v = in_systems(self._view(values, "values"), "values")
            if len(v.shape) != 2 or v.shape[1] != self._nnz or v.shape[0] > self._count:
                raise ValueError(f"values must have the shape (count, {self._nnz}), with at most "
                                 f"{self._count} systems")
            s.count, s.val, s.val_stride = v.shape[0], v.address, v.strides[0] // self.dtype.itemsize
            owners.append(v)
        if mask is not None:
            m = view(mask if self._device else np.ascontiguousarray(mask, dtype=bool).view(np.uint8))
            if m.device != self._device or m.shape != (s.count,) or m.dtype.itemsize != 1:
                raise ValueError(f"mask must have {s.count} bytes where the batch solves")
            s.mask = m.address
            owners.append(m)
        return s, owners

    def update(self, values, *, mask=None, stream=None) -> "BatchLU":
        """Factor all systems, whose values are (count, nnz) in the order of A.data, and keep the factors."""
        if values is None:
            raise ValueError("update needs values")
        s, owners = self._systems(values, mask)
        exec_ = _abi.trs_exec(stream=stream_of(owners[0].owner, stream))
        check(C.trs_lu_batch_update(self._handle.pointer, s, exec_))
        return self

    def solve(self, values, b, trans: str = "N", *, steps: int = 0, mask=None, out=None, stream=None):
        """Solve op(A_k) x_k = b_k for all systems.

        Parameters
        ----------
        values : array, shape (count, nnz), or None
            In the order of A.data.  None: the factors of the last `update` are used.
        b : array, shape (count, n) or (count, n, k), or (n,) for all systems
        trans : {'N', 'T', 'H'}
        steps : int
            Steps of refinement, which need the values.
        mask : array of bytes or bools, shape (count,), optional
            Systems where it is 0 are left out, and their x stays as it is in out.
        out : array, optional
            Where x goes, of the shape (count, n) or (count, n, k); not b.

        Returns
        -------
        x : array, shape (count, n) or (count, n, k)
            NaN for systems with bad pivots: see `status`.
        """
        s, owners = self._systems(values, mask, kept=values is None, steps=whole(steps, "steps"))
        B, X, sizes = self._sides(s, b, out)
        exec_ = _abi.trs_exec(stream=stream_of(B.owner, stream), layout=BY_ROWS)
        check(C.trs_lu_batch_solve(self._handle.pointer, pick(OPS, str(trans).upper(), "trans"), sizes[0], s,
                                   B.address, sizes[1], X.address, sizes[1], exec_))
        return X.owner

    def _sides(self, s, b, out) -> tuple:
        """B, X, and the number and the leading dimension of their columns.  The strides of s become theirs."""
        B, n = self._view(b, "b"), self.shape[0]
        shared = len(B.shape) == 1
        shape = (s.count, *B.shape) if shared else B.shape
        if len(shape) not in (2, 3) or shape[:2] != (s.count, n):
            raise ValueError(f"b must have the shape ({s.count}, {n}), ({s.count}, {n}, k) or ({n},)")
        B = contiguous(B.owner, self.dtype, self._device) if shared else in_systems(B, "b")
        if out is None:
            X = view(empty_like(B._replace(shape=shape), BY_ROWS)) if not shared or not self._device else None
            if X is None:
                raise ValueError("b that all systems share needs out on a GPU")
        else:
            X = solution(out, B._replace(shape=shape))
        if in_systems(X, "out") is not X:
            raise ValueError("out of a system must be contiguous")
        size = self.dtype.itemsize
        s.b_stride, s.x_stride = 0 if shared else B.strides[0] // size, X.strides[0] // size
        columns = shape[2] if len(shape) == 3 else 1
        return B, X, (columns, max(columns, 1))

    def status(self) -> SimpleNamespace:
        """What the last factorisation of each system has found: `bad`, the number of bad ones, and the arrays `code` (0:
        good, else that of PivotError or GrowthError, or of StateError: it was never factored), `row` (of the first bad
        pivot, -1: none) and `growth`.  It waits for a GPU."""
        bad, code = c_int64(), np.empty(self._count, np.intc)
        row, growth = np.empty(self._count, np.int64), np.empty(self._count)
        error = C.trs_lu_batch_status(self._handle.pointer, bad, code.ctypes.data_as(POINTER(c_int)),
                                      row.ctypes.data_as(POINTER(c_int64)), growth.ctypes.data_as(POINTER(c_double)))
        if error not in (0, _abi.TRS_EPIVOT, _abi.TRS_EGROWTH):
            check(error)
        return SimpleNamespace(bad=bad.value, code=code, row=row, growth=growth)

    @property
    def info(self) -> SimpleNamespace:
        info = _abi.trs_lu_batch_info()
        check(C.trs_lu_batch_get_info(self._handle.pointer, info))
        return facts(info)
