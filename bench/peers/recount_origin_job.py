#!/usr/bin/env python3
"""Recounts what origin_job left in a folder, by torch, NumPy and SciPy alone, and times torch.

  recount_origin_job.py counts.npy FOLDER [--edges S] [--degrees S] [--peer] [--json FILE]

For up to 128 columns. Ranks of its own (twice the average rank less m + 1, by counting smaller and
larger values; some rows beside scipy.stats.rankdata), exact int32 products of a random sample of
rows with ALL rows (torch._int_mm), rho = S / sqrt(n_i n_j) in double precision. For S seconds each
(0: not at all):

  edges    every pair of a sampled row whose product comes near the cut goes to the CPU: p by
           scipy.stats.t, kept where p <= 0.05 / family, and where p <= 1e-11. The sets must be those
           of the library's edges that touch a sampled row, rho and p the same.
  degrees  kept partners at p <= 0.05 of a smaller sample; the same at the cut moved by 1e-12 either
           way, so that no decision hangs on a rounding. Where the sample is all rows, the histogram
           too.

Exits with 1 where anything differs. --peer times the same tiles as torch users write them, with
float32, TF32 and half precision units; the whole job is extrapolated from a few tiles."""
import argparse
import json
import sys
import time

import numpy as np
import scipy.stats
import torch

ALPHA, LOOSER = 0.05, 1e-11
WIDTH = 65536
EDGE = np.dtype([("row", "<u4"), ("col", "<u4"), ("rho", "<f8"), ("p", "<f8")])


def clock():
    torch.cuda.synchronize()
    return time.perf_counter()


def doubled_ranks(values):
    """[rows, depth] int8: less than x minus greater than x, zeros behind the columns."""
    depth = (values.shape[1] + 31) // 32 * 32
    piece = 65536 * 30 * 30 // values.shape[1] ** 2
    out = torch.zeros(len(values), depth, dtype=torch.int8, device="cuda")
    for first in range(0, len(values), piece):
        part = torch.from_numpy(np.array(values[first : first + piece])).cuda()
        less = (part[:, None, :] < part[:, :, None]).sum(2)
        more = (part[:, None, :] > part[:, :, None]).sum(2)
        out[first : first + len(part), : part.shape[1]] = (less - more).to(torch.int8)
    return out


def p_of(rho, cols):
    with np.errstate(divide="ignore"):
        t = np.abs(rho) * np.sqrt((cols - 2) / ((1 + rho) * (1 - rho)))
    return 2 * scipy.stats.t.sf(t, cols - 2)


def critical(p, cols):
    t = scipy.stats.t.isf(p / 2, cols - 2)
    return float(t / np.sqrt(cols - 2 + t * t))


class job:
    def __init__(self, path):
        values = np.load(path, mmap_mode="r")
        self.rows, self.cols = values.shape
        ranks = doubled_ranks(values)
        some = np.random.default_rng(1).integers(0, self.rows, 2000)
        wanted = 2 * scipy.stats.rankdata(values[some], axis=1) - (self.cols + 1)
        self.ranks_agree = bool(np.array_equal(ranks[some, : self.cols].cpu().numpy(), wanted))
        squares = ranks.to(torch.int32).square().sum(1)
        order = torch.argsort(squares)
        order = order[squares[order] > 0]
        self.valid = len(order)
        self.family = self.valid * (self.valid - 1) // 2
        self.order = order.cpu().numpy()
        # In order of the square sum, so that a tile's least is near every one; zeros at the end.
        padded = (self.valid + WIDTH - 1) // WIDTH * WIDTH
        self.ranks = torch.zeros(padded, ranks.shape[1], dtype=torch.int8, device="cuda")
        self.ranks[: self.valid] = ranks[order]
        self.squares = torch.ones(padded, dtype=torch.float64, device="cuda")
        self.squares[: self.valid] = squares[order].double()
        draw = torch.Generator(device="cuda").manual_seed(2026)
        self.sample = torch.randperm(self.valid, generator=draw, device="cuda")

    def chunks(self, rows, seconds):
        """Places in order of samples, a chunk at a time, while there is time."""
        end = time.perf_counter() + seconds
        for first in range(0, self.valid, rows):
            if first > 0 and clock() > end:
                return
            yield self.sample[first : first + rows]

    def products(self, left, begin):
        tail = max(0, 32 - len(left))  # torch refuses products of fewer than 17 rows
        if tail:
            left = torch.nn.functional.pad(left, (0, 0, 0, tail))
        out = torch._int_mm(left, self.ranks[begin : begin + WIDTH].T)
        return out[: len(out) - tail]

    def edges(self, seconds):
        """Sampled rows, and pairs (i, j, rho, p) near or beyond the looser cut that touch one."""
        cut = critical(max(LOOSER, ALPHA / self.family), self.cols)
        rows, found = [], []
        for places in self.chunks(8192, seconds):
            rows.append(places)
            left, squares = self.ranks[places], self.squares[places]
            for begin in range(0, len(self.ranks), WIDTH):
                sums = self.products(left, begin)
                least = (cut * torch.sqrt(squares * self.squares[begin]) - 2).to(torch.int32)
                low, high = torch.aminmax(sums, dim=1)
                hit = ((high >= least) | (-low >= least)).nonzero()[:, 0]
                if len(hit) == 0:
                    continue
                part = sums[hit]
                at = (part.abs() >= least[hit][:, None]).nonzero()
                i, j, sums = places[hit[at[:, 0]]], at[:, 1] + begin, part[at[:, 0], at[:, 1]]
                lengths = torch.sqrt(self.squares[i] * self.squares[j])
                near = sums.abs() >= 0.999 * cut * lengths
                found.append(torch.stack((i, j, sums.long()))[:, near])
        rows = torch.cat(rows).cpu().numpy()
        left, right, sums = torch.cat(found, 1).cpu().numpy()
        squares = self.squares.cpu().numpy()
        others = left != right
        left, right, sums = left[others], right[others], sums[others]
        rho = sums / np.sqrt(squares[left] * squares[right])
        p = p_of(rho, self.cols)
        i, j = self.order[left], self.order[right]
        out = np.rec.fromarrays((np.minimum(i, j), np.maximum(i, j), rho, p), dtype=EDGE)
        _, first = np.unique(out.row.astype(np.uint64) << 32 | out.col, return_index=True)
        return self.order[rows], np.array(out)[first]

    def degrees(self, seconds, bins):
        """Sampled rows, their degrees at p <= ALPHA (and at the cut moved either way), histogram."""
        cut = critical(ALPHA, self.cols)
        cuts = (cut, cut * (1 - 1e-12), cut * (1 + 1e-12))
        rows, degrees = [], []
        histogram = torch.zeros(bins, dtype=torch.int64, device="cuda")
        whole = self.valid <= 300_000
        for places in self.chunks(2048, seconds if not whole else 1e9):
            rows.append(places)
            degree = torch.zeros(3, len(places), dtype=torch.int64, device="cuda")
            for begin in range(0, len(self.ranks), WIDTH):
                rho = self.products(self.ranks[places], begin).double()
                rho /= torch.outer(self.squares[places], self.squares[begin : begin + WIDTH]).sqrt_()
                if whole:
                    kept = rho[rho.abs() >= cut]
                    place = ((kept + 1) * bins / 2).floor_().long().clamp_(max=bins - 1)
                    histogram += torch.bincount(place, minlength=bins)
                rho.abs_()
                for k, at in enumerate(cuts):
                    degree[k] += (rho >= at).sum(1)
            degrees.append(degree - 1)  # each row with itself
        rows = torch.cat(rows).cpu().numpy()
        if whole:
            histogram[-1] -= self.valid
        return (self.order[rows], torch.cat(degrees, 1).cpu().numpy(),
                histogram.cpu().numpy() if whole else None)


def recount_edges(work, folder, seconds):
    start = clock()
    rows, near = work.edges(seconds)
    spent = clock() - start
    sampled = np.zeros(work.rows, bool)
    sampled[rows] = True
    out = {"what": "edges", "agree": True, "rows": len(rows), "pairs": len(rows) * work.valid,
           "seconds": round(spent, 2), "looked_at": len(near)}
    for name, max_p in (("edges", ALPHA / work.family), ("looser_edges", LOOSER)):
        theirs = np.fromfile(f"{folder}/{name}.bin", EDGE)
        touching = theirs[sampled[theirs["row"]] | sampled[theirs["col"]]]
        ours = near[near["p"] <= max_p]
        same = len(touching) == len(ours) and all(
            np.array_equal(touching[field], ours[field]) for field in ("row", "col"))
        rho = p = np.inf
        if same:
            some = ours["p"] > 0
            rho = np.max(np.abs(touching["rho"] - ours["rho"]), initial=0)
            p = np.max(np.abs(touching["p"][some] / ours["p"][some] - 1), initial=0)
            same = not touching["p"][~some].any()
        out[name] = {"max_p": max_p, "library_in_all": len(theirs), "library": len(touching),
                     "recounted": len(ours), "rho_off_by": float(rho), "p_off_by": float(p),
                     "nearest_p_to_cut": float(np.min(np.abs(near["p"] / max_p - 1),
                                                      initial=np.inf))}
        out["agree"] &= bool(same and rho <= 1e-15 and p < 1e-9)
    return out


def recount_degrees(work, folder, seconds):
    theirs = np.fromfile(f"{folder}/degrees.bin", "<u4").astype(np.int64)
    bins = np.fromfile(f"{folder}/histogram.bin", "<u8").astype(np.int64)
    start = clock()
    rows, degrees, histogram = work.degrees(seconds, len(bins))
    spent = clock() - start
    sums_agree = int(theirs.sum()) == 2 * int(bins.sum())
    out = {"what": "degrees", "rows": len(rows), "pairs": len(rows) * work.valid,
           "seconds": round(spent, 2), "rows_that_differ": int((theirs[rows] != degrees[0]).sum()),
           "decided_by_rounding": int((degrees[1] != degrees[2]).sum()),
           "sampled_degrees": int(degrees[0].sum()), "kept": int(bins.sum()),
           "kept_by_sample": float(degrees[0].mean() * work.valid / 2),
           "degrees_are_twice_the_histogram": sums_agree}
    agree = sums_agree and out["rows_that_differ"] == 0 and out["decided_by_rounding"] == 0
    if histogram is not None:
        out["bins_that_differ"] = int((histogram != 2 * bins).sum())
        agree &= out["bins_that_differ"] == 0
    return {"agree": bool(agree), **out}


def peer(work, tiles=3):
    """Seconds of the whole job by tiles of torch, from a few of them."""
    cuts = {"edges": critical(ALPHA / work.family, work.cols), "counts": critical(ALPHA, work.cols)}
    valid = work.ranks[: work.valid]
    units = valid.float() / valid.float().norm(dim=1, keepdim=True)

    def edges(products):
        return (products.abs_() >= cuts["edges"]).nonzero()

    def counts(products):
        kept = products.abs() >= cuts["counts"]
        return kept.sum(0), kept.sum(1), torch.histc(products[kept].float(), 200, -1, 1)

    for name, dtype, tf32 in (("float32", torch.float32, False), ("tf32", torch.float32, True),
                              ("float16", torch.float16, False)):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        typed = units[:WIDTH * 2].to(dtype)
        for job_name, finish in (("edges", edges), ("counts", counts)):
            best = np.inf
            for rows, width in ((4096, 16384), (8192, 65536)):
                def tile(k):
                    return finish(typed[k * rows : (k + 1) * rows] @ typed[-width:].T)
                tile(0)
                start = clock()
                for k in range(tiles):
                    tile(k)
                best = min(best, (clock() - start) / (tiles * rows * width))
            yield {"what": f"torch tiles, {job_name}", "type": name, "pairs_per_second": 1 / best,
                   "whole_job_seconds_extrapolated": best * work.family}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("table")
    parser.add_argument("folder")
    parser.add_argument("--edges", type=float, default=10)
    parser.add_argument("--degrees", type=float, default=4)
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--json")
    asked = parser.parse_args()
    good, lines = True, []

    def say(line):
        lines.append(line)
        print(json.dumps(line), flush=True)
        if asked.json:
            with open(asked.json, "w") as file:
                json.dump(lines, file, indent=1)

    start = time.perf_counter()
    work = job(asked.table)
    say({"what": "ranks", "agree": work.ranks_agree, "rows": work.rows, "valid": work.valid,
         "family": work.family, "seconds": round(clock() - start, 2), "torch": torch.__version__,
         "device": torch.cuda.get_device_name()})
    good &= work.ranks_agree
    for recount, seconds in ((recount_edges, asked.edges), (recount_degrees, asked.degrees)):
        if seconds == 0:
            continue
        line = recount(work, asked.folder, seconds)
        good &= line["agree"]
        say(line)
    if asked.peer:
        for line in peer(work):
            say(line)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
