#!/usr/bin/env python3
"""Times the moving means of SciPy, CuPy and PyTorch beside a copy, on the data sizes of
mean_filter_bench. Prints one line per peer: name, elements, window, milliseconds, share of the
bandwidth of the copy. What is not installed is left out."""
import time

import numpy as np


def median(values):
    return sorted(values)[len(values) // 2]


def line(name, size, window, seconds, copy_seconds):
    share = 100 * copy_seconds / seconds
    print(f"{name:34s} {size:>10d} {window:>5d} {1e3 * seconds:10.4f} ms {share:6.1f} % of the copy")


def cpu_peers(size=10_000_000):
    from scipy.ndimage import uniform_filter1d

    data = np.random.default_rng(1).standard_normal(size)
    out = np.empty_like(data)

    def timed(body, repeats=5):
        times = []
        for _ in range(repeats):
            start = time.perf_counter()
            body()
            times.append(time.perf_counter() - start)
        return median(times)

    copy = timed(lambda: np.copyto(out, data))
    line("numpy.copyto, 1 thread", size, 0, copy, copy)
    for window in (5, 101, 1001):
        seconds = timed(lambda: uniform_filter1d(data, window, output=out, mode="constant"), 3)
        line("scipy uniform_filter1d", size, window, seconds, copy)


def gpu_timer(cupy):
    flush = cupy.zeros(256 << 20, dtype=cupy.uint8)
    start, stop = cupy.cuda.Event(), cupy.cuda.Event()

    def timed(body, repeats=11):
        body()
        times = []
        for _ in range(repeats):
            flush.fill(0)
            start.record()
            body()
            stop.record()
            stop.synchronize()
            times.append(cupy.cuda.get_elapsed_time(start, stop) * 1e-3)
        return median(times)

    return timed


def gpu_peers():
    import cupy
    from cupyx.scipy.ndimage import uniform_filter1d

    timed = gpu_timer(cupy)
    for dtype, size in ((cupy.float64, 10_000_000), (cupy.float32, 1 << 28)):
        name = cupy.dtype(dtype).name
        data = cupy.random.random(size, dtype=dtype)
        out = cupy.empty_like(data)
        copy = timed(lambda: cupy.copyto(out, data))
        line(f"device copy {name}", size, 0, copy, copy)
        for window in (5, 101, 1001):
            if size * window > 3e10:
                continue  # a second and more: it reads every window whole
            seconds = timed(lambda: uniform_filter1d(data, window, output=out, mode="constant"), 3)
            line(f"cupyx uniform_filter1d {name}", size, window, seconds, copy)
        try:
            torch_peers(data, copy, name)
        except ImportError:
            pass
        del data, out
        cupy.get_default_memory_pool().free_all_blocks()
    small = cupy.random.random(1000)
    small_out = cupy.empty_like(small)
    seconds = timed(lambda: uniform_filter1d(small, 5, output=small_out, mode="constant"))
    line("cupyx uniform_filter1d float64", 1000, 5, seconds, seconds)


def torch_peers(data, copy, name):
    import torch

    x = torch.from_dlpack(data).view(1, 1, -1)
    flush = torch.zeros(256 << 20, dtype=torch.uint8, device="cuda")
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for window in (5, 101, 1001):
        if x.numel() * window > 3e10:
            continue
        times = []
        for _ in range(6):
            flush.zero_()
            start.record()
            torch.nn.functional.avg_pool1d(x, window, stride=1, padding=window // 2)
            stop.record()
            stop.synchronize()
            times.append(start.elapsed_time(stop) * 1e-3)
        line(f"torch avg_pool1d {name}", x.numel(), window, median(times[1:]), copy)


for peers in (gpu_peers, cpu_peers):
    try:
        peers()
    except ImportError as missing:
        print(f"{peers.__name__}: left out ({missing})")
