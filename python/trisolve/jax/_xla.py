"""Python functions as targets of XLA's foreign function interface, on the CPU and on CUDA devices.

A target is a function of C that gets a call frame.  The declarations are those of xla/ffi/api/c_api.h, version 0.x,
which promises a stable binary interface; of each structure, those up to the last member that is used here.  So nothing
has to be compiled against jaxlib, and the function gets the buffers of XLA themselves, without a copy.
"""

from __future__ import annotations

from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p,
                    cast, py_object, pythonapi)
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

EXECUTE, METADATA, INTERNAL_ERROR, SCALAR, S64 = 3, 1, 13, 3, 5
DTYPES = {4: np.dtype("i4"), 5: np.dtype("i8"), 11: np.dtype("f4"), 12: np.dtype("f8"), 15: np.dtype("c8"),
          18: np.dtype("c16")}  # XLA_FFI_DataType


def struct(name: str, *fields: tuple[str, Any]) -> Any:
    """A structure of the interface, which begins with its size and its extensions."""
    return type(name, (Structure,), {"_fields_": [("struct_size", c_size_t), ("extension_start", c_void_p), *fields]})


Span = type("Span", (Structure,), {"_fields_": [("ptr", c_void_p), ("len", c_size_t)]})
Scalar = type("Scalar", (Structure,), {"_fields_": [("dtype", c_int), ("value", POINTER(c_int64))]})
Extension = type("Extension", (Structure,), {"_fields_": [
    ("struct_size", c_size_t), ("type", c_int), ("next", c_void_p), ("metadata", c_void_p)]})
Version = struct("Version", ("major", c_int), ("minor", c_int))
Metadata = type("Metadata", (Structure,), {"_fields_": [
    ("struct_size", c_size_t), ("version", Version), ("traits", c_uint32)]})
ErrorArguments = struct("ErrorArguments", ("message", c_char_p), ("code", c_int))
StreamArguments = struct("StreamArguments", ("context", c_void_p), ("stream", c_void_p))
Api = struct("Api", ("version", Version), ("internal", c_void_p),
             ("error_create", CFUNCTYPE(c_void_p, POINTER(ErrorArguments))), ("between", c_void_p * 3),
             ("stream_get", CFUNCTYPE(c_void_p, POINTER(StreamArguments))))
Buffer = struct("Buffer", ("dtype", c_int), ("data", c_void_p), ("rank", c_int64), ("dims", POINTER(c_int64)))
Buffers = struct("Buffers", ("size", c_int64), ("types", POINTER(c_int)), ("items", POINTER(POINTER(Buffer))))
Attributes = struct("Attributes", ("size", c_int64), ("types", POINTER(c_int)), ("names", POINTER(POINTER(Span))),
                    ("items", POINTER(POINTER(Scalar))))
Frame = struct("Frame", ("api", POINTER(Api)), ("context", c_void_p), ("stage", c_int), ("arguments", Buffers),
               ("results", Buffers), ("attributes", Attributes))
Handler = CFUNCTYPE(c_void_p, POINTER(Frame))


def on_host(address: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """An array of NumPy over a buffer."""
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = (c_char * size).from_address(address) if size else b""
    return np.frombuffer(memory, dtype).reshape(shape)


def no_stream(stream: Callable[[], int], arrays: list[Any]) -> AbstractContextManager[Any]:
    return nullcontext()


def arrays_of(buffers: Any, over: Callable[..., Any]) -> list[Any]:
    """The buffers of a call as arrays, in the same memory."""
    every = (buffers.items[k].contents for k in range(buffers.size))
    return [over(buffer.data, tuple(buffer.dims[: buffer.rank]), DTYPES[buffer.dtype]) for buffer in every]


def stream_of(frame: Any) -> int:
    """The cudaStream_t on which XLA runs the call."""
    arguments = StreamArguments(struct_size=StreamArguments.stream.offset + StreamArguments.stream.size,
                                context=frame.context)
    if frame.api.contents.stream_get(arguments):
        raise RuntimeError("XLA gives no stream")
    return arguments.stream or 0


def attributes_of(attributes: Any) -> dict[str, int]:
    """The attributes of a call, all of them integers of 64 bits."""
    result = {}
    for k in range(attributes.size):
        span, scalar = attributes.names[k].contents, attributes.items[k].contents
        if attributes.types[k] != SCALAR or scalar.dtype != S64:
            raise TypeError("an attribute is not an int64")
        result[bytes((c_char * span.len).from_address(span.ptr)).decode()] = scalar.value[0]
    return result


def target(function: Callable[..., None], over: Callable[..., Any] = on_host, on: Callable[..., Any] = no_stream) -> Any:
    """The capsule of a target that calls function(arguments, results, **attributes), and what must live as long.

    over(address, shape, dtype) makes an array over a buffer.  on(stream, arrays) is a context for the call, where
    stream() is XLA's.
    """

    def handle(pointer: Any) -> int | None:
        frame = pointer.contents
        if frame.extension_start:
            extension = cast(frame.extension_start, POINTER(Extension)).contents
            if extension.type == METADATA:
                metadata = cast(extension.metadata, POINTER(Metadata)).contents
                metadata.version.major, metadata.version.minor = 0, frame.api.contents.version.minor
                metadata.traits = 0
                return None
        if frame.stage != EXECUTE:
            return None
        try:
            arguments, results = arrays_of(frame.arguments, over), arrays_of(frame.results, over)
            with on(lambda: stream_of(frame), results):
                function(arguments, results, **attributes_of(frame.attributes))
        except BaseException as error:  # a callback of C cannot raise
            text = f"{type(error).__name__}: {error}".encode()
            size = ErrorArguments.code.offset + ErrorArguments.code.size
            return frame.api.contents.error_create(ErrorArguments(struct_size=size, message=text, code=INTERNAL_ERROR))
        return None

    handler = Handler(handle)
    pythonapi.PyCapsule_New.restype = py_object
    pythonapi.PyCapsule_New.argtypes = [c_void_p, c_char_p, c_void_p]
    return pythonapi.PyCapsule_New(cast(handler, c_void_p), None, None), handler
