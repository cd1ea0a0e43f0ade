#!/usr/bin/env python3
"""From a matrix of gene expression to modules that biology confirms.

  gene_modules.py FOLDER     FOLDER holds what expression.R wrote; the picture goes there too

All pairs of 12,625 probe sets, Spearman; edges with rho >= 0.75 are a network, whose communities are
modules of genes that are expressed together. Nobody told the program what the patients have, so a
module that separates them by lineage or sex was found by correlation alone. Needs gpu_similarity with
igraph, pandas and matplotlib.
"""

import json
import pathlib
import sys
import time

import gpu_similarity as gs
import matplotlib
import numpy as np
import pandas as pd

matplotlib.use("Agg")
import matplotlib.pyplot as plt

CUT = 0.75
# Probe sets whose genes are known, to name the modules that hold them.
KNOWN = {"38319_at": "T-cell receptor (CD3D)", "38095_i_at": "MHC class II (HLA-DPB1)",
         "38355_at": "Y chromosome (DDX3Y)", "AFFX-BioB-5_at": "spiked-in controls"}


def area_under_curve(score, is_case):
    """The chance that a case scores higher than another: 0.5 says nothing, 1 and 0 separate."""
    ranks = gs.rankdata(score)
    cases = is_case.sum()
    return (ranks[is_case].sum() - cases * (cases + 1) / 2) / (cases * (~is_case).sum())


def modules_of(edges):
    """Names of the rows of each community of the network, the largest first."""
    graph = edges.to_igraph()
    found = graph.community_leiden(objective_function="modularity", n_iterations=10)
    return sorted(([graph.vs[i]["name"] for i in members] for members in found if len(members) > 3),
                  key=len, reverse=True)


def profile(expression, names):
    rows = expression.loc[names]
    return rows.sub(rows.mean(axis=1), axis=0).div(rows.std(axis=1), axis=0).mean(axis=0).to_numpy()


def draw(file, shown, order, labels):
    figure, axes = plt.subplots(len(shown), 1, figsize=(8, 1.3 * len(shown)), sharex=True)
    for axis, (title, values) in zip(axes, shown, strict=True):
        axis.bar(np.arange(len(order)), values[order], width=1, color=[labels[i] for i in order])
        axis.set_title(title, fontsize=9, loc="left")
        axis.set_yticks([])
    axes[-1].set_xlabel("128 patients: T lineage orange, B lineage blue; within each, women before men")
    figure.tight_layout()
    figure.savefig(file, dpi=110)


def main():
    folder = pathlib.Path(sys.argv[1])
    expression = pd.read_csv(folder / "expression.tsv", sep="\t", index_col=0)
    patients = pd.read_csv(folder / "patients.tsv", sep="\t", index_col=0)
    gs.spearman_edges(expression.iloc[:50])  # threads and devices are started
    seconds = np.inf
    for _ in range(3):
        start = time.perf_counter()
        edges = gs.spearman_edges(expression, min_abs=CUT, tail="greater")
        seconds = min(seconds, time.perf_counter() - start)
    tested = edges.summary.pairs_tested
    print(f"{len(edges):,} of {tested:,} pairs with rho >= {CUT}, in {seconds:.3f} s (best of 3) on {edges.summary.device}")
    r_cor = json.loads((folder / "r_cor.json").read_text())
    print(f"R's cor(): {r_cor['kept']:,} pairs in {r_cor['seconds']:.1f} s, {r_cor['seconds'] / seconds:.0f} times as long")
    if r_cor["kept"] != len(edges):
        print("the two do not agree")
        return 1

    is_t = patients["BT"].str.startswith("T").to_numpy()
    sex_known = patients["sex"].notna().to_numpy()
    is_male = (patients["sex"] == "M").to_numpy()
    modules = modules_of(edges)
    print(f"{len(modules)} modules of more than three probe sets")
    shown, lineage, sex = [], 0.0, 0.0
    for names in modules:
        known = [title for probe, title in KNOWN.items() if probe in names]
        if not known:
            continue
        values = profile(expression, names)
        by_lineage, by_sex = area_under_curve(values, is_t), area_under_curve(values[sex_known], is_male[sex_known])
        lineage, sex = max(lineage, abs(by_lineage - 0.5)), max(sex, abs(by_sex - 0.5))
        print(f"  {len(names):4d} probe sets, {known[0]}: T against B {by_lineage:.3f}, men against women {by_sex:.3f}")
        shown.append((f"{known[0]}, {len(names)} probe sets", values))
    order = np.lexsort((is_male, is_t))
    draw(folder / "gene_modules.png", shown, order, np.where(is_t, "#e08a2e", "#1b6ca8"))
    # Known beforehand: T-cell genes and MHC class II separate the lineages, the Y chromosome the sexes.
    return 0 if lineage > 0.48 and sex > 0.45 else 1


if __name__ == "__main__":
    sys.exit(main())
