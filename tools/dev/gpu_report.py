#!/usr/bin/env python3
"""Runs the CUDA tests, compute-sanitizer and timed jobs of a build folder, and writes one report.

    tools/dev/gpu_report.py FOLDER --output REPORT.json [--before REPORT.json] [--quick] [--jobs 4]

Tests are run side by side with GPU_SIMILARITY_REQUIRE_CUDA=1, so a skip is a failure; then alone,
small cases of every kernel under compute-sanitizer (not with --quick), and the timed jobs. A job
that takes more than 3 % longer than in the earlier report (5 % below 5 ms) is a regression.
The exit code is 1 where a test, a tool or a job failed or a job regressed.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

TEST_SECONDS = 900
# As bench/edges_job takes them: tall, wide and small tables, independent and correlated rows.
JOBS = [
    "spearman 2000000 30 0 0 0 1e-12 counts 5",
    "spearman 1000000 30 0 0 0 1e-12 edges 5",
    "spearman 22283 57 0.04 0.85 0 1e-9 edges 9",
    "spearman 22283 57 0.04 0.85 0 0.05 edges 5",
    "spearman 22283 30 0.04 0.85 6 0.05 counts 9",
    "spearman 200000 64 0 0 0 1 top_k 5",
    "spearman 20000 1000 0 0 0 1e-9 edges 9",
    "spearman 2000 2000 0.04 0.5 0 0.05 counts 9",
    "spearman 1000 20000 0.04 0.5 0 0.05 counts 9",
    "spearman 1000 20000 0.04 0.5 0 1 dense 9",
    "pearson 1000000 30 0 0 0 1e-12 edges 5",
    "pearson 500000 30 0 0 0 0.05 counts 5",
    "pearson 22283 57 0.04 0.85 0 1e-9 edges 9",
    "pearson 200000 64 0 0 0 1 top_k 5",
    "pearson 2000 2000 0.04 0.5 0 0.05 counts 9",
    "pearson 1000 20000 0.04 0.5 0 0.05 counts 9",
    "pearson 1000 20000 0.04 0.5 0 1 dense 9",
    "pearson 300 300 0.04 0.5 0 0.05 edges 30",
    "cosine 200000 64 0 0 0 0.8 edges 5",
    "cosine 1000 20000 0.04 0.5 0 1 dense 9",
]
ASSERTIONS = re.compile(r"(\d+) assertions?")
BEST = re.compile(r" best ([0-9.]+) ")


def run_test(program):
    environment = {**os.environ, "GPU_SIMILARITY_REQUIRE_CUDA": "1", "OMP_WAIT_POLICY": "passive"}
    started = time.monotonic()
    try:
        done = subprocess.run([program], env=environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=TEST_SECONDS)
        output, code = done.stdout, done.returncode
    except subprocess.TimeoutExpired as late:
        output, code = (late.stdout or b"").decode(errors="replace"), -1
    found = ASSERTIONS.findall(output)
    return {"test": program.name, "passed": code == 0, "code": code,
            "assertions": int(found[-1]) if found else 0,
            "seconds": round(time.monotonic() - started, 1),
            "output": "" if code == 0 else output[-6000:]}


def run_tests(folder, jobs):
    programs = sorted(folder.glob("tests/*_cuda_test"))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for result in pool.map(run_test, programs):
            print(f"{'ok  ' if result['passed'] else 'FAIL'} {result['test']}: "
                  f"{result['assertions']} assertions, {result['seconds']} s", flush=True)
            if not result["passed"]:
                print(result["output"], flush=True)
            yield result


def run_sanitizers(folder):
    for tool in ("memcheck", "racecheck", "synccheck"):
        started = time.monotonic()
        done = subprocess.run(["tools/dev/sanitize-cuda.sh", "--program",
                               str(folder / "tests" / "soak_cuda"), tool], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        result = {"tool": tool, "passed": done.returncode == 0,
                  "seconds": round(time.monotonic() - started, 1),
                  "output": "" if done.returncode == 0 else done.stdout[-6000:]}
        print(f"{'ok  ' if result['passed'] else 'FAIL'} {tool}: {result['seconds']} s", flush=True)
        yield result


def run_jobs(folder):
    program = folder / "bench" / "edges_job"
    for job in JOBS:
        done = subprocess.run([program], input=job + "\n", text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        best = BEST.findall(done.stdout)
        ms = round(1e3 * float(best[0]), 3) if done.returncode == 0 and best else None
        print(f"{ms if ms is not None else 'FAIL'} ms  {job}", flush=True)
        yield {"job": job, "ms": ms, "output": "" if ms is not None else done.stdout[-2000:]}


def regressions(jobs, before):
    known = {job["job"]: job["ms"] for job in before.get("jobs", []) if job["ms"]}
    for job in jobs:
        old = known.get(job["job"])
        if old is None or job["ms"] is None:
            continue
        allowed = 1.05 if old < 5 else 1.03
        if job["ms"] > allowed * old:
            yield {"job": job["job"], "before_ms": old, "ms": job["ms"],
                   "ratio": round(job["ms"] / old, 3)}


def told_by(*command):
    try:
        return subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True,
                              stderr=subprocess.DEVNULL).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=4, help="tests side by side")
    asked = parser.parse_args()
    report = {
        "gpu": told_by("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").split("\n")[0],
        "driver": told_by("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"),
        "commit": os.environ.get("GPU_REPORT_COMMIT") or told_by("git", "rev-parse", "HEAD"),
        "cpu_threads": os.cpu_count(),
        "tests": list(run_tests(asked.folder, asked.jobs)),
        "sanitizers": [] if asked.quick else list(run_sanitizers(asked.folder)),
        "jobs": list(run_jobs(asked.folder)),
    }
    before = json.loads(asked.before.read_text()) if asked.before else {}
    report["regressions"] = list(regressions(report["jobs"], before))
    asked.output.write_text(json.dumps(report, indent=1) + "\n")
    for slower in report["regressions"]:
        print(f"slower: {slower['ratio']} times {slower['before_ms']} ms: {slower['job']}")
    failed = [r for r in report["tests"] + report["sanitizers"] if not r["passed"]]
    failed += [job for job in report["jobs"] if job["ms"] is None]
    print(f"{len(report['tests'])} test programs, {len(failed)} failures, "
          f"{len(report['regressions'])} regressions; {asked.output}")
    sys.exit(1 if failed or report["regressions"] or not report["tests"] else 0)


if __name__ == "__main__":
    main()
