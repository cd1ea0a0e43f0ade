"""What the command writes as text, read by pandas."""

from __future__ import annotations

import csv
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]

# Names with what pandas and R give a meaning to.
NAMES = ["gene one", "5' UTR", "O'Neil", 'a "b" c', "#7", "10", "NA", "x#y", "µ-opioid"]
NAMES += ["back\\slash", "comma,name", "''", "TRUE", "nan", "null", "constant row"]


@pytest.fixture
def command() -> Path:
    default = ROOT / "build" / "test" / "src" / "cli" / "gpu-similarity"
    path = Path(os.environ.get("GPU_SIMILARITY_COMMAND", default))
    if not path.exists():
        pytest.skip(f"the command is not built: {path} is not there")
    return path


@pytest.mark.parametrize(
    "options, name_columns",
    [
        (["--keep", "edges", "--max-p", "1"], [0, 1]),
        (["--keep", "top-k", "-k", "4"], [0, 2]),
        (["--keep", "dense"], [0]),
        (["--keep", "counts", "--max-p", "1"], [0]),
    ],
    ids=["edges", "top-k", "dense", "counts"],
)
def test_pandas_reads_what_was_written(
    options: list[str],
    name_columns: list[int],
    command: Path,
    tmp_path: Path,
    rng: np.random.Generator,
) -> None:
    pandas = pytest.importorskip("pandas")
    values = rng.integers(0, 9, size=(len(NAMES), 8))
    values[-1] = 2
    lines = ["name\t" + "\t".join(f"c{j}" for j in range(8))]
    lines += ["\t".join([name, *map(str, row)]) for name, row in zip(NAMES, values, strict=True)]
    (tmp_path / "in.tsv").write_text("\n".join(lines) + "\n")
    out = tmp_path / "out.tsv"
    subprocess.run(
        [command, "spearman", tmp_path / "in.tsv", *options, "--quiet", "-o", out], check=True
    )
    with out.open(newline="") as file:
        written = list(csv.reader(file, delimiter="\t"))
    frame = pandas.read_csv(
        out,
        sep="\t",
        keep_default_na=False,
        na_values="NaN",
        dtype={written[0][i]: str for i in name_columns},
    )
    assert len(frame) == len(written) - 1 >= len(NAMES)
    found = [list(frame.iloc[:, i]) for i in name_columns]
    assert found == [[line[i] for line in written[1:]] for i in name_columns]
    constant = set() if options[1] in ("dense", "counts") else {"constant row"}
    assert {name for names in found for name in names} == set(NAMES) - constant
    numbers = frame.drop(columns=frame.columns[name_columns])
    assert all(pandas.api.types.is_numeric_dtype(kind) for kind in numbers.dtypes)
    # By its defaults pandas takes some names for numbers or missing ones, but loses no row.
    assert len(pandas.read_csv(out, sep="\t")) == len(frame)
