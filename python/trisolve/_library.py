"""The libraries, loaded once, and their status codes as exceptions."""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import CFUNCTYPE, c_int, c_void_p
from types import SimpleNamespace
from typing import Any, Callable

import numpy as np

from . import _abi


class Error(Exception):
    """What the library refused or could not do; its sentence is the text.

    Attributes
    ----------
    status : int
        The code of trs_status, negative.
    """

    status = -1


class ArgumentError(Error, ValueError):
    """An argument is out of range, or contradicts another one."""

    status = _abi.TRS_EARG


class StateError(Error, RuntimeError):
    """Called out of order: a solve after an update that failed, an op that was not announced."""

    status = _abi.TRS_ESTATE


class OutOfMemoryError(Error, MemoryError):
    """Out of memory, or over the limit that was set."""

    status = _abi.TRS_EMEM


class UnsupportedError(Error, NotImplementedError):
    """This solver, or this build, cannot do that."""

    status = _abi.TRS_ESUPPORT


class MatrixError(Error, ValueError):
    """Not a well-formed matrix: an index out of range, duplicates, an entry in the other triangle."""

    status = _abi.TRS_EMATRIX


class PivotError(Error, np.linalg.LinAlgError, RuntimeError):
    """A pivot is missing, zero or not finite: the matrix is singular.

    It is a LinAlgError, as scipy.sparse.linalg.spsolve_triangular raises, and a RuntimeError, as splu does.
    """

    status = _abi.TRS_EPIVOT


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""

    status = _abi.TRS_EFILE


class FormatError(Error, ValueError):
    """What a file holds is not what it should be."""

    status = _abi.TRS_EFORMAT


class DeviceError(Error, RuntimeError):
    """There is no usable GPU, or CUDA reported an error."""

    status = _abi.TRS_EDEVICE


class LibraryError(Error, RuntimeError):
    """A library that does part of the work failed."""

    status = _abi.TRS_ELIBRARY


class GrowthError(Error, ArithmeticError):
    """New values do not suit the pivots of the factors: rounding errors grew too much."""

    status = _abi.TRS_EGROWTH


class CanceledError(Error):
    """The function of set_progress has canceled the call."""

    status = _abi.TRS_ECANCELED


ERRORS = {kind.status: kind for kind in Error.__subclasses__()}


def load(name: str) -> ctypes.CDLL:
    """Load a library: the one in this package, else that of TRISOLVE_PREFIX, else the loader's."""
    for folder in (os.path.join(os.path.dirname(__file__), "lib"), _abi.LIBDIR):
        path = os.path.join(folder or "", name)
        if folder and os.path.exists(path):
            return ctypes.CDLL(path)
    return ctypes.CDLL(name)


def open_libraries() -> SimpleNamespace:
    """Load both libraries, the second one where it is there, and give their functions by name."""
    libraries = [load("libtrisolve-sparse.so.0")]
    try:
        libraries.append(load("libtrisolve-suitesparse.so.0"))
    except OSError:
        pass
    functions = {}
    for name, (result, arguments) in _abi.PROTOTYPES.items():
        for library in libraries:
            if hasattr(library, name):
                functions[name] = getattr(library, name)
                functions[name].restype, functions[name].argtypes = result, arguments
                break
    return SimpleNamespace(**functions)


def check_libraries(functions: SimpleNamespace) -> SimpleNamespace:
    """Refuse libraries that are not those of the headers that the package was built with."""
    version = functions.trs_version().decode()
    missing = [name for name in _abi.PROTOTYPES if not hasattr(functions, name)]
    if version != _abi.VERSION or missing and hasattr(functions, "trs_factor"):
        raise ImportError(f"libtrisolve-sparse {version} is not the {_abi.VERSION} that this package was built for"
                          + (f": it lacks {', '.join(missing)}" if missing else ""))
    return functions


C = check_libraries(open_libraries())


# ---- progress: this thread's function of the library, and the exceptions that have canceled a call ----

_PROGRESS = CFUNCTYPE(c_int, c_void_p)
_thread = threading.local()


def _watch(progress: Any, caught: list[BaseException]) -> Any:
    """A generator: `send` takes the address of a phase and gives 1 if that cancels the call.

    A function would lose the KeyboardInterrupt, and nobody would cancel: Python runs the handlers of signals where it
    enters a function, before its first `try`, and where it resumes a generator, which is inside of one.
    """
    cancel = False
    while True:
        try:
            while True:
                address = yield cancel
                cancel = False
                if progress:
                    phase = _abi.trs_phase.from_address(address)
                    cancel = bool(progress(phase.name.decode(), phase.done if phase.done >= 0 else None))
        except GeneratorExit:
            return
        except BaseException as error:
            caught.append(error)
            cancel = True


def set_progress(progress: Callable[[str, float | None], Any] | None = None) -> None:
    """Call a function during the long calls of this thread: reading, analysis, factorization, but no solves.

    Parameters
    ----------
    progress : callable, optional
        Gets the name of the phase, and the fraction of it that is done or None.  If it returns a true value the call is
        canceled, with a CanceledError; if it raises an exception, with that one.  It must not call this package.  None:
        none is called.

    Notes
    -----
    Signals are handled where the function would be called.  So Ctrl-C ends long calls by a KeyboardInterrupt, as far as
    the libraries that factor can be interrupted, in the thread that has imported the package or called this function.

    Examples
    --------
    >>> import trisolve
    >>> from scipy.sparse import csr_array
    >>> trisolve.set_progress(lambda phase, done: print(phase))
    >>> plan = trisolve.Plan(csr_array([[1.0, 0], [1, 1]]), solver="cpu-serial")
    import
    levels
    choice of a solver
    solver
    >>> trisolve.set_progress(None)
    """
    caught: list[BaseException] = []
    watch = _watch(progress, caught)
    next(watch)
    function = _PROGRESS(watch.send)
    C.trs_set_progress(function, None)
    _thread.caught, _thread.function = caught, function  # which has to live as long as the library may call it


set_progress()


def check(status: int) -> None:
    """Raise the exception of a status code, with the library's sentence, or the one that has canceled the call."""
    if getattr(_thread, "caught", None):
        error = _thread.caught[0]
        _thread.caught.clear()
        raise error
    if status:
        raise ERRORS.get(status, Error)(C.trs_message().decode(errors="replace"))


def suitesparse(function: str) -> Callable[..., int]:
    """A function of libtrisolve-suitesparse, or UnsupportedError where that was left out."""
    if not hasattr(C, function):
        raise UnsupportedError(f"{function} is in libtrisolve-suitesparse, which this build was made without")
    return getattr(C, function)


class Handle:
    """Owns an opaque object of the library, and frees it when nobody refers to it any more.

    `parent` is an object that must live as long: a plan, for its work spaces.
    """

    def __init__(self, destroy: Callable[..., None], parent: Handle | None = None):
        self.pointer, self.destroy, self.parent = c_void_p(), destroy, parent

    def __del__(self) -> None:
        self.destroy(self.pointer)


def facts(struct: ctypes.Structure) -> SimpleNamespace:
    """The members of a structure that are numbers or strings."""
    result = SimpleNamespace()
    for name, *_ in struct._fields_:
        value = getattr(struct, name)
        if not isinstance(value, ctypes.Array):
            setattr(result, name, value.decode(errors="replace") if isinstance(value, bytes) else value)
    return result


def version() -> str:
    """The version of the library, as "0.1.0"."""
    return C.trs_version().decode()


def solvers() -> list[SimpleNamespace]:
    """Describe the solvers of this build: name, about, needs, caps, available, why not, and the rest of
    trs_solver_info.

    Examples
    --------
    >>> import trisolve
    >>> [s.name for s in trisolve.solvers() if s.needs == "cpu"][:3]
    ['cpu-dense', 'cpu-serial', 'cpu-level']
    """
    result: list[SimpleNamespace] = []
    info = _abi.trs_solver_info()
    while not C.trs_solver_get(len(result), info):
        result.append(facts(info))
    return result
