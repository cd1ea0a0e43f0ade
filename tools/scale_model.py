#!/usr/bin/env python3
"""How long, how large and how dear a job of all pairs is that cannot be run here.

    tools/scale_model.py                                # the table of docs/scale.md
    tools/scale_model.py --rows 1e8 --gpus 64           # one job
    tools/scale_model.py --check                        # beside the measured jobs

The model, for `gpus` GPUs that each compute their share of the parts:

    seconds = start + read + rows * prepare * parts_a_gpu + pairs / (rate * gpus) + write

with  read  = input bytes / read rate of a process (all read at the same time), but never faster than
              the shared storage gives all nodes together
      write = result bytes / write rate of a process, of the parts, and once more of the first process
              where the parts are joined
      pairs = rows (rows - 1) / 2

The rates come from a JSON file of measurements, bench/results/scale_model.json; --check says how far
the model is from measured jobs. Nothing but Python's standard library.
"""

import argparse
import json
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
RATES = HERE.parent / "bench" / "results" / "scale_model.json"


class Machine:
    """What was measured of one kind of GPU or CPU, and of its files."""

    def __init__(self, rates, name):
        if name not in rates["machines"]:
            sys.exit(f"scale_model: no machine {name}, expected one of {', '.join(rates['machines'])}")
        self.name = name
        self.values = rates["machines"][name]

    def job(self, name):
        jobs = self.values["jobs"]
        if name not in jobs:
            sys.exit(f"scale_model: no job {name} of {self.name}, expected one of {', '.join(jobs)}")
        return jobs[name]

    def __getitem__(self, key):
        return self.values[key]


def predict(machine, job_name, rows, gpus=1, parts_a_gpu=1, cols=30, value_bytes=1, kept_share=0.0,
            with_files=True):
    """Seconds and bytes of a job, in a dictionary."""
    job = machine.job(job_name)
    pairs = rows * (rows - 1) / 2
    # A tile is as wide as the columns rounded up to a multiple of 32.
    width = math.ceil(cols / 32) / math.ceil(job["cols"] / 32)
    compute = pairs * width / (job["pairs_per_second"] * gpus)
    prepare = rows * width * machine["prepare_seconds_per_row"] * parts_a_gpu
    in_bytes = rows * cols * value_bytes
    out_bytes = kept_share * pairs * machine["edge_bytes"] if job["has_edges"] else rows * 4.0
    read = write = 0.0
    if with_files:
        nodes = math.ceil(gpus / machine["gpus_a_node"])
        storage = machine["storage_bytes_per_second"]
        read = max(in_bytes / machine["read_bytes_per_second"], in_bytes * nodes / storage)
        part_write = out_bytes / min(machine["write_bytes_per_second"] * gpus, storage)
        join = 2 * out_bytes / machine["write_bytes_per_second"] if gpus > 1 else 0.0
        write = part_write + join
    start = machine["start_seconds"] if with_files else job.get("call_seconds", 0.0)
    seconds = start + read + prepare + compute + write
    return {"rows": rows, "gpus": gpus, "pairs": pairs, "seconds": seconds, "compute": compute,
            "in_bytes": in_bytes * gpus, "out_bytes": out_bytes,
            "gpu_hours": seconds * gpus / 3600,
            "device_bytes": rows * 32 * math.ceil(cols / 32)}


def check(rates):
    """Every measured job beside its prediction; the largest error."""
    print("| machine | job | rows | GPUs | measured, s | model, s | error |")
    print("|---|---|---|---|---|---|---|")
    worst = 0.0
    for m in rates["measured"]:
        machine = Machine(rates, m["machine"])
        model = predict(machine, m["job"], m["rows"], m.get("gpus", 1), m.get("parts_a_gpu", 1),
                        m.get("cols", 30), with_files=m.get("with_files", False),
                        kept_share=m.get("kept_share", 0.0), value_bytes=m.get("value_bytes", 1))
        error = model["seconds"] / m["seconds"] - 1
        if not m.get("is_fitted", False):
            worst = max(worst, abs(error))
        fitted = " (rate taken from it)" if m.get("is_fitted", False) else ""
        print(f"| {m['machine']} | {m['job']}{fitted} | {m['rows']:,} | {m.get('gpus', 1)} | "
              f"{m['seconds']:.4g} | {model['seconds']:.4g} | {error:+.0%} |")
    print(f"\nLargest error of a job whose time is not an input: {worst:.0%}")
    return worst


def size_text(size):
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} PB"


def time_text(seconds):
    if seconds < 120:
        return f"{seconds:.3g} s"
    if seconds < 7200:
        return f"{seconds / 60:.3g} min"
    if seconds < 172800:
        return f"{seconds / 3600:.3g} h"
    return f"{seconds / 86400:.3g} d"


def line(model, price):
    return (f"| {model['rows']:.0e} | {model['gpus']} | {time_text(model['seconds'])} | "
            f"{time_text(model['compute'])} | {size_text(model['in_bytes'])} | "
            f"{size_text(model['out_bytes'])} | {model['gpu_hours']:.3g} | "
            f"{model['gpu_hours'] * price:.3g} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rates", default=RATES, type=pathlib.Path, help="measured rates, JSON")
    parser.add_argument("--machine", default="h200")
    parser.add_argument("--job", default="edges", help="edges, counts, ... of the file of rates")
    parser.add_argument("--rows", type=float, nargs="*", default=[1e6, 1e7, 1e8, 1e9])
    parser.add_argument("--gpus", type=int, nargs="*", default=[1, 8, 64, 1000])
    parser.add_argument("--cols", type=int, default=30)
    parser.add_argument("--parts-a-gpu", type=int, default=1)
    parser.add_argument("--kept-share", type=float, default=1e-9, help="of the pairs, as edges")
    parser.add_argument("--value-bytes", type=int, default=1, help="of one value in the input")
    parser.add_argument("--price", type=float, default=4.0, help="of a GPU for an hour")
    parser.add_argument("--check", action="store_true", help="beside the measured jobs")
    args = parser.parse_args()
    rates = json.loads(args.rates.read_text())
    if args.check:
        check(rates)
        return
    machine = Machine(rates, args.machine)
    print("| rows | GPUs | whole job | pairs alone | read by all | written | GPU hours | cost |")
    print("|---|---|---|---|---|---|---|---|")
    for rows in args.rows:
        for gpus in args.gpus:
            model = predict(machine, args.job, rows, gpus, args.parts_a_gpu, args.cols,
                            args.value_bytes, args.kept_share)
            print(line(model, args.price))
            if model["device_bytes"] > machine["memory_bytes"]:
                print(f"  (needs {size_text(model['device_bytes'])} on each device)", file=sys.stderr)


if __name__ == "__main__":
    main()
