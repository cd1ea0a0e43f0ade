#!/usr/bin/env python3
"""The jobs of the benchmarks page on a device with little memory: the same answers.

    tools/dev/gpu/small_cards.py FOLDER [--free 16 8] [--seconds 300] [--output REPORT.json]

FOLDER is a build with the benchmarks. Each job of all pairs (bench/publishing/cases.py), a few wide
ones and one call of each other operation run with all of the device's memory, then while
bench/ballast holds all but so many GiB. A job whose kept pairs or checksum differ, or that fails, or
takes longer than --seconds, ends this with code 1.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
from publishing import cases  # noqa: E402

WIDE = [
    "pearson 2000 100000 0 0 0 1 dense 1",
    "pearson 20000 2000 0 0 0 1 top_k 1",
    "spearman 2000 100000 0 0 0 1 dense 1",
    "spearman 5000 5000 0 0 0 0.05 counts 1",
    "spearman 20000 10000 0 0 0 1e-6 edges 1",
]
ANSWER = re.compile(r"kept (\d+) .* best ([0-9.]+) .* checksum (\S+)")
CALL = re.compile(r"^(.*): first .* best ([0-9.]+) s.*, checksum (\S+)$", re.MULTILINE)


def run(command, given, seconds):
    """Output of a command, or nothing where it failed or took too long; then what it said."""
    try:
        done = subprocess.run(command, input=given, text=True, capture_output=True, timeout=seconds,
                              check=False)
    except subprocess.TimeoutExpired:
        return None, f"not done after {seconds} s"
    return (done.stdout if done.returncode == 0 else None), (done.stdout + done.stderr)[-600:]


def answers(folder, free, seconds):
    """(job, answer, best seconds) of every job with so many GiB free; 0: all of them."""
    ballast = [str(folder / "bench" / "ballast"), str(free)] if free else []
    jobs = [f"{job.measure} {job.rows} {job.cols} {job.rest} 1" for job in cases.PAIRS] + WIDE
    for job in jobs:
        output, said = run([*ballast, str(folder / "bench" / "pair_job")], job + "\n", seconds)
        found = ANSWER.search(output or "")
        yield (job, f"{found[1]} {found[3]}", float(found[2])) if found else (job, None, said)
    output, said = run([*ballast, str(folder / "bench" / "call_times"), "--repeats", "1", "--checksums", "1"],
                       None, 2 * seconds)
    for name, best, checksum in CALL.findall(output or ""):
        yield name, checksum, float(best)
    if output is None:
        yield "call_times", None, said


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--free", type=float, nargs="+", default=[16, 8], help="GiB")
    parser.add_argument("--seconds", type=float, default=300, help="for a job")
    parser.add_argument("--output", type=pathlib.Path)
    asked = parser.parse_args()
    wanted, rows, wrong = {}, [], 0
    for free in (0, *asked.free):
        for job, answer, best in answers(asked.folder, free, asked.seconds):
            wanted.setdefault(job, answer)
            same = answer is not None and answer == wanted[job]
            wrong += not same
            rows.append({"job": job, "free_gib": free or None, "answer": answer, "seconds": best,
                         "same": same})
            print(f"{'ok  ' if same else 'FAIL'} {f'{free:g} GiB' if free else 'all':>7} {best} s  {job}: {answer}",
                  flush=True)
            if asked.output:
                asked.output.write_text(json.dumps(rows, indent=1) + "\n")
    print(f"{len(rows)} runs, {wrong} wrong")
    sys.exit(1 if wrong or not rows else 0)


if __name__ == "__main__":
    main()
