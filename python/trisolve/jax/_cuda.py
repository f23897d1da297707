"""XLA's buffers on a CUDA device as arrays of CuPy, and its stream as CuPy's current one: nothing is copied.

CuPy is imported in the first call there, so that programs on the CPU do not need it.
"""

from __future__ import annotations

from contextlib import ExitStack
from math import prod
from typing import Any, Callable


def package() -> Any:
    try:
        import cupy
    except ImportError as error:
        raise ImportError(f"trisolve.jax needs CuPy on a CUDA device ({error}); pip install cupy-cuda13x") from None
    return cupy


def over(address: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array over a buffer, which XLA owns."""
    cupy = package()
    size = prod(shape) * dtype.itemsize
    if not size:
        return cupy.empty(shape, dtype)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(cupy.cuda.UnownedMemory(address, size, None), 0))


class Stream:
    """XLA's stream, as CuPy 14 takes those of others."""

    def __init__(self, address: int):
        self.address = address

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.address


def on(stream: Callable[[], int], arrays: list[Any]) -> ExitStack:
    """Work on the stream of XLA, on the device of the arrays: CuPy and, as it asks CuPy, our library."""
    cuda, context = package().cuda, ExitStack()
    context.enter_context(arrays[0].device)
    known = hasattr(cuda.Stream, "from_external")
    context.enter_context(cuda.Stream.from_external(Stream(stream())) if known else cuda.ExternalStream(stream()))
    return context
