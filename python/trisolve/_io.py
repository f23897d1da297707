"""Files in the Matrix Market, Rutherford-Boeing and Harwell-Boeing formats, also packed."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from typing import IO, Any, Iterator, Union

import numpy as np
from scipy.io import mmwrite as scipy_mmwrite
from scipy.sparse import coo_array, coo_matrix, issparse

from . import _abi
from ._arrays import DTYPES, Matrix
from ._library import C, Error, FormatError, MatrixError, check
from ._solver import copy_array
from ._types import AnyMatrix, Field, Symmetry

Source = Union[str, "os.PathLike[str]", IO[str], IO[bytes]]
FIELDS = ("real", "complex", "integer", "pattern")  # trs_field
SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")  # trs_symmetry
NUMBERS = {code: dtype for dtype, code in DTYPES.items()}
NUMBERS |= {_abi.TRS_I64: np.dtype("i8"), _abi.TRS_U64: np.dtype("u8")}


@contextmanager
def file_of(source: Source) -> Iterator[str]:
    """The name of a file, or of a temporary copy of an open one."""
    if not hasattr(source, "read"):
        name = os.fspath(source)
        if not os.path.exists(name):
            raise FileNotFoundError(f"The source file does not exist: {name}")
        yield os.path.abspath(name)
        return
    with tempfile.NamedTemporaryFile() as copy:
        text = source.read()
        copy.write(text.encode() if isinstance(text, str) else text)
        copy.flush()
        yield copy.name


@contextmanager
def opened(source: Source, **options: Any) -> Iterator[Any]:
    """What a file holds, as a trs_mm.  What is no Matrix Market file may be a Rutherford-Boeing one."""
    mm = _abi.trs_mm()
    settings = _abi.trs_mm_options(format=_abi.TRS_COO, integers=1, **options)
    try:
        with file_of(source) as name:
            try:
                check(C.trs_mm_read(os.fsencode(name), settings, mm))
            except (FormatError, OSError) as error:
                if mm.size_line or not hasattr(C, "trs_rb_read"):
                    raise
                C.trs_mm_free(mm)
                read_boeing(name, settings, mm, error)
        yield mm
    except (FormatError, MatrixError) as error:
        if mm.rounded:
            raise OverflowError(str(error)) from error
        raise
    finally:
        C.trs_mm_free(mm)


def read_boeing(name: str, settings: Any, mm: Any, error: Error) -> None:
    """Read a file in one of Boeing's formats; where it is in neither, the first error says more."""
    try:
        check(C.trs_rb_read(os.fsencode(name), settings, mm))
    except (FormatError, OSError):
        raise error from None


def mmread(source: Source, *, spmatrix: bool = True, rhs: bool = False) -> Any:
    """Read a Matrix Market file, as scipy.io.mmread does.

    Parameters
    ----------
    source : str, path or file
        Matrix Market, Rutherford-Boeing or Harwell-Boeing, plain or packed by gzip, xz or zstd, or in a .tar.gz of the
        SuiteSparse collection; what it is shows in its content.
    spmatrix : bool
        A sparse result is a coo_matrix, else a coo_array.
    rhs : bool
        Read the right-hand side of an archive of the SuiteSparse collection (NAME_b.mtx) instead of the matrix.

    Returns
    -------
    a : coo_matrix, coo_array, or ndarray
        Symmetry is expanded, and entries that are given twice are summed; those of a pattern count 1 each.  The values
        of an integer file are exact: int64, or uint64 if its field is unsigned-integer.

    Raises
    ------
    OverflowError
        An integer, or a sum of integers, does not fit int64 or uint64.  In Rutherford-Boeing and Harwell-Boeing files
        an integer must be below 2^53.
    FileNotFoundError, FileError, FormatError, MatrixError, OutOfMemoryError
        "file:line: " and what is wrong there.

    Examples
    --------
    >>> from io import StringIO
    >>> from trisolve import mmread
    >>> mmread(StringIO("%%MatrixMarket matrix coordinate real symmetric\\n2 2 2\\n1 1 4\\n2 1 -1\\n")).toarray()
    array([[ 4., -1.],
           [-1.,  0.]])
    """
    with opened(source, rhs=rhs) as mm:
        shape, dtype = (mm.rows, mm.cols), NUMBERS[mm.dtype]
        dense = mm.format == _abi.TRS_DENSE
        values = copy_array(mm.val, mm.rows * mm.cols if dense else mm.nnz, dtype)
        if dense:
            return values.reshape(shape, order="F")
        rows, columns = (copy_array(a, mm.nnz, "i4") for a in (mm.row, mm.idx))
        return (coo_matrix if spmatrix else coo_array)((values, (rows, columns)), shape=shape)


def mminfo(source: Source) -> tuple[int, int, int, str, str, str]:
    """The size and kind of the matrix in a file, as scipy.io.mminfo gives them, of all files that mmread reads.

    Returns
    -------
    rows, cols, entries : int
        The entries are those stored in the file.
    format, field, symmetry : str

    Examples
    --------
    >>> from io import StringIO
    >>> from trisolve import mminfo
    >>> mminfo(StringIO("%%MatrixMarket matrix coordinate real symmetric\\n2 2 2\\n1 1 4\\n2 1 -1\\n"))
    (2, 2, 2, 'coordinate', 'real', 'symmetric')
    """
    with opened(source, header=1) as mm:
        dense = mm.format == _abi.TRS_DENSE
        field = "unsigned-integer" if mm.dtype == _abi.TRS_U64 else FIELDS[mm.field]
        return (mm.rows, mm.cols, mm.rows * mm.cols if dense else mm.stored, "array" if dense else "coordinate",
                field, SYMMETRIES[mm.symmetry])


def symmetry_of(a: Any, symmetry: str | None) -> str:
    """What is written: the symmetry that is asked for, or that of the values if it is to be looked for."""
    if symmetry == "AUTO" and max(a.shape) >= 100 or symmetry in (None, "AUTO") and a.shape[0] != a.shape[1]:
        return "general"
    if symmetry not in (None, "AUTO"):
        if str(symmetry).lower() not in SYMMETRIES:
            raise ValueError("Invalid symmetry. Must be one of: " + ", ".join(SYMMETRIES))
        return str(symmetry).lower()

    def same(b: Any) -> bool:
        return (a != b).nnz == 0 if issparse(a) else bool((a == b).all())

    candidates = {"symmetric": a.T, "skew-symmetric": -a.T, "hermitian": a.conj().T}
    return next((name for name, b in candidates.items() if same(b)), "general")


def mmwrite(target: Source, a: AnyMatrix, comment: str | None = None, field: Field | None = None,
            precision: int | None = None, symmetry: Symmetry | None = "AUTO") -> None:
    """Write a sparse or dense matrix to a Matrix Market file, as scipy.io.mmwrite does.

    Parameters
    ----------
    target : str, path or file
        '.mtx' is added to a name without it.
    a : sparse matrix or array, or array_like of two dimensions
        Sparse ones become coordinate files, the others array files.
    comment : str, optional
    field, precision : optional
        What only SciPy's writer does, integers and patterns, a number of digits, open files, is left to it.  Numbers
        are written with the fewest digits that read back to the same number.
    symmetry : {'AUTO', None, 'general', 'symmetric', 'skew-symmetric', 'hermitian'}
        None looks for it, 'AUTO' too if a is small.  Only the lower triangle is written, unless it is general.

    Raises
    ------
    FileError, ValueError

    Examples
    --------
    >>> import os, tempfile, trisolve
    >>> from scipy.sparse import csr_array
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "a.mtx")
    ...     trisolve.mmwrite(file, csr_array([[1.5, 0], [0, 2]]))
    ...     trisolve.mmread(file).toarray()
    array([[1.5, 0. ],
           [0. , 2. ]])
    """
    a: Any = a if issparse(a) else np.asarray(a)
    plain = a.dtype in DTYPES and field in (None, "complex" if a.dtype.kind == "c" else "real")
    if hasattr(target, "write") or precision is not None or not plain or a.ndim != 2:
        if a.ndim == 2 and symmetry == "AUTO":  # which SciPy has from 1.12 on
            symmetry = symmetry_of(a, symmetry)
        return scipy_mmwrite(target, a, comment=comment or "", field=field, precision=precision, symmetry=symmetry)
    name = os.fspath(target)
    name = name if name.endswith(".mtx") else name + ".mtx"
    matrix = Matrix(a.tocsr() if issparse(a) else a, square=False)
    text = comment.encode() if comment else None
    code = SYMMETRIES.index(symmetry_of(a, symmetry))
    check(C.trs_mm_write(os.fsencode(os.path.abspath(name)), matrix.struct, *a.shape, code, text))
