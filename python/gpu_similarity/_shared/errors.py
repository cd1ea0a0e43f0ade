"""The exceptions of the package. Each is an `Error`, and a built-in exception where one fits."""

from __future__ import annotations


class Error(Exception):
    """Base of every exception that the compiled library raises."""


class InvalidArgument(Error, ValueError):
    """An argument is outside its documented range; the message names it."""


class Unsupported(Error, NotImplementedError):
    """The request is valid but not offered for this type, shape, device or backend."""


class BackendUnavailable(Error, RuntimeError):
    """CUDA was asked for and cannot be used here."""


class OutOfMemory(Error, MemoryError):
    """Memory or the workspace limit does not suffice.

    Attributes
    ----------
    requested_bytes : int
        What was asked for when memory ran out.
    """

    def __init__(self, message: str, requested_bytes: int = 0) -> None:
        super().__init__(message, requested_bytes)
        self.requested_bytes = requested_bytes

    def __str__(self) -> str:
        return str(self.args[0])


class CapacityExceeded(Error):
    """The result has more edges than `max_edges`. Nothing was dropped silently.

    Attributes
    ----------
    needed : int
        The number of edges that the whole result has.
    """

    def __init__(self, message: str, needed: int = 0) -> None:
        super().__init__(message, needed)
        self.needed = needed

    def __str__(self) -> str:
        return str(self.args[0])


class Cancelled(Error, RuntimeError):
    """The progress callback answered `False`."""


class CudaError(Error, RuntimeError):
    """A CUDA call failed.

    Attributes
    ----------
    status : int
        The `cudaError_t` value.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message, status)
        self.status = status

    def __str__(self) -> str:
        return str(self.args[0])
