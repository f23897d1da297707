"""How good x is."""

from __future__ import annotations

from ctypes import byref
from types import SimpleNamespace

import numpy as np

from . import _abi
from ._arrays import Matrix, right_side, sides
from ._library import C, check, facts
from ._solver import OPS, pick
from ._types import AnyArray, AnyMatrix, Trans


def backward_error(A: AnyMatrix, x: AnyArray, b: AnyArray, trans: Trans = "N") -> SimpleNamespace:
    """The backward error of x: how much A and b would have to change for op(A) x = b to hold.

    Parameters
    ----------
    A : sparse matrix or array, shape (n, n)
        On the host or on a device; every entry counts.
    x, b : array, shape (n,) or (n, k)
        Where A is.
    trans : {'N', 'T', 'H'}

    Returns
    -------
    error : SimpleNamespace
        omega, the largest |b - A x| / (|A| |x| + |b|) of a row, which is `row` of column `col`; normwise, the same with
        norms; residual, the largest |b - A x|.  They are computed with more digits than A has.

    Examples
    --------
    >>> import numpy as np, trisolve
    >>> from scipy.sparse import csr_array
    >>> error = trisolve.backward_error(csr_array(np.eye(3)), np.array([1.0, 1, 1]), np.array([1.0, 3, 1]))
    >>> error.omega, error.residual, error.row
    (0.5, 2.0, 1)
    """
    matrix = Matrix(A)
    if not matrix.device:
        x = np.require(right_side(x, matrix.shape[0], matrix.dtype, 0).owner, requirements=["W"])
    s = sides(b, x, matrix.shape[0], matrix.dtype, matrix.device)
    error = _abi.trs_error()
    check(C.trs_backward_error(matrix.struct, pick(OPS, str(trans).upper(), "trans"), s.nrhs, s.B.address, s.ldb,
                               s.X.address, s.ldx, s.layout, byref(error)))
    result = facts(error)
    del result.stop
    return result
