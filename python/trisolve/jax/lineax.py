"""A linear operator and a linear solver of lineax: sparse matrices, and their factors.

>>> import jax, jax.numpy as jnp, lineax as lx, scipy.sparse as sp
>>> from trisolve.jax import Solver
>>> from trisolve.jax.lineax import SparseLinearOperator, SparseLU
>>> A = sp.csr_array([[2.0, 1], [0, 4]])
>>> solver = Solver(A)  # its pattern; made once, outside of what JAX compiles
>>> lx.linear_solve(SparseLinearOperator(solver, A.data), jnp.array([3.0, 8]), SparseLU()).value.tolist()
[0.5, 2.0]
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import lineax as lx

from . import OPS, Solver, products

TAGS = {lx.is_symmetric: lx.symmetric_tag, lx.is_diagonal: lx.diagonal_tag, lx.is_tridiagonal: lx.tridiagonal_tag,
        lx.has_unit_diagonal: lx.unit_diagonal_tag, lx.is_lower_triangular: lx.lower_triangular_tag,
        lx.is_upper_triangular: lx.upper_triangular_tag, lx.is_positive_semidefinite: lx.positive_semidefinite_tag,
        lx.is_negative_semidefinite: lx.negative_semidefinite_tag}


class SparseLinearOperator(lx.AbstractLinearOperator):
    """A sparse matrix with the pattern of a Solver.

    Parameters
    ----------
    solver : trisolve.jax.Solver
    values : array, shape (nnz,)
        In the order of the pattern.
    tags : tags of lineax, optional
        What else is known of the matrix.
    """

    values: Any
    solver: Solver = eqx.field(static=True)
    tags: frozenset[object] = eqx.field(static=True)
    op: int = eqx.field(static=True)

    def __init__(self, solver: Solver, values: Any, tags: Any = (), op: int = 0):
        self.solver, self.op = solver, op
        self.values = jnp.asarray(values)
        self.tags = frozenset(tags if isinstance(tags, (tuple, list, set, frozenset)) else (tags,))

    def mv(self, vector: Any) -> Any:
        return products(self.solver._home, self.values, self.solver.indices, self.solver.indptr)[self.op](vector)

    def as_matrix(self) -> Any:
        return self.mv(jnp.eye(self.solver.indptr.shape[0] - 1, dtype=self.values.dtype))

    def transpose(self) -> SparseLinearOperator:
        return SparseLinearOperator(self.solver, self.values, lx.transpose_tags(self.tags), 1 - self.op)

    def in_structure(self) -> Any:
        return jax.ShapeDtypeStruct((self.solver.indptr.shape[0] - 1,), self.values.dtype)

    out_structure = in_structure


for check, tag in TAGS.items():
    check.register(SparseLinearOperator)(lambda operator, tag=tag: tag in operator.tags)
for unchanged in (lx.linearise, lx.materialise):
    unchanged.register(SparseLinearOperator)(lambda operator: operator)


@lx.diagonal.register(SparseLinearOperator)
def diagonal(operator: SparseLinearOperator) -> Any:
    return jnp.diag(operator.as_matrix())


@lx.conj.register(SparseLinearOperator)
def conj(operator: SparseLinearOperator) -> SparseLinearOperator:
    return SparseLinearOperator(operator.solver, operator.values.conj(), operator.tags, operator.op)


class SparseLU(lx.AbstractLinearSolver[SparseLinearOperator]):
    """Solves with the factors that the Solver of a SparseLinearOperator makes or has at hand; singular: NaN."""

    def init(self, operator: Any, options: dict[str, Any]) -> SparseLinearOperator:
        if not isinstance(operator, SparseLinearOperator):
            raise ValueError(f"SparseLU solves with a SparseLinearOperator, not with a {type(operator).__name__}")
        return operator

    def compute(self, state: SparseLinearOperator, vector: Any, options: dict[str, Any]) -> Any:
        return state.solver(state.values, vector, OPS[state.op]), lx.RESULTS.successful, {}

    def transpose(self, state: SparseLinearOperator, options: dict[str, Any]) -> Any:
        return state.transpose(), options

    def conj(self, state: SparseLinearOperator, options: dict[str, Any]) -> Any:
        return conj(state), options

    def assume_full_rank(self) -> bool:
        return True
