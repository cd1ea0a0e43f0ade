"""What bench/publish measures: the jobs of each operation, their peers and their limits.

A job's limit is the least time that the machine could take: the larger of what its arithmetic and
what its traffic take at the rates of LIMITS. A machine that is not there has no limit.
"""

import dataclasses

# Rates that were measured on these machines, or that their maker states. Pairs: 8-bit products of
# 32 columns at 1.8 GHz. Copy: bytes read and written a second, read: bytes read, by the fastest
# kernel that was seen. Float: three products of the tensor cores for one; double: their own.
LIMITS = {
    "H100": {"pairs32": 3.04e13, "bus": 55e9, "copy": 2.63e12, "read": 3.0e12, "float": 989e12 / 3,
             "double": 66.9e12, "bits": 15600e12},
    "H200": {"pairs32": 3.04e13, "bus": 55e9, "copy": 3.68e12, "read": 3.93e12, "float": 989e12 / 3,
             "double": 66.9e12, "bits": 15600e12},
}

OPERATIONS = {
    "pairs": ("All pairs on the GPU", "pairs/s"),
    "wide": ("Wide tables on the GPU", "pairs/s"),
    "pairs_cpu": ("All pairs on the CPU", "pairs/s"),
    "rank": ("Ranking", "elements/s"),
    "mean_filter": ("Moving mean", "elements/s"),
    "top_k": ("Top-k", "elements/s"),
    "matmul": ("Matrix multiply", "flop/s"),
    "binary_matmul": ("Binary matrix multiply", "bit operations/s"),
}


@dataclasses.dataclass(frozen=True)
class PairJob:
    """A line of bench/pair_job, and how many rows the peer gets: more take too long."""
    job: str
    measure: str
    rows: int
    cols: int
    rest: str          # pairs_in_blocks factor_variance levels max_p sink
    calls: int = 5
    peer_rows: int = 0  # 0: no peer

    def line(self):
        return f"{self.measure} {self.rows} {self.cols} {self.rest} {self.calls}"


# levels 0: values of a normal distribution, without ties.
PAIRS = [
    PairJob("Spearman edges, Bonferroni 0.05, 9,879,896 x 30", "spearman", 9879896, 30,
            "0 0 12 1.025e-15 edges", 3, 100_000),
    PairJob("Spearman counts and degrees, p <= 0.05, 2,000,000 x 30", "spearman", 2000000, 30,
            "0 0 12 0.05 counts", 3),
    PairJob("Spearman edges, Bonferroni 0.05, 2,000,000 x 128", "spearman", 2000000, 128,
            "0 0 12 2.5e-14 edges", 3, 60_000),
    PairJob("Spearman edges, p <= 1e-9, 22,283 x 57, rows alike", "spearman", 22283, 57,
            "0.04 0.85 0 1e-9 edges", 21, 22283),
    PairJob("Pearson edges, p <= 1e-9, 22,283 x 57, rows alike", "pearson", 22283, 57,
            "0.04 0.85 0 1e-9 edges", 21, 22283),
    PairJob("Spearman edges, p <= 1e-9, 20,000 x 1000", "spearman", 20000, 1000,
            "0 0 0 1e-9 edges", 11, 20000),
    PairJob("Pearson edges, p <= 1e-9, 1000 x 20,000, rows alike", "pearson", 1000, 20000,
            "0.3 0.5 0 1e-9 edges", 21, 1000),
    PairJob("Spearman top 10 of each row, 1,000,000 x 30", "spearman", 1000000, 30,
            "0 0 12 1 top_k", 3),
]
PAIRS_CPU = [
    PairJob("Spearman edges, p <= 1e-9, 22,283 x 57, rows alike", "spearman", 22283, 57,
            "0.04 0.85 0 1e-9 cpu:edges", 5),
    PairJob("Pearson edges, p <= 1e-9, 1000 x 20,000, rows alike", "pearson", 1000, 20000,
            "0.3 0.5 0 1e-9 cpu:edges", 5),
]
# Cells of bench/peers/plane.py, and what the page calls them. Rows and results are on the device; the limit is what
# products of floats take.
WIDE = {
    "pairs pearson float32 dense 1000 x 1200": "Pearson dense, 1000 x 1200",
    "pairs pearson float32 dense 2000 x 100000": "Pearson dense, 2000 x 100,000",
    "pairs pearson float32 dense 400 x 100000": "Pearson dense, 400 x 100,000",
    "pairs pearson float32 top_k 20000 x 2000": "Pearson top 10 of each row, 20,000 x 2000",
    "pairs spearman float32 dense 2000 x 100000": "Spearman dense, 2000 x 100,000",
    "pairs spearman float32 counts 5000 x 5000": "Spearman counts, p <= 0.05, 5000 x 5000",
    "pairs spearman float32 edges 20000 x 10000": "Spearman edges, p <= 1e-6, 20,000 x 10,000, to the host",
}
# Time against rows and against columns.
CURVES = {
    "rows": [(rows, 30) for rows in (1000, 10000, 100000, 1000000, 4000000, 9879896)],
    "columns": [(2000, cols) for cols in (8, 30, 128, 512, 2048, 8192, 32768, 100000)],
}
CURVE_CUT = "0 0 0 1e-12 {}edges"


@dataclasses.dataclass(frozen=True)
class BenchJob:
    """A benchmark of one of the programs by its name, beside another of the same program or a line
    of a Python peer."""
    operation: str
    job: str
    program: str
    name: str
    work: float
    peer: str = ""       # what it is called on the page
    peer_name: str = ""  # a benchmark of the same program, or what a line of the peer's output begins with
    peer_script: str = ""
    limit: str = ""      # of LIMITS
    limit_work: float = 0.0


def _rank(rows, cols, kind, peer):
    label = {"counts": "int32", "float": "float32"}[kind]
    name = f"{kind}/{rows}/{cols}"
    return BenchJob("rank", f"{rows:,} x {cols} {label}", "rank_bench", f"cuda_centred_ranks_{name}", rows * cols,
                    "CUB segmented sort" if peer else "", f"cuda_peer_cub_segmented_sort_{name}" if peer else "",
                    limit="copy", limit_work=rows * cols * 5)


def _mean(kind, size, window, peer):
    label = "10,000,000" if size == 10**7 else "268,435,456"
    python = {"double": "float64", "float": "float32"}[kind]
    return BenchJob("mean_filter", f"{label} {kind}, window {window}", "mean_filter_bench",
                    f"cuda_mean_filter<{kind}>/{size}/{window}/0", size, peer,
                    f"{peer} {python} {size} {window}" if peer else "",
                    "mean_filter_peers.py" if peer else "", "copy", size * (16 if kind == "double" else 8))


def _top_k(size, kind, k):
    name = f"{'int_vector/cuda_int32' if kind == 'int32' else 'float_vector/cuda_float'}/{size}/{k}"
    return BenchJob("top_k", f"{k} of {size:,} {kind}", "top_k_bench", name, size, "torch.topk",
                    f"topk {kind} n {size} k {k}:", "top_k_torch.py", "read", size * 4)


def _matmul(kind, m, n, k):
    base = f"matmul/{kind}/cuda/{m}x{n}x{k}/nn/"
    return BenchJob("matmul", f"{kind}, {m} x {n} x {k}", "matmul_bench", base + "automatic", 2.0 * m * n * k,
                    "cuBLAS", base + "peer_cublas", limit=kind, limit_work=2.0 * m * n * k)


def _binary(m, n, k):
    return BenchJob("binary_matmul", f"{m} x {n} x {k}", "binary_matmul_bench",
                    f"binary_matmul/cuda/hopper/{m}/{n}/{k}", 2.0 * m * n * k, limit="bits",
                    limit_work=2.0 * m * n * k)


BENCHES = [
    _rank(9879896, 30, "counts", True), _rank(4000000, 64, "counts", False),
    _rank(20000, 1000, "float", True), _rank(20000, 4000, "float", True),
    _rank(1000, 100000, "float", True), _rank(1, 10000000, "float", False),
    _mean("double", 10**7, 5, "cupyx uniform_filter1d"), _mean("double", 10**7, 101, "cupyx uniform_filter1d"),
    _mean("double", 10**7, 1001, "torch avg_pool1d"), _mean("float", 268435456, 5, "cupyx uniform_filter1d"),
    _mean("float", 268435456, 101, "cupyx uniform_filter1d"), _mean("float", 268435456, 4097, ""),
    _top_k(1000, "int32", 20), _top_k(1000000, "int32", 20), _top_k(1000000, "int32", 2048),
    _top_k(100000000, "int32", 20), _top_k(100000000, "float", 2048), _top_k(268435456, "float", 20),
    _matmul("float", 256, 256, 256), _matmul("float", 1024, 1024, 1024), _matmul("float", 4096, 4096, 4096),
    _matmul("float", 65536, 32, 1024), _matmul("double", 1024, 1024, 1024), _matmul("double", 4096, 4096, 4096),
    _matmul("double", 128, 128, 65536),
    _binary(1024, 1024, 65536), _binary(4096, 4096, 4096), _binary(8192, 8192, 8192), _binary(16384, 16384, 16384),
]


def pair_limit(rows, cols, kept, rates):
    """Seconds of the products, or of the bus: rows up, packed edges down."""
    pairs = rows * (rows - 1) / 2
    padded = max(32, -(-cols // 32) * 32)
    products = pairs * padded / 32 / rates["pairs32"]
    return max(products, (rows * cols * 4 + kept * 12) / rates["bus"])

# Reports of ./dev gpu (bench/results/gpu) by code for 9.0, 8.0 and 7.5, and jobs of theirs, as
# tools/dev/gpu/report.py has them, without the repeats.
OLDER_REPORTS = ["h200_90a", "h100_80-virtual", "h200_75-virtual"]
OLDER_JOBS = [
    ("spearman 2000000 30 0 0 0 1e-12 counts", "Spearman counts at p <= 1e-12, 2,000,000 x 30"),
    ("pearson 22283 57 0.04 0.85 0 1e-9 edges", "Pearson edges at p <= 1e-9, 22,283 x 57, rows alike"),
    ("spearman 20000 1000 0 0 0 1e-9 edges", "Spearman edges at p <= 1e-9, 20,000 x 1000"),
    ("pearson 200000 64 0 0 0 1 top_k", "Pearson top 10, 200,000 x 64"),
    ("pearson 1000 20000 0.04 0.5 0 0.05 counts", "Pearson counts at p <= 0.05, 1000 x 20,000"),
]
