"""The Python code of README.md and python/README.md runs; blocks that begin with >>> are doctests, which pytest runs."""

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import GPU, ROOT, needs_suitesparse

import trisolve


def blocks(path):
    """Indented blocks, and fenced ones of Python, that hold code, but no examples of doctest and no commands."""
    text = (ROOT / path).read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    if path.startswith("python/"):
        found += re.findall(r"(?<=\n\n)((?: {4}.*\n|\n(?= {4}))+)", text)
    code = [re.sub("^    ", "", block, flags=re.M) if block.startswith("    ") else block for block in found]
    return [block for block in code if not block.startswith((">>>", "pip "))]


CASES = [(path, block) for path in ("README.md", "python/README.md") if (ROOT / path).exists()
         for block in blocks(path)]


def test_there_are_blocks():
    assert len(CASES) >= 4 or not (ROOT / "README.md").exists()


def given(block):
    """What the text around a block has: a matrix, its values, and a right-hand side."""
    A = sp.csr_array(sp.diags([-1.0, 4.0, -2.0], [-1, 0, 1], shape=(50, 50)))
    names = {"np": np, "sp": sp, "trisolve": trisolve, "A": A, "A2": 2 * A, "b": np.ones(50), "values": A.data,
             "L": sp.csr_matrix(sp.tril(A))}
    if "cupy" in block:
        cupy = pytest.importorskip("cupy")
        if not GPU:
            pytest.skip("no GPU")
        import cupyx.scipy.sparse
        names |= {"cupy": cupy, "cupyx": cupyx, "L": cupyx.scipy.sparse.csr_matrix(names["L"]), "n": 50}
    if "trisolve.jax" in block:
        pytest.importorskip("trisolve.jax")
    if "trisolve.torch" in block:
        torch = pytest.importorskip("torch")
        pytest.importorskip("trisolve.torch")
        there = torch.sparse_csr_tensor(*(torch.tensor(a) for a in (A.indptr, A.indices, A.data)), size=A.shape)
        names |= {"torch": torch, "A": there, "values": there.values(), "b": torch.ones(50, dtype=torch.float64)}
    return A, names


@needs_suitesparse
@pytest.mark.parametrize("path, block", CASES)
def test_code_runs(path, block):
    A, names = given(block)
    exec(compile(block, path, "exec"), names)  # noqa: S102
    x, M = names["x"], 2 * A if "A2" in block else sp.tril(A) if "L" in block else A
    x = np.asarray(x.get() if hasattr(x, "get") else x)
    assert abs(M @ x - 1).max() < 1e-5
