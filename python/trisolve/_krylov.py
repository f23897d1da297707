"""cg, minres, bicgstab and gmres with the signatures and results of scipy.sparse.linalg."""

from __future__ import annotations

from ctypes import CFUNCTYPE, byref, c_char, c_double, c_int, c_void_p, cast, pointer
from typing import Any, Callable

import numpy as np
from scipy.sparse import identity, issparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from . import _abi
from ._arrays import DTYPES, Matrix, View, canonical, empty_like, floating, right_side, stream_of, view
from ._factors import Factors
from ._library import C, Handle, check
from ._plan import Plan

_APPLY = CFUNCTYPE(c_int, *4 * [c_void_p])
_MONITOR = CFUNCTYPE(c_int, c_void_p)  # the arguments that follow are not needed


def _vector(address: int, n: int, dtype: np.dtype) -> np.ndarray:
    """The numbers at an address, as they are."""
    return np.frombuffer((c_char * (n * dtype.itemsize)).from_address(address), dtype) if n else np.empty(0, dtype)


class _Map:
    """A matrix or preconditioner as a trs_map, and what it points to; the errors of its functions go to `caught`."""

    def __init__(self, A, n: int, dtype: np.dtype, device: int, stream: int, caught: list[BaseException]):
        if A.shape != (n, n):
            raise ValueError(f"expected an operator of shape {(n, n)}, not {A.shape}")
        self.struct = _abi.trs_map()
        if isinstance(A, Factors) and A.dtype == dtype:
            self.owner, self.struct.lu, self.work = A, A._handle.pointer, A._work(stream, 1, True)
            self.struct.lu_work = self.work.pointer  # that of this thread: others may iterate with A, too
        elif isinstance(A, Plan) and A.dtype == dtype:
            self.owner, self.struct.plan, self.work = A, A._handle.pointer, A._work(stream, 1, True)
            self.struct.work = self.work.pointer
        elif isinstance(A, Plan):
            raise TypeError(f"a Plan of {A.dtype} cannot solve with vectors of {dtype}")
        elif isinstance(A, (Factors, LinearOperator)) or not hasattr(A, "dtype") or hasattr(A, "matvec"):
            if device:
                raise TypeError("on a GPU, A must be a matrix, and M None, a matrix, a Plan or Factors of its type")
            self._call(aslinearoperator(A).matvec, n, dtype, caught)
        else:
            self.owner = Matrix(canonical(A), dtype=dtype)
            self.struct.mat = pointer(self.owner.struct)

    def _call(self, matvec: Callable, n: int, dtype: np.dtype, caught: list[BaseException]) -> None:
        def apply(user, x, y, stream):
            try:
                _vector(y, n, dtype)[:] = matvec(_vector(x, n, dtype))
                return 0
            except BaseException as error:
                caught.append(error)
                return 1

        self.owner = _APPLY(apply)
        self.struct.apply = cast(self.owner, c_void_p)


def _watch(call: Callable[[float], Any] | None, history, caught: list[BaseException]):
    """A generator: `send` after an iteration gives 1 to cancel the solve; a generator sees Ctrl-C (_library.py)."""
    cancel, iteration = 0, 0
    while True:
        try:
            while True:
                yield cancel
                if call and iteration:  # no call before the first iteration
                    call(history[iteration] if history else 0.0)
                iteration += 1
        except GeneratorExit:
            return
        except BaseException as error:
            caught.append(error)
            cancel = 1


def _start(x0, B: View) -> View:
    """An array for x with an initial guess."""
    X = view(empty_like(B, _abi.TRS_COL_MAJOR))
    if x0 is not None:
        if tuple(x0.shape) not in (B.shape, (*B.shape, 1)):
            raise ValueError(f"x0 has shape {tuple(x0.shape)}, and b {B.shape}")
        X.owner[:] = x0.reshape(B.shape)
    return X


def _iterate(method: int, A, b, x0, M, rtol: float, atol: float, most: int | None, callback: Callable | None,
             of_x: bool = True, restart: int = 0):
    """Solve A x = b: the x, and the info of SciPy.  callback gets x, or the relative norm of the residual."""
    b = b if hasattr(b, "__cuda_array_interface__") else np.asarray(b)
    b = b.reshape(-1) if b.ndim == 2 and b.shape[1] == 1 else b
    n = A.shape[0]
    if b.ndim != 1:
        raise ValueError(f"b must be a vector, but its shape is {tuple(b.shape)}")
    types = [np.dtype(view(part).dtype) for part in (b, x0) if part is not None]
    dtype = floating(np.result_type(getattr(A, "dtype", None) or "f8", *types))
    B = right_side(b, n, dtype, view(b).device)
    if B.leading(_abi.TRS_COL_MAJOR) is None:
        B = view(np.ascontiguousarray(B.owner))
    X = _start(x0 if x0 is None or B.device else np.asarray(x0), B)
    caught: list[BaseException] = []
    stream = stream_of(B.owner)
    maps = [_Map(of, n, dtype, B.device, stream, caught) for of in (A, M) if of is not None]
    handle = Handle(C.trs_krylov_destroy)
    options = _abi.trs_krylov_options(method=method, dtype=DTYPES[dtype], n=n, device=B.device, restart=restart)
    check(C.trs_krylov_create(handle.pointer, options))
    most = 10 * max(n, 1) if most is None else int(most)
    if most < 1:
        raise ValueError("at least one iteration must be allowed")
    history, norm_b = None, 1.0
    if callback is not None and not of_x:
        history = (c_double * (most + 1))()
        norm_b = float(abs(B.owner * B.owner.conj()).sum()) ** 0.5 or 1.0
    call = None if callback is None else lambda r: callback(X.owner if of_x else r / norm_b)
    watch = _watch(call, history, caught)
    next(watch)
    monitor = _MONITOR(watch.send)
    goal = _abi.trs_krylov_goal(rtol=rtol, atol=atol or (5e-324 if rtol == 0 else 0), max_iterations=most,
                                guess=x0 is not None, history=history, monitor=cast(monitor, c_void_p),
                                stream=stream)
    info = _abi.trs_krylov_info()
    status = C.trs_krylov_solve(handle.pointer, maps[0].struct, maps[1].struct if M is not None else None, 1,
                                B.address, max(n, 1), X.address, max(n, 1), goal, info)
    if caught:
        raise caught[0]
    check(status)
    if info.stop == _abi.TRS_STOP_CONVERGED:
        return X.owner, 0
    if info.stop == _abi.TRS_STOP_BREAKDOWN:
        return X.owner, -11 if info.why.startswith(b"omega") else -10
    return X.owner, max(info.iterations, 1)


def cg(A, b, x0=None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M=None, callback=None):
    """Solve A x = b by conjugate gradients; A and M are Hermitian positive definite.

    Parameters
    ----------
    A : sparse or dense matrix, or LinearOperator, shape (n, n)
        A matrix may be on a GPU, where b, x0 and M then are as well.
    b : array, shape (n,) or (n, 1)
    x0 : array, optional
        The initial guess.
    rtol, atol : float
        Converge to ``norm(b - A @ x) <= max(rtol * norm(b), atol)``.
    maxiter : int, optional
        Iterations at most; None: 10 n.
    M : Factors, Plan, matrix or LinearOperator, optional
        The inverse of a preconditioner.  Factors (ilu0, ic0, splu) and a Plan of the type of A solve without Python.
    callback : callable, optional
        Gets the current x after each iteration.

    Returns
    -------
    x : array, shape (n,)
    info : int
        0: converged; positive: not converged after so many iterations; negative: a breakdown.

    Examples
    --------
    >>> import numpy as np, trisolve
    >>> from scipy.sparse import diags
    >>> A = diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(100, 100), format="csr")
    >>> x, info = trisolve.cg(A, np.ones(100), M=trisolve.ic0(A), rtol=1e-10)
    >>> info, bool(abs(A @ x - 1).max() < 1e-8)
    (0, True)
    """
    return _iterate(_abi.TRS_CG, A, b, x0, M, rtol, atol, maxiter, callback)


def minres(A, b, x0=None, *, rtol: float = 1e-5, shift: float = 0.0, maxiter: int | None = None, M=None,
           callback=None, show: bool = False, check: bool = False):
    """Solve (A - shift I) x = b by minimal residuals; A is Hermitian, and may be indefinite; M is positive definite.

    Otherwise as `cg`.  SciPy compares the residual with an estimate of norm(A) * norm(x); here it is norm(b), as in the
    other methods.  maxiter is 10 n by default.  show and check have no effect.
    """
    if shift:
        unit = identity(A.shape[0], format="csr")
        A = A - shift * unit if issparse(A) else aslinearoperator(A) - shift * aslinearoperator(unit)
    return _iterate(_abi.TRS_MINRES, A, b, x0, M, rtol, 0.0, maxiter, callback)


def bicgstab(A, b, x0=None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M=None,
             callback=None):
    """Solve A x = b by stabilised bi-conjugate gradients, for any A; as `cg`.

    info is -11 if omega is zero, and -10 after another breakdown.
    """
    return _iterate(_abi.TRS_BICGSTAB, A, b, x0, M, rtol, atol, maxiter, callback)


def gmres(A, b, x0=None, *, rtol: float = 1e-5, atol: float = 0.0, restart: int | None = None,
          maxiter: int | None = None, M=None, callback=None, callback_type: str | None = None):
    """Solve A x = b by GMRES with restarts, for any A; as `cg`.

    M is applied from the right, so that the residual is that of A x = b.

    Parameters
    ----------
    restart : int, optional
        Iterations between restarts; None: 20.
    maxiter : int, optional
        Cycles of `restart` iterations; None: 10 n.
    callback_type : {'pr_norm', 'legacy'}, optional
        Both: the callback gets norm(b - A @ x) / norm(b) after each iteration.  SciPy's 'x' is not offered.
    """
    if callback_type not in (None, "pr_norm", "legacy"):
        raise ValueError(f"callback_type must be pr_norm or legacy, not {callback_type!r}")
    n = A.shape[0]
    restart = min(20 if restart is None else int(restart), max(n, 1))
    cycles = 10 * max(n, 1) if maxiter is None else int(maxiter)
    return _iterate(_abi.TRS_GMRES, A, b, x0, M, rtol, atol, cycles * restart, callback, False, restart)
