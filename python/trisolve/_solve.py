"""One-call solves with the signatures of scipy.sparse.linalg."""

from __future__ import annotations

import warnings
from ctypes import c_double
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning, blas
from scipy.sparse import SparseEfficiencyWarning, csc_array, issparse
from scipy.sparse.linalg import MatrixRankWarning

from . import _abi
from ._arrays import Matrix, address_of, canonical, floating, right_side, sides, values_of, view
from ._factorize import compressed, factor_options, splu
from ._library import C, Handle, MatrixError, PivotError, check, suitesparse
from ._plan import Plan
from ._types import AnyArray, AnyMatrix, HasShape, Permc

MOST_COLUMNS = 8  # of b, up to which an analysis of a triangle takes longer than it saves
ONCE = _abi.trs_options(ops=1 << _abi.TRS_N, solves=1)
NORMS = {"d": blas.dnrm2, "f": blas.snrm2, "D": blas.dznrm2, "F": blas.scnrm2}  # which do not overflow


def common_type(A: Any, b: Any) -> tuple[Any, Any]:
    """A and b in the type of the result, as SciPy promotes them: that of both, at least single precision."""
    b = b if hasattr(b, "__cuda_array_interface__") or issparse(b) else np.asarray(b)
    a_type, b_type = (x.dtype if isinstance(x, np.ndarray) or issparse(x) else view(x).dtype for x in (values_of(A), b))
    dtype = floating(np.promote_types(floating(a_type), b_type))
    return A if a_type == dtype else A.astype(dtype), b if b_type == dtype else b.astype(dtype)


def spsolve_triangular(A: AnyMatrix, b: AnyArray, lower: bool = True, overwrite_A: bool = False,
                       overwrite_b: bool = False, unit_diagonal: bool = False) -> Any:
    """Solve A x = b with a sparse triangular matrix, as scipy.sparse.linalg.spsolve_triangular does.

    Parameters
    ----------
    A : sparse matrix or array, shape (n, n)
        Best in CSR or CSC; of SciPy, or of CuPy on a GPU.
    b : array_like, shape (n,) or (n, k)
        Where A is.
    lower, unit_diagonal : bool
        Which triangle of A to solve with, and whether its diagonal counts as 1.  Entries of the other triangle are
        ignored; ``Plan(A, strict=True)`` refuses them.
    overwrite_A : bool
        No difference: A is never changed.
    overwrite_b : bool
        x may take the place of b, if b has the type of the result.

    Returns
    -------
    x : array, of the shape of b

    Raises
    ------
    LinAlgError
        A is singular.
    ValueError
        The shapes do not fit.

    Notes
    -----
    A is solved with as it is stored, by one thread.  For many solves Plan analyses it, once.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from trisolve import spsolve_triangular
    >>> A = csc_array([[3, 0, 0], [1, -1, 0], [2, 0, 1]], dtype=float)
    >>> B = np.array([[2, 0], [-1, 0], [2, 0]], dtype=float)
    >>> np.allclose(A @ spsolve_triangular(A, B), B)
    True
    """
    A = compressed(A, "CSC or CSR matrix format is required. Converting to CSC matrix.")
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be a square matrix but its shape is {A.shape}.")
    given = b
    A, b = common_type(A, b)
    out = b if overwrite_b or b is not given and view(b).owner is b else None
    if on_device(A) or b.ndim == 2 and b.shape[1] > MOST_COLUMNS:
        return Plan(canonical(A), lower, unit_diagonal, solves=1).solve(b, out=out)
    return substitute(A, b, out, (_abi.TRS_LOWER if lower else _abi.TRS_UPPER) | _abi.TRS_UNIT * unit_diagonal)


def on_device(A: Any) -> bool:
    return hasattr(values_of(A), "__cuda_array_interface__")


def substitute(A: Any, b: Any, out: Any, kind: int) -> Any:
    """x = A^-1 b of a triangle on the host, without a plan; x may take the place of b in out.

    The library adds up entries that are stored twice, but for those of the diagonal: then A is copied without them, and b
    must still be there.
    """
    if out is not None:
        A = canonical(A)
    matrix = Matrix(A, kind)
    s = sides(b, out, matrix.shape[0], matrix.dtype, 0)
    status = C.trs_solve_once(matrix.struct, _abi.TRS_N, s.nrhs, s.B.address, s.ldb, s.X.address, s.ldx, s.layout)
    if status == MatrixError.status and out is None and not getattr(A, "has_canonical_format", True):
        return substitute(canonical(A), b, out, kind)
    check(status)
    return s.X.owner


def probe(n: int) -> NDArray[Any]:
    """A vector without a pattern that a matrix is likely to have: the fractions of k^2 (sqrt(5) - 1) / 2, less 1/2."""
    z = np.arange(float(n))
    z *= z
    z *= 0.6180339887498949
    z -= np.floor(z)
    z -= 0.5
    return z


def warn_of_condition(matrix: Matrix, lu: Handle, z: NDArray[Any], y: NDArray[Any]) -> None:
    """Warn of a matrix that is singular to working precision, as scipy.linalg.solve does.

    y = A^-1 z.  With sigma = |z| / (|A| |y|) in the norms of Frobenius and Euclid, 1 / condition is at most sqrt(n) sigma, and
    for all but one in a thousand random z at least sigma / (1000 sqrt(n)) (Dixon, SIAM J. Numer. Anal. 20 (1983) 812-814).
    Only where that does not decide, the condition is estimated by more solves.
    """
    n, eps, norm = len(y), np.finfo(matrix.dtype).eps, NORMS[matrix.dtype.char]
    size_of_a, size_of_y, size_of_z = (float(norm(x)) for x in (matrix.values.owner, y, z.astype(y.dtype, copy=False)))
    sigma = size_of_z / size_of_a / size_of_y if size_of_a and size_of_y else 0.0
    if sigma > 1000 * n ** 0.5 * eps:
        return
    rcond = n ** 0.5 * sigma
    if not rcond < eps:
        value = c_double()
        check(C.trs_lu_condest(lu.pointer, matrix.struct, _abi.TRS_NORM_ONE, value))
        rcond = value.value
    if not rcond > eps:
        warnings.warn(f"Ill-conditioned matrix (rcond={rcond:.6g}): result may not be accurate.", LinAlgWarning,
                      stacklevel=4)


def solve_and_watch(A: Any, b: Any, permc_spec: Permc | None) -> Any:
    """x = A^-1 b; on the host a probe is solved for together with b, and tells of the condition.

    On the host this takes the functions of the library by themselves: what else Factors has would take longer than a small
    matrix.
    """
    n = A.shape[0]
    if on_device(A) or not n:
        return splu(A, permc_spec, ops="N", solves=1).solve(b)
    matrix, lu = Matrix(A), Handle(C.trs_lu_destroy)
    B = right_side(b, n, matrix.dtype, 0).owner
    settings = factor_options(None, permc_spec, ONCE)
    check(suitesparse("trs_factor")(lu.pointer, matrix.struct, settings))
    both = np.empty((n, B.size // n + 1), matrix.dtype, order="F")
    both[:, :-1] = B.reshape(n, -1)
    both[:, -1] = z = probe(n)
    X = address_of(both)
    check(C.trs_lu_solve(lu.pointer, _abi.TRS_N, both.shape[1], X, n, X, n, None))
    warn_of_condition(matrix, lu, z, both[:, -1])
    return both[:, :-1].reshape(B.shape)


def spsolve(A: AnyMatrix, b: AnyArray | HasShape, permc_spec: Permc | None = None, use_umfpack: bool = True) -> Any:
    """Solve A x = b with a sparse square matrix, as scipy.sparse.linalg.spsolve does.

    Parameters
    ----------
    A : sparse matrix or array, shape (n, n)
        Best in CSR or CSC; of SciPy, or of CuPy on a GPU.
    b : array_like or sparse, shape (n,), (n, 1) or (n, k)
        Where A is.
    permc_spec : str, optional
        As in splu.
    use_umfpack : bool
        No difference.

    Returns
    -------
    x : array of shape (n,) if b is a vector or one column, else (n, k), sparse if b is
        NaN, with a MatrixRankWarning, if A is singular.  If it is so to working precision, there is a LinAlgWarning,
        as from scipy.linalg.solve.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from trisolve import spsolve
    >>> A = csc_array([[3, 2, 0], [1, -1, 0], [0, 5, 1]], dtype=float)
    >>> B = csc_array([[2, 0], [-1, 0], [2, 0]], dtype=float)
    >>> np.allclose((A @ spsolve(A, B)).toarray(), B.toarray())
    True
    """
    A = canonical(compressed(A, "spsolve requires A be CSC or CSR matrix format"))
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"matrix must be square (has shape {A.shape})")
    A, b = common_type(A, b)
    if A.shape[0] != b.shape[0]:
        raise ValueError(f"matrix - rhs dimension mismatch ({A.shape} - {b.shape[0]})")
    as_sparse = issparse(b) and b.ndim == 2 and b.shape[1] != 1
    if as_sparse and b.format != "csc":
        warnings.warn("spsolve is more efficient when sparse b is in the CSC matrix format", SparseEfficiencyWarning,
                      stacklevel=2)
    dense = b.toarray() if issparse(b) else b
    try:
        x = solve_and_watch(A, dense, permc_spec)
    except PivotError:
        warnings.warn("Matrix is exactly singular", MatrixRankWarning, stacklevel=2)
        x = dense * np.nan
    if as_sparse:
        return type(A)(csc_array(x))
    return x.ravel() if x.ndim == 2 and x.shape[1] == 1 else x


def factorized(A: AnyMatrix) -> Callable[..., Any]:
    """Factor a sparse matrix and return the function that solves with it, as scipy.sparse.linalg.factorized does.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from trisolve import factorized
    >>> factorized(csc_array([[3.0, 2, -1], [2, -2, 4], [-1, 0.5, -1]]))(np.array([1.0, -2, 0])).round(12)
    array([ 1., -2., -2.])
    """
    return splu(A).solve
