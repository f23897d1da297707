"""Types of arguments and results, for type checkers and for people."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Protocol, Sequence, Union

import numpy as np
from numpy.typing import NDArray


class HasShape(Protocol):
    """A matrix of SciPy, CuPy or PyTorch, or a NumPy array."""

    @property
    def shape(self) -> tuple[int, ...]: ...


class OnDevice(Protocol):
    """An array on a GPU."""

    @property
    def __cuda_array_interface__(self) -> Any: ...


class SlogDet(NamedTuple):
    """A determinant, sign * exp(logabsdet), as numpy.linalg.slogdet gives it."""

    sign: complex
    logabsdet: float


AnyMatrix = Union[HasShape, Sequence[Sequence[complex]]]
HostArray = Union[NDArray[Any], Sequence[complex], Sequence[Sequence[complex]], np.number[Any]]
AnyArray = Union[HostArray, OnDevice]
Trans = Literal["N", "T", "H", "n", "t", "h"]
Norm = Literal["1", "inf"]
Permc = Literal["NATURAL", "MMD_ATA", "MMD_AT_PLUS_A", "COLAMD", "amd", "colamd", "metis", "natural", "best"]
Method = Literal["umfpack", "cholmod", "klu", "ldlt", "static"]
Ordering = Literal["natural", "rcm", "multicolour"]
Growth = Literal["refactor", "report"]
Layout = Literal["F", "C"]
Order = Literal["auto", "natural", "level"]
Pivot = Literal["fail", "skip", "replace"]
Symmetry = Literal["AUTO", "general", "symmetric", "skew-symmetric", "hermitian"]
Field = Literal["real", "complex", "integer", "pattern"]
