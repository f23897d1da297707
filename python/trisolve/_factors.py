"""Complete and incomplete factors, made by the library, solved with as SciPy's SuperLU objects are."""

from __future__ import annotations

import warnings
from ctypes import POINTER, c_double, c_int64
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.sparse import SparseEfficiencyWarning, csc_array, csr_array, diags, identity, tril, triu
from scipy.sparse.linalg import LinearOperator

from . import _abi
from ._arrays import DTYPES, Matrix, is_torch_csr, stream_of
from ._library import C, Handle, check, facts, suitesparse
from ._plan import Solver, copy_array, pick, plan_info, plan_options, whole

ORDERINGS = {"natural": _abi.TRS_ILU_NATURAL, "rcm": _abi.TRS_ILU_RCM, "multicolour": _abi.TRS_ILU_MULTICOLOUR}
PERMC = {"NATURAL": "natural", "MMD_ATA": "colamd", "MMD_AT_PLUS_A": "amd", "COLAMD": "colamd"}
GROWTH = {"report": 0, "refactor": 1}  # trs_growth
NUMBERS = {code: dtype for dtype, code in DTYPES.items()}


def canonical(A):
    """A without duplicates, which SciPy's functions sum too; a copy if there are any."""
    if getattr(A, "has_canonical_format", True):
        return A
    A = A.copy()
    A.sum_duplicates()
    return A


def triangle(mat: _abi.trs_mat):
    """A triangle of the library's as a matrix of SciPy in CSC, on the host."""
    n, dtype = mat.n, NUMBERS[mat.dtype]
    if not n:
        return csc_array((0, 0), dtype=dtype)
    ptr = copy_array(mat.ptr, n + 1, "i4" if mat.ptr_bits == 32 else "i8") - mat.base
    idx = copy_array(mat.idx, mat.nnz, "i8" if mat.idx_bits == 64 else "i4") - mat.base
    values = copy_array(mat.val, mat.nnz, dtype)
    whole = (csr_array if mat.format == _abi.TRS_CSR else csc_array)((values, idx, ptr), shape=(n, n))
    unit = bool(mat.kind & _abi.TRS_UNIT)
    part = (tril(whole, -unit) if mat.kind & _abi.TRS_LOWER else triu(whole, unit)).tocsc()
    return part + identity(n, dtype, format="csc") if unit else part


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
    _work_member = "lu_work"

    def __init__(self, make, matrix: Matrix, options, fixed_pattern: bool):
        handle = Handle(C.trs_lu_destroy)
        check(make(handle.pointer, matrix.struct, options))
        LinearOperator.__init__(self, matrix.dtype, matrix.shape)
        self._set_up(handle, matrix, options.plan.device)
        self._fixed_pattern = fixed_pattern

    def update(self, A, stream=None) -> "Factors":
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
        for name in ("_triangles", "L", "U", "perm_r", "perm_c"):
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

    def rcond(self, A) -> float:
        """Estimate 1 / (|A| |A^-1|) in the 1-norm by a few solves; A is the matrix that was factored, on the host.

        Without "N" and "H" among the ops it is a bound from above, which is less sharp.
        """
        value = c_double()
        check(C.trs_lu_condest(self._handle.pointer, Matrix(canonical(A), dtype=self.dtype).struct, _abi.TRS_NORM_ONE,
                               value))
        return value.value

    @property
    def info(self) -> SimpleNamespace:
        info = _abi.trs_lu_info()
        check(C.trs_lu_get_info(self._handle.pointer, info))
        result = facts(info)
        result.l, result.u = (plan_info(plan) if plan else None for plan in (info.l, info.u))
        return result

    def _plans(self) -> list:
        info = _abi.trs_lu_info()
        check(C.trs_lu_get_info(self._handle.pointer, info))
        return [plan for plan in (info.l, info.u) if plan]

    @property
    def nnz(self) -> int:
        info = self.info
        return info.nnz_l + (info.nnz_u or info.nnz_l)

    @cached_property
    def _triangles(self):
        """L, U, P and Q with A(P, Q) = L U: the scaling is brought into L and U, and L L^H gets a unit diagonal."""
        L, U = _abi.trs_mat(), _abi.trs_mat()
        P, Q, scale = POINTER(c_int64)(), POINTER(c_int64)(), POINTER(c_double)()
        check(C.trs_lu_factors(self._handle.pointer, L, U, P, Q, scale))
        n = self.shape[0]
        rows = copy_array(P, n, "i8") if P else np.arange(n)
        columns = copy_array(Q, n, "i8") if Q else np.arange(n)
        lower = triangle(L)
        if n and not U.ptr:
            d = lower.diagonal()
            lower, upper = lower @ diags(1 / d), diags(d) @ lower.conj().T
        else:
            upper = triangle(U)
        if scale:
            s = copy_array(scale, n, "f8")[rows]
            lower, upper = diags(1 / s) @ lower @ diags(s), diags(1 / s) @ upper
        lower, upper = (csc_array(T.astype(self.dtype)) for T in (lower, upper))
        lower.setdiag(1)  # which rounding has left a little
        return lower, upper, rows, columns

    @cached_property
    def L(self) -> csc_array:
        return self._triangles[0]

    @cached_property
    def U(self) -> csc_array:
        return self._triangles[1]

    @cached_property
    def perm_r(self) -> np.ndarray:
        return np.argsort(self._triangles[2]).astype(np.intc)

    @cached_property
    def perm_c(self) -> np.ndarray:
        return np.argsort(self._triangles[3]).astype(np.intc)

    # ---- as a LinearOperator; on a GPU SciPy's own, which takes NumPy's arrays only, is left out ---

    def matvec(self, x):
        return self.solve(x) if self._device else super().matvec(x)

    def rmatvec(self, x):
        return self.solve(x, "H") if self._device else super().rmatvec(x)

    def _apply(self, x, trans: str):
        if x.dtype.kind == "c" and self.dtype.kind != "c":
            return self._apply(x.real, trans) + 1j * self._apply(x.imag, trans)
        return self.solve(x.astype(self.dtype, copy=False), trans)

    def _matmat(self, X):
        return self._apply(X, "N")

    def _rmatmat(self, X):
        return self._apply(X, "H")

    def _matvec(self, x):
        return self._apply(x, "N")

    def _rmatvec(self, x):
        return self._apply(x, "H")


def splu(A, permc_spec: str | None = None, diag_pivot_thresh=None, relax=None, panel_size=None, options=None, *,
         method: str | None = None, ops: str = "NTH", single: bool = False, on_growth: str = "refactor",
         growth_limit: float = 0.0, **plan: Any) -> Factors:
    """Factor a sparse square matrix, as scipy.sparse.linalg.splu does.

    Parameters
    ----------
    A : sparse matrix or array, shape (n, n)
        On the host or, of CuPy or PyTorch, on a GPU; anything dense is converted to CSC, with a warning.
    permc_spec : str, optional
        The ordering: SciPy's 'NATURAL', 'MMD_ATA', 'MMD_AT_PLUS_A', 'COLAMD', or the library's "amd", "metis", "best".
    diag_pivot_thresh, relax, panel_size, options
        SuperLU's; they make no difference here.
    method : {'umfpack', 'cholmod', 'klu'}, optional
        None: chosen by the pattern and values of A.
    ops : str
        The ops that will be solved; "N" alone takes less memory and a shorter analysis.
    single : bool
        Solve with factors that were rounded to single precision.
    on_growth, growth_limit : {'refactor', 'report'}, float
        What an update on a GPU does when its values do not suit the pivots: factor anew with other ones, for which it
        has to wait, or leave it to `Factors.status` to say so.
    **plan
        Options of Plan: solver, device, nrhs, threads, ...

    Returns
    -------
    lu : Factors

    Notes
    -----
    UMFPACK and KLU accept small pivots, because they save fill.  Where that costs digits of x, which a solve after each
    factorisation finds out, solves on the host take one step of refinement: ``info.refines`` is 1, a solve takes a little
    more than twice the time, and a copy of the values of A is kept.  x of double precision is then about as accurate as
    that of SciPy's SuperLU.

    Raises
    ------
    PivotError
        A is singular.  It is a RuntimeError, as SciPy's.
    ValueError
        A is not square.
    UnsupportedError
        This build is without SuiteSparse.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from trisolve import splu
    >>> A = csc_array([[1., 2, 0, 4], [1, 0, 0, 1], [1, 0, 2, 1], [2, 2, 1, 0]])
    >>> lu = splu(A)
    >>> np.allclose(A @ lu.solve(np.array([1., 2, 3, 4])), [1, 2, 3, 4])
    True
    >>> Pr = csc_array((np.ones(4), (lu.perm_r, np.arange(4))))
    >>> Pc = csc_array((np.ones(4), (np.arange(4), lu.perm_c)))
    >>> np.allclose((Pr.T @ (lu.L @ lu.U) @ Pc.T).toarray(), A.toarray())
    True
    >>> lu.update(2 * A).solve(np.array([14., 4, 8, 10])).round(12)
    array([1., 1., 1., 1.])
    """
    factor = suitesparse("trs_factor")
    matrix = Matrix(canonical(compressed(A, "splu converted its input to CSC format")))
    ordering = PERMC.get(permc_spec, permc_spec) if permc_spec else None
    settings = _abi.trs_factor_options(
        method=method.encode() if method else None, ordering=ordering.encode() if ordering else None,
        plan=plan_options(matrix, ops=ops, **plan), single=single, growth_limit=growth_limit,
        on_growth=pick(GROWTH, on_growth, "on_growth"))
    return Factors(factor, matrix, settings, fixed_pattern=False)


def compressed(A, warning: str):
    """A as it is if it is compressed by rows or columns, else in CSC, with SciPy's warning."""
    if getattr(A, "format", None) in ("csc", "csr") or is_torch_csr(A):
        return A
    warnings.warn(warning, SparseEfficiencyWarning, stacklevel=3)
    return A.tocsc() if hasattr(A, "tocsc") else csc_array(A)


def incomplete(method: int, A, level: int, ordering: str, shift: float, boost: float, defer: bool, plan: dict):
    matrix = Matrix(canonical(A))
    settings = _abi.trs_ilu_options(
        method=method, shift=shift, boost=boost, plan=plan_options(matrix, **plan), level=whole(level, "level"),
        ordering=pick(ORDERINGS, ordering, "ordering"), defer=defer)
    return Factors(C.trs_ilu, matrix, settings, fixed_pattern=True)


def ilu0(A, level: int = 0, ordering: str = "natural", shift: float = 0.0, boost: float = 0.0, *, ops: str = "N",
         defer: bool = False, **plan: Any) -> Factors:
    """Incomplete factors L U of a sparse square matrix, as a preconditioner.

    Parameters
    ----------
    A : sparse matrix or array, shape (n, n)
        CSR, CSC or BSR, on the host or on a GPU; the diagonal is where the pivots are.
    level : int
        Of fill: 0 keeps the pattern of A, k > 0 entries that come of at most k eliminations one upon the other.
    ordering : {'natural', 'rcm', 'multicolour'}
        Of rows and columns; with 'multicolour' there are few levels, and more iterations.
    shift : float
        The diagonal of A counts 1 + shift times.
    boost : float
        0: a bad pivot is a PivotError.  In (0, 1]: a pivot smaller than boost times the largest entry of its row is
        replaced by that product.
    ops : str
        The ops that will be solved: "N", or "NH" for methods that need the adjoint too, as bicg.
    defer : bool
        On a GPU updates do not wait for the pivots; `Factors.status` tells.
    **plan
        Options of Plan: solver, device, nrhs, threads, ...

    Returns
    -------
    M : Factors
        A LinearOperator, with `update` for new values.

    Raises
    ------
    PivotError, MatrixError, ValueError

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import diags
    >>> from scipy.sparse.linalg import gmres
    >>> from trisolve import ilu0
    >>> A = diags([-1.2, 4, -0.8], [-1, 0, 1], shape=(100, 100), format="csr", dtype=float)
    >>> x, info = gmres(A, np.ones(100), M=ilu0(A))
    >>> info
    0
    """
    return incomplete(_abi.TRS_ILU0, A, level, ordering, shift, boost, defer, {"ops": ops, **plan})


def ic0(A, level: int = 0, ordering: str = "natural", shift: float = 0.0, boost: float = 0.0, *,
        defer: bool = False, **plan: Any) -> Factors:
    """Incomplete factors L L^H of a Hermitian positive definite matrix, as a preconditioner.

    Parameters are those of ilu0.  In the natural order only the lower triangle of A is read.  A shift of 0.001 or more
    helps where a pivot is not positive.  L and U of the result are L D^-1 and D L^H, with D the diagonal of L, so that
    L has a unit diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import diags
    >>> from scipy.sparse.linalg import cg
    >>> from trisolve import ic0
    >>> A = diags([-1, 2, -1], [-1, 0, 1], shape=(100, 100), format="csr", dtype=float)
    >>> x, info = cg(A, np.ones(100), M=ic0(A))
    >>> info, bool(np.linalg.norm(A @ x - 1) < 1e-8)
    (0, True)
    """
    return incomplete(_abi.TRS_IC0, A, level, ordering, shift, boost, defer, plan)
