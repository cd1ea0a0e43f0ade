"""What this build can run on."""

from __future__ import annotations

import os
from typing import NamedTuple

from .. import _core


class Backend(NamedTuple):
    """One backend of this build.

    Attributes
    ----------
    name : str
        "cpu" or "cuda".
    description : str
        Instruction set and threads, or runtime and driver version.
    usable : bool
        Whether a call can run on it here and now.
    reason : str
        Why not, where it is not usable.
    """

    name: str
    description: str
    usable: bool
    reason: str


class Device(NamedTuple):
    """One CUDA device.

    Attributes
    ----------
    ordinal : int
        As the option `devices` takes it.
    name : str
        As the driver gives it.
    compute_major, compute_minor : int
        Compute capability.
    multiprocessors : int
        Streaming multiprocessors.
    memory_bytes, l2_bytes : int
        Device memory and second-level cache.
    code : str
        What the library holds for it: "machine" code; "portable" code, which the driver compiles at
        the first call of each kind (that takes seconds) and keeps in its cache; or "none": the
        device is not used.
    code_major, code_minor : int
        Compute capability that this code was compiled for.
    """

    ordinal: int
    name: str
    compute_major: int
    compute_minor: int
    multiprocessors: int
    memory_bytes: int
    l2_bytes: int
    code: str
    code_major: int
    code_minor: int


def backends() -> list[Backend]:
    """Every backend of this build, the CPU first.

    Returns
    -------
    list of Backend
        Never raises for a missing device or driver.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> [b.name for b in gs.backends()][0]
    'cpu'
    """
    return [Backend._make(fields) for fields in _core.backends()]


def devices() -> list[Device]:
    """The CUDA devices that can be used; empty where there are none.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> all(d.memory_bytes > 0 for d in gs.devices())
    True
    """
    return [Device._make(fields) for fields in _core.devices()]


def survive_fork() -> None:
    """Lets a forked child call the library: see docs/python.md on fork."""
    os.register_at_fork(before=_core.before_fork, after_in_child=_core.after_fork_in_child)
