#!/usr/bin/env python3
"""Times all pairs of 20,000 x 1000 by PyTorch on the GPU beside the library, both from NumPy's host
array to the host result, on the same data, one after the other.

  wide_pairs_torch.py path/to/pair_job [repeats]

PyTorch's job: upload, ranks (average ranks of ties by sort and two searches, which is faster than
two argsorts), corrcoef in float32 without TF32 (and with, as its own row), the upper triangle,
threshold, nonzero, download; or the whole matrix downloaded. Prints one line a job: seconds of
each, their ratio, and whether they keep the same pairs. Float32 may flip pairs at the very cut."""
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

ROWS, COLS, MAX_P = 20_000, 1000, 2.5e-10  # Bonferroni 0.05 of 2e8 pairs


def median(values):
    return sorted(values)[len(values) // 2]


def seconds_of(work, repeats):
    work()
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        result = work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
        size = len(result)
        del result
    return median(times), size


def related(data):
    """Every fiftieth row shares half of its values with the one before."""
    data[1::50, : COLS // 2] = data[0::50, : COLS // 2]
    return data


def tied_counts():
    random = np.random.default_rng(1)
    zeros = random.random((ROWS, 1)) * 0.5
    counts = random.integers(1, 41, (ROWS, COLS))
    return related(np.where(random.random((ROWS, COLS)) < zeros, 0, counts).astype(np.int32))


def normal():
    return related(np.random.default_rng(2).standard_normal((ROWS, COLS), dtype=np.float32))


def critical(max_p, cols):
    from scipy.stats import t

    quantile = t.isf(max_p / 2, cols - 2)
    return float(quantile / np.sqrt(cols - 2 + quantile * quantile))


CUT = critical(MAX_P, COLS)


def upload(data):
    return torch.from_numpy(data).cuda()


def ranks(data):
    ordered = data.sort(1).values
    return (torch.searchsorted(ordered, data) + torch.searchsorted(ordered, data, right=True)).float()


def edges(matrix):
    matrix.triu_(1)
    place = (matrix.abs() >= CUT).nonzero()
    values = matrix[place[:, 0], place[:, 1]]
    place = place.cpu().numpy()
    return values.cpu().numpy()


def main():
    program = sys.argv[1]
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    counts, values = tied_counts(), normal()
    jobs = [
        ("spearman", "edges", counts, lambda: edges(torch.corrcoef(ranks(upload(counts)))), repeats),
        ("pearson", "edges", values, lambda: edges(torch.corrcoef(upload(values))), repeats),
        ("pearson", "dense", values, lambda: torch.corrcoef(upload(values)).cpu().numpy(), 3),
    ]
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}, abs(r) >= {CUT:.6f}")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for measure, sink, data, peer, times in jobs:
            file = Path(folder) / f"{measure}.npy"
            np.save(file, data)
            ours = json.loads(subprocess.run(
                [program, str(file), measure, sink, repr(MAX_P), str(times)],
                check=True, capture_output=True, text=True).stdout)
            torch.backends.cuda.matmul.allow_tf32 = False
            theirs, kept = seconds_of(peer, times)
            torch.backends.cuda.matmul.allow_tf32 = True
            rough, _ = seconds_of(peer, times)
            agree = sink == "dense" or abs(kept - ours["kept"]) <= 2
            good &= agree
            print(f"{measure} {sink}: torch {theirs * 1e3:.2f} ms (tf32 {rough * 1e3:.2f}), library "
                  f"{ours['seconds'] * 1e3:.2f} ms ({ours['best'] * 1e3:.2f} to "
                  f"{ours['worst'] * 1e3:.2f}; {ours['variant']}; prepare {ours['prepare'] * 1e3:.2f}, "
                  f"pairs {ours['pairs'] * 1e3:.2f}), {theirs / ours['seconds']:.1f} x, "
                  f"{'agree' if agree else 'DIFFER'}: {kept} and {ours['kept']}", flush=True)
            torch.cuda.empty_cache()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
