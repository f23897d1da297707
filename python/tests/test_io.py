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
        scipy.io.mmwrite(tmp_path / "right.mtx", np.arange(20.0)[:, None])
        archive.add(tmp_path / "right.mtx", "a/a_b.mtx")
    if shutil.which("zstd"):
        subprocess.run(["zstd", "-q", tmp_path / "a.mtx"], check=True)
    try:
        for path in tmp_path.glob("a.*"):
            same(trisolve.mmread(path), scipy.io.mmread(tmp_path / "a.mtx"))
            assert trisolve.mminfo(path)[:3] == (20, 20, A.nnz)
        np.testing.assert_array_equal(trisolve.mmread(tmp_path / "a.tar.gz", rhs=True)[:, 0], np.arange(20))
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


def mm(field, entries, symmetry="general", size=3, form="coordinate"):
    """The text of a square Matrix Market file with these lines."""
    sizes = f"{size} {size}" + f" {len(entries)}" * (form == "coordinate")
    return io.StringIO("\n".join([f"%%MatrixMarket matrix {form} {field} {symmetry}", sizes, *entries]) + "\n")


BOUNDS = {"integer": (-2**63, 2**63 - 1), "unsigned-integer": (0, 2**64 - 1)}


@pytest.mark.parametrize("form", ["coordinate", "array"])
@pytest.mark.parametrize("field", BOUNDS)
def test_integers_are_exact(field, form, tmp_path):
    low, high = BOUNDS[field]
    numbers = [low, high, 2**53 + 1, 7, high - 1, 0, low + 1, 9218868437227405313, 1]
    places = [f"{k % 3 + 1} {k // 3 + 1} " if form == "coordinate" else "" for k in range(9)]
    text = mm(field, [f"{place}{number:+}" if number % 2 else f"{place}{number}" for place, number in
                      zip(places, numbers)], form=form)
    a = trisolve.mmread(text)
    assert a.dtype == ("i8" if field == "integer" else "u8")
    dense = a.toarray() if sp.issparse(a) else a
    assert [int(x) for x in dense.T.ravel()] == numbers
    trisolve.mmwrite(tmp_path / "a.mtx", a)
    same(trisolve.mmread(tmp_path / "a.mtx"), a)
    assert trisolve.mminfo(tmp_path / "a.mtx")[4] == field


@pytest.mark.parametrize("form", ["coordinate", "array"])
@pytest.mark.parametrize("field", BOUNDS)
def test_integers_that_do_not_fit(field, form):
    low, high = BOUNDS[field]
    for number in (low - 1, high + 1, 10**40, -10**40):
        with pytest.raises(OverflowError, match=":3: the value must fit"):
            trisolve.mmread(mm(field, ["1 1 " * (form == "coordinate") + str(number)], size=1, form=form))


def test_integers_with_a_symmetry():
    number = 2**62 + 1
    for symmetry, sign in (("symmetric", 1), ("skew-symmetric", -1)):
        a = trisolve.mmread(mm("integer", [f"2 1 {number}", f"3 1 {-number}", "2 2 0"], symmetry)).toarray()
        assert [int(x) for x in a[1:, 0]] == [number, -number] and [int(x) for x in a[0]] == [0, sign * number, -sign * number]
        a = trisolve.mmread(mm("integer", [str(number)], symmetry, 2 - (sign == 1), "array"))
        assert int(a[-1, 0]) == number and int(a[0, -1]) == sign * number
    for field, least in (("integer", -2**63), ("unsigned-integer", 1)):
        with pytest.raises(OverflowError, match="its negative too"):
            trisolve.mmread(mm(field, [f"2 1 {least}"], "skew-symmetric"))
    with pytest.raises(trisolve.FormatError, match="must be zero"):
        trisolve.mmread(mm("integer", ["2 2 1"], "skew-symmetric"))


def test_sums_of_integers():
    a = trisolve.mmread(mm("integer", [f"2 1 {2**62}", "1 1 1", f"2 1 {2**62 - 1}"])).toarray()
    assert int(a[1, 0]) == 2**63 - 1
    a = trisolve.mmread(mm("unsigned-integer", [f"2 1 {2**63}", f"2 1 {2**63 - 1}"])).toarray()
    assert int(a[1, 0]) == 2**64 - 1
    for field, half in (("integer", 2**62), ("integer", -2**62 - 1), ("unsigned-integer", 2**63)):
        with pytest.raises(OverflowError, match=r"entry \(2, 1\) occurs more than once"):
            trisolve.mmread(mm(field, [f"2 1 {half}", f"2 1 {half}"]))


def test_patterns_count_their_entries():
    for symmetry in ("general", "symmetric"):
        lines = ["3 1", "1 1", "3 1", "2 2", "3 1", "2 2"]
        a = trisolve.mmread(mm("pattern", lines, symmetry))
        same(sp.csr_array(a), sp.csr_array(scipy.io.mmread(mm("pattern", lines, symmetry))))
        assert a.toarray()[2, 0] == 3 and a.toarray()[0, 2] == (3 if symmetry == "symmetric" else 0)


@needs_suitesparse
def test_integers_of_boeing_files(tmp_path):
    text = RUTHERFORD_BOEING.replace("rua", "iua").replace("(3E25.16)", "(3I20)   ")
    head = text.splitlines()[:6]
    (tmp_path / "a.rb").write_text("\n".join([*head, f"{2**53 - 1:20}{-3:20}{5:20}"]) + "\n")
    a = trisolve.mmread(tmp_path / "a.rb")
    assert a.dtype == "i8" and sorted(int(x) for x in a.data) == [-3, 5, 2**53 - 1]
    (tmp_path / "a.rb").write_text("\n".join([*head, f"{2**53 + 1:20}{-3:20}{5:20}"]) + "\n")
    with pytest.raises(OverflowError, match="below 2\\^53"):
        trisolve.mmread(tmp_path / "a.rb")
