#!/usr/bin/env python3
"""Times torch.topk and torch.unique on the inputs of bench/top_k_cuda_bench.cu.

Prints one line per case: median microseconds by CUDA events, with a cold L2 as in bench/common.
"""
import statistics

import torch

FLUSH = torch.empty(128 << 20, dtype=torch.uint8, device="cuda")


def microseconds(work, repeats=15):
    work()
    times = []
    for _ in range(repeats):
        start = torch.cuda.Event(enable_timing=True)
        stop = torch.cuda.Event(enable_timing=True)
        FLUSH.zero_()
        start.record()
        work()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop) * 1000)
    return statistics.median(times)


def main():
    print("torch", torch.__version__, torch.cuda.get_device_name())
    for n in (1000, 30_000, 1_000_000, 100_000_000, 1 << 28):
        x = torch.randint(-(10**9), 10**9, (n,), dtype=torch.int32, device="cuda")
        for k in (20, 256, 2048):
            if k <= n:
                print(f"topk int32 n {n} k {k}: {microseconds(lambda: torch.topk(x, k)):.1f}")
        y = x.float()
        for k in (20, 2048):
            if k <= n:
                print(f"topk float n {n} k {k}: {microseconds(lambda: torch.topk(y, k)):.1f}")
        del x, y
    for name, x in (
        ("all equal", torch.full((100_000_000,), 7.0, device="cuda")),
        ("ascending", torch.arange(100_000_000, device="cuda").float()),
        ("few distinct", torch.randint(0, 10, (100_000_000,), device="cuda").float()),
    ):
        print(f"topk float {name} n 100000000 k 20: {microseconds(lambda: torch.topk(x, 20)):.1f}")
        del x
    x = torch.randint(0, 10**6, (1_000_000,), dtype=torch.int32, device="cuda")
    distinct = microseconds(lambda: torch.unique(x, return_counts=True))
    print(f"unique with counts int32 n 1000000: {distinct:.1f}")
    for rows, cols, k in ((10_000, 10_000, 32), (100_000, 1000, 8), (1_000_000, 100, 8),
                          (3_000_000, 30, 5), (100, 1_000_000, 20), (1000, 50_000, 20)):
        m = torch.randn(rows, cols, device="cuda")
        print(f"topk rows {rows} x {cols} k {k}: {microseconds(lambda: torch.topk(m, k)):.1f}")
        del m


if __name__ == "__main__":
    main()
