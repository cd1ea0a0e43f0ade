#!/usr/bin/env python3
"""Runs all that only a GPU can show from a build folder, and writes one report.

    tools/dev/gpu/report.py FOLDER --output REPORT.json [--before REPORT.json] [--quick]
                            [--minutes 3] [--jobs 4] [--python PYTHON]

The first call of every operation, with an empty cache of the driver where that has to compile the
library's code, each of which may take 20 s then; the CUDA tests side by side with
GPU_SIMILARITY_REQUIRE_CUDA=1, so a skip is a failure; alone, the campaigns for some minutes, small
cases of every kernel under compute-sanitizer and the tests of the Python package (these not with
--quick); and the timed jobs. A case of a test that the device could run, but for which the build
holds no code, is counted as "not in this build": a failure where the build is for the device itself,
and so is a test program of which nothing is left to run by a build that is not older.
A job that takes more than 3 % longer than in the earlier report (5 % below 5 ms) is a regression.
Without --before that is the newest under bench/results/gpu of this GPU and these architectures.
The exit code is 1 where a test, a tool or a job failed or a job regressed.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TEST_SECONDS = 600
JOB_SECONDS = 120
# What a first call may take that the driver compiles code for.
FIRST_CALL_SECONDS = 20
RESULTS = pathlib.Path("bench/results/gpu")
# As bench/pair_job takes them: tall, wide and small tables, independent and correlated rows.
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
    "pearson 20000 2000 0 0 0 1 top_k 5",
    "pearson 2000 2000 0.04 0.5 0 0.05 counts 9",
    "pearson 1000 20000 0.04 0.5 0 0.05 counts 9",
    "pearson 1000 20000 0.04 0.5 0 1 dense 9",
    "pearson 300 300 0.04 0.5 0 0.05 edges 30",
    "cosine 200000 64 0 0 0 0.8 edges 5",
    "cosine 1000 20000 0.04 0.5 0 1 dense 9",
    "kendall 1000000 30 0 0 20 1e-12 edges 5",
    "kendall 20000 100 0.04 0.85 20 1e-6 counts 5",
    "kendall 20000 100 0 0 0 0.05 counts 5",
    "bicor 200000 64 0 0 0 1e-9 edges 5",
    "bicor 1000 20000 0.04 0.5 0 1 dense 9",
]
ASSERTIONS = re.compile(r"(\d+) assertions?")
BEST = re.compile(r" best ([0-9.]+) ")
CALL = re.compile(r"^(.*): first ([0-9.]+) s(?:, best ([0-9.]+) s)?")
NOT_BUILT = "not in this build: "
SKIPPED = "skipped: "


def run(command, seconds, given=None, **environment):
    """Output, exit code and seconds of a command; -1 where it was ended after `seconds`."""
    started = time.monotonic()
    if shutil.which(str(command[0])) is None:
        return f"{command[0]} is not there\n", -1, 0.0
    with subprocess.Popen([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, **environment}) as process:
        code = None
        try:
            output, _ = process.communicate(given, timeout=seconds)
            code = process.returncode
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            try:
                output, _ = process.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                output, _ = process.communicate()
            output += f"\nended after {seconds} s\n"
    return output, -1 if code is None else code, round(time.monotonic() - started, 1)


def say(result, name):
    print(f"{'ok  ' if result['passed'] else 'FAIL'} {name}", flush=True)
    if not result["passed"]:
        print(result["output"], flush=True)


def read_calls(output):
    """Name, first and best seconds of each line of call_times; the first two lines are no calls."""
    return [{"call": name, "first_s": float(first), "best_ms": round(1e3 * float(best), 3) if best else None}
            for name, first, best in (match.groups() for match in map(CALL.match, output.splitlines())
                                      if match)]


def run_first_calls(folder, cache, is_compiled):
    """Every operation once, from an empty cache, then again with what that left in it."""
    program = folder / "bench" / "call_times"
    rounds = [("from an empty cache", 0), ("from the cache", 0)] if is_compiled else [("", 0)]
    shutil.rmtree(cache, ignore_errors=True)
    for name, repeats in rounds:
        output, code, seconds = run([program, "--repeats", repeats], 300, CUDA_CACHE_PATH=str(cache))
        calls = read_calls(output)
        slow = [call["call"] for call in calls if call["first_s"] > FIRST_CALL_SECONDS]
        result = {"round": name, "passed": code == 0 and not slow, "code": code, "seconds": seconds,
                  "calls": calls, "slow": slow, "output": "" if code == 0 else output[-3000:]}
        worst = max(calls, key=lambda call: call["first_s"], default={"call": "none", "first_s": 0})
        say(result, f"first calls {name}: {len(calls)} in {seconds} s, the longest {worst['first_s']:.2f} s: "
                    f"{worst['call']}")
        if is_compiled:
            print(output, flush=True)
        yield result


def notes(beginning, output):
    """What stands behind the beginning of each line that has it."""
    return [line[len(beginning):] for line in output.splitlines() if line.startswith(beginning)]


def run_test(program, arguments=()):
    output, code, seconds = run([program, *arguments], TEST_SECONDS, GPU_SIMILARITY_REQUIRE_CUDA="1")
    found = ASSERTIONS.findall(output)
    assertions = int(found[-1]) if found else 0
    return {"test": program.name, "passed": code == 0, "code": code, "assertions": assertions,
            "not_built": notes(NOT_BUILT, output), "skipped": notes(SKIPPED, output), "seconds": seconds,
            "output": "" if code == 0 else output[-6000:]}


def run_tests(folder, jobs, is_older):
    """The CUDA tests. `is_older`: the build is for devices older than this one."""
    tests = folder / "tests"
    programs = [(path, ()) for path in sorted(tests.glob("*_cuda_test"))]
    programs += [(tests / "cuda_faults_test", ()), (tests / "golden_test", ("--target", "cuda"))]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for result in pool.map(lambda program: run_test(*program), programs):
            if result["not_built"] and not is_older:
                result["passed"] = False
                result["output"] += "the build is for this device, but lacks code that it can run\n"
            # What a machine with one GPU lacks is no failure, but said.
            if result["passed"] and result["assertions"] == 0 and not result["not_built"] and not result["skipped"]:
                result["passed"] = False
                result["output"] += "nothing was tested\n"
            lacking = f", {len(result['not_built'])} cases not in this build" if result["not_built"] else ""
            lacking += "".join(f", skipped: {reason}" for reason in result["skipped"][:1])
            say(result, f"{result['test']}: {result['assertions']} assertions{lacking}, "
                        f"{result['seconds']} s")
            yield result


def run_campaigns(folder, minutes):
    """Random calls and jobs, a third of the time each."""
    seconds = max(5, round(60 * minutes / 3))
    for name, arguments in (("soak_cuda", ["--threads", 8]), ("pair_soak_test", []),
                            ("parts_model_test", ["--jobs", 4])):
        program = folder / "tests" / name
        output, code, took = run([program, "--seconds", seconds, *arguments], seconds + 300)
        result = {"campaign": name, "passed": code == 0, "seconds": took,
                  "output": output[-400:] if code == 0 else output[-6000:]}
        say(result, f"{name}: {took} s")
        yield result


def run_sanitizers(folder):
    for tool in ("memcheck", "racecheck", "synccheck"):
        output, code, seconds = run(["tools/dev/sanitize-cuda.sh", "--program",
                                     folder / "tests" / "soak_cuda", tool], 1800)
        result = {"tool": tool, "passed": code == 0, "seconds": seconds,
                  "output": "" if code == 0 else output[-6000:]}
        say(result, f"{tool}: {seconds} s")
        yield result


def run_python(folder, python):
    """The package's tests of CUDA, on a copy of the package beside the module that was built."""
    with tempfile.TemporaryDirectory() as site:
        package = pathlib.Path(site) / "gpu_similarity"
        shutil.copytree("python/gpu_similarity", package)
        for module in (folder / "python").glob("_core*.so"):
            shutil.copy(module, package)
        path = os.pathsep.join(filter(None, (site, os.environ.get("PYTHONPATH"))))
        output, code, seconds = run([python, "-m", "pytest", "-q", "-rs", "python/tests/test_cuda.py"], 900,
                                    PYTHONPATH=path, GPU_SIMILARITY_REQUIRE_CUDA="1")
    result = {"test": "test_cuda.py", "passed": code == 0, "code": code, "seconds": seconds,
              "output": output[-300:] if code == 0 else output[-6000:]}
    say(result, f"test_cuda.py: {seconds} s: {output.strip().splitlines()[-1] if output.strip() else ''}")
    yield result


def run_jobs(folder):
    for job in JOBS:
        output, code, _ = run([folder / "bench" / "pair_job"], JOB_SECONDS, given=job + "\n")
        best = BEST.findall(output)
        ms = round(1e3 * float(best[0]), 3) if code == 0 and best else None
        print(f"{ms if ms is not None else 'FAIL'} ms  {job}", flush=True)
        yield {"job": job, "ms": ms, "output": "" if ms is not None else output[-2000:]}
    # Ranks, filters, the largest of rows, products, missing values.
    output, code, _ = run([folder / "bench" / "call_times", "--repeats", 5], 300)
    for call in read_calls(output):
        if call["best_ms"] is not None:
            print(f"{call['best_ms']} ms  {call['call']}", flush=True)
            yield {"job": call["call"], "ms": call["best_ms"], "output": ""}
    if code != 0:
        yield {"job": "call_times", "ms": None, "output": output[-2000:]}


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


def architectures_of(folder):
    """CMAKE_CUDA_ARCHITECTURES of a build folder."""
    for line in (folder / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("CMAKE_CUDA_ARCHITECTURES:"):
            return line.split("=", 1)[1]
    return ""


def is_for_older(architectures, capability):
    """Whether the device (9.0) is newer than all that the build has code for."""
    built = [int(number) for number in re.findall(r"\d+", architectures)]
    return bool(built) and max(built) < round(10 * float(capability or 0))


def newest_report(gpu, architectures):
    """The newest kept report of this GPU and these architectures, or nothing."""
    reports = [json.loads(path.read_text()) for path in RESULTS.glob("*.json")]
    same = [r for r in reports if r["gpu"] == gpu and r.get("architectures") == architectures]
    return max(same, key=lambda r: r.get("time", ""), default={})


def measure(asked):
    architectures = architectures_of(asked.folder)
    gpu = told_by("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").split("\n")[0]
    capability = told_by("nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader").split("\n")[0]
    info, _, seconds = run([asked.folder / "src" / "cli" / "gpu-similarity", "info"], 60)
    print(info, flush=True)
    cache = asked.folder / "driver_cache"
    is_older = is_for_older(architectures, capability)
    report = {
        "gpu": gpu, "compute_capability": capability, "architectures": architectures,
        "driver": told_by("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").split("\n")[0],
        "commit": os.environ.get("GPU_REPORT_COMMIT") or told_by("git", "rev-parse", "HEAD"),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "cpu_threads": os.cpu_count(),
        "info": info, "info_seconds": seconds}
    os.environ["CUDA_CACHE_PATH"] = str(cache.resolve())
    # Written after every step: what was found stays where a later one is ended from outside.
    steps = [("first_calls", lambda: run_first_calls(asked.folder, cache.resolve(), " PTX of " in info)),
             ("tests", lambda: run_tests(asked.folder, asked.jobs, is_older)),
             ("jobs", lambda: run_jobs(asked.folder))]
    if not asked.quick:
        steps += [("python", lambda: run_python(asked.folder, asked.python) if asked.python else ()),
                  ("campaigns", lambda: run_campaigns(asked.folder, asked.minutes)),
                  ("sanitizers", lambda: run_sanitizers(asked.folder))]
    for name, step in steps:
        report[name] = []
        for result in step():
            report[name].append(result)
            asked.output.write_text(json.dumps(report, indent=1) + "\n")
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--minutes", type=float, default=3, help="of the campaigns, in all")
    parser.add_argument("--jobs", type=int, default=4, help="tests side by side")
    parser.add_argument("--python", help="an interpreter with NumPy and pytest: tests of the package")
    asked = parser.parse_args()
    report = measure(asked)
    before = (json.loads(asked.before.read_text()) if asked.before
              else newest_report(report["gpu"], report["architectures"]))
    report["before"] = before.get("commit")
    report["regressions"] = list(regressions(report["jobs"], before))
    asked.output.write_text(json.dumps(report, indent=1) + "\n")
    for slower in report["regressions"]:
        print(f"slower: {slower['ratio']} times {slower['before_ms']} ms: {slower['job']}")
    checked = [r for step in ("first_calls", "tests", "python", "campaigns", "sanitizers")
               for r in report.get(step, [])]
    failed = [r for r in checked if not r["passed"]] + [j for j in report["jobs"] if j["ms"] is None]
    not_built = sum(len(test["not_built"]) for test in report["tests"])
    print(f"{report['architectures']} on {report['gpu']}: {len(report['tests'])} test programs, {not_built} cases "
          f"not in this build, {len(failed)} failures, {len(report['regressions'])} regressions from "
          f"{(report['before'] or 'nothing')[:7]}; {asked.output}")
    sys.exit(1 if failed or report["regressions"] or not report["tests"] else 0)


if __name__ == "__main__":
    main()
