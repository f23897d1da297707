"""mmread, mminfo and mmwrite against scipy.io's."""

import gzip
import io
import lzma
import shutil
import subprocess
import tarfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from conftest import FILES, needs_suitesparse, new_scipy, values

import trisolve


def plain_text(path):
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()


def same(a, b):
    assert type(a) is type(b) and a.shape == b.shape and a.dtype == b.dtype
    a, b = (sp.csr_array(x) if sp.issparse(x) else x for x in (a, b))
    assert (a != b).nnz == 0 if sp.issparse(a) else (a == b).all()


@pytest.mark.parametrize("path", [path for path in FILES if path.stat().st_size < 300_000], ids=lambda path: path.name)
def test_files_as_scipy(path):
    text = plain_text(path)
    expected = scipy.io.mmread(io.BytesIO(text))
    same(trisolve.mmread(path), expected)
    expected = sp.coo_array(expected) if sp.issparse(expected) else expected
    same(trisolve.mmread(io.BytesIO(text), spmatrix=False), expected)
    assert trisolve.mminfo(str(path)) == scipy.io.mminfo(io.BytesIO(text))


def test_packed_files(tmp_path, rng):
    A = sp.random(20, 20, 0.2, random_state=np.random.RandomState(3)).tocsr()
    scipy.io.mmwrite(tmp_path / "a.mtx", A)
    text = (tmp_path / "a.mtx").read_bytes()
    (tmp_path / "a.mtx.gz").write_bytes(gzip.compress(text))
    (tmp_path / "a.mtx.xz").write_bytes(lzma.compress(text))
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "a.mtx", "a/a.mtx")
    if shutil.which("zstd"):
        subprocess.run(["zstd", "-q", tmp_path / "a.mtx"], check=True)
    try:
        for path in tmp_path.glob("a.*"):
            same(trisolve.mmread(path), scipy.io.mmread(tmp_path / "a.mtx"))
            assert trisolve.mminfo(path)[:3] == (20, 20, A.nnz)
    except trisolve.UnsupportedError as error:
        pytest.skip(str(error))


RUTHERFORD_BOEING = """a small one                                                             small
             3             1             1             1
rua                        2             2             3             0
(26I3)          (26I3)          (3E25.16)
  1  3  4
  1  2  2
   1.5000000000000000E+00  -2.0000000000000000E+00   4.0000000000000000E+00
"""


@needs_suitesparse
def test_rutherford_boeing(tmp_path):
    (tmp_path / "a.rb").write_text(RUTHERFORD_BOEING)
    try:
        A = trisolve.mmread(tmp_path / "a.rb")
    except trisolve.UnsupportedError as error:
        pytest.skip(str(error))
    np.testing.assert_array_equal(A.toarray(), [[1.5, 0], [-2, 4]])
    assert trisolve.mminfo(tmp_path / "a.rb")[:4] == (2, 2, 3, "coordinate")


@new_scipy
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i8"])
def test_written_files_are_read_by_scipy(tmp_path, rng, dtype):
    square = sp.random(12, 12, 0.3, random_state=np.random.RandomState(3)).tocsr()
    square.data = values(rng, square.nnz, dtype) if dtype != "i8" else rng.integers(-9, 9, square.nnz)
    square = square.astype(dtype)
    for A in (square, square[:5], (square + square.T), (square - square.T), (square + square.conj().T)):
        for a in (A, A.tocsc(), A.toarray()):
            trisolve.mmwrite(tmp_path / "ours", a, comment="two\nlines")
            scipy.io.mmwrite(tmp_path / "scipys.mtx", a)
            assert scipy.io.mminfo(tmp_path / "ours.mtx") == scipy.io.mminfo(tmp_path / "scipys.mtx")
            same(scipy.io.mmread(tmp_path / "ours.mtx"), scipy.io.mmread(tmp_path / "scipys.mtx"))
    with pytest.raises(ValueError):
        trisolve.mmwrite(tmp_path / "ours", square, symmetry="crooked")
    for field, precision in (("pattern", None), ("complex", None), (None, 3)):
        files = io.BytesIO(), io.BytesIO()
        A = square.astype("c16" if field == "complex" else square.dtype)
        for module, file in zip((trisolve, scipy.io), files):
            module.mmwrite(file, A, field=field, precision=precision)
        assert files[0].getvalue() == files[1].getvalue()


def test_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        trisolve.mmread(tmp_path / "nowhere.mtx")
    (tmp_path / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0\n")
    with pytest.raises(trisolve.Error, match="bad.mtx:3: "):
        trisolve.mmread(tmp_path / "bad.mtx")
    (tmp_path / "none.mtx").write_text("something else\n")
    with pytest.raises(trisolve.FormatError):
        trisolve.mmread(tmp_path / "none.mtx")
    with pytest.raises(OSError):
        trisolve.mmread(tmp_path)
    with pytest.raises(OSError):
        trisolve.mmwrite(tmp_path / "no" / "folder.mtx", np.eye(2))
