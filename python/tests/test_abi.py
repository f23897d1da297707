"""The ctypes view of the headers against what a C compiler makes of them: no structure drifts unnoticed."""

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from trisolve import _abi
from trisolve._library import C, check_libraries

PACKAGE = Path(_abi.__file__).parent
# functions of the headers that the package has not, and why
LEFT_OUT = {
    "trs_strerror": "exceptions have the sentence of the call",
    "trs_core": "for libtrisolve-suitesparse alone",
    "trs_work_fit": "a thread makes work spaces as it needs them",
    "trs_multiply": "A @ x of SciPy, CuPy or PyTorch",
    "trs_multiply_on": "A @ x of SciPy, CuPy or PyTorch",
    "trs_assembly_create": "scipy.sparse.coo_array sums terms",
    "trs_assembly_sum": "scipy.sparse.coo_array sums terms",
    "trs_assembly_mat": "scipy.sparse.coo_array sums terms",
    "trs_assembly_destroy": "scipy.sparse.coo_array sums terms",
    "trs_device_new": "CuPy, PyTorch and Numba have arrays on devices",
    "trs_device_free": "CuPy, PyTorch and Numba have arrays on devices",
    "trs_device_put": "CuPy, PyTorch and Numba have arrays on devices",
    "trs_device_get": "CuPy, PyTorch and Numba have arrays on devices",
    "trs_device_copy": "CuPy, PyTorch and Numba have arrays on devices",
    "trs_device_name": "CuPy, PyTorch and Numba name devices",
    "trs_timer_create": "CuPy and PyTorch have events",
    "trs_timer_start": "CuPy and PyTorch have events",
    "trs_timer_stop": "CuPy and PyTorch have events",
    "trs_timer_destroy": "CuPy and PyTorch have events",
    "trs_lu_batch_repair": "not yet: BatchLU.status says which systems need pivots of their own",
    "trs_krylov_bytes": "the library reports its memory in C alone",
    "trs_lu_replace": "not yet: from_factors makes factors anew",
    "trs_lu_update": "Factors.update calls trs_lu_update_on",
    "trs_mm_mat": "mmread gives matrices of SciPy",
    "trs_unpack": "for readers of other formats, in C",
    "trs_suitesparse_version": "not yet",
}
PREFIX = os.environ.get("TRISOLVE_PREFIX")
INCLUDE = Path(PREFIX, "include") if PREFIX else Path(__file__).resolve().parents[2] / "lib"
HEADERS = [path for path in (INCLUDE / "trisolve-sparse.h", INCLUDE / "trisolve-suitesparse.h") if path.exists()]
STRUCTS = {name: kind for name, kind in vars(_abi).items() if name.startswith("trs_") and isinstance(kind, type)}
CONSTANTS = {name: value for name, value in vars(_abi).items() if name.startswith("TRS_")}


def layout():
    """The lines that the C program should print."""
    for name, kind in STRUCTS.items():
        yield f"{name} {ctypes.sizeof(kind)}"
        for member, *_ in kind._fields_:
            field = getattr(kind, member)
            yield f"{name}.{member} {field.offset} {field.size}"
    for name, value in CONSTANTS.items():
        yield f"{name} {value}"


@pytest.mark.skipif(not HEADERS or not shutil.which("cc"), reason="needs the headers and a C compiler")
def test_layout_is_that_of_the_compiler(tmp_path):
    def line(text):
        words = text.split()[0]
        struct, _, member = words.partition(".")
        if struct in CONSTANTS:
            return f'printf("{struct} %d\\n", (int)({struct}));'
        if not member:
            return f'printf("{struct} %zu\\n", sizeof({struct}));'
        return f'printf("{words} %zu %zu\\n", offsetof({struct}, {member}), sizeof((({struct} *)0)->{member}));'

    expected = list(layout())
    source = tmp_path / "layout.c"
    includes = "".join(f'#include "{path}"\n' for path in HEADERS)
    body = "\n".join(map(line, expected))
    source.write_text(f"#include <stdio.h>\n{includes}int main(void) {{\n{body}\nreturn 0; }}\n")
    subprocess.run(["cc", "-o", tmp_path / "layout", source], check=True)
    found = subprocess.run([tmp_path / "layout"], check=True, capture_output=True, text=True).stdout.splitlines()
    assert found == expected


def test_another_library_is_refused(monkeypatch):
    check_libraries(C)
    monkeypatch.setitem(_abi.PROTOTYPES, "trs_of_tomorrow", (None, []))
    if hasattr(C, "trs_factor"):
        with pytest.raises(ImportError, match="trs_of_tomorrow"):
            check_libraries(C)
    monkeypatch.setattr(_abi, "VERSION", "99.0")
    with pytest.raises(ImportError, match="99.0"):
        check_libraries(C)


@pytest.mark.skipif(not HEADERS, reason="needs the headers")
def test_nothing_is_left_out():
    text = re.sub(r"/\*.*?\*/", "", "".join(path.read_text() for path in HEADERS), flags=re.S)
    assert len(_abi.PROTOTYPES) == len(re.findall(r"^TRS_API", text, flags=re.M))
    assert len(STRUCTS) == len(re.findall(r"^typedef struct \w+ \{", text, flags=re.M))
    assert set(CONSTANTS) == set(re.findall(r"^ +(TRS_\w+)(?= *[=,\n])", text, flags=re.M)) | {
        name for body in re.findall(r"enum \w+ \{([^\n]*)\}", text) for name in re.findall(r"TRS_\w+", body)}


def test_functions_that_are_left_out_are_listed():
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(PACKAGE.glob("*.py")) if path.name != "_abi.py")
    used = set(re.findall(r"\bC\.(trs_\w+)|suitesparse\(\"(trs_\w+)\"\)", text))
    used = {name for pair in used for name in pair if name}
    assert used <= set(_abi.PROTOTYPES)
    assert set(_abi.PROTOTYPES) - used == set(LEFT_OUT) & set(_abi.PROTOTYPES)
