"""Modules of a network of edges: its connected components, and communities by igraph."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt


def components(a: npt.NDArray[Any], b: npt.NDArray[Any], count: int) -> npt.NDArray[np.int64]:
    """For each of `count` nodes the least node that edges between `a` and `b` connect it with."""
    label = np.arange(count, dtype=np.int64)
    while True:
        ends = label[a], label[b]
        apart = ends[0] != ends[1]
        if not apart.any():
            return label
        a, b = a[apart], b[apart]
        low, high = np.minimum(*ends)[apart], np.maximum(*ends)[apart]
        # Each root that has a lower neighbour goes below one: half of them at least are gone.
        np.minimum.at(label, high, low)
        while not np.array_equal(label, shorter := label[label]):
            label = shorter


def communities(
    graph: Any, statistic: npt.NDArray[Any], resolution: float, seed: int
) -> npt.NDArray[np.int64]:
    """Leiden's communities of an igraph.Graph by modularity, weighted by the magnitudes."""
    state = random.getstate()  # igraph draws from Python's generator
    random.seed(seed)
    try:
        found = graph.community_leiden(
            "modularity",
            weights=np.abs(statistic).tolist(),
            resolution=resolution,
            n_iterations=-1,
        )
    finally:
        random.setstate(state)
    return np.asarray(found.membership, dtype=np.int64)


def numbered(label: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The labels as numbers from 1, the most frequent first, of equal ones the earlier."""
    _, first, place, size = np.unique(
        label, return_index=True, return_inverse=True, return_counts=True
    )
    number = np.empty(len(size), np.int64)
    number[np.lexsort((first, -size))] = np.arange(1, len(size) + 1)
    return number[place]
