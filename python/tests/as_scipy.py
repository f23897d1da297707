"""A pytest plugin that runs SciPy's own tests with the functions of this package in the places of SciPy's.

    pytest -p as_scipy --pyargs scipy.io.tests.test_mmio

as_scipy.txt lists the tests that are expected to fail, with reasons; one of them that passes is a failure.  Those with
the word "skip" are not run; the others fail with all versions of SciPy, or those from a version on.
"""

import fnmatch
import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse.linalg

import trisolve

REPLACED = {scipy.io: ["mminfo", "mmread", "mmwrite"],
            scipy.sparse.linalg: ["factorized", "spilu", "splu", "spsolve", "spsolve_triangular"]}
USERS = ["scipy.integrate", "scipy.io._mmio", "scipy.sparse.linalg._eigen.arpack.arpack",
         "scipy.sparse.linalg._matfuncs"]


def replace_functions():
    """Put our functions wherever a module of SciPy has imported its own."""
    for name in USERS:
        importlib.import_module(name)
    modules = [module for name, module in sys.modules.items() if name.startswith("scipy.")]
    ours = {id(getattr(module, name)): getattr(trisolve, name)
            for home, names in REPLACED.items() for name in names
            for module in (home, sys.modules["scipy.io._mmio"]) if hasattr(module, name)}
    for module in modules:
        for name, value in list(vars(module).items()):
            if id(value) in ours:
                setattr(module, name, ours[id(value)])


def listed():
    """(pattern of the tests' names, mark) of each line of as_scipy.txt that counts for this version of SciPy."""
    reason = ""
    for line in Path(__file__).with_name("as_scipy.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            reason = line.lstrip("# ")
        elif line:
            pattern, word = (line + " ").split(" ")[:2]
            if word == "skip":
                yield pattern, pytest.mark.skip(reason=reason)
            elif not word or np.lib.NumpyVersion(scipy.__version__) >= word.lstrip(">="):
                yield pattern, pytest.mark.xfail(reason=reason, strict=True)


@pytest.fixture
def num_parallel_threads():
    """What some tests of SciPy ask its conftest for."""
    return 1


def pytest_configure():
    replace_functions()


def pytest_collection_modifyitems(items):
    marks = list(listed())
    for item in items:
        name = item.module.__name__.rpartition(".")[2] + "::" + item.nodeid.partition("::")[2]
        for pattern, mark in marks:
            if fnmatch.fnmatchcase(name, pattern):
                item.add_marker(mark)
