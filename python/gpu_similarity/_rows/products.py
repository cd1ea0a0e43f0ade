"""Products of matrices, of numbers and of bits."""

from __future__ import annotations

from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from .. import _core
from .._shared.messages import real
from .._shared.options import RunOptions
from .._tables import device_memory as _device
from .._tables.arrays import doubles, host_array, plain_array, table
from .._tables.numbers import Array

# CuPy's, and PyTorch's, which has few functions of unsigned integers.
_DEVICE_WORDS = ("uint32", "torch.int32")


class Bits:
    """A matrix of bits, as `pack_bits` makes it.

    Attributes
    ----------
    words : array of uint32, shape (rows, (columns + 31) // 32)
        Column j is bit j % 32, least significant first, of word j // 32. NumPy's, or CuPy's; on a
        GPU with PyTorch a tensor of int32.
    shape : tuple of int
        Rows and columns.
    """

    __slots__ = ("shape", "words")

    def __init__(self, words: Any, columns: int) -> None:
        on_host = not _on_device(words)
        words = plain_array(words, "words") if on_host else words
        kind = words.dtype
        known = kind == np.uint32 if on_host else str(kind) in _DEVICE_WORDS
        if words.ndim != 2 or not known or words.shape[1] != (columns + 31) // 32:
            raise ValueError(
                f"words: got {kind} of shape {tuple(words.shape)}, expected uint32 of "
                f"{(columns + 31) // 32} columns for {columns} bits"
            )
        self.words = words
        self.shape = (int(words.shape[0]), columns)

    def __repr__(self) -> str:
        return f"Bits: {self.shape[0]:,} x {self.shape[1]:,}"

    def unpack(self) -> Any:
        """The bits as an array of 0 and 1 of type uint8, shape (rows, columns)."""
        if _on_device(self.words):
            places = _device.arange(32, self.words)
            bits = (self.words[:, :, None] >> places) & 1
            return _device.cast(bits.reshape(self.shape[0], -1)[:, : self.shape[1]], np.uint8)
        little = self.words.astype("<u4", copy=False)
        octets = np.ascontiguousarray(little).view(np.uint8)
        return np.unpackbits(octets, axis=1, count=self.shape[1], bitorder="little")


def matmul(a: npt.ArrayLike, b: npt.ArrayLike, **run: Unpack[RunOptions]) -> Any:
    """The matrix product of two matrices of float32 or float64.

    Parameters
    ----------
    a : array_like, shape (m, k)
        Left operand. A transposed view is multiplied as it lies in memory, without a copy.
        Device arrays are multiplied on their device, on the current stream.
    b : array_like, shape (k, n)
        Right operand, of the same type; integers become float64.
    **run
        backend, devices, workspace_bytes, cpu_threads, variant: see RunOptions.

    Returns
    -------
    ndarray, shape (m, n)
        The product.

    Raises
    ------
    ValueError
        Where the shapes or types do not fit each other.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> gs.matmul([[1.0, 2.0]], [[3.0], [4.0]])
    array([[11.]])
    """
    if _on_device(a) or _on_device(b):
        return _matmul_device(_device.DeviceArray(a, "a"), _device.DeviceArray(b, "b"), run)
    left, left_as = _operand(a, "a")
    right, right_as = _operand(b, "b")
    if left.dtype != right.dtype:
        left, right = left.astype(np.float64, copy=False), right.astype(np.float64, copy=False)
    options: dict[str, Any] = {**run, "a": left_as, "b": right_as}
    multiply = _core.matmul_f32 if left.dtype == np.float32 else _core.matmul_f64
    return multiply(left, right, options)


def pack_bits(x: npt.ArrayLike, threshold: float = 0, **run: Unpack[RunOptions]) -> Bits:
    """Numbers as bits: 1 where x >= threshold, else 0.

    Parameters
    ----------
    x : array_like, shape (rows, columns)
        Values; an array in the memory of a GPU is packed there, on its current stream.
    threshold : float
        The least value whose bit is 1; NaN gives 0.
    **run
        backend, devices, workspace_bytes, cpu_threads: see RunOptions.

    Returns
    -------
    Bits
        The packed matrix.

    Raises
    ------
    ValueError
        For a threshold that the type of `x` does not hold.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> gs.pack_bits([[1.5, -2.0, 0.0]]).unpack()
    array([[1, 0, 1]], dtype=uint8)
    """
    threshold = real("threshold", threshold)
    if _on_device(x):
        data = _device.device_table(x, "x")
        rows, cols = data.shape
        words = data.empty((rows, (cols + 31) // 32), np.int32 if data.torch else np.uint32)
        for some, block in data.blocks():
            _check_threshold(threshold, block.dtype)
            packed = _device.DeviceArray(words.array[some], "words").describe("i")
            _core.pack_bits_device(block.read(), float(threshold), packed, data.options(dict(run)))
        return Bits(words.array, cols)
    values = table(x)
    _check_threshold(threshold, values.dtype)
    return Bits(_core.pack_bits(values, float(threshold), dict(run)), values.shape[1])


def binary_matmul(
    a: Bits,
    b: Bits,
    *,
    product: Literal["xnor_dot", "hamming_distance", "and_count"] = "xnor_dot",
    **run: Unpack[RunOptions],
) -> Any:
    """The product of every row of `a` with every row of `b`.

    Parameters
    ----------
    a : Bits, shape (m, k)
        Left operand. Bits in the memory of a GPU are multiplied there, on the current stream.
    b : Bits, shape (n, k)
        Right operand, transposed: its rows are multiplied.
    product : {"xnor_dot", "hamming_distance", "and_count"}
        The dot product of rows as +1 and -1, the bits that differ, or the bits that are 1 in both.
    **run
        backend, devices, workspace_bytes, cpu_threads, variant: see RunOptions.

    Returns
    -------
    ndarray of int32, shape (m, n)
        Exact.

    Raises
    ------
    ValueError
        Where `a` and `b` differ in columns.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> bits = gs.pack_bits([[1, -1, 1], [1, 1, 1]])
    >>> gs.binary_matmul(bits, bits)
    array([[3, 1],
           [1, 3]], dtype=int32)
    """
    for name, bits in (("a", a), ("b", b)):
        if not isinstance(bits, Bits):
            raise TypeError(f"{name}: got {type(bits).__qualname__}, expected Bits of pack_bits")
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"b: got {b.shape[1]} columns, expected {a.shape[1]} as a has")
    options: dict[str, Any] = {**run, "product": product}
    if _on_device(a.words) or _on_device(b.words):
        left, right = _device.DeviceArray(a.words, "a"), _device.DeviceArray(b.words, "b")
        out = left.empty((a.shape[0], b.shape[0]), np.int32)
        _core.binary_matmul_device(
            left.describe("i"),
            right.describe("i"),
            a.shape[1],
            out.describe(),
            left.options(options),
        )
        return out.array
    return _core.binary_matmul(a.words.view(np.int32), b.words.view(np.int32), a.shape[1], options)


def _check_threshold(threshold: float, kind: np.dtype[Any]) -> None:
    if kind.kind != "f" and kind.type(threshold) != threshold:
        raise ValueError(f"threshold: got {threshold!r}, which {kind} does not hold")


def _on_device(x: Any) -> bool:
    return type(x) is not np.ndarray and _device.is_device_array(x)


def _operand(x: Any, argument: str) -> tuple[Array, str]:
    """An operand as it lies in memory, and whether that is its transpose."""
    a = plain_array(x, argument)
    if a.ndim != 2:
        raise ValueError(f"{argument}: got {a.ndim} dimensions, expected 2")
    if a.dtype not in (np.float32, np.float64):
        a = doubles(a, argument)
    if a.flags.f_contiguous and not a.flags.c_contiguous:
        return host_array(a.T, argument), "transpose"
    return host_array(a, argument), "none"


def _matmul_device(a: _device.DeviceArray, b: _device.DeviceArray, run: RunOptions) -> Any:
    if a.dtype != b.dtype or a.dtype.char not in "fd":
        raise ValueError(
            f"a, b: got {a.dtype} and {b.dtype}, expected both float32 or both float64"
        )
    out = a.empty((a.shape[0], b.shape[-1]), a.dtype)
    multiply = _core.matmul_device_f32 if a.dtype.char == "f" else _core.matmul_device_f64
    multiply(a.read(), b.read(), out.describe(), a.options(dict(run)))
    return out.array
