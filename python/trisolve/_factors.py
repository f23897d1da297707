"""Complete and incomplete factors, solved with as SciPy's SuperLU objects are."""

from __future__ import annotations

from ctypes import POINTER, byref, c_double, c_int8, c_int64
from functools import cached_property, lru_cache
from types import SimpleNamespace
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, diags, identity, tril, triu
from scipy.sparse.linalg import LinearOperator

from . import _abi
from ._arrays import DTYPES, Matrix, canonical, stream_of
from ._library import C, Handle, check, facts
from ._show import html
from ._solver import Solver, copy_array, plan_info, plan_options
from ._types import AnyMatrix

NUMBERS = {code: dtype for dtype, code in DTYPES.items()}


def stored(mat: Any) -> Any:
    """A triangle of the library's as a matrix of SciPy, on the host, without a diagonal that counts as 1."""
    n, dtype = mat.n, NUMBERS[mat.dtype]
    if not n:
        return csc_array((0, 0), dtype=dtype)
    ptr = copy_array(mat.ptr, n + 1, "i4" if mat.ptr_bits == 32 else "i8") - mat.base
    idx = copy_array(mat.idx, mat.nnz, "i8" if mat.idx_bits == 64 else "i4") - mat.base
    values = copy_array(mat.val, mat.nnz, dtype)
    whole = (csr_array if mat.format == _abi.TRS_CSR else csc_array)((values, idx, ptr), shape=(n, n))
    unit = bool(mat.kind & _abi.TRS_UNIT)
    return (tril(whole, -unit) if mat.kind & _abi.TRS_LOWER else triu(whole, unit)).asformat(whole.format)


def middle_of(pointer: Any, n: int, dtype: Any) -> tuple[Any, Any, NDArray[np.intp]] | None:
    """L and U of S with its rows in another order: S[order] = L U, for A(P, P) = F S F^H; None: S is the identity."""
    d, e = np.ones(n), np.zeros(n, np.result_type(dtype, np.float64))
    if C.trs_lu_middle(pointer, d.ctypes.data_as(POINTER(c_double)), e.ctypes.data, None) or (d == 1).all():
        return None
    order, lower, first = np.arange(n), np.zeros(n, dtype), np.flatnonzero(e)
    order[first], order[first + 1] = first + 1, first
    upper, beside = d.astype(dtype), np.zeros(n, dtype)
    lower[first] = d[first] / e[first].conj()
    upper[first], beside[first] = e[first].conj(), d[first + 1]
    upper[first + 1] = e[first] - lower[first] * d[first + 1]
    return (diags([np.ones(n), lower[:-1]], [0, -1], shape=(n, n)), diags([upper, beside[:-1]], [0, 1], shape=(n, n)),
            order)


class Stored(SimpleNamespace):
    """What the library solves with, L U = scale A(P, Q) or L L^H = A(P, P), in arrays of NumPy: what a pickle has."""

    L: Any
    U: Any  # None for L L^H
    unit: tuple[bool, bool]  # do the diagonals of L and U count as 1?
    P: NDArray[np.int64] | None
    Q: NDArray[np.int64] | None
    scale: NDArray[np.float64] | None

    @classmethod
    def of(cls, pointer: Any) -> Stored:
        L, U = _abi.trs_mat(), _abi.trs_mat()
        P, Q, scale = POINTER(c_int64)(), POINTER(c_int64)(), POINTER(c_double)()
        check(C.trs_lu_factors(pointer, L, U, P, Q, scale))
        lower, upper = stored(L), stored(U) if U.ptr else None
        rows = copy_array(P, L.n, "i8") if P else None
        middle = None if U.ptr else middle_of(pointer, L.n, lower.dtype)
        if middle is not None:  # F S F^H = A(P, P); L gets a unit diagonal
            left, right, order = middle
            d = lower.diagonal().real
            rows, d_ordered = rows[order], diags(1 / d[order])
            lower, upper = (csc_array(lower[order][:, order] @ left @ d_ordered),
                            csc_array(diags(d[order]) @ right @ lower.conj().T))
        return cls(L=lower, U=upper,
                   unit=(bool(L.kind & _abi.TRS_UNIT), bool(U.kind & _abi.TRS_UNIT)),
                   P=rows,
                   Q=copy_array(Q, L.n, "i8") if Q and upper is not None else None,
                   scale=copy_array(scale, L.n, "f8") if scale else None)


def imported(stored: Stored, plan: dict[str, Any]) -> Factors:
    """Factors of L and U from elsewhere."""
    if stored.U is not None and stored.U.dtype != stored.L.dtype:
        raise TypeError(f"L has dtype {stored.L.dtype}, and U {stored.U.dtype}")
    lower = Matrix(stored.L, _abi.TRS_LOWER | _abi.TRS_UNIT * stored.unit[0])
    upper = Matrix(stored.U, _abi.TRS_UPPER | _abi.TRS_UNIT * stored.unit[1]) if stored.U is not None else None

    def address(array: Any, ctype: Any) -> Any:
        return None if array is None else array.ctypes.data_as(POINTER(ctype))

    def make(pointer: Any, struct: Any, options: Any) -> int:
        return C.trs_lu_import(pointer, struct, upper and upper.struct, address(stored.P, c_int64),
                               address(stored.Q, c_int64), address(stored.scale, c_double), options)

    lu = Factors(make, lower, plan_options(lower.device, **plan), plan, fixed_pattern=False)
    lu._kind = 0
    return lu


@lru_cache(maxsize=64)
def operator_state(dtype: np.dtype[Any], shape: tuple[int, int]) -> dict[str, Any]:
    """What the constructor of LinearOperator sets, in a seventh of the time of a small factorization."""
    operator = object.__new__(Factors)
    LinearOperator.__init__(operator, dtype, shape)
    return vars(operator)


class Factors(Solver, LinearOperator):
    """Factors of a sparse matrix: Pr A Pc = L U, or about so where they are incomplete.

    splu, ilu0 and ic0 make them.  As a LinearOperator they are the inverse, so that they can be given to the solvers of
    scipy.sparse.linalg and cupyx.scipy.sparse.linalg as preconditioner M.

    Attributes
    ----------
    shape : tuple of int
    dtype : dtype
        That of A: one of the four floating-point types.
    nnz : int
        Entries of L and U together, diagonals included.
    L, U : csc_array
        The factors, on the host, L with a unit diagonal; the scaling of rows is in them.
    perm_r, perm_c : ndarray of int32
        Row i of A is row perm_r[i] of Pr A, column j is column perm_c[j] of A Pc.
    info : SimpleNamespace
        The members of trs_lu_info: library, ordering, rcond, ..., and those of trs_info for the triangles l and u.
    """

    _solve, _make_work, _destroy_work = C.trs_lu_solve, C.trs_lu_work_create, C.trs_lu_work_destroy
    _refine, _estimate, _determinant = C.trs_lu_refine, C.trs_lu_condest, C.trs_lu_determinant
    _work_member = "lu_work"

    def __init__(self, make: Callable[[Any, Any, Any], int], matrix: Matrix, options: Any, plan: dict[str, Any],
                 fixed_pattern: bool):
        handle = Handle(C.trs_lu_destroy)
        check(make(handle.pointer, matrix.struct, options))
        self.__dict__.update(operator_state(matrix.dtype, matrix.shape))
        device = getattr(options, "plan", options).device
        self._set_up(handle, matrix, device)
        self._fixed_pattern = fixed_pattern
        self._plan = {**plan, "device": device - 1 if device > 0 else "cpu"}

    def __reduce__(self) -> Any:
        """L, U, P, Q and the scaling travel: the copy solves as the original does, and takes no new values of A."""
        travels = Stored.of(self._handle.pointer)
        travels.L, travels.U = (T if T is None else T.astype(self.dtype) for T in (travels.L, travels.U))
        return imported, (travels, self._plan)

    def __repr__(self) -> str:
        info = self.info
        levels = " and ".join(str(t.levels) for t in (info.l, info.u) if t)
        return (f"<trisolve.Factors: {info.n} x {info.n} of {self.dtype}, by {info.library}, ordering {info.ordering}, "
                f"{self.nnz} entries{levels and f', {levels} levels'}>")

    def _repr_html_(self) -> str:
        return html(repr(self).strip("<>"), self._plans())

    def update(self, A: AnyMatrix, stream: Any = None) -> Factors:
        """Factor again with new values, which takes a fraction of the time.

        Parameters
        ----------
        A : sparse matrix or array, shape (n, n)
            In the format of the first, on the host or on the device.  Of ilu0 and ic0 the pattern must be the same; of
            splu it is faster when it is.
        stream : optional
            As in `solve`, for a matrix on the device.

        Returns
        -------
        self
            No solve may be running meanwhile.

        Raises
        ------
        PivotError, GrowthError
            Solves are refused until an update succeeds.
        ValueError
            The pattern, or the size, is another one.
        """
        matrix = Matrix(canonical(A), dtype=self.dtype)
        if matrix.shape != self.shape or self._fixed_pattern and not matrix.same_pattern(self._pattern):
            raise ValueError("the pattern of the matrix is not that of the factors")
        exec_ = _abi.trs_exec(stream=stream_of(matrix.values.owner, stream))
        for name in ("_triangles", "L", "U", "perm_r", "perm_c", "_inverse_h"):
            self.__dict__.pop(name, None)
        check(C.trs_lu_update_on(self._handle.pointer, matrix.struct, exec_))
        self._values = matrix.values  # which the device may still be reading
        return self

    def status(self) -> float:
        """Wait for the last update, raise PivotError or GrowthError, and give the growth of its rounding errors.

        Only needed where an update did not wait: ``defer``, ``on_growth="report"``.  0: the growth is not known.
        """
        growth = c_double()
        check(C.trs_lu_status(self._handle.pointer, None, None, growth))
        return growth.value

    def inertia(self) -> tuple[int, int]:
        """How many eigenvalues of A are positive and negative, from the pivots of L D L^H or L L^H.

        PivotError: `boost` has replaced pivots.  UnsupportedError: other factors say nothing of it.
        """
        positive, negative = c_int64(), c_int64()
        check(C.trs_lu_inertia(self._handle.pointer, positive, negative, None))
        return positive.value, negative.value

    @property
    def info(self) -> SimpleNamespace:
        info = _abi.trs_lu_info()
        check(C.trs_lu_get_info(self._handle.pointer, info))
        result = facts(info)
        result.l, result.u = (plan_info(plan) if plan else None for plan in (info.l, info.u))
        return result

    def _plans(self) -> list[Any]:
        info = _abi.trs_lu_info()
        check(C.trs_lu_get_info(self._handle.pointer, info))
        return [plan for plan in (info.l, info.u) if plan]

    @property
    def nnz(self) -> int:
        info = _abi.trs_lu_info()
        check(C.trs_lu_peek_info(self._handle.pointer, info))
        return info.nnz_l + (info.nnz_u or info.nnz_l)

    @cached_property
    def _triangles(self) -> tuple[Any, Any, NDArray[np.int64], NDArray[np.int64]]:
        """L, U, P and Q with A(P, Q) = L U: the scaling is brought into L and U, and L L^H gets a unit diagonal."""
        f, n = Stored.of(self._handle.pointer), self.shape[0]
        rows = np.arange(n) if f.P is None else f.P
        columns = (rows if f.U is None else np.arange(n)) if f.Q is None else f.Q
        lower, upper = (T if T is None or not unit else T + identity(n, T.dtype) for T, unit in zip((f.L, f.U), f.unit))
        if upper is None:
            d = lower.diagonal() if n else np.ones(0)
            lower, upper = lower @ diags(1 / d, shape=(n, n)), diags(d, shape=(n, n)) @ lower.conj().T
        if f.scale is not None:
            s = f.scale[rows]
            lower, upper = diags(1 / s) @ lower @ diags(s), diags(1 / s) @ upper
        lower, upper = (csc_array(T.astype(self.dtype)) for T in (lower, upper))
        lower.setdiag(1)  # which rounding has left a little
        return lower, upper, rows, columns

    @cached_property
    def L(self) -> Any:
        return self._triangles[0]

    @cached_property
    def U(self) -> Any:
        return self._triangles[1]

    @cached_property
    def perm_r(self) -> NDArray[np.intc]:
        return np.argsort(self._triangles[2]).astype(np.intc)

    @cached_property
    def perm_c(self) -> NDArray[np.intc]:
        return np.argsort(self._triangles[3]).astype(np.intc)

    # ---- as a LinearOperator; on a GPU SciPy's own, which takes NumPy's arrays only, is left out ---

    @cached_property
    def _inverse_h(self) -> Factors:
        """What solves with A^H: these factors, or those that are imported for it if "H" is not among the ops."""
        if self.info.l is None or "H" in self._plan.get("ops", "NTH"):
            return self
        build, (travels, plan) = self.__reduce__()
        return build(travels, {**plan, "ops": "H"})

    def matvec(self, x: Any) -> Any:
        return self.solve(x) if self._device else super().matvec(x)

    def rmatvec(self, x: Any) -> Any:
        return self._inverse_h.solve(x, "H") if self._device else super().rmatvec(x)

    def _apply(self, x: Any, trans: Any) -> Any:
        if x.dtype.kind == "c" and self.dtype.kind != "c":
            return self._apply(x.real, trans) + 1j * self._apply(x.imag, trans)
        return (self._inverse_h if trans == "H" else self).solve(x.astype(self.dtype, copy=False), trans)

    def _matmat(self, X: Any) -> Any:
        return self._apply(X, "N")

    def _rmatmat(self, X: Any) -> Any:
        return self._apply(X, "H")

    def _matvec(self, x: Any) -> Any:
        return self._apply(x, "N")

    def _rmatvec(self, x: Any) -> Any:
        return self._apply(x, "H")
