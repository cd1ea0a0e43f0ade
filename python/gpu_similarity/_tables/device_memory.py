"""Arrays in the memory of a GPU: CuPy's, PyTorch's, and any that one of the two takes by DLPack.

The work runs on the array's device and on its library's current stream, and does not wait. Results
are arrays of the same library, from its own allocator.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

_CUDA_KINDS = (2, 13)  # kDLCUDA and kDLCUDAManaged
Description = tuple[int, int, int, int, str]


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
    x = DeviceArray(x, "x").array
    return np.asarray(x.detach().cpu() if _is_torch(x) else x.get())


class DeviceArray:
    """A device array as the compiled part takes it."""

    __slots__ = ("argument", "array", "device", "dtype", "shape", "torch")

    def __init__(self, x: Any, argument: str) -> None:
        self.torch = _is_torch(x)
        if not self.torch and not _is_cupy(x):
            x = _adopt(x, argument)
            self.torch = _is_torch(x)
        self.array = x
        self.argument = argument
        self.shape = tuple(x.shape)
        self.device = int(x.get_device()) if self.torch else int(x.device.id)
        self.dtype = _dtype(x)
        if len(self.shape) not in (1, 2):
            raise ValueError(f"{argument}: got {len(self.shape)} dimensions, expected 1 or 2")

    def describe(self, kind: str | None = None) -> Description:
        """Address, rows, columns, elements from row to row, type character (or `kind`)."""
        item = self.dtype.itemsize
        if self.torch:
            address, strides = int(self.array.data_ptr()), self.array.stride()
        else:
            address = int(self.array.data.ptr)
            strides = tuple(s // item for s in self.array.strides)
        rows = self.shape[0] if len(self.shape) == 2 else 1
        cols = self.shape[-1]
        row_stride = strides[0] if len(self.shape) == 2 and rows > 1 else cols
        if (cols > 1 and strides[-1] != 1) or row_stride < cols:
            raise ValueError(
                f"{self.argument}: the elements of a row do not follow each other in memory "
                f"(strides {strides}); pass a contiguous array"
            )
        return address, rows, cols, row_stride, kind or self.dtype.char

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


def device_table(x: Any, argument: str) -> DeviceArray:
    """`x` with two dimensions, for the functions over all pairs of rows."""
    array = DeviceArray(x, argument)
    if len(array.shape) != 2:
        raise ValueError(
            f"{argument}: got {len(array.shape)} dimensions, expected 2: rows are variables, "
            "columns are observations"
        )
    return array


def _is_torch(x: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def _is_cupy(x: Any) -> bool:
    cupy = sys.modules.get("cupy")
    return cupy is not None and isinstance(x, cupy.ndarray)


def _adopt(x: Any, argument: str) -> Any:
    """`x` of another library as an array of CuPy or PyTorch, without a copy."""
    with contextlib.suppress(ImportError):
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
_NUMPY_TYPES: dict[Any, np.dtype[Any]] = {}
_TORCH_TYPES: dict[np.dtype[Any], Any] = {}


def _torch_type(dtype: np.dtype[Any]) -> Any:
    found = _TORCH_TYPES.get(dtype)
    if found is None:
        found = _TORCH_TYPES[dtype] = getattr(sys.modules["torch"], dtype.name)
    return found


def _dtype(array: Any) -> np.dtype[Any]:
    kind = array.dtype
    found = _NUMPY_TYPES.get(kind)
    if found is None:
        name = str(kind).removeprefix("torch.")
        found = np.dtype({"half": "float16", "bfloat16": "V2"}.get(name, name))
        _NUMPY_TYPES[kind] = found
    return found
