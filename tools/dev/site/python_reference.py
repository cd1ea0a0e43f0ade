"""The pages of the Python reference: which name stands on which page.

mkdocstrings fills them from the docstrings. Every public name of the package has to be on one page:
a name that is missing, or that is there no longer, fails the build.
"""

import ast

# Page -> (title, what it is about, module, names; a module alone takes all its public names).
GROUPS = {
    "pairs.md": ("All pairs of rows", "Edges, counts, partners, dense results and streams.", [
        "edges", "spearman_edges", "pearson_edges", "top_k_partners", "counts", "dense", "stream",
        "prepare", "plan", "max_t", "differential", "differential_partners", "connectivity",
        "scale_free_fit", "topological_overlap"]),
    "results.md": ("Results", "What the functions over all pairs give.", [
        "Edges", "Partners", "Counts", "Dense", "EdgeStream", "PreparedRows", "PairSummary", "PairPlan", "MaxT", "Differential", "DifferentialPartners", "DifferentialSummary", "Connectivity",
        "ScaleFreeFit"]),
    "rows.md": ("Rows and products", "Ranks, moving means, selection and products.", [
        "rank", "mean_filter", "convolve", "top_k", "top_k_distinct", "TopK", "TopKDistinct", "matmul",
        "pack_bits", "binary_matmul", "Bits"]),
    "tests.md": ("Tests of correlation", "p-values, observations of a pair, cuts and checksums.", [
        "p_value", "adjusted_p_values", "confidence_interval", "observations", "effective_observations", "critical_correlation", "checksum", "Checksum"]),
    "files.md": ("Files", "A table as the command reads it.", ["read_table", "NamedTable", "read_fingerprints", "Fingerprints"]),
    "faces.md": ("As SciPy, NumPy and scikit-learn", "The same calls under the names that are known.", [
        "spearmanr", "corrcoef", "pairwise_distances", "rankdata", "uniform_filter1d",
        "SignificanceResult"]),
    "options.md": ("Options, backends and errors", "What every call takes and may raise.", [
        "RunOptions", "PairRunOptions", "MEASURES", "BIT_MEASURES", "MeasureInfo", "backends", "devices", "Backend", "Device", "Error",
        "InvalidArgument", "Unsupported", "BackendUnavailable", "OutOfMemory", "CapacityExceeded",
        "Cancelled", "CudaError"]),
}
MODULES = {
    "device.md": ("Results on the device", "device"),
    "anndata.md": ("AnnData", "anndata"),
    "arrow.md": ("Arrow and Parquet", "arrow"),
    "plot.md": ("Pictures", "plot"),
    "distributed.md": ("Jobs in parts", "distributed"),
    "dask.md": ("Dask", "distributed.dask"),
    "spark.md": ("Spark", "distributed.spark"),
}


def public_names(package):
    tree = ast.parse((package / "__init__.py").read_text())
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return ast.literal_eval(node.value)
    raise ValueError(f"{package}/__init__.py has no __all__")


def pages(root):
    package = root / "python/gpu_similarity"
    there = set(public_names(package))
    shown = {name for _, _, names in GROUPS.values() for name in names}
    shown |= {module.split(".")[0] for _, module in MODULES.values()}
    if there != shown:
        raise ValueError(
            "tools/dev/site/python_reference.py: public names without a page: "
            f"{sorted(there - shown)}; pages without a public name: {sorted(shown - there)}")
    found = {}
    lines = ["# Python reference", "", "`import gpu_similarity as gs`. The [guide](../../python.md) "
             "says how they work together.", "", "| page | names |", "|---|---|"]
    for page, (title, about, names) in GROUPS.items():
        blocks = [f"# {title}", about] + [f"::: gpu_similarity.{name}" for name in names]
        found[page] = "\n\n".join(blocks) + "\n"
        links = ", ".join(f"[`{n}`]({page}#gpu_similarity.{n})" for n in names)
        lines.append(f"| [{title}]({page}) | {links} |")
    for page, (title, module) in MODULES.items():
        options = "    options:\n      show_root_heading: false\n      show_root_toc_entry: false\n      members_order: source"
        found[page] = f"# {title}\n\n`gpu_similarity.{module}`\n\n::: gpu_similarity.{module}\n{options}\n"
        lines.append(f"| [{title}]({page}) | the module `gs.{module}` |")
    found["index.md"] = "\n".join(lines) + "\n"
    return found
