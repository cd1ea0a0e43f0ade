"""A pytest plugin: SciPy's and NumPy's suites test the faces of gpu_similarity instead.

Cases that ask for what the faces do not take are left out by name, each with its reason.
"""

from __future__ import annotations

from typing import Any

import gpu_similarity as gs
import numpy
import pytest
import scipy.ndimage
import scipy.stats

LEFT_OUT = {
    "TestCorrSpearmanr::test_nan_policy_bug_12458": "nan_policy='omit' of many variables",
    "TestCorrSpearmanr::test_gh_9103": "nan_policy='omit' of many variables",
    "TestCorrCoef::test_complex": "complex numbers",
    "TestCorrCoef::test_xy": "complex numbers",
}

# Whether SciPy's rankdata gives integers where no mean of ranks is asked for.
INTEGER_RANKS = scipy.stats.rankdata([1], "min").dtype.kind == "i"


def rankdata(a: Any, method: str = "average", **options: Any) -> numpy.ndarray:
    """The face, with the type of the ranks of older versions of SciPy."""
    ranks = gs.rankdata(a, method, **options)
    if not INTEGER_RANKS or numpy.isnan(ranks).any():
        return ranks.astype(float) if INTEGER_RANKS else ranks
    return ranks.astype(float if method == "average" else int)


FACES = {
    scipy.stats.rankdata: rankdata,
    scipy.stats.spearmanr: gs.spearmanr,
    scipy.ndimage.uniform_filter1d: gs.uniform_filter1d,
    numpy.corrcoef: gs.corrcoef,
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    modules = {item.module for item in items if isinstance(item, pytest.Function)}
    for module in [scipy.stats, scipy.ndimage, numpy, *modules]:
        for name, value in list(vars(module).items()):
            for original, face in FACES.items():
                if value is original:
                    setattr(module, name, face)
    for item in items:
        for name, reason in LEFT_OUT.items():
            if name in item.nodeid:
                item.add_marker(pytest.mark.skip(reason=reason))
