"""docs/benchmarks.md out of bench/results/RELEASE/*.json."""

import json
import pathlib
import re

from . import cases

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/benchmarks.md"
MOST_LINES = 120
MOST_ROWS = 8


def load(release):
    files = sorted((ROOT / "bench/results" / release).glob("*.json"))
    if not files:
        raise SystemExit(f"publish: bench/results/{release} holds no results")
    return [json.loads(file.read_text()) for file in files]


def in_units(value, units):
    for factor, unit in units:
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value / units[-1][0]:.3g} {units[-1][1]}"


def time_text(seconds):
    return in_units(seconds, [(1, "s"), (1e-3, "ms"), (1e-6, "us")])


def rate_text(rate):
    return re.sub(r"e\+?0*", "e", f"{rate:.1e}")


def ratio_text(ratio):
    return f"{ratio:.2f}" if ratio < 1 else f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"


def ratio_of(row):
    return row["peer_seconds"] / row["seconds"] if row.get("peer_seconds") else None


def table(rows, unit):
    yield f"| job | on | time | {unit} | of the limit | peer | its time | ratio |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows[:MOST_ROWS]:
        rate = rate_text(row["work"] / row["seconds"]) if row.get("work") else ""
        share = f"{100 * row['limit_seconds'] / row['seconds']:.0f} %" if row.get("limit_seconds") else ""
        ratio = ratio_of(row)
        peer = row.get("peer", "") if ratio else ""
        peer += f" (a part: {row['peer_on']})" if row.get("peer_on") else ""
        peer_time = time_text(row["peer_seconds"]) if ratio else ""
        yield (f"| {row['job']} | {row['on']} | **{time_text(row['seconds'])}** | {rate} | {share} | {peer} | "
               f"{peer_time} | {ratio_text(ratio) if ratio else ''} |")


def slower(rows):
    """The rows in which a peer is faster, the worst first."""
    found = sorted((row for row in rows if (ratio_of(row) or 1) < 0.97), key=ratio_of)
    for row in found[:8]:
        title = cases.OPERATIONS[row["operation"]][0]
        yield f"- {title[0].lower() + title[1:]}, {row['job']} ({row['on']}): {row['peer']} takes {ratio_text(ratio_of(row))} of the time."


def older_devices():
    """One line of times of code for 9.0, 8.0 and 7.5: the reports of ./dev gpu, or nothing where one is missing."""
    times = []
    for name in cases.OLDER_REPORTS:
        path = ROOT / "bench/results/gpu" / f"{name}.json"
        if not path.exists():
            return
        report = json.loads(path.read_text())
        times.append({" ".join(job["job"].split()[:-1]): job["ms"] for job in report["jobs"]})
    rows = [f"{title}: {', '.join(time_text(own[job] / 1e3) for own in times)}" for job, title in cases.OLDER_JOBS
            if all(own.get(job) for own in times)]
    yield ("- Devices before 9.0 have no warpgroup products. Code for 9.0, 8.0 and 7.5, on H200, H100 and H200: "
           f"{'; '.join(rows)}.")


def pictures(release, results):
    drawn = {curve["curve"] for result in results for curve in result.get("curves", []) if curve["points"]}
    out = [f"![Seconds of all pairs against the number of {curve}](images/benchmarks_{curve}.svg)"
           for curve in ("rows", "columns") if curve in drawn]
    if any(result.get("plane") for result in results):
        out.append("![Time of the chosen way over that of the best way, rows by columns](images/benchmarks_plane.svg)")
    return out


def source_of(results, commits):
    """Which commits were measured."""
    source = (f"all of commit {min(commits)}" if len(commits) == 1 else
              f"of {len(commits)} commits on the way to it, which the files name row by row")
    planes = sorted({result["plane_commit"] for result in results if result.get("plane")} - commits)
    return f"{source} (the map of choices: {', '.join(planes)})" if planes else source


def text_of(release):
    results = load(release)
    rows = [{"on": result["short"], "commit": result["commit"], **row}
            for result in results for row in result["rows"]]
    source = source_of(results, {row["commit"] for row in rows})
    machines = "; ".join(dict.fromkeys(r["machine"] for r in results))
    lines = [
        "# Benchmarks", "",
        f"<!-- Written by bench/publish page {release}: change the results or the script, not this page. -->", "",
        f"Release {release}, {source}: `bench/results/{release}/`. Machines: {machines}. What was tried without gain, and the "
        "figures of each step, are in [experiments](experiments.md).", "",
        *pictures(release, results), "",
    ]
    for operation, (title, unit) in cases.OPERATIONS.items():
        own = [row for row in rows if row["operation"] == operation]
        if own:
            lines += [f"## {title}", "", *table(own, unit), ""]
    lines += ["## When it is not faster", "", *slower(rows), *older_devices(),
              "- Small calls: below some 1,000 rows a call costs its launches, 0.5 to 1 ms on a GPU. The CPU is faster there.",
              "- A matrix of all correlations: the dense result leaves by the bus, whatever computes it.",
              "- Tables with few columns where nearly every pair is kept: the list of edges is what costs the time.", "",
              "## How we measure", "",
              "- All pairs: whole calls, from rows in host memory to the result in host memory, p-values included; medians behind a call "
              "that is not counted. The other operations: data and result on the device, cold L2, CUDA events.",
              "- The *limit* is the least time that the machine could take: products at the rate of its tensor cores, bytes at that of its "
              "memory or bus (`bench/publishing/cases.py`). The *ratio* is the peer's time over the library's, same data, same machine.",
              "- \"A part\": the peer computed the pairs of so many rows and was scaled up. PyTorch computes no p.",
              "- *Rows alike* have common factors, as genes and pixels have; the others are independent.",
              f"- Again: `./dev bench` builds the programs, `bench/publish measure {release} build/bench` measures what this machine has, "
              f"`bench/publish page {release}` writes this page.", ""]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
    if text.count("\n") > MOST_LINES:
        raise SystemExit(f"publish: the page would have {text.count(chr(10))} lines, at most {MOST_LINES} are allowed")
    return text


def write(release):
    PAGE.write_text(text_of(release))
    print(f"{PAGE}: {PAGE.read_text().count(chr(10))} lines")
    return 0


def figure_of_readme(release):
    """What README.md says of the largest job, from the results of the page."""
    rows = [row for result in load(release) for row in result["rows"] if row["operation"] == "pairs"]
    row = max(rows, key=lambda own: own["work"])
    return f"take {row['seconds']:.1f} s on one H100"


def check():
    match = re.search(r"bench/publish page (\S+):", PAGE.read_text())
    if not match:
        print("docs/benchmarks.md does not say by which release it was written")
        return 1
    if text_of(match[1]) != PAGE.read_text():
        print(f"docs/benchmarks.md is not what bench/results/{match[1]} says: run bench/publish page {match[1]}")
        return 1
    expected = figure_of_readme(match[1])
    if expected not in " ".join((ROOT / "README.md").read_text().split()):
        print(f"README.md does not say '{expected}', as bench/results/{match[1]} does")
        return 1
    print(f"docs/benchmarks.md, README.md: as bench/results/{match[1]} says")
    return 0
