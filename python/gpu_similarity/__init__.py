"""Significant correlations among all pairs of rows, exact, on the CPU or on CUDA.

>>> import gpu_similarity as gs
>>> gs.spearman_edges([[1, 2, 3, 4, 5], [2, 4, 6, 9, 11], [5, 1, 4, 2, 3]], max_p=0.05)
Edges: 1 of 3 pairs of 3 rows, spearman, |rho| >= 1
  0 -- 1  1.000000  p = 0.0167
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import _core, device
from ._faces import (
    SignificanceResult,
    corrcoef,
    pairwise_distances,
    rankdata,
    spearmanr,
    uniform_filter1d,
)
from ._pairs.call import PreparedRows
from ._pairs.differential import (
    Differential,
    DifferentialPartners,
    DifferentialSummary,
    differential,
    differential_partners,
)
from ._pairs.effective_observations import effective_observations
from ._pairs.max_t import max_t
from ._pairs.observations import observations
from ._pairs.pairs import (
    counts,
    dense,
    edges,
    pearson_edges,
    plan,
    prepare,
    spearman_edges,
    stream,
    top_k_partners,
)
from ._pairs.soft_thresholds import (
    Connectivity,
    ScaleFreeFit,
    connectivity,
    scale_free_fit,
    topological_overlap,
)
from ._pairs.stream import EdgeStream
from ._results.checksum import Checksum, checksum
from ._results.edges import Edges
from ._results.maxima import MaxT
from ._results.results import Counts, Dense, Partners
from ._results.summary import PairPlan, PairSummary
from ._results.test_of_correlation import (
    adjusted_p_values,
    confidence_interval,
    critical_correlation,
    p_value,
)
from ._rows.products import Bits, binary_matmul, matmul, pack_bits
from ._rows.read_fingerprints import Fingerprints, read_fingerprints
from ._rows.rows import TopK, TopKDistinct, convolve, mean_filter, rank, top_k, top_k_distinct
from ._shared.backends import Backend, Device, backends, devices, survive_fork
from ._shared.errors import (
    BackendUnavailable,
    Cancelled,
    CapacityExceeded,
    CudaError,
    Error,
    InvalidArgument,
    OutOfMemory,
    Unsupported,
)
from ._shared.options import BIT_MEASURES, MEASURES, MeasureInfo, PairRunOptions, RunOptions
from ._tables.frames import NamedTable
from ._tables.read_table import read_table

if TYPE_CHECKING:
    from . import anndata, arrow, distributed, plot

__version__: str = _core.version

# Modules that need another package, imported when they are asked for.
_ON_DEMAND = ("anndata", "arrow", "distributed", "plot")

__all__ = [
    "BIT_MEASURES",
    "MEASURES",
    "Backend",
    "BackendUnavailable",
    "Bits",
    "Cancelled",
    "CapacityExceeded",
    "Checksum",
    "Connectivity",
    "Counts",
    "CudaError",
    "Dense",
    "Device",
    "Differential",
    "DifferentialPartners",
    "DifferentialSummary",
    "EdgeStream",
    "Edges",
    "Error",
    "Fingerprints",
    "InvalidArgument",
    "MaxT",
    "MeasureInfo",
    "NamedTable",
    "OutOfMemory",
    "PairPlan",
    "PairRunOptions",
    "PairSummary",
    "Partners",
    "PreparedRows",
    "RunOptions",
    "ScaleFreeFit",
    "SignificanceResult",
    "TopK",
    "TopKDistinct",
    "Unsupported",
    "adjusted_p_values",
    "anndata",
    "arrow",
    "backends",
    "binary_matmul",
    "checksum",
    "confidence_interval",
    "connectivity",
    "convolve",
    "corrcoef",
    "counts",
    "critical_correlation",
    "dense",
    "device",
    "devices",
    "differential",
    "differential_partners",
    "distributed",
    "edges",
    "effective_observations",
    "matmul",
    "max_t",
    "mean_filter",
    "observations",
    "p_value",
    "pack_bits",
    "pairwise_distances",
    "pearson_edges",
    "plan",
    "plot",
    "prepare",
    "rank",
    "rankdata",
    "read_fingerprints",
    "read_table",
    "scale_free_fit",
    "spearman_edges",
    "spearmanr",
    "stream",
    "top_k",
    "top_k_distinct",
    "top_k_partners",
    "topological_overlap",
    "uniform_filter1d",
]


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


survive_fork()
