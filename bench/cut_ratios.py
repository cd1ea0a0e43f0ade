#!/usr/bin/env python3
"""Whether a stricter cut ever takes longer than a looser one: the largest ratio of their times.

    bench/cut_ratios.py PAIR_JOB [--cuda] [--levels amx,avx512,avx2,baseline] [--scale 1] [--calls 5]

Runs pair_job over kinds of rows, sinks and cuts from p <= 0.05 to 1e-30, takes the best call of
each, and prints a line for each kind: the largest ratio of a cut's time to that of any looser one,
and where it is. --levels are values of GPU_SIMILARITY_CPU_LEVEL, of the CPU alone. --scale is
that of the number of rows.
"""
import argparse
import os
import re
import subprocess

CUTS = "0.05,1e-3,1e-6,1e-9,1e-12,1e-14,1e-16,1e-18,1e-20,1e-25,1e-30"
# Name, rows, columns, pairs in blocks, variance by factors, levels, as pair_job takes them.
KINDS = [
    ("blocks, 57", 22283, 57, 0.04, 0.85, 0),
    ("blocks, 128", 12625, 128, 0.3, 0.5, 0),
    ("blocks, 28", 30000, 28, 0.1, 0.9, 0),
    ("blocks and ties, 30", 22283, 30, 0.04, 0.85, 6),
    ("blocks, 1000", 4000, 1000, 0.04, 0.5, 0),
    ("independent, 57", 22283, 57, 0, 0, 0),
    ("independent with ties, 30", 22283, 30, 0, 0, 6),
]
LINE = re.compile(r"p<=(\S+) .* best ([0-9.]+)")


def largest_ratio(program, job, environment):
    """The largest ratio, where it is, and the time of the loosest cut in ms."""
    output = subprocess.run([program], input=job + "\n", env=environment, text=True, check=True,
                            stdout=subprocess.PIPE).stdout
    times = [(cut, float(best)) for cut, best in LINE.findall(output)]
    worst = (0.0, "")
    for place, (cut, seconds) in enumerate(times):
        for looser, shortest in times[:place]:
            worst = max(worst, (seconds / shortest, f"{cut} beside {looser}"))
    return *worst, 1e3 * times[0][1]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pair_job")
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("--levels", default="amx")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--calls", type=int, default=5)
    parser.add_argument("--sinks", default="counts,edges,top_k")
    parser.add_argument("--measures", default="spearman,pearson")
    asked = parser.parse_args()
    for level in asked.levels.split(","):
        environment = dict(os.environ, GPU_SIMILARITY_CPU_LEVEL=level)
        for name, rows, *shape in KINDS:
            for measure in asked.measures.split(","):
                for sink in asked.sinks.split(","):
                    target = sink if asked.cuda else "cpu:" + sink
                    numbers = " ".join(str(x) for x in [int(rows * asked.scale), *shape])
                    job = f"{measure} {numbers} {CUTS} {target} {asked.calls}"
                    ratio, where, loosest = largest_ratio(asked.pair_job, job, environment)
                    print(f"{level} {name} {measure} {sink}: {ratio:.2f} ({where}; loosest "
                          f"{loosest:.2f} ms)", flush=True)


if __name__ == "__main__":
    main()
