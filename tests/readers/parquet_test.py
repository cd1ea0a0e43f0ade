"""Parquet files of pandas as tables, and what it reads of results: parquet_test.py COMMAND."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

COMMAND = str(Path(sys.argv[1]).resolve())


def run(*words: str, code: int = 0, **how: object) -> subprocess.CompletedProcess[bytes]:
    """Runs the command, which has to end with `code`."""
    done = subprocess.run([COMMAND, *words, "--quiet"], capture_output=True, check=False, **how)  # type: ignore[call-overload]
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done


def refused(*words: str, code: int, said: tuple[str, ...]) -> None:
    """What the command refuses, it names."""
    message = run(*words, code=code).stderr.decode()
    for word in said:
        assert word in message, (words, message)


def same_table(name: str, want: pd.DataFrame, *words: str) -> None:
    """The command takes for a file what it takes for text of the same numbers."""
    want.to_csv("want.tsv", sep="\t", na_rep="NA")
    got = run("rank", name, *words, "--nan", "propagate").stdout
    assert got == run("rank", "want.tsv", "--nan", "propagate", "--row-names", "yes").stdout, name


def frame(rows: int = 60, columns: int = 20) -> pd.DataFrame:
    """A table of doubles."""
    rng = np.random.default_rng(7)
    names = [f"gene {i}" for i in range(rows)]
    values = rng.normal(size=(rows, columns)).round(2)
    return pd.DataFrame(values, pd.Index(names, name="gene"), [f"s{j}" for j in range(columns)])


def check_reading() -> None:
    """Types, names, nulls, row groups, compressions, pipes."""
    table = frame()
    table.iloc[3, 4] = np.nan
    for codec in ("snappy", "zstd", "gzip", "none"):
        table.to_parquet("t.parquet", compression=None if codec == "none" else codec)
        same_table("t.parquet", table)
    table.to_parquet("groups.parquet", row_group_size=7)
    same_table("groups.parquet", table)
    table.reset_index().to_parquet("column.parquet", index=False)  # the first column of text
    same_table("column.parquet", table)
    categories = table.reset_index()
    categories["gene"] = categories["gene"].astype("category")
    categories["kind"] = "x"
    categories.to_parquet("categories.parquet", index=False, row_group_size=11)
    refused("rank", "categories.parquet", code=3, said=("categories.parquet", "'kind'", "string"))
    same_table("categories.parquet", table, "--skip-columns", "kind")
    same_table("categories.parquet", table[["s1", "s2", "s7"]], "--columns", "s1-s2,s7")
    same_table("categories.parquet", table.T.rename_axis("").iloc[:4].T, "--columns", "s0-s3")
    odd = table[table.s0 > 0].reset_index()  # pandas' index is numbers, and text is better
    odd[odd.s1 > 0].to_parquet("numbers.parquet")
    same_table("numbers.parquet", odd[odd.s1 > 0].set_index("gene"))
    odd[odd.s1 > 0].drop(columns="gene").to_parquet("rows.parquet")
    same_table("rows.parquet", odd[odd.s1 > 0].drop(columns="gene").rename_axis(""))
    single = table.astype("float32")
    single.to_parquet("single.parquet")
    same_table("single.parquet", single)
    mixed = pd.DataFrame(
        {
            "name": ["a", "b", "c"],
            "flag": pd.array([True, False, None], "boolean"),
            "byte": np.array([1, -7, 127], "int8"),
            "whole": pd.array([5, None, 2**40], "Int64"),
            "word": np.array([0, 9, 2**32 - 1], "uint32"),
            "real": [0.5, -1.5, 2.0],
        }
    )
    mixed.to_parquet("mixed.parquet", index=False)
    same_table("mixed.parquet", mixed.set_index("name").astype("float64"))
    transposed = run("rank", "t.parquet", "--transpose", "--nan", "propagate").stdout
    table.T.to_csv("want.tsv", sep="\t", na_rep="NA")
    lines = run("rank", "want.tsv", "--nan", "propagate").stdout.splitlines()
    assert transposed.splitlines()[1:] == lines[1:]
    with Path("t.parquet").open("rb") as file:
        whole = run("rank", "t.parquet", "--nan", "propagate").stdout
        data = file.read()
        assert run("rank", "-", "--nan", "propagate", input=data).stdout == whole
        file.seek(0)
        assert run("rank", "-", "--nan", "propagate", stdin=file).stdout == whole
    subprocess.run(["gzip", "-k", "t.parquet"], check=True)
    assert run("rank", "t.parquet.gz", "--nan", "propagate").stdout == whole


def check_integers() -> None:
    """Integers get the narrowest type that holds them all, over row groups."""
    for largest, name in (
        (127, "int8"),
        (255, "uint8"),
        (-300, "int16"),
        (10**9, "int32"),
        (2**40, "float64"),
    ):
        numbers = np.arange(40).reshape(10, 4)
        numbers[9, 3] = largest
        pd.DataFrame(numbers, columns=list("abcd")).to_parquet("i.parquet", row_group_size=3)
        plan = run("spearman", "i.parquet", "--plan").stdout.decode()
        assert f"10 rows x 4 columns, {name}\n" in plan, plan


def check_refusals() -> None:
    """What cannot be read is named: file, column, type."""
    table = frame()
    for name, values, kind in (
        ("dec", [Decimal("1.5")] * 60, "decimal"),
        ("when", pd.date_range("2020", periods=60), "timestamp"),
        ("list", [[1, 2]] * 60, "list"),
    ):
        table.assign(**{name: values}).to_parquet("bad.parquet")
        refused("rank", "bad.parquet", code=3, said=("bad.parquet", f"'{name}'", kind))
        run("rank", "bad.parquet", "--skip-columns", name)
    table.assign(big=2**60).to_parquet("big.parquet")
    refused("rank", "big.parquet", code=3, said=("big.parquet", "'big'", str(2**60), "2^53"))
    table.to_parquet("t2.parquet")
    refused("rank", "t2.parquet", "--na-values", "3", code=3, said=("--na-values",))
    refused("rank", "t2.parquet", "--columns", "nix", code=3, said=("--columns", "nix"))
    refused("rank", "t2.parquet", "--max-input", "1K", code=3, said=("--max-input", "60 rows"))
    table.iloc[5, 2] = np.nan
    table.to_parquet("nan.parquet")
    refused("spearman", "nan.parquet", code=3, said=("'gene 5'", "'s2'", "--nan pairwise"))
    whole = Path("t2.parquet").read_bytes()
    for damaged in (whole[:-20], whole[:60], whole[:4] + whole[5:], b"PAR1\x15"):
        Path("damaged.parquet").write_bytes(damaged)
        refused("rank", "damaged.parquet", code=3, said=("damaged.parquet",))
    run("spearman", "t2.parquet", "-o", "ours.parquet")
    ours = bytearray(Path("ours.parquet").read_bytes())
    ours[len(ours) // 3] ^= 1  # within a page: its checksum tells
    Path("ours.parquet").write_bytes(ours)
    refused("rank", "ours.parquet", "--skip-columns", "name_j", code=3, said=("ours.parquet",))
    Path("text.parquet").write_text("1 2 3\n")
    refused("rank", "text.parquet", code=3, said=("is named .parquet",))


def check_writing() -> None:
    """Every result has the columns of the text, by name, in order, with its values."""
    table = frame()
    table.to_parquet("x.parquet")
    table.iloc[:9].to_parquet("y.parquet")
    results = (
        ("edges", []),
        ("edges", ["--max-p", "0.2", "--adjust", "bonferroni"]),
        ("edges", ["--max-p", "0.9", "--adjust", "bh"]),
        ("edges", ["--max-p", "0.5", "--confidence", "0.9"]),
        ("edges", ["--max-p", "0.9", "--adjust", "bh", "--confidence", "0.9"]),
        ("top-k", ["-k", "4"]),
        ("top-k", ["-k", "4", "--max-p", "0.9", "--adjust", "bonferroni", "--confidence", "0.9"]),
        ("top-k", ["-k", "4", "--max-p", "0.5", "--adjust", "bh"]),
        ("counts", ["--max-p", "0.05"]),
        ("dense", []),
    )
    for keep, words in results:
        for against in ([], ["--against", "y.parquet"]):
            for verb in ("spearman", "cosine"):
                if verb == "cosine" and "--max-p" in words:
                    continue
                job = [verb, "x.parquet", *against, "--keep", keep, *words]
                run(*job, "-o", "r.parquet")
                run(*job, "-o", "r.tsv")
                got = parquet.read_table("r.parquet").to_pandas()
                want = pd.read_csv("r.tsv", sep="\t")
                assert list(got.columns) == list(want.columns), (job, got.columns)
                for column in got.columns:
                    if got[column].dtype.kind == "f":
                        digits = 0 if column in ("rho", "cosine") or keep == "dense" else 1e-5
                        np.testing.assert_allclose(got[column], want[column], rtol=digits)
                    else:
                        assert list(got[column]) == list(want[column]), (job, column)
    # Standard output, row groups, and names that are made.
    edges = run("spearman", "x.parquet", "--format", "parquet").stdout
    assert len(pd.read_parquet(pa.BufferReader(edges))) == 60 * 59 // 2
    np.savetxt("many.txt", np.random.default_rng(3).integers(0, 50, (1600, 8)), fmt="%d")
    run("spearman", "many.txt", "-o", "many.parquet", "--backend", "cpu")
    run("spearman", "many.txt", "-o", "many.npy", "--backend", "cpu")
    records = np.load("many.npy")
    many = pd.read_parquet("many.parquet")
    assert parquet.ParquetFile("many.parquet").num_row_groups == 2
    assert (many.rho.to_numpy() == records["statistic"]).all()
    assert (many.p.to_numpy() == records["p"]).all()
    assert (many.name_i.str[1:].astype(int) - 1 == records["row"]).all()
    assert (many.name_j.str[1:].astype(int) - 1 == records["col"]).all()


def check_failures() -> None:
    """A disk that is full leaves no file, and what was there before."""
    Path("old.parquet").write_text("old")
    job = ("spearman", "many.txt", "-o", "old.parquet", "--backend", "cpu")

    def no_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    message = run(*job, code=4, preexec_fn=no_room).stderr.decode()
    assert "old.parquet" in message
    assert Path("old.parquet").read_text() == "old"
    assert not list(Path().glob("*.partial"))
    refused(*job, "--no-clobber", code=2, said=("old.parquet", "--no-clobber"))
    refused(
        "spearman",
        "many.txt",
        "--format",
        "parquet",
        "-o",
        "/dev/full",
        code=4,
        said=("/dev/full",),
    )
    refused("rank", "many.txt", "-o", "r.parquet", code=2, said=("expected tsv, csv or npy",))
    refused("spearman", "many.txt", "-o", "r.parquet.gz", code=2, said=("not compressed again",))
    for words in (
        ["--part", "1/2", "--output-dir", "d"],
        ["--resume", "-o", "a"],
        ["--keep", "folded-edges"],
    ):
        refused(
            "spearman",
            "many.txt",
            "--format",
            "parquet",
            *words,
            code=2,
            said=("expected tsv, csv or npy",)
            if words[0] != "--keep"
            else ("--keep folded-edges",),
        )
    # A part reads Parquet, though, and joins to the bytes of the single run.
    for part in ("1/2", "2/2"):
        run("spearman", "x.parquet", "--part", part, "--output-dir", "parts")
    run("merge", "parts", "-o", "merged.tsv")
    run("spearman", "x.parquet", "-o", "single.tsv")
    assert Path("merged.tsv").read_bytes() == Path("single.tsv").read_bytes()


def check_memory() -> None:
    """A file larger than what may be in memory of it passes through."""
    schema = pa.schema([(f"c{j}", pa.float64()) for j in range(40)])
    rng = np.random.default_rng(5)
    with parquet.ParquetWriter(
        "large.parquet", schema, compression="none", use_dictionary=False
    ) as writer:
        for _ in range(20):
            block = rng.normal(size=(40, 50_000))
            writer.write_table(pa.Table.from_arrays([pa.array(c) for c in block], schema=schema))
    child = os.fork()
    if child == 0:
        run("rank", "large.parquet", "-o", "large.npy")
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"ranks of 320 MB: peak of {peak:.0f} MiB")
        os._exit(0 if peak < 250 else 1)
    assert os.waitpid(child, 0)[1] == 0


def main() -> None:
    """All of them, in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for check in (
            check_reading,
            check_integers,
            check_refusals,
            check_writing,
            check_failures,
            check_memory,
        ):
            check()
            print(f"{check.__name__}: passed", flush=True)
        os.chdir("/")


main()
