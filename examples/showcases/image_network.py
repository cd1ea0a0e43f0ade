#!/usr/bin/env python3
"""From a wide table of pictures to the geometry of the camera.

  image_network.py FILE FOLDER    FILE is train-images-idx3-ubyte.gz of Fashion-MNIST; the picture goes to FOLDER

A row is one of 28 x 28 pixels, a column one of 60,000 pictures: few rows, very many columns. Nobody
told the program where a pixel is. The best partner of a pixel by Spearman's rho should be a pixel beside
it, and is. The pairs with |rho| of 0.9 or more are timed, too. Beside them: SciPy's spearmanr on the same table,
whose matrix has both answers. Each time is the best of three. Needs gpu_similarity, SciPy and matplotlib.
"""

import gzip
import pathlib
import sys
import time

import gpu_similarity as gs
import matplotlib
import numpy as np
import scipy.stats

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SIDE = 28
CUT = 0.9


def timed(call, runs=3):
    """Seconds of the best run, and its answer."""
    best = np.inf
    for _ in range(runs):
        start = time.perf_counter()
        answer = call()
        best = min(best, time.perf_counter() - start)
    return best, answer


def main():
    file, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    pixels = np.frombuffer(gzip.open(file).read(), np.uint8, offset=16).reshape(-1, SIDE * SIDE)
    table = np.ascontiguousarray(pixels.T)
    print(f"{table.shape[0]} pixels of {table.shape[1]:,} pictures")
    gs.top_k_partners(table[:50, :100], 1)  # threads and devices are started
    seconds, best = timed(lambda: gs.top_k_partners(table, 1))
    edges_seconds, edges = timed(lambda: gs.spearman_edges(table, min_abs=CUT))
    peer_seconds, peer = timed(lambda: scipy.stats.spearmanr(table, axis=1).statistic)
    partner = best.index[:, 0].astype(np.int64)
    strength = best.statistic[:, 0]
    print(f"the best partner of each: {seconds:.2f} s on {best.summary.device}; {len(edges):,} pairs with |rho| >= {CUT}: "
          f"{edges_seconds:.2f} s; SciPy's matrix: {peer_seconds:.2f} s, {peer_seconds / seconds:.1f} and "
          f"{peer_seconds / edges_seconds:.1f} times as long")

    magnitude = np.abs(np.nan_to_num(peer))
    if len(edges) != np.count_nonzero(np.triu(magnitude, 1) >= CUT):
        print("the two do not agree about the pairs")
        return 1
    np.fill_diagonal(magnitude, -1)
    same = np.isclose(magnitude[np.arange(len(partner)), partner], magnitude.max(axis=1), atol=1e-12)
    here = np.stack(np.divmod(np.arange(SIDE * SIDE), SIDE))
    there = np.stack(np.divmod(partner, SIDE))
    beside = np.abs(here - there).max(axis=0) == 1
    print(f"SciPy agrees for {same.sum()} of {len(same)} pixels; {beside.sum()} partners lie beside their pixel")

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4))
    left.imshow(pixels.mean(axis=0).reshape(SIDE, SIDE), cmap="gray_r")
    left.set_title("the mean of all pictures", fontsize=9)
    right.imshow(np.abs(strength).reshape(SIDE, SIDE), cmap="viridis")
    right.quiver(here[1], here[0], there[1] - here[1], here[0] - there[0], color="white", scale=40, width=0.004)
    right.set_title("each pixel's best partner, and its rho", fontsize=9)
    for axis in (left, right):
        axis.set_axis_off()
    figure.tight_layout()
    figure.savefig(folder / "image_network.png", dpi=110)
    return 0 if same.all() and beside.mean() > 0.95 else 1


if __name__ == "__main__":
    sys.exit(main())
