"""Runs the programs of a build and the Python peers, and writes what they say as one JSON of a machine."""

import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

from . import cases

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench/results"
PEERS = ROOT / "bench/peers"
# What libbenchmark puts behind a name.
ENDING = "(/min_time:[0-9.]+)?(/manual_time|/real_time)?"
SECONDS_OF = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


class Machine:
    def __init__(self, build):
        self.build = build.resolve()
        self.gpu = self.ask("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").split("\n")[0].strip()
        cores = f"{len(os.sched_getaffinity(0))} CPU cores"
        self.short = next((name for name in cases.LIMITS if name in self.gpu), self.gpu or cores)
        self.rates = cases.LIMITS.get(self.short, {})
        self.left_out = []

    @staticmethod
    def ask(*command):
        try:
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return ""

    def program(self, name):
        for folder in (self.build / "bench", self.build):
            if (folder / name).is_file():
                return folder / name
        return None

    def about(self):
        lines = pathlib.Path("/proc/cpuinfo").read_text().split("\n")
        cpu = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")),
                   platform.machine())
        commit = os.environ.get("COMMIT") or self.ask(
            "git", "-C", str(ROOT), "describe", "--always", "--dirty").strip() or "unknown"
        return {"machine": (f"{self.gpu}, " if self.gpu else "") + f"{len(os.sched_getaffinity(0))} cores, {cpu}",
                "short": self.short, "commit": commit, "date": datetime.date.today().isoformat(),
                "threads": os.environ.get("OMP_NUM_THREADS", "default"), "load": os.getloadavg()[0]}


def number_behind(word, line):
    match = re.search(rf"\b{word} ([0-9.e+]+)", line)
    return float(match[1]) if match else None


def run_pair_job(machine, line):
    """(median seconds, kept pairs) of one line of pair_job."""
    program = machine.program("pair_job")
    if program is None:
        machine.left_out.append("pair_job is not in the build")
        return None
    told = subprocess.run([program], input=line + "\n", capture_output=True, text=True, check=False)
    seconds, kept = number_behind("s", told.stdout), number_behind("kept", told.stdout)
    if told.returncode or seconds is None:
        machine.left_out.append(f"{line}: {(told.stdout + told.stderr).strip()[:200]}")
        return None
    return seconds, kept


def torch_edges(machine, job, rows):
    """Seconds of torch for all pairs of `rows` rows of the job, by bench/peers/edges_torch.py."""
    measure, cut = job.measure, job.rest.split()[3]
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder, "table.npy")
        if run_pair_job(machine, f"{measure} {rows} {job.cols} {' '.join(job.rest.split()[:4])} counts 1 table={table}") is None:
            return None
        told = subprocess.run([sys.executable, PEERS / "edges_torch.py", table, measure, cut, "5"],
                              capture_output=True, text=True, check=False)
    if told.returncode:
        machine.left_out.append(f"torch, {job.job}: {told.stderr.strip()[-200:]}")
        return None
    return number_behind("s", told.stdout)


def pair_rows(machine, operation, jobs):
    for job in jobs:
        found = run_pair_job(machine, job.line())
        if found is None:
            continue
        seconds, kept = found
        pairs = job.rows * (job.rows - 1) / 2
        row = {"operation": operation, "job": job.job, "seconds": seconds, "work": pairs}
        if machine.rates and operation == "pairs" and "top_k" not in job.rest:
            row["limit_seconds"] = cases.pair_limit(job.rows, job.cols, kept if "edges" in job.rest else 0,
                                                    machine.rates)
        peer = torch_edges(machine, job, job.peer_rows) if job.peer_rows and machine.gpu else None
        if peer:
            part = job.peer_rows * (job.peer_rows - 1) / 2
            row |= {"peer": "PyTorch", "peer_seconds": peer * pairs / part}
            if job.peer_rows != job.rows:
                row["peer_on"] = f"{job.peer_rows:,} rows"
        yield row


def wide_rows(machine):
    """The cells of cases.WIDE, by bench/peers/plane.py, which also compares the answers."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "cells.jsonl")
        told = subprocess.run([sys.executable, PEERS / "plane.py", "cuda", "--output", out, "--cell", *cases.WIDE],
                              capture_output=True, text=True, check=False)
        found = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    if told.returncode or len(found) < len(cases.WIDE):
        machine.left_out.append(f"plane.py: {(told.stdout + told.stderr).strip()[-200:]}")
    for cell in found:
        pairs = cell["rows"] * (cell["rows"] - 1) / 2
        row = {"operation": "wide", "job": cases.WIDE[cell["name"]], "seconds": cell["ms"] / 1e3, "work": pairs,
               "peer": "PyTorch float32", "peer_seconds": cell["peer_ms"] / 1e3}
        if machine.rates and cell["measure"] == "pearson":
            row["limit_seconds"] = 2 * pairs * cell["cols"] / machine.rates["float"]
        yield row


def benchmarks(machine, program, names):
    """name -> seconds of the benchmarks of a program."""
    path = machine.program(program)
    if path is None:
        machine.left_out.append(f"{program} is not in the build")
        return {}
    wanted = "|".join(f"^{re.escape(name)}{ENDING}$" for name in names)
    told = subprocess.run([path, f"--benchmark_filter={wanted}", "--benchmark_format=json"],
                          capture_output=True, text=True, check=False)
    if told.returncode:
        machine.left_out.append(f"{program}: {told.stderr.strip()[-200:]}")
        return {}
    start = told.stdout.find("{")
    found = {}
    for run in json.loads(told.stdout[start:])["benchmarks"] if start >= 0 else []:
        if run.get("error_occurred"):
            machine.left_out.append(f"{run['name']}: {run.get('error_message')}")
        else:
            name = re.sub(f"{ENDING}$", "", run["name"])
            found[name] = run["real_time"] * SECONDS_OF[run["time_unit"]]
    return found


def script_lines(machine, script, cache={}):
    """The lines of a Python peer, blanks made single; run once."""
    if script not in cache:
        told = subprocess.run([sys.executable, PEERS / script], capture_output=True, text=True, check=False)
        if told.returncode:
            machine.left_out.append(f"{script}: {told.stderr.strip()[-200:]}")
        cache[script] = [re.sub(r"\s+", " ", line).strip() for line in told.stdout.split("\n")]
    return cache[script]


def script_seconds(machine, job):
    """The first number behind the name: milliseconds where 'ms' follows it, else microseconds."""
    for line in script_lines(machine, job.peer_script):
        if line.startswith(job.peer_name):
            match = re.match(r"[:\s]*([0-9.]+)\s*(ms)?", line[len(job.peer_name):])
            if match:
                return float(match[1]) * (1e-3 if match[2] else 1e-6)
    machine.left_out.append(f"{job.peer_script} says nothing of '{job.peer_name}'")
    return None


def bench_rows(machine, operation):
    jobs = [job for job in cases.BENCHES if job.operation == operation]
    names = [job.name for job in jobs] + [job.peer_name for job in jobs if job.peer_name and not job.peer_script]
    found = benchmarks(machine, jobs[0].program, names)
    for job in jobs:
        if job.name not in found:
            machine.left_out.append(f"{job.program} gave no time of {job.name}")
            continue
        row = {"operation": operation, "job": job.job, "seconds": found[job.name], "work": job.work}
        if job.limit in machine.rates:
            row["limit_seconds"] = job.limit_work / machine.rates[job.limit]
        peer = found.get(job.peer_name) if not job.peer_script else script_seconds(machine, job)
        if peer:
            row |= {"peer": job.peer, "peer_seconds": peer}
        yield row


def cpu_peer_rows(machine):
    """The rows of bench/peers/cpu_peers.py, which runs the library and its peers in turn."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "rows.json")
        subprocess.run([sys.executable, PEERS / "cpu_peers.py", machine.build, "--json", out, "--only",
                        "spearman", "pearson"], capture_output=True, text=True, check=False)
        for row in json.loads(out.read_text())["jobs"] if out.exists() else []:
            rows = int(re.search(r"([0-9,]+) x ", row["job"])[1].replace(",", ""))
            yield {"operation": "pairs_cpu", "job": row["job"][0].upper() + row["job"][1:],
                   "seconds": row["library_seconds"], "work": rows * (rows - 1) / 2,
                   "peer": row["peer"], "peer_seconds": row["peer_seconds"]}
        if not out.exists():
            machine.left_out.append("cpu_peers.py gave no answer")


def curves(machine):
    for curve, shapes in cases.CURVES.items():
        for where in (("", "cpu:") if machine.gpu else ("cpu:",)):
            points = []
            for rows, cols in shapes:
                if where and rows * (rows - 1) / 2 * cols > 2e12:
                    continue  # minutes on a CPU
                found = run_pair_job(machine, f"spearman {rows} {cols} {cases.CURVE_CUT.format(where)} 3")
                if found:
                    points.append([rows if curve == "rows" else cols, found[0]])
            yield {"curve": curve, "on": "CPU" if where else machine.short, "points": points}


def measurements(machine):
    """(operation, what measures its rows) of all that this machine can run."""
    if machine.gpu:
        yield "pairs", lambda: pair_rows(machine, "pairs", cases.PAIRS)
        yield "wide", lambda: wide_rows(machine)
        for operation in ("rank", "mean_filter", "top_k", "matmul", "binary_matmul"):
            yield operation, lambda operation=operation: bench_rows(machine, operation)
    yield "pairs_cpu", lambda: [*cpu_peer_rows(machine), *pair_rows(machine, "pairs_cpu", cases.PAIRS_CPU)]


def run(asked):
    machine = Machine(asked.build)
    about = machine.about()
    name = asked.machine or re.sub(r"[^a-z0-9]+", "_", machine.short.lower()).strip("_")
    path = RESULTS / asked.release / f"{name}.json"
    unknown = set(asked.only) - set(cases.OPERATIONS) - {"curves"}
    if unknown:
        raise SystemExit(f"publish: no operation {sorted(unknown)}; there are {[*cases.OPERATIONS, 'curves']}")
    wants = lambda operation: not asked.only or operation in asked.only  # noqa: E731
    earlier = json.loads(path.read_text()) if path.exists() else {}
    before = earlier if earlier and asked.only else {"rows": [], "curves": []}
    rows = [row for row in before["rows"] if not wants(row["operation"])]
    drawn = before["curves"]

    def keep():
        told = {**about, "rows": rows, "curves": drawn, "left_out": machine.left_out}
        if earlier.get("plane"):
            told["plane"] = earlier["plane"]  # of bench/publish plane
            told["plane_commit"] = earlier["plane_commit"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(told, indent=1) + "\n")

    # Kept operation by operation: a run that is cut short has what it measured.
    for operation, measured in measurements(machine):
        if wants(operation):
            rows += measured()
            keep()
    if wants("curves"):
        drawn = list(curves(machine))
    keep()
    for line in machine.left_out:
        print(f"left out: {line}")
    print(f"{path}: {len(rows)} rows, {len(drawn)} curves")
    return 0 if rows else 1
