"""The functions that factor: complete factors, incomplete ones, and those of other programs."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from ctypes import POINTER, c_int8, c_int64
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import SparseEfficiencyWarning, csc_array

from . import _abi
from ._arrays import Matrix, canonical, is_torch_csr
from ._factors import Factors, Stored, imported
from ._library import C, PivotError, UnsupportedError, suitesparse
from ._solver import PlanOptions, pick, plan_options, whole
from ._types import AnyMatrix, Growth, Method, Ordering, Permc

if TYPE_CHECKING:
    from typing_extensions import Unpack

ORDERINGS = {"natural": _abi.TRS_ILU_NATURAL, "rcm": _abi.TRS_ILU_RCM, "multicolour": _abi.TRS_ILU_MULTICOLOUR}
PERMC = {"NATURAL": "natural", "MMD_ATA": "colamd", "MMD_AT_PLUS_A": "amd", "COLAMD": "colamd"}
ORDERS = PERMC | {name: name for name in ("amd", "colamd", "metis", "natural", "best")}
METHODS = {name: name for name in ("umfpack", "cholmod", "klu", "ldlt", "static")}
GROWTH = {"report": 0, "refactor": 1}  # trs_growth


def splu(A: AnyMatrix, permc_spec: Permc | None = None, diag_pivot_thresh: Any = None, relax: Any = None,
         panel_size: Any = None, options: Any = None, *, method: Method | None = None, ops: str = "NTH",
         single: bool = False, on_growth: Growth = "refactor", growth_limit: float = 0.0,
         boost: float = 0.0, signs: Any = None, **plan: Unpack[PlanOptions]) -> Factors:
    """Factor a sparse square matrix, as scipy.sparse.linalg.splu does.

    Parameters
    ----------
    A : sparse matrix or array, shape (n, n)
        On the host or, of CuPy or PyTorch, on a GPU; anything dense is converted to CSC, with a warning.
    permc_spec : str, optional
        The ordering: SciPy's 'NATURAL', 'MMD_ATA', 'MMD_AT_PLUS_A', 'COLAMD', or the library's "amd", "colamd",
        "metis", "natural", "best".  With 'NATURAL' KLU factors unless a method is named, because it leaves the columns
        in place.
    diag_pivot_thresh, relax, panel_size, options
        SuperLU's; they make no difference here.
    method : {'umfpack', 'cholmod', 'klu', 'ldlt', 'static'}, optional
        None: chosen by the pattern and values of A.  "ldlt": L D L^H of a symmetric or Hermitian A that need not be
        definite, with pivots on the diagonal, and, if A has zeros there, of 2 x 2 numbers.  "static": pivots on the diagonal, computed on a GPU.
    ops : str
        The ops that will be solved; "N" alone takes less memory and a shorter analysis.
    single : bool
        Solve with factors that were rounded to single precision.
    on_growth, growth_limit : {'refactor', 'report'}, float
        What an update on a GPU does when its values do not suit the pivots: factor anew with other ones, for which it
        has to wait, or leave it to `Factors.status` to say so.
    boost, signs : float, array_like of int, optional
        With "ldlt", a pivot smaller than `boost` times the largest entry of its column is replaced by that, and so is
        one whose sign is not that of `signs` (1, -1; 0: any).  ``info.boosted`` counts them.
    **plan
        Options of Plan: solver, device, nrhs, threads, ...

    Returns
    -------
    lu : Factors

    Notes
    -----
    UMFPACK and KLU accept small pivots, because they save fill, and "static" has none but the diagonal.  Where that costs
    digits of x, which a solve after each factorisation finds out, solves on the host take one step of refinement:
    ``info.refines`` is 1, a solve takes a little more than twice the time, and a copy of the values of A is kept.  x of
    double precision is then about as accurate as that of SciPy's SuperLU.

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
    matrix = factorable(A, "splu")
    settings = splu_options(matrix.device, method, permc_spec, single, boost, growth_limit, on_growth, ops=ops, **plan)
    if signs is not None:
        settings = _abi.trs_factor_options.from_buffer_copy(settings)
        expected = np.ascontiguousarray(signs, np.int8)
        if expected.shape != (matrix.struct.n,):
            raise ValueError(f"signs has shape {expected.shape}, not {(matrix.struct.n,)}")
        settings.signs = expected.ctypes.data_as(POINTER(c_int8))
    with as_scipy():
        return Factors(factor, matrix, settings, {"ops": ops, **plan}, fixed_pattern=False)


@lru_cache(maxsize=64)
def splu_options(place: int, method: Method | None, permc_spec: Permc | None, single: bool, boost: float,
                 growth_limit: float, on_growth: Growth, **plan: Any) -> Any:
    """The options of trs_factor for one place of A; calls with the same words share them."""
    return factor_options(method, permc_spec, plan_options(place, **plan), single=single, boost=boost,
                          growth_limit=growth_limit, on_growth=pick(GROWTH, on_growth, "on_growth"))


def schur(A: AnyMatrix, rows: Any, *, method: Method | None = None, ops: str = "NTH",
          **plan: Unpack[PlanOptions]) -> tuple[NDArray[Any], Factors]:
    """The Schur complement of some rows of a sparse square matrix, and factors of the other rows.

    Parameters
    ----------
    A : sparse matrix or array, shape (n, n)
        On the host.  Of single precision, it is converted to double.
    rows : array_like of int
        The rows s, in any order, each once; r are the others, ascending.
    method, ops, **plan
        As in splu, for the factors; on the host.

    Returns
    -------
    S : ndarray, shape (len(rows), len(rows))
        A[s, s] - A[s, r] @ inv(A[r, r]) @ A[r, s]
    lu : Factors
        Of A[r, r].

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from trisolve import schur
    >>> A = csc_array([[2.0, 0, 1, 0], [0, 4, 1, 1], [1, 1, 3, 0], [0, 1, 0, 1]])
    >>> S, lu = schur(A, [2, 3])
    >>> S
    array([[ 2.25, -0.25],
           [-0.25,  0.75]])
    >>> lu.solve(np.array([2.0, 4]))
    array([1., 1.])
    """
    function = suitesparse("trs_schur")
    A = compressed(A, "schur converted its input to CSC format")
    A = canonical(A.astype(np.result_type(A.dtype, np.float64)))
    matrix, chosen = factorable(A, "schur"), np.array(rows, np.int64, ndmin=1)
    count = chosen.size
    others = np.setdiff1d(np.arange(A.shape[0]), chosen)
    S = np.zeros((count, count), matrix.dtype, order="F")
    settings = _abi.trs_factor_options(method=choice(METHODS, method, "method"),
                                       plan=plan_options(matrix.device, ops=ops, **plan))
    if settings.plan.device > 0:  # S would be there, too
        raise UnsupportedError("schur: A and the plans must be on the host")

    def make(pointer: Any, struct: Any, options: Any) -> int:
        return function(pointer, matrix.struct, count, chosen.ctypes.data_as(POINTER(c_int64)), S.ctypes.data,
                        max(count, 1), options)

    with as_scipy():
        lu = Factors(make, Matrix(csc_array(A)[:, others][others]), settings, {"ops": ops, **plan},
                     fixed_pattern=False)
    return S, lu


def factor_options(method: Method | None, permc_spec: Permc | None, plan: Any, **more: Any) -> Any:
    """The options of trs_factor; SciPy's natural order keeps the columns in place, as KLU does."""
    if permc_spec == "NATURAL":
        method = method or "klu"
    return _abi.trs_factor_options(method=choice(METHODS, method, "method"),
                                   ordering=choice(ORDERS, permc_spec, "permc_spec"), plan=plan, **more)


def choice(table: dict[str, str], name: str | None, what: str) -> bytes | None:
    """The library's word for a name, or a ValueError."""
    if name is not None and name not in table:
        raise ValueError(f"{what} must be one of {', '.join(table)}, not {name!r}")
    return table[name].encode() if name is not None else None


def factorable(A: Any, function: str) -> Matrix:
    """A square matrix, compressed by rows or columns, without duplicates."""
    A = canonical(compressed(A, f"{function} converted its input to CSC format"))
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"can only factor square matrices, not one of shape {A.shape}")
    return Matrix(A)


@contextmanager
def as_scipy() -> Iterator[None]:
    """Begin the sentence about a singular matrix as SciPy does."""
    try:
        yield
    except PivotError as error:
        raise PivotError(f"Factor is exactly singular: {error}") from None


def compressed(A: Any, warning: str) -> Any:
    """A as it is if it is compressed by rows or columns, else in CSC, with SciPy's warning."""
    if getattr(A, "format", None) in ("csc", "csr") or is_torch_csr(A):
        return A
    warnings.warn(warning, SparseEfficiencyWarning, stacklevel=4)
    return A.tocsc() if hasattr(A, "tocsc") else csc_array(A)


def incomplete(method: int, matrix: Matrix, level: int, ordering: str, shift: float, boost: float, defer: bool,
               plan: dict[str, Any], drop_tol: float = 0.0, fill_factor: float = 0.0,
               block_size: int | None = 1) -> Factors:
    if block_size is None:  # 0: that of the blocks
        block_size = 0 if matrix.struct.format == _abi.TRS_BSR else 1
    settings = _abi.trs_ilu_options(
        method=method, shift=shift, boost=boost, plan=plan_options(matrix.device, **plan), level=whole(level, "level"),
        ordering=pick(ORDERINGS, ordering, "ordering"), defer=defer, drop_tol=drop_tol, fill_factor=fill_factor,
        block=whole(block_size, "block_size"))
    return Factors(C.trs_ilu, matrix, settings, plan, fixed_pattern=True)


def ilu0(A: AnyMatrix, level: int = 0, ordering: Ordering = "natural", shift: float = 0.0, boost: float = 0.0, *,
         ops: str = "N", defer: bool = False, block_size: int | None = None, **plan: Unpack[PlanOptions]) -> Factors:
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
        The ops that will be solved: "N", or "NH" for methods that need the adjoint too, as bicg.  Without "H", M.H and
        rmatvec import the factors once more at their first use.
    defer : bool
        On a GPU updates do not wait for the pivots; `Factors.status` tells.
    block_size : int, optional
        Factors by blocks of this size, 2 to 8, without fill in the natural order: updates and solves are
        faster, zeros on the diagonal are allowed where the diagonal blocks are not singular, and there are no `L`
        and `U`; M.H needs ``ops="NH"``.  1: factors by numbers.  0: the size is found in the pattern.  None: that of
        a BSR matrix, else 1.
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
    return incomplete(_abi.TRS_ILU0, Matrix(canonical(A)), level, ordering, shift, boost, defer, {"ops": ops, **plan},
                      block_size=block_size)


def dilu(A: AnyMatrix, block_size: int | None = None, shift: float = 0.0, boost: float = 0.0, *, ops: str = "N",
         **plan: Unpack[PlanOptions]) -> Factors:
    """The preconditioner (D + L) D^-1 (D + U), with L and U of A, of which only the diagonal D is computed.

    Parameters are those of ilu0.  D is of blocks with `block_size`, of which 1 means numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import bsr_matrix, kron
    >>> from trisolve import dilu
    >>> A = bsr_matrix(kron(np.eye(3) + np.eye(3, k=1), np.array([[0.0, 1], [2, 0]])), blocksize=(2, 2))
    >>> dilu(A).solve(A @ np.arange(6.0))
    array([0., 1., 2., 3., 4., 5.])
    """
    return incomplete(_abi.TRS_DILU, Matrix(canonical(A)), 0, "natural", shift, boost, False, {"ops": ops, **plan},
                      block_size=block_size)


def block_jacobi(A: AnyMatrix, block_size: int | None = None, shift: float = 0.0, boost: float = 0.0, *,
                 ops: str = "N", **plan: Unpack[PlanOptions]) -> Factors:
    """The inverses of the diagonal blocks of A, or of its diagonal, as a preconditioner.

    Parameters are those of dilu.
    """
    return incomplete(_abi.TRS_BLOCK_JACOBI, Matrix(canonical(A)), 0, "natural", shift, boost, False,
                      {"ops": ops, **plan}, block_size=block_size)


def ic0(A: AnyMatrix, level: int = 0, ordering: Ordering = "natural", shift: float = 0.0, boost: float = 0.0, *,
        defer: bool = False, block_size: int | None = None, **plan: Unpack[PlanOptions]) -> Factors:
    """Incomplete factors L L^H of a Hermitian positive definite matrix, as a preconditioner.

    Parameters are those of ilu0.  In the natural order only the lower triangle of A is read.  A shift of 0.001 or more
    helps where a pivot is not positive.  L and U of the result are L D^-1 and D L^H, with D the diagonal of L, so that
    L has a unit diagonal.  Factors by blocks, see `block_size`, need no `ops`.

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
    return incomplete(_abi.TRS_IC0, Matrix(canonical(A)), level, ordering, shift, boost, defer, {**plan},
                      block_size=block_size)


def spilu(A: AnyMatrix, drop_tol: float | None = None, fill_factor: float | None = None, drop_rule: Any = None,
          permc_spec: Permc | None = None, diag_pivot_thresh: Any = None, relax: Any = None, panel_size: Any = None,
          options: Any = None, *, level: int | None = None, ordering: Ordering | None = None, ops: str = "NTH",
          block_size: int | None = None, **plan: Unpack[PlanOptions]) -> Factors:
    """Incomplete factors of a sparse square matrix, with the signature of scipy.sparse.linalg.spilu.

    Parameters
    ----------
    A : sparse matrix or array, shape (n, n)
        The pivots are on its diagonal.
    drop_tol : float, optional
        An entry is dropped if it is smaller than `drop_tol` (1e-4) times the 2-norm of its row of A, in U, or of its
        column, in L.
    fill_factor : float, optional
        The factors have at most `fill_factor` (10) times as many entries as A: the largest ones of a row or column.
    permc_spec : str, optional
        'NATURAL' is ``ordering="natural"``; any other one, and None, is ``ordering="rcm"``.
    drop_rule, diag_pivot_thresh, relax, panel_size, options
        SuperLU's; they make no difference here.
    level : int, optional
        Entries are kept by their level of fill, as in ilu0, and not by their size.
    block_size : int, optional
        The factors are those of ``ilu0(A, block_size=block_size)``: the pattern is that of A.
    ordering, ops, **plan
        As in ilu0.  `Factors.update` keeps the pattern of the first values.

    Returns
    -------
    M : Factors

    Raises
    ------
    PivotError
        A pivot is zero or missing: SuperLU may exchange rows instead.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import diags
    >>> from trisolve import spilu
    >>> A = diags([-1.2, 4, -0.8, -0.5], [-1, 0, 1, 9], shape=(100, 100), format="csc")
    >>> b = A @ np.ones(100)
    >>> bool(abs(spilu(A).solve(b) - 1).max() < 0.01)
    True
    """
    if block_size is not None:
        with as_scipy():
            return ilu0(A, ops=ops, block_size=block_size, **plan)
    matrix = factorable(A, "spilu")
    choice(PERMC, permc_spec, "permc_spec")
    ordering = ordering or ("natural" if permc_spec == "NATURAL" else "rcm")
    with as_scipy():
        if level is not None:
            return incomplete(_abi.TRS_ILU0, matrix, level, ordering, 0.0, 0.0, False, {"ops": ops, **plan})
        return incomplete(_abi.TRS_ILUT, matrix, 0, ordering, 0.0, 0.0, False, {"ops": ops, **plan},
                          1e-4 if drop_tol is None else drop_tol, 10 if fill_factor is None else fill_factor)


def from_factors(L: AnyMatrix, U: AnyMatrix | None = None, perm_r: Any = None, perm_c: Any = None, *, ops: str = "NTH",
                 **plan: Unpack[PlanOptions]) -> Factors:
    """Solve with factors of another program: Pr A Pc = L U, or Pr A Pr^T = L L^H.

    Parameters
    ----------
    L, U : sparse matrices, shape (n, n)
        CSR or CSC, a lower and an upper triangle with their diagonals, of one type.  U is None: the factors are L L^H.
    perm_r, perm_c : array_like of int, optional
        Row i of A is row perm_r[i] of Pr A, column j is column perm_c[j] of A Pc, as of SciPy's SuperLU.  None: the
        identity; of L L^H perm_c is that of the rows.
    ops, **plan
        As in splu.

    Returns
    -------
    lu : Factors
        Without `update`; `refine` and `rcond` take A.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from trisolve import from_factors
    >>> lu = from_factors(csc_array([[1.0, 0], [0.5, 1]]), csc_array([[2.0, 4], [0, 1]]))
    >>> lu.solve(np.array([6.0, 4]))
    array([1., 1.])
    """
    def order(perm: Any) -> Any:
        return None if perm is None else np.argsort(perm).astype(np.int64)

    return imported(Stored(L=L, U=U, unit=(False, False), P=order(perm_r), Q=order(perm_c), scale=None),
                    {"ops": ops, **plan})


def from_superlu(lu: Any, **plan: Any) -> Factors:
    """Solve with the factors of an object that scipy.sparse.linalg.splu or spilu has made.

    **plan are options of splu: ops, solver, device, threads, ...

    Examples
    --------
    >>> import numpy as np, scipy.sparse.linalg
    >>> from scipy.sparse import csc_array
    >>> from trisolve import from_superlu
    >>> A = csc_array([[1.0, 2], [3, 4]])
    >>> from_superlu(scipy.sparse.linalg.splu(A)).solve(np.array([3.0, 7])).round(12)
    array([1., 1.])
    """
    return from_factors(lu.L, lu.U, lu.perm_r, lu.perm_c, **plan)
