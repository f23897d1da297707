"""Long calls report their progress, and end by KeyboardInterrupt or by what the function of set_progress wants."""

import ctypes
import signal
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import needs_suitesparse

import trisolve

A = sp.csr_matrix(sp.diags([-1.0, 4.0, -1.0], [-1, 0, 1], shape=(600, 600)))
LONG = [
    pytest.param(lambda file: trisolve.Plan(A), "solver", id="Plan"),
    pytest.param(lambda file: trisolve.ilu0(A), "factorization", id="ilu0"),
    pytest.param(lambda file: trisolve.splu(A), "ordering", id="splu", marks=needs_suitesparse),
    pytest.param(lambda file: trisolve.spsolve(A, np.ones(600)), "factorization", id="spsolve", marks=needs_suitesparse),
    pytest.param(trisolve.mmread, "reading", id="mmread"),
]


@pytest.fixture
def file(tmp_path):
    trisolve.mmwrite(tmp_path / "a.mtx", A)
    yield tmp_path / "a.mtx"
    trisolve.set_progress(None)


def usable(file):
    trisolve.set_progress(None)
    assert (trisolve.mmread(file) != A).nnz == 0
    assert abs(A @ trisolve.Plan(A).solve(np.ones(600))).max() < 10


@pytest.mark.parametrize("call, phase", LONG)
def test_phases(file, call, phase):
    seen = []
    trisolve.set_progress(lambda name, done: seen.append((name, done)))
    call(file)
    assert phase in [name for name, _ in seen]
    assert all(done is None or 0 <= done <= 1 for _, done in seen)
    count = len(seen)
    trisolve.set_progress(None)
    call(file)
    assert len(seen) == count


@pytest.mark.parametrize("call, phase", LONG)
def test_ctrl_c(file, call, phase):
    def interrupt(name, done):
        if name == phase:
            signal.raise_signal(signal.SIGINT)

    # a shell that starts the tests in the background ignores SIGINT for them
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        trisolve.set_progress(interrupt)
        with pytest.raises(KeyboardInterrupt):
            call(file)
    finally:
        signal.signal(signal.SIGINT, before)
    usable(file)


@pytest.mark.parametrize("call, phase", LONG)
def test_a_signal_between_two_calls(file, call, phase):
    """The handler runs where Python is entered again, which must not lose what it raises."""
    class Rung(Exception):
        pass

    def ring(*_):
        raise Rung

    before = signal.signal(signal.SIGALRM, ring)
    raise_signal = ctypes.CDLL(None)["raise"]  # which leaves the handler for later
    try:
        trisolve.set_progress(lambda name, done: name == phase and raise_signal(int(signal.SIGALRM)))
        with pytest.raises(Rung):
            call(file)
    finally:
        signal.signal(signal.SIGALRM, before)
    usable(file)


def test_exceptions_and_true_values(file):
    def refuse(name, done):
        raise ZeroDivisionError(name)

    trisolve.set_progress(refuse)
    with pytest.raises(ZeroDivisionError, match="import"):
        trisolve.Plan(A)
    trisolve.set_progress(lambda name, done: name == "solver")
    with pytest.raises(trisolve.CanceledError, match="canceled by the caller: solver"):
        trisolve.Plan(A)
    usable(file)


def test_each_thread_has_its_own(file):
    results = []
    trisolve.set_progress(lambda name, done: True)
    thread = threading.Thread(target=lambda: results.append(trisolve.Plan(A).solve(np.ones(600))))
    thread.start()
    thread.join()
    assert len(results) == 1
    usable(file)


def test_solves_report_nothing(file):
    plan = trisolve.Plan(A)
    trisolve.set_progress(lambda name, done: True)
    for _ in range(plan.info.grows_at + 1):
        plan.solve(np.ones(600))
    assert plan.info.grows_at == 0
