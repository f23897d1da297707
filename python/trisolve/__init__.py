"""Sparse triangular solves with level scheduling on CPUs and NVIDIA GPUs, behind SciPy's functions.

Drop-ins for scipy.sparse.linalg and scipy.io: spsolve_triangular, splu, spilu, spsolve, factorized, cg, minres,
bicgstab, gmres, mmread, mmwrite, mminfo.  Beyond them: Plan, a triangle analysed once and solved with many times; ilu0,
ic0, dilu and block_jacobi, preconditioners; BatchLU, many systems of one pattern; `update`, which takes new values into plans and factors;
`refine`, `rcond`, `slogdet` and backward_error; schur, the Schur complement of given rows; set_progress, for calls that take long.  Matrices and vectors may be on
a GPU (CuPy, PyTorch, numba).  trisolve.jax and trisolve.torch have solves with derivatives.
"""

from ._accuracy import backward_error
from ._batch import BatchLU
from ._factorize import block_jacobi, dilu, from_factors, from_superlu, ic0, ilu0, schur, spilu, splu
from ._factors import Factors
from ._io import mminfo, mmread, mmwrite
from ._krylov import bicgstab, cg, gmres, minres
from ._library import (ArgumentError, CanceledError, DeviceError, Error, FileError, FormatError, GrowthError,
                       LibraryError, MatrixError, OutOfMemoryError, PivotError, StateError, UnsupportedError,
                       set_progress, solvers, version)
from ._plan import Plan
from ._solve import factorized, spsolve, spsolve_triangular
from ._solver import MANY
from ._wisdom import export_wisdom, forget_wisdom, import_wisdom

__version__ = version()
__all__ = [
    "Plan", "Factors", "BatchLU", "splu", "spsolve", "spsolve_triangular", "factorized", "spilu", "ilu0", "ic0",
    "dilu", "block_jacobi",
    "cg", "minres", "bicgstab", "gmres",
    "from_factors", "from_superlu", "schur", "backward_error", "import_wisdom", "export_wisdom", "forget_wisdom",
    "mmread", "mmwrite", "mminfo", "set_progress", "solvers", "version", "MANY",
    "Error", "ArgumentError", "StateError", "OutOfMemoryError", "UnsupportedError", "MatrixError", "PivotError",
    "FileError", "FormatError", "DeviceError", "LibraryError", "GrowthError", "CanceledError",
]
