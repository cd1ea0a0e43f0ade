#!/usr/bin/env python3
"""Times the k best partners of every row by torch on the GPU, the peer of a top_k_sink.

  top_k_pairs_torch.py [rows] [cols] [k] [dense|sparse]

Ranks are made once and are not timed. A tile of rows times all rows (torch.matmul), magnitudes in
place, torch.topk; single or half precision, whole rows or column tiles whose lists are merged. Only
a few tiles of rows are timed and the whole is extrapolated from them, which is said. Half precision
rounds the statistic, so its lists are not the exact ones; nor does torch break ties."""
import sys
import time

import torch


def counts(rows, cols, least_zeros, most_zeros, largest):
    zeros = torch.rand(rows, 1, device="cuda") * (most_zeros - least_zeros) + least_zeros
    values = torch.randint(1, largest + 1, (rows, cols), device="cuda", dtype=torch.int8)
    return torch.where(torch.rand(rows, cols, device="cuda") < zeros, 0, values)


def unit_ranks(values, piece=65536):
    out = []
    for part in values.split(piece):
        ranks = torch.sign(part[:, :, None] - part[:, None, :]).to(torch.int32).sum(2).float()
        out.append(ranks / ranks.norm(dim=1, keepdim=True).clamp(min=1))
    return torch.cat(out)


def search(unit, first, rows, width, k):
    """Lists of a tile of rows, by column tiles of `width`."""
    tile = unit[first : first + rows]
    best = None
    for begin in range(0, len(unit), width):
        products = tile @ unit[begin : begin + width].T
        products.abs_()
        if begin <= first < begin + width:
            products[torch.arange(rows), torch.arange(first - begin, first - begin + rows)] = -1
        values, index = products.topk(k, dim=1)
        index += begin
        if best is not None:
            values = torch.cat((best[0], values), 1)
            index = torch.cat((best[1], index), 1)
            values, place = values.topk(k, dim=1)
            index = index.gather(1, place)
        best = (values, index)
    return best


def seconds(unit, rows, width, k, tiles=2):
    search(unit, 0, rows, width, k)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for tile in range(tiles):
        search(unit, tile * rows, rows, width, k)
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / (tiles * rows) * len(unit)


def main():
    rows, cols, k = (int(sys.argv[i]) if len(sys.argv) > i else d
                     for i, d in ((1, 1_000_000), (2, 30), (3, 10)))
    shape = sys.argv[4] if len(sys.argv) > 4 else "dense"
    limits = {"dense": (0.0, 0.5, 40), "sparse": (0.6, 0.98, 10)}[shape]
    torch.manual_seed(1)
    unit = unit_ranks(counts(rows, cols, *limits))
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}, {shape} {rows} x {cols}, "
          f"k {k}: extrapolated from two tiles of rows")
    for dtype in (torch.float32, torch.float16):
        typed = unit.to(dtype)
        for tile, width in ((8192, 8192), (8192, 65536), (2048, rows)):
            whole = seconds(typed, tile, width, k)
            print(f"{str(dtype)[6:]:8s} tile {tile:5d} x {width:7d}: {whole:8.2f} s  "
                  f"{rows * (rows - 1) / 2 / whole:.3g} pairs/s", flush=True)


if __name__ == "__main__":
    main()
