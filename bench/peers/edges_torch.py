#!/usr/bin/env python3
"""Edges of all pairs of rows with PyTorch on one GPU: what a user would write.

    edges_torch.py table.npy spearman|pearson max_p calls

Unit rows (of ranks, for Spearman; rows without ties), float32 products of a tile of rows with all
later rows, absolute values, a comparison, the upper triangle, the places that are kept, their
values, and a copy of both to pageable memory. No p of the edges. Prints the edges and the median,
best and worst call in seconds, from host rows to host result, behind one that is not counted.
"""
import statistics
import sys
import time

import numpy as np
import torch
from scipy import stats

TILE_PAIRS = 1 << 28  # of a tile: its products, and the bytes of the comparison, are in memory


def critical(max_p, observations):
    """The |correlation| from which on a two-sided p is at most max_p."""
    t = stats.t.isf(max_p / 2, observations - 2)
    return t / np.sqrt(observations - 2 + t * t)


def unit_rows(data, spearman):
    rows = torch.from_numpy(data).cuda()
    if spearman:
        rows = rows.argsort(dim=1).argsort(dim=1).float()
    rows = rows - rows.mean(dim=1, keepdim=True)
    return rows / rows.norm(dim=1, keepdim=True)


def edges(data, spearman, cut):
    units = unit_rows(data, spearman)
    count = units.shape[0]
    step = max(1, TILE_PAIRS // count)
    places, values = [], []
    for first in range(0, count, step):
        products = units[first:first + step] @ units[first:].T
        kept = (products.abs() >= cut).triu(1)
        at = kept.nonzero()
        values.append(products[at[:, 0], at[:, 1]].cpu())
        places.append((at + first).to(torch.int32).cpu())
    return torch.cat(places), torch.cat(values)


def main():
    data = np.load(sys.argv[1])
    spearman = sys.argv[2] == "spearman"
    cut = critical(float(sys.argv[3]), data.shape[1])
    seconds = []
    kept = 0
    for _ in range(int(sys.argv[4]) + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        places, _values = edges(data, spearman, cut)
        seconds.append(time.perf_counter() - start)
        kept = len(places)
        del places, _values
    seconds = seconds[1:]
    print(f"torch {sys.argv[2]} {data.shape[0]}x{data.shape[1]} p<={sys.argv[3]} kept {kept} "
          f"s {statistics.median(seconds):.5f} best {min(seconds):.5f} worst {max(seconds):.5f}")


if __name__ == "__main__":
    main()
