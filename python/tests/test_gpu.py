"""Arrays on a GPU: their interface with stand-ins, and, where CuPy and a GPU are there, solves against cupyx's."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import GPU, backward_error, eps, random_triangle, values

import trisolve
from trisolve import _abi
from trisolve._arrays import BY_COLUMNS, BY_ROWS, Matrix, stream_of, view

try:
    import cupy
    from cupyx.scipy import sparse as cusp
    from cupyx.scipy.sparse import linalg as cula
except ImportError:
    cupy = None

on_gpu = pytest.mark.skipif(cupy is None or not GPU, reason="needs a GPU, a build with CUDA, and CuPy")
DTYPES = ["f4", "f8", "c8", "c16"]


class Stand_in:
    """An array of the host with the interface of one on a GPU."""

    def __init__(self, array, device=None, **more):
        self.array, self.device = np.asarray(array), device
        self.__cuda_array_interface__ = {"version": 3, "typestr": self.array.dtype.str, "shape": self.array.shape,
                                         "data": (self.array.ctypes.data, False), **more}


def test_interface_of_arrays():
    a = np.zeros((3, 4))
    v = view(Stand_in(a, SimpleNamespace(id=1)))
    assert (v.address, v.dtype, v.shape, v.strides, v.device) == (a.ctypes.data, np.dtype("f8"), (3, 4), (32, 8), 2)
    assert v.leading(BY_ROWS) == 4 and v.leading(BY_COLUMNS) is None
    v = view(Stand_in(a, SimpleNamespace(type="cuda", index=0), strides=(8, 40)))
    assert v.device == 1 and v.leading(BY_COLUMNS) == 5 and v.leading(BY_ROWS) is None
    assert view(Stand_in(a, "cuda", strides=None)).strides == (32, 8)
    with pytest.raises(ValueError, match="mask"):
        view(Stand_in(a, mask=a))


def test_streams_of_all_packages():
    a = Stand_in(np.zeros(3), stream=7)
    assert stream_of(a) == 7 and stream_of(Stand_in(np.zeros(3))) == 0 and stream_of(np.zeros(3)) == 0
    numbas = SimpleNamespace(handle=SimpleNamespace(value=5))
    for stream in (5, SimpleNamespace(ptr=5), SimpleNamespace(cuda_stream=5), numbas):
        assert stream_of(a, stream) == 5


def test_matrices_on_a_gpu_are_passed_by_address():
    T = sp.csr_array(np.array([[2.0, 0], [1, 4]]))
    there = SimpleNamespace(format="csr", shape=T.shape, dtype=T.dtype, **{
        name: Stand_in(getattr(T, name), SimpleNamespace(id=0)) for name in ("indptr", "indices", "data")})
    s = Matrix(there).struct
    assert (s.n, s.nnz, s.device, s.format, s.ptr_bits, s.idx_bits) == (2, 3, 1, _abi.TRS_CSR, 32, 32)
    assert (s.ptr, s.idx, s.val) == tuple(a.ctypes.data for a in (T.indptr, T.indices, T.data))
    there.indices = T.indices
    with pytest.raises(ValueError, match="one device"):
        Matrix(there)
    plan = trisolve.Plan(T)
    with pytest.raises(ValueError, match="b is on CUDA device 0, and the solver takes it on the host"):
        plan.solve(Stand_in(np.ones(2), SimpleNamespace(id=0)))


@pytest.mark.skipif(GPU, reason="there is a GPU")
def test_no_gpu_is_an_error():
    with pytest.raises(trisolve.Error) as caught:
        trisolve.Plan(sp.csr_array(np.eye(2)), device=0)
    assert isinstance(caught.value, (trisolve.DeviceError, trisolve.UnsupportedError)) and str(caught.value)


@on_gpu
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("lower", [True, False])
def test_triangles_as_cupyx(rng, dtype, form, lower):
    T = random_triangle(rng, 300, dtype, lower=lower)
    there = getattr(cusp, form + "_matrix")(cusp.csr_matrix(sp.csr_matrix(T)))
    plan = trisolve.Plan(there, lower, ops="NTH")
    for shape, order in (((300,), "C"), ((300, 5), "C"), ((300, 5), "F")):
        b = cupy.asarray(np.asarray(values(rng, shape, dtype), order=order), order=order)
        x = trisolve.spsolve_triangular(there, b, lower=lower)
        assert isinstance(x, cupy.ndarray) and (x.shape, x.dtype) == (b.shape, b.dtype)
        assert backward_error(T, x.get(), b.get()) < 100 * eps(dtype)
        cupy.testing.assert_allclose(x, cula.spsolve_triangular(there, b, lower=lower), rtol=0, atol=1e3 * eps(dtype))
        for op, M in (("N", T), ("T", T.T), ("H", T.conj().T)):
            with cupy.cuda.Stream(non_blocking=True) as stream:
                y = plan.solve(b + 0, op)
                stream.synchronize()
            assert backward_error(M, y.get(), b.get()) < 100 * eps(dtype)
            out = cupy.empty_like(b)
            assert plan.solve(b, op, out=out) is out
            cupy.testing.assert_array_equal(out, y)


@on_gpu
@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_as_cupyx(rng, dtype):
    A = sp.csr_matrix((random_triangle(rng, 300, dtype) + random_triangle(rng, 300, dtype, lower=False)).astype(dtype))
    there, b = cusp.csr_matrix(A), cupy.asarray(values(rng, 300, dtype))
    for lu in (trisolve.splu(there), trisolve.splu(A, device=0)):
        x = lu.solve(b)
        assert isinstance(x, cupy.ndarray) and backward_error(A, x.get(), b.get()) < 1e4 * eps(dtype)
        cupy.testing.assert_allclose(x, cula.spsolve(there, b), rtol=0, atol=1e4 * eps(dtype))
        x = lu.update(2 * there).solve(b)
        assert backward_error(2 * A, x.get(), b.get()) < 1e4 * eps(dtype) and lu.status() >= 0
    assert abs(lu.L @ lu.U).max() > 0
    for solver, M in ((cula.gmres, trisolve.ilu0(there)), (cula.cgs, trisolve.ilu0(there))):
        x, info = solver(there, b, M=M)
        assert info == 0 and float(cupy.linalg.norm(b - there @ x)) < 1e-3 * float(cupy.linalg.norm(b))


@on_gpu
def test_new_values_from_either_place(rng):
    T = random_triangle(rng, 100, "f8")
    there, b = cusp.csr_matrix(sp.csr_matrix(T)), cupy.ones(100)
    for first in (there, T):
        plan, M = trisolve.Plan(first, device=0), trisolve.ilu0(first, device=0)
        for second in (3 * there, 3 * T):
            for solver in (plan, M):
                assert backward_error(3 * T, solver.update(second).solve(b).get(), np.ones(100)) < 100 * eps("f8")


@on_gpu
def test_errors_on_a_gpu(rng):
    T = random_triangle(rng, 30, "f8")
    plan = trisolve.Plan(cusp.csr_matrix(sp.csr_matrix(T)))
    with pytest.raises(ValueError, match="b is on the host"):
        plan.solve(np.ones(30))
    with pytest.raises(TypeError):
        plan.solve(cupy.ones(30, "f4"))
    with pytest.raises(ValueError):
        plan.solve(cupy.ones((30, 6))[:, ::2])
    T.data[:] = 0
    with pytest.raises(np.linalg.LinAlgError):
        trisolve.spsolve_triangular(cusp.csr_matrix(sp.csr_matrix(T)), cupy.ones(30))
