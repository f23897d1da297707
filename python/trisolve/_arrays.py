"""Arrays and matrices of NumPy, SciPy, CuPy, PyTorch and numba as the library takes them, without copies.

An array on a GPU is whatever has __cuda_array_interface__, so that none of these packages is imported here.
Source: the CUDA array interface, version 3, in numba's documentation.
"""

from __future__ import annotations

import sys
import warnings
from ctypes import addressof, c_char
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import SparseEfficiencyWarning, csr_array, issparse

from . import _abi

DTYPES = {np.dtype("f8"): _abi.TRS_F64, np.dtype("f4"): _abi.TRS_F32,
          np.dtype("c16"): _abi.TRS_C64, np.dtype("c8"): _abi.TRS_C32}
FORMATS = {"csr": _abi.TRS_CSR, "csc": _abi.TRS_CSC, "bsr": _abi.TRS_BSR}
INDICES = np.dtype("i4"), np.dtype("i8")
NOTHING = c_char * 0
BY_COLUMNS, BY_ROWS = _abi.TRS_COL_MAJOR, _abi.TRS_ROW_MAJOR


class View(NamedTuple):
    """Where the numbers of an array are."""

    owner: Any  # the array, which keeps the memory alive
    address: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    device: int  # 0: host memory; k + 1: CUDA device k, as in the library

    def leading(self, layout: int) -> int | None:
        """The leading dimension of a vector or matrix by columns or by rows; None: it is not stored so."""
        n, k, s0, s1 = (*self.shape, *self.strides) if len(self.shape) == 2 else (*self.shape, 1, *self.strides, 0)
        inner, outer = ((n, s0), (k, s1)) if layout == BY_COLUMNS else ((k, s1), (n, s0))
        if n * k == 0:
            return max(inner[0], 1)
        if inner[0] > 1 and inner[1] != self.dtype.itemsize:
            return None
        if outer[0] <= 1:
            return max(inner[0], 1)
        ld, rest = divmod(outer[1], self.dtype.itemsize)
        return ld if not rest and ld >= max(inner[0], 1) else None

    def is_dense(self) -> bool:
        """Is it a vector whose numbers are one after the other?"""
        return self.strides == (self.dtype.itemsize,) or self.leading(BY_COLUMNS) is not None

    def layouts(self) -> dict[int, int]:
        """The leading dimension by each layout in which the array is stored: one, both or none."""
        leads = {layout: self.leading(layout) for layout in (BY_COLUMNS, BY_ROWS)}
        return {layout: ld for layout, ld in leads.items() if ld is not None}


def address_of(array: NDArray[Any]) -> int:
    """Where the numbers of a NumPy array are; array.ctypes.data takes five times as long."""
    try:
        return addressof(NOTHING.from_buffer(array))
    except (TypeError, ValueError, BufferError):  # read-only, or not contiguous
        return int(array.ctypes.data)


def device_of(array: Any) -> int:
    """The number of the CUDA device of an array that is on one: CuPy's `device.id`, PyTorch's `device.index`."""
    device = getattr(array, "device", None)
    return next((k for k in (getattr(device, "id", None), getattr(device, "index", None)) if isinstance(k, int)), 0)


def view(array: Any) -> View:
    """View an array, on a GPU if it has __cuda_array_interface__, else as a NumPy array."""
    there = None if type(array) is np.ndarray else getattr(array, "__cuda_array_interface__", None)
    if there is None:
        array = np.asarray(array)
        return View(array, address_of(array), array.dtype, array.shape, array.strides, 0)
    if there.get("mask") is not None:
        raise ValueError("arrays with a mask are not taken")
    dtype, shape, strides = np.dtype(there["typestr"]), tuple(there["shape"]), there.get("strides")
    if strides is None:
        strides = tuple(dtype.itemsize * int(np.prod(shape[k + 1:], dtype=np.int64)) for k in range(len(shape)))
    return View(array, there["data"][0], dtype, shape, tuple(strides), 1 + device_of(array))


def stream_of(array: Any, stream: Any = None) -> int:
    """The cudaStream_t to work on, as a number.

    `stream` may be a number, or a stream of CuPy (.ptr), PyTorch (.cuda_stream) or numba (.handle).  None: the
    current one of the package that `array` is from; of others what its interface says, else the default stream.
    """
    package = type(array).__module__.partition(".")[0]
    if stream is None and package == "cupy":
        stream = sys.modules["cupy"].cuda.get_current_stream()
    elif stream is None and package == "torch":
        stream = sys.modules["torch"].cuda.current_stream(array.device)
    elif stream is None:
        stream = getattr(array, "__cuda_array_interface__", {}).get("stream")
    for name in ("ptr", "cuda_stream", "handle", "value"):
        stream = getattr(stream, name, stream)
    return int(stream or 0)


def floating(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The smallest of the four types that holds numbers of a dtype, as SciPy's solvers choose it."""
    if dtype in DTYPES:
        return dtype
    for kind in map(np.dtype, "fdFD"):
        if dtype.kind in "biuf" and np.can_cast(dtype, kind):
            return kind
    raise TypeError(f"cannot upcast [{dtype.name}] to a floating point format")


def canonical(A: Any) -> Any:
    """A without duplicates, which SciPy's functions sum too; a copy if there are any."""
    if getattr(A, "has_canonical_format", True):
        return A
    A = A.copy()
    A.sum_duplicates()
    return A


def is_torch_csr(A: Any) -> bool:
    return not hasattr(A, "indptr") and str(getattr(A, "layout", "")) == "torch.sparse_csr"


def values_of(A: Any) -> Any:
    """The array of the values of a sparse matrix: PyTorch's has a method for it."""
    return A.values() if is_torch_csr(A) else A.data


def parts(A: Any) -> tuple[Any, ...]:
    """The format of a matrix, None if it is dense, and its arrays: pointers, indices, values, or all numbers."""
    if is_torch_csr(A):
        return "csr", A.crow_indices(), A.col_indices(), A.values()
    form = getattr(A, "format", None)
    if form not in FORMATS and (issparse(A) or hasattr(A, "tocsr")):
        warnings.warn(f"{form} format is converted to CSR", SparseEfficiencyWarning, stacklevel=4)
        A = csr_array(A) if issparse(A) else A.tocsr()
    elif form == "bsr" and A.blocksize[0] != A.blocksize[1]:
        A = A.tocsr()
    return (A.format, A.indptr, A.indices, A.data) if hasattr(A, "indptr") else (None, A)


class Matrix:
    """A matrix as a trs_mat, and the arrays that it points to.

    A is a sparse matrix or array of SciPy or CuPy in CSR, CSC or BSR, a sparse CSR tensor of PyTorch, or a dense
    array of two dimensions; other sparse formats are converted to CSR, with a SparseEfficiencyWarning.  kind holds
    bits of trs_mat.kind.  dtype, where given, is what the values are safely cast to.
    """

    def __init__(self, A: Any, kind: int = 0, dtype: np.dtype[Any] | None = None, square: bool = True):
        form, *arrays = parts(A)
        values = view(arrays[-1])
        if len(values.shape) != {None: 2, "bsr": 3}.get(form, 1):
            raise ValueError(f"expected a matrix, not an array of shape {values.shape}")
        self.dtype = np.dtype(dtype) if dtype is not None else floating(values.dtype)
        self.values = cast(values, self.dtype)
        self.shape: tuple[int, int] = (int(A.shape[0]), int(A.shape[1])) if form else self.values.shape
        if square and self.shape[0] != self.shape[1]:
            raise ValueError(f"matrix must be square (has shape {self.shape})")
        self.struct = _abi.trs_mat(n=self.shape[0], dtype=DTYPES[self.dtype], kind=kind, device=self.values.device)
        self.pattern: tuple[View, ...] = ()
        if form:
            self._compressed(form, view(arrays[0]), view(arrays[1]))
        else:
            self._dense()
        self.struct.val = self.values.address

    @property
    def device(self) -> int:
        return self.struct.device

    def _compressed(self, name: str, ptr: View, idx: View) -> None:
        """CSR, CSC or BSR.  SciPy allows arrays that are longer than indptr[-1] says."""
        ptr, idx = integers(ptr), integers(idx)
        if not ptr.device == idx.device == self.device:
            raise ValueError("the arrays of a matrix must all be on one device")
        block = self.values.shape[1] if name == "bsr" else 1
        major = self.shape[1 if name == "csc" else 0] // block
        nnz = int(ptr.owner[-1]) if not ptr.device and ptr.shape[0] else idx.shape[0]
        if ptr.shape != (major + 1,) or min(idx.shape[0], self.values.shape[0]) < nnz or nnz < 0:
            raise ValueError("the arrays of the matrix are too short")
        if name != "bsr" and not self.values.is_dense():
            raise ValueError("the values of the matrix must be contiguous")
        self.pattern = ptr, idx
        s = self.struct
        s.format, s.nnz, s.ptr, s.idx = FORMATS[name], nnz, ptr.address, idx.address
        s.ptr_bits, s.idx_bits = 8 * ptr.dtype.itemsize, 8 * idx.dtype.itemsize
        s.block, s.block_layout = block, BY_ROWS

    def _dense(self) -> None:
        if self.values.leading(BY_COLUMNS) is None:
            if self.device:
                raise ValueError("a dense matrix on a GPU must be stored by columns")
            self.values = view(np.asfortranarray(self.values.owner))
        self.struct.format, self.struct.ld = _abi.TRS_DENSE, self.values.leading(BY_COLUMNS)

    def same_pattern(self, pattern: tuple[View, ...]) -> bool:
        """Are the indices those of another matrix?  On a device they are not looked at."""
        return all(a.device or b.device or a.owner is b.owner or np.array_equal(a.owner, b.owner)
                   for a, b in zip(self.pattern, pattern))


def cast(values: View, dtype: np.dtype[Any]) -> View:
    """The same values in another type, if nothing is lost; on a GPU they must have it."""
    if values.device == 0:
        if values.dtype == dtype and values.owner.flags.c_contiguous:
            return values
        owner = values.owner.astype(dtype, casting="safe", copy=False)
        if owner.ndim != 2:
            owner = np.ascontiguousarray(owner)
        return view(owner)
    if values.dtype != dtype:
        raise TypeError(f"an array on a GPU has dtype {values.dtype}, and {dtype} is wanted")
    return values


def contiguous(array: Any, dtype: np.dtype[Any], device: int) -> View:
    """An array of this type on a device, with the last index fastest; on the host a copy if it is not so."""
    A = view(array)
    if A.device != device:
        raise ValueError("all arrays must be where the solver takes them (device=)")
    if not device:
        return view(np.ascontiguousarray(A.owner.astype(dtype, casting="safe", copy=False)))
    if A.dtype != dtype or any(A.strides[k] != dtype.itemsize * int(np.prod(A.shape[k + 1:], dtype=np.int64))
                               for k in range(len(A.shape))):
        raise ValueError(f"an array on a GPU must be contiguous and of dtype {dtype}")
    return A


def integers(indices: View) -> View:
    """Indices of 32 or 64 bits, contiguous."""
    if indices.dtype not in INDICES:
        if indices.device:
            raise TypeError(f"indices on a GPU must be int32 or int64, not {indices.dtype}")
        indices = view(indices.owner.astype(np.int64, casting="same_kind"))
    if not indices.is_dense():
        if indices.device:
            raise ValueError("indices on a GPU must be contiguous")
        indices = view(np.ascontiguousarray(indices.owner))
    return indices


def empty_like(b: View, layout: int) -> Any:
    """An array for x: that of NumPy or, by the package of b, on the GPU."""
    if b.device == 0:
        return np.empty(b.shape, b.dtype, order="F" if layout == BY_COLUMNS else "C")
    package: Any = sys.modules.get(type(b.owner).__module__.partition(".")[0])
    if not hasattr(package, "empty_like"):
        raise TypeError(f"an array of {type(b.owner).__name__} cannot be made here: give out=")
    return package.empty_like(b.owner)


def zeros_like(b: View) -> Any:
    """Zeros for x, where b is, stored as b is."""
    x = empty_like(b, next(iter(b.layouts()), BY_ROWS))
    x[...] = 0
    return x


class Sides(NamedTuple):
    """B and X of a solve: stored alike, X not overlapping B unless it is B."""

    B: View
    ldb: int
    X: View
    ldx: int
    layout: int
    nrhs: int


def sides(b: Any, out: Any, n: int, dtype: np.dtype[Any], device: int) -> Sides:
    """Check b and out, copy b only if it must be, and make an array for x where out is None.

    b is (n,) or (n, k), on `device`; out has its shape and the dtype, and may be b.
    """
    B = right_side(b, n, dtype, device)
    of_b = B.layouts()
    if not of_b and not device:
        B = view(np.ascontiguousarray(B.owner))
        of_b = B.layouts()
    if out is None:
        X = view(empty_like(B, next(iter(of_b)))) if of_b else B
    else:
        X = solution(out, B)
    of_x = X.layouts()
    layout = next((layout for layout in of_b if layout in of_x), next(iter(of_x), None))
    if layout is None or device and layout not in of_b:
        raise ValueError("b and out must be contiguous by columns or by rows, and on a GPU both alike")
    if layout not in of_b or out is not None and overlap(B, X):
        B = view(np.array(B.owner, order="F" if layout == BY_COLUMNS else "C"))
        of_b = B.layouts()
    return Sides(B, of_b[layout], X, of_x[layout], layout, B.shape[1] if len(B.shape) == 2 else 1)


def right_side(b: Any, n: int, dtype: np.dtype[Any], device: int) -> View:
    """b in the type of the matrix; complex numbers for a real one are refused, as SciPy does."""
    B = view(b)
    if B.dtype != dtype and not B.device:
        B = cast(B, dtype)
    if len(B.shape) not in (1, 2):
        raise ValueError(f"b must have 1 or 2 dims but its shape is {B.shape}: object too deep for desired array")
    if B.shape[0] != n:
        raise ValueError(f"b is of incompatible size: {B.shape[0]} rows, where the matrix has {n}")
    if B.device != device:
        place = [f"on CUDA device {k - 1}" if k else "on the host" for k in (B.device, device)]
        raise ValueError(f"b is {place[0]}, and the solver takes it {place[1]} (device=)")
    return B if B.dtype == dtype else cast(B, dtype)


def solution(out: Any, B: View) -> View:
    """The array for x that the caller brings."""
    X = view(out)
    if X.owner is not out or (X.shape, X.dtype, X.device) != (B.shape, B.dtype, B.device):
        raise ValueError(f"out must be an array of shape {B.shape} and dtype {B.dtype} where b is")
    if X.device == 0 and not X.owner.flags.writeable or X.device and out.__cuda_array_interface__["data"][1]:
        raise ValueError("out is read-only")
    return X


def overlap(B: View, X: View) -> bool:
    """Do B and X on the host share memory, without being the same array?"""
    if B.device:
        return False
    return np.may_share_memory(B.owner, X.owner) and (B.address, B.strides) != (X.address, X.strides)
