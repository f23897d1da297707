"""Sparse solves in PyTorch programs, on the CPU and on CUDA devices, with gradients of all orders.

>>> import torch, trisolve.torch
>>> crow, col = torch.tensor([0, 2, 3]), torch.tensor([0, 1, 1])
>>> values = torch.tensor([2.0, 1, 4], requires_grad=True)
>>> solver = trisolve.torch.Solver(torch.sparse_csr_tensor(crow, col, values))
>>> x = solver(values, torch.tensor([3.0, 4]))
>>> x.tolist()
[1.0, 1.0]
>>> x.sum().backward()
>>> values.grad.tolist()
[-0.5, -0.5, -0.125]

A gradient uses the factors of the solve: with lambda = A^-H g, that of b is lambda, and that of the value at (i, j) is
-lambda(i) conj(x(j)).  Tensors are passed to the library by address, on a CUDA device with the current stream.  Only
the values are copied, once for each factorization.  A singular matrix gives NaN.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch

from ._patterns import OPS, Home, Trans, Triangle, run


def there(t: torch.Tensor) -> Any:
    """The numbers of a tensor: an array of NumPy in the same memory, or on a CUDA device the tensor."""
    t = t.detach().resolve_conj().resolve_neg()
    return t if t.is_cuda else t.numpy()


SCHEMA = ("(Tensor values, Tensor b, Tensor rows, Tensor columns, Tensor indptr, int home, int op, int rank)"
          " -> Tensor")


def solve(values: Any, b: Any, rows: Any, columns: Any, indptr: Any, home: int, op: int, rank: int) -> Any:
    """Solve op(A) x = b: values are (..., nnz), and b has `rank` dimensions behind those of the batch."""
    lead = np.broadcast_shapes(values.shape[:-1], b.shape[: b.ndim - rank])  # that of PyTorch loads SymPy
    b = b.contiguous() if b.is_cuda else b  # the library copies no b on a device, and stores x as b
    x = b.new_empty((*lead, *b.shape[b.ndim - rank:]))
    pattern = [] if Home.of(home).pattern else [there(columns), there(indptr)]
    run([there(values.contiguous()), there(b), *pattern], [there(x)], home, op, rank)
    return x


operator = torch.library.custom_op("trisolve::solve", solve, mutates_args=(), schema=SCHEMA)


@operator.register_fake
def empty(values: Any, b: Any, rows: Any, columns: Any, indptr: Any, home: int, op: int, rank: int) -> Any:
    lead = torch.broadcast_shapes(values.shape[:-1], b.shape[: b.ndim - rank])
    return b.new_empty((*lead, *b.shape[b.ndim - rank:]))


class Solve(torch.autograd.Function):
    """The solve with its gradients, and under torch.func.vmap; as an operator for programs that are traced."""

    @staticmethod
    def forward(values: Any, b: Any, rows: Any, columns: Any, indptr: Any, home: Home, op: int, rank: int) -> Any:
        traced = torch.compiler.is_compiling() or type(values) not in (torch.Tensor, torch.nn.Parameter)
        return (operator if traced else solve)(values, b, rows, columns, indptr, home.number, op, rank)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        values, b, rows, columns, indptr, ctx.home, ctx.op, ctx.rank = inputs  # the graph keeps the factors
        ctx.save_for_backward(values, output, rows, columns, indptr)
        ctx.shape = b.shape

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        values, x, *pattern = ctx.saved_tensors
        op, g = OPS[ctx.op], gradients[0]
        rest = OPS.index("H" if op == "N" else "N"), ctx.rank
        adjoint = Solve.apply(values, g.conj() if op == "T" else g, *pattern, ctx.home, *rest)
        adjoint = adjoint.conj() if op == "T" else adjoint
        of_values = None
        if ctx.needs_input_grad[0]:
            of_values = of_entries(ctx, adjoint, x, *pattern[:2]).sum_to_size(values.shape)
        return (of_values, adjoint.sum_to_size(ctx.shape), *[None] * 6)

    @staticmethod
    def vmap(info: Any, in_dims: Any, values: Any, b: Any, *rest: Any) -> Any:
        if any(d is not None for d in in_dims[2:]):
            raise ValueError("the matrices of a batch must have one pattern")
        values, b = (t.unsqueeze(0) if d is None else t.movedim(d, 0) for t, d in zip((values, b), in_dims))
        rank = rest[-1]
        lead = max(values.ndim - 1, b.ndim - rank)
        values, b = (t.reshape(t.shape[0], *[1] * (lead + own - t.ndim), *t.shape[1:])
                     for t, own in ((values, 1), (b, rank)))
        return Solve.apply(values, b, *rest), 0


def of_entries(ctx: Any, adjoint: Any, x: Any, rows: Any, columns: Any) -> Any:
    """The gradient -lambda x^H of op(A), as that of the entries of A."""
    left, right = {"N": (adjoint, x), "T": (x.conj(), adjoint.conj()), "H": (x, adjoint)}[OPS[ctx.op]]
    terms = -left.index_select(-ctx.rank, rows) * right.index_select(-ctx.rank, columns).conj()
    terms = terms.sum(-1) if ctx.rank == 2 else terms
    triangle, unit, *_ = ctx.home.settings
    if triangle == "lower":
        terms = torch.where(rows > columns if unit else rows >= columns, terms, 0)
    elif triangle == "upper":
        terms = torch.where(rows < columns if unit else rows <= columns, terms, 0)
    return terms


def compressed(A: Any) -> tuple[Any, Any, Any, bool]:
    """The values, indices and pointers of a matrix in CSR; True: they are those of its transpose."""
    if A.shape[-2:] != (A.shape[-1],) * 2:
        raise ValueError(f"matrix must be square (has shape {tuple(A.shape)})")
    if not isinstance(A, torch.Tensor):
        A = A.tocsr()
        return (*(torch.tensor(a) for a in (A.data, A.indices, A.indptr)), False)
    if A.layout == torch.sparse_coo and A.sparse_dim() == 2:
        A = A.coalesce()
        rows, columns = A.indices()
        return A.values(), columns, torch.searchsorted(rows, torch.arange(A.shape[0] + 1, device=A.device)), False
    transposed = A.layout == torch.sparse_csc
    if transposed:
        values, columns, indptr = A.values(), A.row_indices(), A.ccol_indices()
    elif A.layout == torch.sparse_csr:
        values, columns, indptr = A.values(), A.col_indices(), A.crow_indices()
    else:
        raise TypeError(f"a matrix of layout {A.layout} is not taken: CSR, CSC, or COO of two dimensions")
    if indptr.ndim > 1:
        columns, indptr = columns.reshape(-1, columns.shape[-1]), indptr.reshape(-1, indptr.shape[-1])
        if not bool((columns == columns[0]).all() and (indptr == indptr[0]).all()):
            raise ValueError("the matrices of a batch must have one pattern")
        columns, indptr = columns[0], indptr[0]
    return values, columns, indptr, transposed


def rows_of(columns: Any, indptr: Any) -> Any:
    rows = torch.arange(len(indptr) - 1, device=indptr.device)
    return torch.repeat_interleave(rows, indptr.diff(), output_size=len(columns))


def linear_solve(home: Home, pattern: tuple[Any, Any, Any], transposed: bool, values: Any, b: Any, trans: Any) -> Any:
    """Solve op(A) x = b, with the pattern of A, or of A^T."""
    n, nnz = len(pattern[2]) - 1, len(pattern[1])
    if trans not in OPS:
        raise ValueError(f"trans must be one of N, T, H, not {trans!r}")
    if values.shape[-1:] != (nnz,):
        raise ValueError(f"values of shape {tuple(values.shape)}, where the pattern has {nnz}")
    rank = 1 if b.ndim == 1 or values.ndim > 1 and b.ndim == values.ndim else 2
    if b.ndim < rank or b.shape[b.ndim - rank] != n:
        raise ValueError(f"b has shape {tuple(b.shape)}, and the matrix {n} rows")
    if not values.device == b.device == pattern[1].device:
        raise ValueError("the pattern, the values and b must be on one device")
    dtype = torch.promote_types(torch.promote_types(values.dtype, b.dtype), torch.float32)
    values, b, rest = values.to(dtype), b.to(dtype), (*pattern, home)
    if transposed and trans == "H":  # conj(A^T) x = b
        return Solve.apply(values, b.conj(), *rest, OPS.index("N"), rank).conj()
    return Solve.apply(values, b, *rest, OPS.index({"N": "T", "T": "N"}[trans] if transposed else trans), rank)


class Solver:
    """Solves with matrices of one pattern; a factorization serves all solves and gradients with its values.

    Parameters
    ----------
    A : sparse tensor (CSR, CSC or COO), or sparse matrix of SciPy, shape (n, n)
        Its pattern; and its values, for calls without others.
    triangle : {None, 'lower', 'upper'}
        None: complete factors (UMFPACK, CHOLMOD or KLU).  Else A is this triangle, and other entries are ignored.
    unit_diagonal : bool
        Of a triangle: its diagonal counts as 1.
    keep : int
        For how many different values at a time factors are kept; a batch counts as one.
    **options
        Of splu or Plan.

    Notes
    -----
    Each call compares its values with the last ones, and waits for a CUDA device to do so.  `factor` compares nothing.

    Examples
    --------
    >>> import torch
    >>> from trisolve.torch import Solver
    >>> solver = Solver(torch.tensor([[2.0, 1], [0, 4]], dtype=torch.float64).to_sparse_coo())
    >>> solver.solve(torch.tensor([3.0, 8])).tolist()
    [0.5, 2.0]
    >>> values = torch.tensor([[2.0, 1, 4], [4.0, 2, 8]]).double()  # two matrices, solved as a batch
    >>> solver(values, torch.tensor([3.0, 8])).tolist()
    [[0.5, 2.0], [0.25, 1.0]]
    """

    def __init__(self, A: Any, triangle: Triangle | None = None, unit_diagonal: bool = False, *, keep: int = 2,
                 **options: Any):
        self.values, columns, indptr, self._transposed = compressed(A)
        columns, indptr = columns.clone(), indptr.clone()
        self._pattern = rows_of(columns, indptr), columns, indptr
        if self._transposed:
            triangle = FLIPPED.get(triangle, triangle)
        self._home = Home(triangle, unit_diagonal, keep, options, (there(columns), there(indptr)))

    def __call__(self, values: Any, b: Any, trans: Trans = "N") -> Any:
        """Solve op(A) x = b, with these values of the entries, in the order of the matrix (of COO, coalesced).

        One matrix, values of shape (nnz,): b is (n,) or (..., n, k).  A batch of them, values of shape (..., nnz): b is
        (n,), (..., n) or (..., n, k).  The type of x is the one of both, at least single precision.
        """
        return linear_solve(self._home, self._pattern, self._transposed, values, b, trans)

    def solve(self, b: Any, trans: Trans = "N") -> Any:
        """The same with the values of A."""
        return self(self.values, b, trans)

    def factor(self, values: Any = None) -> Solver:
        """A solver with factors of these values, or those of A, which must stay as they are: nothing is compared."""
        result = copy.copy(self)
        result.values = self.values if values is None else values
        result._home = Home(*self._home.settings, self._home.pattern)
        values = there(result.values.contiguous())
        recent = result._home.find(values)
        recent.fixed = True
        recent.of(values)
        return result


FLIPPED: dict[Any, Any] = {"lower": "upper", "upper": "lower"}
HOMES = {(triangle, unit): Home(triangle, unit, 2, {})  # type: ignore[arg-type]
         for triangle in (None, "lower", "upper") for unit in (False, True)}


def spsolve(A: Any, b: Any, trans: Trans = "N") -> Any:
    """Solve A x = b with a sparse tensor, CSR, CSC or COO, or with a batch of one pattern.

    Its pattern is looked up in each call; Solver has one of its own.  Gradients flow to b and to the values of A.

    Examples
    --------
    >>> import torch
    >>> from trisolve.torch import spsolve
    >>> A = torch.tensor([[2.0, 1], [0, 4]]).to_sparse_csr()
    >>> spsolve(A, torch.tensor([3.0, 4])).tolist()
    [1.0, 1.0]
    """
    values, columns, indptr, transposed = compressed(A)
    pattern = rows_of(columns, indptr), columns, indptr
    return linear_solve(HOMES[None, False], pattern, transposed, values, b, trans)


def triangular_solve(A: Any, b: Any, lower: bool = True, unit_diagonal: bool = False, trans: Trans = "N") -> Any:
    """Solve with a triangle of a sparse tensor; entries of the other triangle are ignored.

    Examples
    --------
    >>> import torch
    >>> from trisolve.torch import triangular_solve
    >>> triangular_solve(torch.tensor([[2.0, 9], [1, 4]]).to_sparse_csr(), torch.tensor([2.0, 5])).tolist()
    [1.0, 1.0]
    """
    values, columns, indptr, transposed = compressed(A)
    pattern = rows_of(columns, indptr), columns, indptr
    home = HOMES["lower" if bool(lower) != transposed else "upper", bool(unit_diagonal)]
    return linear_solve(home, pattern, transposed, values, b, trans)
