"""Sparse triangular solves with level scheduling on CPUs and NVIDIA GPUs, behind SciPy's functions.

Drop-ins for scipy.sparse.linalg and scipy.io: spsolve_triangular, splu, spsolve, factorized, mmread, mmwrite, mminfo.
Beyond them: Plan, a triangle analysed once and solved with many times; ilu0 and ic0, preconditioners; `update`,
which takes new values into plans and factors; set_progress, for calls that take long.  Matrices and vectors may be on a GPU (CuPy, PyTorch, numba).
"""

from ._batch import BatchLU
from ._factors import Factors, ic0, ilu0, splu
from ._io import mminfo, mmread, mmwrite
from ._library import (ArgumentError, CanceledError, DeviceError, Error, FileError, FormatError, GrowthError,
                       LibraryError, MatrixError, OutOfMemoryError, PivotError, StateError, UnsupportedError,
                       set_progress, solvers, version)
from ._plan import MANY, Plan
from ._solve import factorized, spsolve, spsolve_triangular

__version__ = version()
__all__ = [
    "Plan", "Factors", "BatchLU", "splu", "spsolve", "spsolve_triangular", "factorized", "ilu0", "ic0",
    "mmread", "mmwrite", "mminfo", "set_progress", "solvers", "version", "MANY",
    "Error", "ArgumentError", "StateError", "OutOfMemoryError", "UnsupportedError", "MatrixError", "PivotError",
    "FileError", "FormatError", "DeviceError", "LibraryError", "GrowthError", "CanceledError",
]
