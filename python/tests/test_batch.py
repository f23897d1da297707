"""BatchLU against dense solves of each system."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import backward_error, random_triangle, values

import trisolve

DTYPES = ["f4", "f8", "c8", "c16"]


def systems(rng, dtype, count=11, n=30):
    """A matrix whose incomplete factors with much fill are complete, and the values of others with its pattern."""
    A = (random_triangle(rng, n, dtype) + random_triangle(rng, n, dtype, lower=False)).tocsr().astype(dtype)
    A.sort_indices()
    v = (A.data * (1 + rng.uniform(-0.1, 0.1, (count, A.nnz)))).astype(dtype)
    return A, v, trisolve.ilu0(A, level=n, ops="NTH")


def matrices(A, v):
    return [sp.csr_array((row, A.indices, A.indptr), shape=A.shape) for row in v]


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_system(rng, dtype):
    A, v, lu = systems(rng, dtype)
    batch = trisolve.BatchLU(lu, A, len(v), keep=True, threads=2)
    bs = values(rng, (len(v), 30), dtype), values(rng, (len(v), 30, 3), dtype), values(rng, 30, dtype)
    for b in bs:
        for op, of in (("N", lambda M: M), ("T", lambda M: M.T), ("H", lambda M: M.conj().T)):
            x = batch.solve(v, b, op, steps=1)
            assert x.dtype == np.dtype(dtype) and x.shape == (len(v), *b.shape[-(b.ndim - (b.ndim > 1)):])
            for k, M in enumerate(matrices(A, v)):
                assert backward_error(of(M), x[k], b if b.ndim == 1 else b[k]) < 8 * np.finfo(dtype).eps
    assert batch.update(v) is batch
    np.testing.assert_array_equal(batch.solve(None, bs[0]), batch.solve(v, bs[0]))
    assert batch.info.n == 30 and batch.status().bad == 0


def test_bad_systems_and_masks(rng):
    A, v, lu = systems(rng, "f8")
    v[4] = np.nan
    batch = trisolve.BatchLU(lu, A, len(v))
    b = values(rng, (len(v), 30), "f8")
    x = batch.solve(v, b)
    status = batch.status()
    assert status.bad == 1 and np.flatnonzero(status.code).tolist() == [4] and status.row[4] >= 0
    assert np.isnan(x[4]).all() and np.isfinite(np.delete(x, 4, 0)).all()
    mask = np.arange(len(v)) % 2 == 0
    out = np.full_like(b, 7)
    assert batch.solve(v, b, mask=mask, out=out) is out
    assert (out[~mask] == 7).all()
    np.testing.assert_array_equal(out[mask], x[mask])


def test_strides_and_errors(rng):
    A, v, lu = systems(rng, "f8")
    batch = trisolve.BatchLU(lu, A, len(v))
    b = values(rng, (len(v), 30), "f8")
    x = batch.solve(v, b)
    wide = np.zeros((len(v), A.nnz + 5))
    wide[:, :A.nnz] = v
    np.testing.assert_array_equal(batch.solve(wide[:, :A.nnz], np.asfortranarray(b)), x)
    np.testing.assert_array_equal(batch.solve(v[:3], b[:3]), x[:3])
    for values_, b_ in ((v[:, 1:], b), (v, b[1:]), (v, b[:, 1:]), (np.vstack([v, v]), b)):
        with pytest.raises(ValueError):
            batch.solve(values_, b_)
    with pytest.raises(trisolve.StateError):
        batch.solve(None, b)
    with pytest.raises(TypeError):
        batch.solve(v.astype("c16"), b)


def test_unsorted_matrix_and_strided_b(rng):
    A = sp.csr_array((np.array([1.0, 4, 5, 2]), np.array([1, 0, 1, 0]), np.array([0, 2, 4])), shape=(2, 2))
    batch = trisolve.BatchLU(trisolve.ilu0(A), A, 3)
    v = A.data * np.array([[1.0], [2], [4]])
    x = batch.solve(v, np.array([9.0, 0, 18, 0])[::2])
    for k in range(3):
        np.testing.assert_allclose(A @ x[k] * [1, 2, 4][k], [9, 18])


def test_arguments(rng):
    A, v, lu = systems(rng, "f8")
    with pytest.raises(ValueError, match="count"):
        trisolve.BatchLU(lu, A, 0)
    with pytest.raises(ValueError, match="values"):
        trisolve.BatchLU(lu, A, 3, keep=True).update(None)
