"""Jobs over all pairs that are cut into parts, for Dask, Spark or any other engine that runs tasks.

A part can be lost and run again, on any machine, on the CPU or a GPU: it gives the same edges, and
the checksums of all parts add up to that of a single run. See `Job`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._job import Job
from ._records import IncompleteJob, JobResult, PartRecord

if TYPE_CHECKING:
    from . import dask, spark

# They need the packages of the same names.
_ON_DEMAND = ("dask", "spark")

__all__ = ["IncompleteJob", "Job", "JobResult", "PartRecord", "dask", "spark"]


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
