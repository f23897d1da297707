"""SciPy's own tests of what this package replaces, and of what SciPy builds on it: the plugin as_scipy runs them."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import needs_suitesparse

HERE = Path(__file__).resolve().parent
SUITES = ["scipy.sparse.linalg._dsolve.tests.test_linsolve", "scipy.io.tests.test_mmio",
          "scipy.integrate._ivp.tests.test_ivp", "scipy.integrate.tests.test_bvp",
          "scipy.sparse.linalg._eigen.arpack.tests.test_arpack", "scipy.sparse.linalg.tests.test_matfuncs"]


def is_there(suite):
    try:
        return importlib.util.find_spec(suite) is not None
    except ModuleNotFoundError:
        return False


@needs_suitesparse
@pytest.mark.parametrize("suite", SUITES)
def test_suite_as_scipy(suite, tmp_path):
    if not is_there(suite):
        pytest.skip(f"SciPy is installed without {suite}")
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    options = ["-q", "--noconftest", "-p", "no:cacheprovider", "-p", "as_scipy"]  # SciPy's conftest needs hypothesis
    run = subprocess.run([sys.executable, "-m", "pytest", *options, "--pyargs", suite], cwd=tmp_path,
                         env=dict(os.environ, PYTHONPATH=path), capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-20000:] + run.stderr[-2000:]
    assert " passed" in run.stdout.splitlines()[-1]
