"""What a type checker sees: mypy --strict finds the wrong lines of a script, and no others."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import trisolve

SCRIPT = '''
import numpy as np
import scipy.sparse as sp
import trisolve

A = sp.eye(3, format="csc")
b = np.ones(3)
lu = trisolve.splu(A, "COLAMD", method="klu", ops="N", threads=1)
x: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = lu.solve(b)
lu.solve(b, trans="Q")  # wrong
lu.solve(b, "T", out=np.empty(3))
lu.update(A).solve([1.0, 2.0, 3.0])
lu.solve("b")  # wrong
trisolve.splu("hello")  # wrong
trisolve.splu(A, permc_spec="COLAMB")  # wrong
trisolve.splu(A, method="superlu")  # wrong
trisolve.splu(A, thread=1)  # wrong
trisolve.splu(A, threads="two")  # wrong
trisolve.splu(np.eye(3)).solve(np.ones((3, 2)), "h")
trisolve.splu([[1.0, 2.0], [3.0, 4.0]])
trisolve.spsolve("hello", b)  # wrong
trisolve.spsolve(A, "b")  # wrong
trisolve.spsolve(A, b, use_umfpack=False)
trisolve.spsolve_triangular(A, b, lower=False)
trisolve.spsolve_triangular(A, b, lower="upper")  # wrong
trisolve.ilu0(A, ordering="rcm", pivot="fail").refine(A, b, max_steps=3)
trisolve.ilu0(A, ordering="rmc")  # wrong
trisolve.ic0(A, level="one")  # wrong
trisolve.spilu(A, fill_factor=2.0)
plan = trisolve.Plan(A, False, ops="NT", order="level", device="cpu")
plan.levels()[0].tolist()
trisolve.Plan(A, order="levels")  # wrong
trisolve.Plan(A, device="gpu")  # wrong
plan.tuned()  # wrong
plan.rcond(A, norm="inf") + plan.slogdet().logabsdet
plan.rcond(A, norm="two")  # wrong
trisolve.mmwrite("a.mtx", A, symmetry="general")
trisolve.mmwrite("a.mtx", A, symmetry="skew")  # wrong
trisolve.mmread(3)  # wrong
trisolve.set_progress(lambda phase, done: print(phase.upper(), done))
trisolve.factorized(A)(b)
trisolve.backward_error(A, x, b).omega
'''


@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_finds_mistakes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = True\n[mypy-scipy.*]\nignore_missing_imports = True\n")
    package = Path(trisolve.__file__).parent.parent
    path = {} if package.name in ("site-packages", "dist-packages") else {"MYPYPATH": str(package)}
    run = subprocess.run([sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--cache-dir", tmp_path / "cache",
                          "script.py"], cwd=tmp_path, env=dict(os.environ, **path), capture_output=True, text=True)
    found = {int(line) for line in re.findall(r"^script.py:(\d+): error", run.stdout, flags=re.M)}
    wrong = {k for k, line in enumerate(SCRIPT.splitlines(), 1) if line.endswith("# wrong")}
    assert found == wrong, run.stdout + run.stderr
