"""Arrays in the memory of a GPU: CuPy's, PyTorch's, and any that one of the two takes by DLPack.

The work runs on the array's device and on its library's current stream, and does not wait. Results
are arrays of the same library, from its own allocator.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

_CUDA_KINDS = (2, 13)  # kDLCUDA and kDLCUDAManaged
Description = tuple[int, int, int, int, str]
TableDescription = tuple[int, int, int, int, str, int]

# What functions along rows read, by the character that the compiled part knows it by.
_IN_PLACE = {
    "int8": "b", "int16": "h", "int32": "i", "uint8": "B", "uint16": "H", "float32": "f",
    "float64": "d", "bool": "B",
}  # fmt: skip
# What ranks and all pairs read besides, as another type.
_READ_AS = {
    "float16": "float32", "bfloat16": "float32", "uint32": "float64", "int64": "float64",
    "uint64": "float64",
}  # fmt: skip
_BLOCK_BYTES = 64 << 20
_EXACT_IN_DOUBLE = 2**53


def is_device_array(x: Any) -> bool:
    """Whether the elements of `x` are in the memory of a CUDA device."""
    if _is_torch(x):  # whose interface describes the whole tensor
        return bool(x.is_cuda)
    if hasattr(x, "__cuda_array_interface__"):
        return True
    device = getattr(x, "__dlpack_device__", None)
    return callable(device) and int(device()[0]) in _CUDA_KINDS


def to_host(x: Any) -> np.ndarray[Any, np.dtype[Any]]:
    """A copy on the host; waits for the work on the current stream."""
    data = DeviceArray(x, "x")
    if not data.torch:
        return np.asarray(data.array.get())
    x = data.array.detach()
    return np.asarray((x.float() if data.kind == "bfloat16" else x).cpu())


class DeviceArray:
    """A device array as the compiled part takes it."""

    __slots__ = ("argument", "array", "device", "dtype", "kind", "shape", "torch")

    def __init__(self, x: Any, argument: str) -> None:
        self.torch = _is_torch(x)
        if not self.torch and not _is_cupy(x):
            x = _adopt(x, argument)
            self.torch = _is_torch(x)
        self.array = x
        self.argument = argument
        self.shape = tuple(x.shape)
        self.device = int(x.get_device()) if self.torch else int(x.device.id)
        self.dtype, self.kind = _dtype(x)
        if len(self.shape) not in (1, 2):
            raise ValueError(f"{argument}: got {len(self.shape)} dimensions, expected 1 or 2")

    def read(self) -> Description:
        """`describe` of an input, whose type has to be one that functions along rows read."""
        if self.kind not in _IN_PLACE:
            raise self._wrong_type(list(_IN_PLACE))
        return self.describe(_IN_PLACE[self.kind])

    def describe(self, kind: str | None = None) -> Description:
        """Address, rows, columns, elements from row to row, type character (or `kind`)."""
        if not self._is_packed():
            raise ValueError(
                f"{self.argument}: the elements of a row do not follow each other in memory "
                f"(strides {self._layout()[1]}); pass a contiguous array"
            )
        address, strides = self._layout()
        rows, cols = self._extents()
        row_stride = strides[0] if rows > 1 else cols
        return address, rows, cols, row_stride, kind or self.dtype.char

    def describe_table(self) -> TableDescription:
        """Address, rows, columns, elements from row to row, type, elements from column to column.

        Of a table of any layout.
        """
        if self.kind not in _IN_PLACE and self.kind not in _READ_AS:
            raise self._wrong_type([*_IN_PLACE, *_READ_AS])
        address, (down, across) = self._layout()
        kind = "uint8" if self.kind == "bool" else self.kind
        return address, *self._extents(), down, kind, across

    def blocks(self) -> Iterator[tuple[Any, DeviceArray]]:
        """Rows that functions along rows read, and which these are.

        All of them (...) as they lie, or some at a time, copied and converted.
        """
        if self.kind not in _READ_AS and self._is_packed():
            yield ..., self
            return
        self._refuse_inexact()
        cols = self.shape[-1]
        step = _BLOCK_BYTES // (8 * max(cols, 1)) + 1 if len(self.shape) == 2 else cols
        for begin in range(0, self.shape[0], max(step, 1)):
            some = slice(begin, begin + step)
            block = cast(self.array[some], _READ_AS.get(self.kind, self.dtype))
            if not self.torch:
                import cupy

                block = cupy.ascontiguousarray(block)
            yield some, DeviceArray(block.contiguous() if self.torch else block, self.argument)

    def _refuse_inexact(self) -> None:
        """Waits for the stream where it looks at integers."""
        if self.kind not in ("int64", "uint64") or 0 in self.shape:
            return
        values = self.view(self.array, np.int64)  # beyond 2^63 below 0
        least = 0 if self.kind == "uint64" else -_EXACT_IN_DOUBLE
        if int(values.min()) < least or int(values.max()) > _EXACT_IN_DOUBLE:
            raise ValueError(
                f"{self.argument}: expected integers up to 2^53 in magnitude in device memory; "
                "arrays on the host may have larger ones where they are ranked"
            )

    def _wrong_type(self, expected: list[str]) -> TypeError:
        return TypeError(
            f"{self.argument}: got elements of type {self.kind}, expected {', '.join(expected)}"
        )

    def _extents(self) -> tuple[int, int]:
        return (self.shape[0] if len(self.shape) == 2 else 1), self.shape[-1]

    def _layout(self) -> tuple[int, tuple[int, ...]]:
        """Address, and elements from one place to the next along each dimension."""
        if self.torch:
            return int(self.array.data_ptr()), self.array.stride()
        item = self.dtype.itemsize
        return int(self.array.data.ptr), tuple(s // item for s in self.array.strides)

    def _is_packed(self) -> bool:
        """Whether the elements of each row follow each other."""
        strides = self._layout()[1]
        rows, cols = self._extents()
        return (cols <= 1 or strides[-1] == 1) and (rows <= 1 or strides[0] >= cols)

    def empty(self, shape: Sequence[int], dtype: Any) -> DeviceArray:
        """An uninitialised array of the same library on the same device."""
        if self.torch:
            empty = sys.modules["torch"].empty
            kind = _torch_type(np.dtype(dtype))
            return DeviceArray(empty(tuple(shape), dtype=kind, device=self.array.device), "out")
        import cupy

        with cupy.cuda.Device(self.device):
            return DeviceArray(cupy.empty(tuple(shape), dtype=dtype), "out")

    def view(self, array: Any, dtype: Any) -> Any:
        """The memory of an array of this library as elements of another type."""
        if self.torch:
            return array.view(_torch_type(np.dtype(dtype)))
        return array.view(dtype)

    def options(self, run: dict[str, Any]) -> dict[str, Any]:
        """`run` with the device and its current stream."""
        if run.get("backend") == "cpu":
            raise ValueError(f"backend: 'cpu' does not take {self.argument} from the GPU's memory")
        return {**run, "devices": [self.device], "stream": self._stream()}

    def _stream(self) -> int:
        if self.torch:
            torch = sys.modules["torch"]
            # What compiled graphs call: the address without an object around it.
            raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
            if raw is not None:
                return int(raw(self.device))
            return int(torch.cuda.current_stream(self.array.device).cuda_stream)
        import cupy

        with cupy.cuda.Device(self.device):
            return int(cupy.cuda.get_current_stream().ptr)


def arange(count: int, like: Any) -> Any:
    """0 to count - 1 in the library, type and device of the device array `like`."""
    if _is_torch(like):
        torch = sys.modules["torch"]
        return torch.arange(count, dtype=like.dtype, device=like.device)
    import cupy

    with cupy.cuda.Device(int(like.device.id)):
        return cupy.arange(count, dtype=like.dtype)


def cast(array: Any, dtype: Any) -> Any:
    """The device array with elements of another type."""
    if _is_torch(array):
        return array.to(_torch_type(np.dtype(dtype)))
    return array.astype(dtype)


def device_table(x: Any, argument: str, in_columns: bool = False) -> DeviceArray:
    """`x` with two dimensions, its variables in rows, for the functions over all pairs of rows."""
    array = DeviceArray(x, argument)
    if len(array.shape) != 2:
        raise ValueError(
            f"{argument}: got {len(array.shape)} dimensions, expected 2: rows are variables, "
            "columns are observations"
        )
    return DeviceArray(array.array.T, argument) if in_columns else array


def _is_torch(x: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def _is_cupy(x: Any) -> bool:
    cupy = sys.modules.get("cupy")
    return cupy is not None and isinstance(x, cupy.ndarray)


def _adopt(x: Any, argument: str) -> Any:
    """`x` of another library as an array of CuPy or PyTorch, without a copy."""
    # CuPy has no bfloat16, and raises one of these for it.
    with contextlib.suppress(ImportError, BufferError, RuntimeError, TypeError, ValueError):
        import cupy

        return cupy.from_dlpack(x) if hasattr(x, "__dlpack__") else cupy.asarray(x)
    with contextlib.suppress(ImportError):
        import torch

        return torch.from_dlpack(x) if hasattr(x, "__dlpack__") else torch.as_tensor(x)
    raise TypeError(
        f"{argument}: device arrays of {type(x).__module__} are taken through CuPy or PyTorch, and "
        "neither is installed"
    )


# It takes as long as a small call to find the type of NumPy of one of PyTorch, or the reverse.
_NUMPY_TYPES: dict[Any, tuple[np.dtype[Any], str]] = {}
_TORCH_TYPES: dict[Any, Any] = {}


def _torch_type(dtype: Any) -> Any:
    found = _TORCH_TYPES.get(dtype)
    if found is None:
        found = _TORCH_TYPES[dtype] = getattr(sys.modules["torch"], np.dtype(dtype).name)
    return found


def _dtype(array: Any) -> tuple[np.dtype[Any], str]:
    """The type of NumPy with such elements, or of their size; and its name."""
    found = _NUMPY_TYPES.get(array.dtype)
    if found is None:
        name = str(array.dtype).removeprefix("torch.")
        try:
            found = np.dtype(name), name
        except TypeError:  # bfloat16 and narrower
            found = np.dtype(f"V{array.dtype.itemsize}"), name
        _NUMPY_TYPES[array.dtype] = found
    return found
