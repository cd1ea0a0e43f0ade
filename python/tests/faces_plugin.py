"""A pytest plugin: SciPy's and NumPy's suites test the faces of gpu_similarity instead.

Cases that ask for what the faces do not take are left out by name, each with its reason.
"""

from __future__ import annotations

import gpu_similarity as gs
import numpy
import pytest
import scipy.ndimage
import scipy.stats

LEFT_OUT: dict[str, str] = {}


def pytest_configure(config: pytest.Config) -> None:
    scipy.stats.rankdata = gs.rankdata
    scipy.stats.spearmanr = gs.spearmanr
    scipy.ndimage.uniform_filter1d = gs.uniform_filter1d
    numpy.corrcoef = gs.corrcoef


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for name, reason in LEFT_OUT.items():
            if name in item.nodeid:
                item.add_marker(pytest.mark.skip(reason=reason))
