#!/usr/bin/env python3
"""Times PyTorch and CuPy on the small calls of bench/latency_cuda_bench.cpp, in microseconds:
call (host time of putting one on the stream), wait (with waiting for it) and graph (device time of
a call within a CUDA graph of 64 captured ones; '-' where it cannot be captured)."""
import statistics
import time

import cupy
import torch
from cupyx.scipy import ndimage

BATCH = 64


def host_times(work, synchronize):
    for _ in range(BATCH):
        work()
    synchronize()
    calls, waits = [], []
    for _ in range(30):
        start = time.perf_counter()
        for _ in range(BATCH):
            work()
        calls.append((time.perf_counter() - start) / BATCH)
        synchronize()
        start = time.perf_counter()
        work()
        synchronize()
        waits.append(time.perf_counter() - start)
    return statistics.median(calls) * 1e6, statistics.median(waits) * 1e6


def torch_graph_time(work):
    try:
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            work()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(BATCH):
                work()
    except RuntimeError:
        torch.cuda.synchronize()
        return None
    times = []
    for _ in range(20):
        start = torch.cuda.Event(enable_timing=True)
        stop = torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop) * 1000 / BATCH)
    return statistics.median(times)


def cupy_graph_time(work):
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        work()
        stream.synchronize()
        try:
            stream.begin_capture()
            for _ in range(BATCH):
                work()
            graph = stream.end_capture()
        except Exception:  # whatever CuPy cannot capture
            return None
        times = []
        for _ in range(20):
            start, stop = cupy.cuda.Event(), cupy.cuda.Event()
            start.record(stream)
            graph.launch(stream)
            stop.record(stream)
            stop.synchronize()
            times.append(cupy.cuda.get_elapsed_time(start, stop) * 1000 / BATCH)
    return statistics.median(times)


def report(name, call, wait, graph):
    graph_text = "-" if graph is None else f"{graph:.2f}"
    print(f"{name}: call {call:.2f} wait {wait:.2f} graph {graph_text}")


def main():
    print("torch", torch.__version__, "cupy", cupy.__version__, torch.cuda.get_device_name())
    x = torch.randn(1000, device="cuda")
    integers = torch.randint(-(10**9), 10**9, (1000,), dtype=torch.int32, device="cuda")
    table = torch.randn(1000, 30, device="cuda")
    a, b = torch.randn(1000, 1000, device="cuda"), torch.randn(1000, 1000, device="cuda")
    c = torch.empty_like(a)
    a100, b100 = a[:100, :100].contiguous(), b[:100, :100].contiguous()
    c100 = torch.empty_like(a100)
    signs_a, signs_b = torch.sign(a).to(torch.int8)[:, :992], torch.sign(b).to(torch.int8)[:, :992]
    signs_a, signs_b = signs_a.contiguous(), signs_b.contiguous().t()
    cases = {
        "torch topk 1000 float k 20": lambda: torch.topk(x, 20),
        "torch topk 1000 int32 k 20": lambda: torch.topk(integers, 20),
        "torch unique 1000 int32 counts": lambda: torch.unique(integers, return_counts=True),
        "torch double argsort 1 x 1000 float": lambda: x.argsort().argsort(),
        "torch double argsort 1000 x 30 float": lambda: table.argsort(dim=1).argsort(dim=1),
        "torch matmul 100 float": lambda: torch.matmul(a100, b100, out=c100),
        "torch matmul 1000 float": lambda: torch.matmul(a, b, out=c),
        "torch int8 matmul 1000 x 1000 x 992": lambda: torch._int_mm(signs_a, signs_b),
        "torch corrcoef 1000 x 30, ranks given, count":
            lambda: (torch.corrcoef(table).abs() >= 0.361).sum().item(),
    }
    for name, work in cases.items():
        try:
            call, wait = host_times(work, torch.cuda.synchronize)
            graph = None if "count" in name else torch_graph_time(work)
            report(name, call, wait, graph)
        except RuntimeError as error:
            print(f"{name}: {str(error).splitlines()[0]}")
    for dtype, window in ((cupy.float64, 5), (cupy.float64, 101), (cupy.float32, 5)):
        row = cupy.random.randn(1000).astype(dtype)
        out = cupy.empty_like(row)

        def work(row=row, out=out, window=window):
            ndimage.uniform_filter1d(row, window, output=out, mode="constant")

        name = f"cupyx uniform_filter1d 1000 {row.dtype} w {window}"
        report(name, *host_times(work, cupy.cuda.Stream.null.synchronize), cupy_graph_time(work))


if __name__ == "__main__":
    main()
