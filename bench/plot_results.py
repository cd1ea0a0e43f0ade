#!/usr/bin/env python3
"""Draws the pictures of docs/benchmarks.md from bench/results: docs/images/*.svg.

Needs matplotlib. Run it from anywhere: bench/plot_results.py [FOLDER for the pictures]
"""

import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
plt.rcParams["svg.fonttype"] = "none"  # text stays text: small files
OURS = "#1b6ca8"
PEER = "#b0b0b0"
OTHER = "#e08a2e"


def load(name):
    return json.loads((RESULTS / f"{name}.json").read_text())


def only(items, **wanted):
    """The one item with these members."""
    found = [i for i in items if all(i.get(k) == v for k, v in wanted.items())]
    if len(found) != 1:
        raise SystemExit(f"{len(found)} results with {wanted}, expected 1")
    return found[0]


def save(figure, folder, name):
    figure.tight_layout()
    path = folder / f"{name}.svg"
    # Fixed ids and no date: the same results give the same bytes.
    plt.rcParams["svg.hashsalt"] = name
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    # matplotlib ends lines of paths with spaces.
    path.write_text("\n".join(line.rstrip() for line in path.read_text().splitlines()) + "\n")
    print(path, path.stat().st_size, "bytes")


def all_pairs_jobs():
    """(job, library's seconds, best peer's seconds) of the large jobs."""
    origin = load("origin_job_h100")["jobs"]
    large = only(origin, name="9,879,896 x 30")
    deep = only(origin, name="2,000,000 x 128")
    bins = load("class_bins_h100")["origin_job d.npy FOLDER 200"]
    wide = load("wide_pairs_h100")["jobs"]
    partners = load("all_pairs_top_k_h200")

    def peer(job, what):
        return only(job["recount"], what=f"torch tiles, {what}", type="float16")[
            "whole_job_seconds_extrapolated"
        ]

    def wide_job(label, name):
        job = only(wide, job=name)
        return label, job["library"] / 1e3, min(job["torch"], job["torch_tf32"]) / 1e3

    return [
        (
            "9,879,896 x 30, edges, Bonferroni",
            only(large["library"], job="edges")["seconds"],
            peer(large, "edges"),
        ),
        (
            "9,879,896 x 30, counts and histogram",
            only(bins, job="counts")["seconds"],
            peer(large, "counts"),
        ),
        (
            "2,000,000 x 128, edges, Bonferroni",
            only(deep["several_calls"], command="pair_job d.npy spearman edges 2.5e-14 5")["seconds"],
            peer(deep, "edges"),
        ),
        wide_job("20,000 x 1000, Spearman edges", "spearman edges"),
        wide_job("20,000 x 1000, Pearson edges", "pearson edges"),
        wide_job("20,000 x 1000, Pearson dense", "pearson dense float"),
        (
            "1,000,000 x 30, best 10 of each row",
            only(partners["rows"], job="spearman dense", rows=1000000, variant="hopper")["wall_s"],
            min(partners["torch_2_11_dense_1000000x30_extrapolated_from_two_tiles_of_rows_s"].values()),
        ),
    ]


def plot_all_pairs(folder):
    jobs = all_pairs_jobs()[::-1]
    figure, axes = plt.subplots(figsize=(8.5, 3.9))
    for place, (_, library, peer) in enumerate(jobs):
        axes.barh(place + 0.2, library, 0.36, color=OURS, label="gpu-similarity" if place == 0 else None)
        axes.barh(place - 0.2, peer, 0.36, color=PEER, label="PyTorch, its fastest form" if place == 0 else None)
        axes.text(peer * 1.15, place - 0.2, f"{peer / library:.1f} times" if peer / library < 20
                  else f"{peer / library:.0f} times", va="center", fontsize=8)
    axes.set_yticks(range(len(jobs)), [label for label, _, _ in jobs], fontsize=8)
    axes.set_xscale("log")
    axes.set_xlim(1e-3, 8e3)
    axes.set_xlabel("seconds, whole call, host to host (less is better)")
    axes.set_title("All pairs, one H100 (the last job: one H200)", fontsize=10)
    axes.legend(loc="lower right", fontsize=8, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, folder, "all_pairs")


def plot_matmul(folder):
    benchmarks = load("matmul_h100")["benchmarks"]
    times = {b["name"]: b["us"] for b in benchmarks}
    sizes = [256, 512, 1024, 2048, 4096, 8192]
    figure, panels = plt.subplots(1, 2, figsize=(8.5, 3.1))
    for axes, kind in zip(panels, ("float", "double")):
        for variant, label, colour in (
            ("peer_cublas", "cuBLAS", PEER),
            ("cuda_register_tiled", "register_tiled", OTHER),
            ("cuda_tensor", "tensor", OURS),
        ):
            rates = []
            for n in sizes:
                start = f"matmul/{kind}/cuda/{n}x{n}x{n}/nn/"
                us = next(v for k, v in times.items() if k.startswith(start) and k.endswith(variant.split("_", 1)[1]))
                rates.append(2 * n**3 / us / 1e6)
            axes.plot(sizes, rates, marker="o", markersize=3, color=colour, label=label)
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes, [str(n) for n in sizes], fontsize=8)
        axes.set_title(f"{kind}, n x n x n, one H100", fontsize=10)
        axes.set_xlabel("n")
        axes.set_ylabel("TFLOP/s")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].legend(fontsize=8, frameon=False)
    save(figure, folder, "matmul")


def plot_mean_filter(folder):
    benchmarks = load("mean_filter_h100")["benchmarks"]
    figure, axes = plt.subplots(figsize=(5.6, 3.1))
    # What `automatic` takes: tiles below a window of 512, blocks that march from there on.
    for kind, label, march, colour in (
        ("double", "10M doubles", "march 9 outputs 256 threads", OTHER),
        ("float", "2^28 floats", "march 17 outputs 256 threads", OURS),
    ):
        taken = {
            b["window"]: b["share"]
            for b in benchmarks
            if b["type"] == kind and b["kernel"] == ("tiles" if b["window"] < 512 else march)
        }
        windows = sorted(taken)
        axes.plot(windows, [taken[w] for w in windows], marker="o", markersize=3, color=colour, label=label)
    axes.set_xscale("log")
    axes.set_ylim(0, 100)
    axes.set_xlabel("window")
    axes.set_ylabel("% of a copy's bandwidth")
    axes.set_title("Moving means, one H100", fontsize=10)
    axes.legend(fontsize=8, frameon=False, loc="lower left")
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, folder, "mean_filter")


def plot_cpu_peers(folder):
    runs = load("cpu_peers")["runs"]
    jobs = {}
    for run in runs:
        for job in run["jobs"]:
            if job["ratio"] >= 2:  # the copies that filters are measured against stay out
                jobs.setdefault(f"{job['job']}: {job['peer'].split(',')[0]}", {})[run["processor"]] = job["ratio"]
    labels = list(jobs)[::-1]
    figure, axes = plt.subplots(figsize=(9.5, 5))
    for place, label in enumerate(labels):
        for i, (run, colour) in enumerate(zip(runs, (OURS, OTHER))):
            ratio = jobs[label].get(run["processor"])
            if ratio:
                name = run["processor"].replace("(R)", "").replace(" Processor", "")
                axes.barh(place + 0.2 - 0.4 * i, ratio, 0.36, color=colour,
                          label=f"{name}, {run['cores']} cores" if place == len(labels) - 1 else None)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(range(len(labels)), labels, fontsize=7)
    axes.set_xscale("log")
    axes.set_xlabel("times as fast as the peer (more is better)")
    handles, names = axes.get_legend_handles_labels()
    if len(names) < 2:  # the last job may lack one of the machines
        handles = [plt.Rectangle((0, 0), 1, 1, color=c) for c in (OURS, OTHER)]
        names = [f"{r['processor'].replace('(R)', '').replace(' Processor', '')}, {r['cores']} cores" for r in runs]
    axes.legend(handles, names, fontsize=8, frameon=False, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, folder, "cpu_peers")


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    plot_all_pairs(folder)
    plot_matmul(folder)
    plot_mean_filter(folder)
    plot_cpu_peers(folder)


if __name__ == "__main__":
    main()
