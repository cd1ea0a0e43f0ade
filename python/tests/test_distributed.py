"""Parts of a job: as they are written and checked, with Dask and a killed worker, with Spark."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import gpu_similarity as gs
import numpy as np
import pytest

Job = gs.distributed.Job
OPTIONS = {"max_p": 0.05, "adjust": "bonferroni", "cpu_threads": 1}


@pytest.fixture
def table(rng: np.random.Generator) -> np.ndarray:
    x = rng.normal(size=(400, 20)) + rng.normal(size=(1, 20))
    x[5] = 1
    return x


@pytest.fixture(params=["generated", "golub", "fashion"])
def any_table(
    request: pytest.FixtureRequest, table: np.ndarray, data_file: Callable[[str], Path]
) -> np.ndarray:
    """Rows that were drawn, and real ones."""
    if request.param == "golub":
        return np.loadtxt(data_file("golub.tsv"), delimiter="\t")
    if request.param == "fashion":
        return np.loadtxt(data_file("fashion_5000x30.txt"), dtype=np.int32)
    return table


def check_whole(result: Any, table: np.ndarray) -> None:
    """One checksum with a call alone, and the same bytes in the same order."""
    whole = gs.spearman_edges(table, **OPTIONS)
    print(f"{table.shape[0]} rows: {whole.summary.checksum}")
    assert result.checksum == whole.summary.checksum
    assert result.pairs_tested == whole.summary.pairs_tested
    frame = result.to_pandas()
    for name in ("row", "col", "statistic", "p"):
        found = frame[name].to_numpy()
        assert found.tobytes() == getattr(whole, name).astype(found.dtype).tobytes(), name


@pytest.fixture
def expected(table: np.ndarray) -> gs.Edges:
    return gs.spearman_edges(table, **OPTIONS)


def test_parts_are_written_once_and_add_up(
    table: np.ndarray, expected: gs.Edges, tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow")
    job = Job(table, parts=5, options=OPTIONS)
    digest = job.digest()
    records = [job.write_part(i, tmp_path, digest) for i in range(5)]
    result = gs.distributed._records.combine(records, tmp_path)
    assert result.checksum == expected.summary.checksum
    assert result.pairs_tested == expected.summary.pairs_tested
    np.testing.assert_array_equal(result.to_pandas()["p"], expected.p)
    of_folder = pytest.importorskip("pandas").read_parquet(tmp_path)  # the records are left out
    np.testing.assert_array_equal(of_folder["p"], expected.p)

    written = (tmp_path / "part-00002.parquet").stat().st_mtime_ns
    assert job.write_part(2, tmp_path, digest) == records[2]
    assert (tmp_path / "part-00002.parquet").stat().st_mtime_ns == written
    (tmp_path / "part-00002.parquet").unlink()  # a record without its edges is no part
    assert job.write_part(2, tmp_path, digest) == records[2]
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".json"] * 5 + [".parquet"] * 5

    other = replace(job, options={**OPTIONS, "max_p": 0.5})
    with pytest.raises(gs.distributed.IncompleteJob, match="another job"):
        other.write_part(2, tmp_path, other.digest())


@pytest.mark.parametrize(
    "change",
    [
        {"min_observations": 9},
        {"max_p": 0.1},
        {"min_abs": 0.1},
        {"tail": "greater"},
        {"adjust": "none"},
        {"nans": "propagate", "min_observations": None},
        {"names": np.arange(400)},
        {"order": "unspecified"},
    ],
)
def test_every_option_that_decides_is_in_the_digest(table: np.ndarray, change: Any) -> None:
    job = Job(table, parts=3, options={**OPTIONS, "nans": "pairwise", "min_observations": 8})
    assert replace(job, options={**job.options, **change}).digest() != job.digest()
    how = {"cpu_threads": 2, "backend": "cpu", "fold": "never", "workspace_bytes": 1 << 30}
    assert replace(job, options={**job.options, **how, "tail": None}).digest() == job.digest()


def test_a_part_of_other_min_observations_is_not_taken(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40, 12))
    x[rng.random(x.shape) < 0.4] = np.nan
    options = {"nans": "pairwise", "max_p": 0.2, "min_observations": 3}
    first = Job(x, parts=2, options=options)
    kept = first.write_part(0, tmp_path, first.digest()).kept
    other = replace(first, options={**options, "min_observations": 6})
    assert len(other.part(0)) < kept
    with pytest.raises(gs.distributed.IncompleteJob, match="another job"):
        other.write_part(0, tmp_path, other.digest())


def test_what_does_not_add_up_is_refused(table: np.ndarray, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    combine, incomplete = gs.distributed._records.combine, gs.distributed.IncompleteJob
    job = Job(table, table[:30], parts=3, measure="pearson", options=OPTIONS)
    records = [job.write_part(i, tmp_path, job.digest()) for i in range(3)]
    whole = gs.pearson_edges(table, table[:30], **OPTIONS)
    assert combine(records).checksum == whole.summary.checksum
    with pytest.raises(incomplete, match=r"missing: \[1\]"):
        combine([records[0], records[2]])
    with pytest.raises(incomplete, match="different jobs"):
        combine([*records[:2], replace(records[2], digest="")])
    with pytest.raises(incomplete, match="tested"):
        combine([*records[:2], replace(records[2], tested=1)])
    with pytest.raises(incomplete, match="no part"):
        combine([])
    (tmp_path / "_part-00001.json").write_text(json.dumps(asdict(records[1]))[:50])  # torn
    assert job.write_part(1, tmp_path, job.digest()) == records[1]


# What can befall part 2 of a folder. Of part 1 there is another file, as after a wrong copy.
DAMAGE: dict[str, Callable[[Path], Any]] = {
    "flipped bit": lambda folder: flip_bit(folder / "part-00002.parquet"),
    "cut file": lambda folder: os.truncate(folder / "part-00002.parquet", 500),
    "empty file": lambda folder: os.truncate(folder / "part-00002.parquet", 0),
    "another part's file": lambda folder: shutil.copy(
        folder / "part-00001.parquet", folder / "part-00002.parquet"
    ),
    "another part's file and record": lambda folder: [
        shutil.copy(folder / name.format(1), folder / name.format(2))
        for name in ("part-{:05d}.parquet", "_part-{:05d}.json")
    ],
    "record of another sum": lambda folder: change_sum(folder / "_part-00002.json"),
    "record of no text": lambda folder: (folder / "_part-00002.json").write_bytes(b"\xff{"),
    "record that is a list": lambda folder: (folder / "_part-00002.json").write_text("[1]"),
    "empty record": lambda folder: os.truncate(folder / "_part-00002.json", 0),
}


def flip_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 4
    path.write_bytes(content)


def change_sum(path: Path) -> None:
    told = json.loads(path.read_text())
    told["checksum"] = told["checksum"][:-1] + ("0" if told["checksum"][-1] != "0" else "1")
    path.write_text(json.dumps(told))


def files_of(folder: Path) -> dict[str, bytes]:
    """What readers take; the hidden file of an attempt that the cluster ended may be there."""
    return {
        path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")
    }


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_parts_are_computed_again(damage: str, table: np.ndarray, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    job = Job(table, parts=4, options=OPTIONS)
    records = [job.write_part(i, tmp_path, job.digest()) for i in range(4)]
    before = files_of(tmp_path)
    DAMAGE[damage](tmp_path)
    assert files_of(tmp_path) != before
    assert [job.write_part(i, tmp_path, job.digest()) for i in range(4)] == records
    assert files_of(tmp_path) == before


def test_names_and_bytes_of_a_part_are_synced(
    table: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    events: list[tuple[str, str]] = []
    fsync, rename = os.fsync, os.replace

    def note_fsync(descriptor: int) -> None:
        events.append(("sync", Path(os.readlink(f"/proc/self/fd/{descriptor}")).name))
        fsync(descriptor)

    def note_replace(self: Path, target: Path) -> Path:
        events.append(("rename", target.name))
        rename(self, target)
        return target

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(Path, "replace", note_replace)
    folder = tmp_path / "new" / "edges"
    job = Job(table, parts=1, options=OPTIONS)
    job.write_part(0, folder, job.digest())
    made, written = events[:2], events[2:]
    assert made == [("sync", tmp_path.name), ("sync", "new")]
    for name, steps in (("part-00000.parquet", written[:3]), ("_part-00000.json", written[3:])):
        assert steps[0][0] == "sync" and name in steps[0][1]
        assert steps[1:] == [("rename", name), ("sync", "edges")]


def test_a_table_that_changes_is_noticed(table: np.ndarray, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    np.save(tmp_path / "x.npy", table)
    job = Job(tmp_path / "x.npy", parts=3, options=OPTIONS)
    digest = job.digest()
    assert digest == Job(table, parts=3, options=OPTIONS).digest()
    job.write_part(0, tmp_path / "edges", digest)
    np.save(tmp_path / "other.npy", table[:, ::-1] * 2)
    os.replace(tmp_path / "other.npy", tmp_path / "x.npy")
    with pytest.raises(gs.distributed.IncompleteJob, match=r"part 1 of 3: .*x\.npy"):
        job.write_part(1, tmp_path / "edges", digest)
    assert not (tmp_path / "edges" / "_part-00001.json").exists()
    with pytest.raises(gs.distributed.IncompleteJob):
        replace(job, expected=digest).part(2)
    assert len(job.part(2)) > 0  # without a digest the part is of what is there now
    (tmp_path / "x.npy").write_bytes(b"")
    with pytest.raises(ValueError, match=r"x: .*x\.npy cannot be read"):
        job.digest()


def test_the_digest_is_that_of_the_rows(table: np.ndarray) -> None:
    """Whatever lies between the rows in memory, and however many are hashed at once."""
    wide = np.hstack([table, table])[:, : table.shape[1]]
    assert not wide.flags.c_contiguous
    assert Job(wide).digest() == Job(table).digest() != Job(table[::-1]).digest()


REFUSED: dict[str, tuple[Callable[[np.ndarray, Path], Any], type[Exception], str]] = {
    "parts": (lambda x, _: Job(x, parts=0), ValueError, r"^parts: got 0"),
    "parts of float": (lambda x, _: Job(x, parts=1.5), TypeError, r"^parts: got 1.5"),
    "measure": (lambda x, _: Job(x, measure="euclidean"), ValueError, r"^measure: got 'euc"),
    "part": (lambda x, _: Job(x, options={"part": (0, 2)}), ValueError, r"^options: 'part'"),
    "unknown": (
        lambda x, _: Job(x, options={"alpha": 0.05}),
        TypeError,
        "'alpha'; did you mean max_p=",
    ),
    "max_p": (lambda x, _: Job(x, options={"max_p": 2}), ValueError, r"^max_p: got 2"),
    "tail": (lambda x, _: Job(x, options={"tail": "up"}), ValueError, r"^tail: got 'up'"),
    "axis": (lambda x, _: Job(x, options={"axis": 2}), ValueError, r"^axis: got 2"),
    "backend": (
        lambda x, _: Job(x, options={"backend": "gpu"}),
        ValueError,
        r"^backend: got 'gpu'",
    ),
    "p of cosine": (
        lambda x, _: Job(x, measure="cosine", options={"max_p": 0.1}),
        gs.Unsupported,
        "^max_p: Cosine has no significance test",
    ),
    "columns": (lambda x, _: Job(x, x[:, 1:]), ValueError, r"^y: got 19 observations, expected 20"),
    "few": (lambda x, _: Job(x[:, :2]), ValueError, r"^x: got 2 observations, expected at least 3"),
    "a row": (lambda x, _: Job(x[0]), ValueError, r"^x: got 1 dimensions"),
    "strings": (lambda x, _: Job([["a", "b"]]), TypeError, r"^x: .*not numbers"),
    "names": (lambda x, _: Job(x, options={"names": ["a"]}), ValueError, r"^names: got shape"),
    "no file": (lambda _, p: Job(p / "none.npy"), FileNotFoundError, "none.npy"),
    "torn": (lambda _, p: Job(torn(p)), ValueError, r"^x: .*torn\.npy cannot be read as \.npy"),
    "three": (lambda _, p: Job(saved(p, np.zeros((2, 3, 4)))), ValueError, r"^x: .* of 3 dimen"),
    "nan": (
        lambda x, _: Job(np.where(x == x[30, 4], np.nan, x), options={"names": range(len(x))}),
        ValueError,
        r"^x: got NaN at variable \d+, observation \d+, expected numbers; options=",
    ),
    "nan of a file": (
        lambda _, p: Job(written(p, "g,a,b,c\nu,1,2,3\nv,1,NA,2\n")),
        ValueError,
        r"^x: got NaN at variable 'v', observation 1,",
    ),
    "text": (lambda _, p: Job(written(p, "a,1,2\nb,3,x\n")), ValueError, r"table\.csv:2: column 3"),
}


def torn(folder: Path) -> Path:
    (folder / "torn.npy").write_bytes(b"\x93NUMPY\x01")
    return folder / "torn.npy"


def saved(folder: Path, array: np.ndarray) -> Path:
    np.save(folder / "saved.npy", array)
    return folder / "saved.npy"


def written(folder: Path, text: str) -> Path:
    (folder / "table.csv").write_text(text)
    return folder / "table.csv"


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_computed_is_refused_when_the_job_is_made(
    case: str, table: np.ndarray, tmp_path: Path
) -> None:
    make, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message):
        make(table, tmp_path)


@pytest.mark.parametrize("measure", ["spearman", "pearson"])
@pytest.mark.parametrize(
    "options",
    [
        {"max_p": 0.05},
        {"max_p": 0.2, "tail": "greater", "min_abs": 0.6},
        {"max_p": 1e-30},
        {"max_p": 0.05, "nans": "pairwise", "min_observations": 8},
        {"max_p": 1e-30, "nans": "pairwise"},
        {"max_p": 0.1, "nans": "propagate"},
    ],
)
@pytest.mark.parametrize("against", [False, True])
def test_the_cut_of_benjamini_and_hochberg(
    table: np.ndarray, measure: Any, options: Any, against: bool
) -> None:
    x = table[:120] + np.random.default_rng(4).normal(size=(120, 20))
    if "nans" in options:
        x[np.random.default_rng(5).random(x.shape) < 0.02] = np.nan
    y = x[:17] + 1 if against else None
    options = {**options, "adjust": "bh"}
    whole = gs.edges(x, y, measure=measure, **options)
    job = Job(x, y, parts=4, measure=measure, options=options)
    with pytest.raises(ValueError, match=r"with_cut\(\) counts them"):
        job.part(0)
    found = job.with_cut()
    assert not found.needs_cut and found.with_cut() is found
    parts = [found.part(i) for i in range(4)]
    np.testing.assert_array_equal(np.concatenate([p.records for p in parts]), whole.records)
    assert sum((p.summary.checksum for p in parts), gs.Checksum()) == whole.summary.checksum
    assert against or (len(whole) > 0) == (options["max_p"] > 1e-9)


def test_a_job_takes_the_names_of_adjustments(table: np.ndarray) -> None:
    whole = gs.spearman_edges(table[:60], max_p=0.3, adjust="bh")
    for name in ("BH", "fdr", "benjamini_hochberg"):
        job = Job(table[:60], parts=2, options={"max_p": 0.3, "adjust": name}).with_cut()
        assert sum(len(job.part(i)) for i in range(2)) == len(whole)


def test_a_job_with_a_policy_takes_nan(table: np.ndarray) -> None:
    x = table[:60].astype(np.float64)
    x[3, 4] = np.nan
    for nans in ("pairwise", "propagate"):
        options = {"max_p": 0.3, "nans": nans}
        job = Job(x, parts=2, options=options)
        assert sum(len(job.part(i)) for i in range(2)) == len(gs.spearman_edges(x, **options))


def test_names_come_back_from_frames_and_files(table: np.ndarray, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    names = [f"gene {i}" for i in range(40)]
    frame = pandas.DataFrame(table[:40], index=names)
    path = tmp_path / "table.tsv.gz"
    frame.T.to_csv(path, sep="\t")  # variables in columns
    want = gs.spearman_edges(frame).to_pandas()
    from_file = Job(path, parts=3, options={"axis": "columns"})
    for place, job in {
        "frame": Job(frame, parts=3),
        "turned": Job(frame.T, parts=3, options={"axis": 1}),
        "sent": Job(frame.T, parts=3, options={"axis": 1}).sent(),
        "file": from_file,
        "named": Job(table[:40], parts=3, options={"names": names}),
    }.items():
        digest = job.digest()
        assert digest == Job(frame, parts=3).digest(), place
        folder = tmp_path / place
        records = [job.write_part(i, folder, digest) for i in range(3)]
        found = gs.distributed._records.combine(records, folder).to_pandas()
        assert found["row"].astype(str).tolist() == want["row"].tolist(), place
        assert found["p"].tolist() == want["p"].tolist()
    assert Job(table[:40], parts=3).digest() != from_file.digest()


def test_checksum_of_pairs(expected: gs.Edges) -> None:
    order = np.random.default_rng(1).permutation(len(expected))
    shuffled = expected.records[order]
    got = gs.checksum(shuffled["row"], shuffled["col"], shuffled["statistic"])
    assert got == expected.summary.checksum
    assert gs.checksum(expected.col, expected.row, expected.statistic) != got
    with pytest.raises(ValueError, match="length"):
        gs.checksum([1], [2, 3], [0.5])


# Classes inside of functions travel to other processes by value: the workers do not import tests.


def slow_job(*arguments: Any, **options: Any) -> Job:
    """A job whose parts take a while, so that a worker can be killed while it has one."""

    class SlowJob(Job):
        def part(self, index: int) -> gs.Edges:
            time.sleep(0.3)
            return super().part(index)

    return SlowJob(*arguments, **options)


def check_damage(write: Any, engine: Any, damage: str, table: np.ndarray, folder: Path) -> None:
    """A job is done, a part is damaged, and the job is done again."""
    pytest.importorskip("pyarrow")
    job = Job(table, parts=4, options=OPTIONS)
    first = write(engine, job, folder)
    before = files_of(folder)
    DAMAGE[damage](folder)
    again = write(engine, job, folder)
    assert again == first
    assert files_of(folder) == before
    check_whole(again, table)


@pytest.fixture(scope="module")
def threads() -> Any:
    """A cluster of Dask that is this process."""
    distributed = pytest.importorskip("distributed")
    with distributed.Client(processes=False, n_workers=1, dashboard_address=None) as client:
        yield client


@pytest.fixture
def cluster() -> Any:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


def test_dask_with_a_killed_worker(any_table: np.ndarray, tmp_path: Path, cluster: Any) -> None:
    pytest.importorskip("pyarrow")
    np.save(tmp_path / "x.npy", any_table)
    job = slow_job(tmp_path / "x.npy", parts=16, options=OPTIONS)
    pids = list(cluster.run(os.getpid).values())
    killer = threading.Timer(1.2, os.kill, (pids[0], signal.SIGKILL))
    killer.start()
    result = gs.distributed.dask.write_parquet(cluster, job, tmp_path / "edges")
    killer.join()
    assert pids != list(cluster.run(os.getpid).values())  # one was started in place of the killed
    check_whole(result, any_table)


@pytest.mark.parametrize("damage", DAMAGE)
def test_dask_notices_damage(damage: str, table: np.ndarray, tmp_path: Path, threads: Any) -> None:
    check_damage(gs.distributed.dask.write_parquet, threads, damage, table, tmp_path)


def test_dask_notices_another_table(table: np.ndarray, tmp_path: Path, threads: Any) -> None:
    np.save(tmp_path / "x.npy", table)
    frame = gs.distributed.dask.to_dataframe(threads, Job(tmp_path / "x.npy", options=OPTIONS))
    np.save(tmp_path / "x.npy", table + np.eye(*table.shape))
    with pytest.raises(gs.distributed.IncompleteJob, match="digest"):
        frame.compute()


def test_dask_dataframe(table: np.ndarray, expected: gs.Edges, cluster: Any) -> None:
    pytest.importorskip("dask.dataframe")
    frame = gs.distributed.dask.to_dataframe(cluster, Job(table, parts=4, options=OPTIONS))
    assert frame.npartitions == 4
    edges = frame.compute()
    np.testing.assert_array_equal(edges["row"], expected.row)
    assert gs.checksum(edges["row"], edges["col"], edges["statistic"]) == expected.summary.checksum


def labelled(table: np.ndarray) -> tuple[Any, gs.Edges, gs.Edges]:
    """A frame with variables in columns, and its edges by Benjamini and Hochberg."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table.T, columns=[f"g{i}" for i in range(len(table))])
    whole = gs.spearman_edges(frame, axis="columns", max_p=1e-6, adjust="bh")
    job = Job(frame, parts=4, options={"axis": "columns", "max_p": 1e-6, "adjust": "bh"})
    return job, whole, whole.to_pandas()


def test_dask_finds_the_cut_and_keeps_labels(
    table: np.ndarray, cluster: Any, tmp_path: Path
) -> None:
    job, whole, want = labelled(table)
    done = gs.distributed.dask.write_parquet(cluster, job, tmp_path)
    assert done.checksum == whole.summary.checksum
    found = done.to_pandas()
    assert found["col"].astype(str).tolist() == want["col"].tolist()
    frame = gs.distributed.dask.to_dataframe(cluster, job, labels=True).compute()
    assert frame["row"].tolist() == want["row"].tolist()
    assert frame["statistic"].tolist() == want["statistic"].tolist()
    numbers = gs.distributed.dask.to_dataframe(cluster, job).compute()
    assert numbers["row"].tolist() == whole.row.tolist()


@pytest.fixture(scope="module")
def spark() -> Any:
    """A cluster of two workers under two addresses, as if on two machines: Spark starts the second
    attempt of a slow task on another machine only."""
    pyspark = pytest.importorskip("pyspark")
    if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        pytest.skip("no Java is here, which Spark needs")
    from pyspark.sql import SparkSession

    home = Path(pyspark.__file__).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_NO_DAEMONIZE": "1",
    }
    os.environ["PYSPARK_PYTHON"] = sys.executable

    def start(role: str, host: str, *more: str) -> subprocess.Popen[bytes]:
        name = f"org.apache.spark.deploy.{role.lower()}.{role}"
        command = [str(home / "bin" / "spark-class"), name, "--host", host, "--webui-port", "0"]
        return subprocess.Popen(
            [*command, *more], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    with tempfile.TemporaryDirectory() as scratch:
        worker = ("--cores", "1", "--memory", "1g", "--work-dir", scratch, f"spark://{address}")
        processes = [
            start("Master", "127.0.0.1", "--port", address.split(":")[1]),
            start("Worker", "127.0.0.1", *worker),
            start("Worker", "127.0.0.2", *worker),
        ]
        session = (
            SparkSession.builder.master(f"spark://{address}")
            .appName("gpu_similarity")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.executor.memory", "512m")
            .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
            .config("spark.scheduler.minRegisteredResourcesRatio", "1.0")
            .config("spark.scheduler.maxRegisteredResourcesWaitingTime", "60s")
            .config("spark.cores.max", "2")
            .config("spark.speculation", "true")
            .config("spark.speculation.interval", "100ms")
            .config("spark.speculation.multiplier", "1.5")
            .config("spark.speculation.quantile", "0.3")
            .getOrCreate()
        )
        yield session
        session.stop()
        for process in reversed(processes):
            process.terminate()
            process.wait(30)


def once_slow_job(*arguments: Any, **options: Any) -> Job:
    """A job whose third part is slow for its first attempt alone; each attempt leaves a mark."""

    class OnceSlowJob(Job):
        def part(self, index: int) -> gs.Edges:
            mark = Path(self.x).with_name(f"attempt-{os.getpid()}-{time.time_ns()}-{index}")
            first = not list(mark.parent.glob(f"attempt-*-{index}"))
            mark.touch()
            if index == 2 and first:
                time.sleep(300)  # longer than anything else here takes on a busy machine
                mark.with_name("waited").touch()
            return super().part(index)

    return OnceSlowJob(*arguments, **options)


def test_spark_with_speculation(any_table: np.ndarray, tmp_path: Path, spark: Any) -> None:
    np.save(tmp_path / "x.npy", any_table)
    job = once_slow_job(str(tmp_path / "x.npy"), parts=6, options=OPTIONS)
    result = gs.distributed.spark.write_parquet(spark, job, tmp_path / "edges")
    assert not (tmp_path / "waited").exists(), "the slow attempt was waited for"
    assert len(list(tmp_path.glob("attempt-*-2"))) == 2
    check_whole(result, any_table)


def test_spark_dataframe(table: np.ndarray, expected: gs.Edges, tmp_path: Path, spark: Any) -> None:
    frame = gs.distributed.spark.to_dataframe(spark, Job(table, parts=5, options=OPTIONS))
    frame.write.parquet(str(tmp_path / "edges"))
    written = spark.read.parquet(str(tmp_path / "edges"))
    assert written.count() == len(expected)
    assert gs.distributed.spark.checksum_of(written) == expected.summary.checksum


def test_spark_finds_the_cut_and_keeps_labels(
    table: np.ndarray, tmp_path: Path, spark: Any
) -> None:
    job, whole, want = labelled(table)
    done = gs.distributed.spark.write_parquet(spark, job, tmp_path / "edges")
    assert done.checksum == whole.summary.checksum
    frame = gs.distributed.spark.to_dataframe(spark, job, labels=True)
    found = sorted((line.row, line.col, line.statistic) for line in frame.collect())
    assert found == sorted(zip(want["row"], want["col"], want["statistic"], strict=True))


@pytest.mark.parametrize("damage", DAMAGE)
def test_spark_notices_damage(damage: str, table: np.ndarray, tmp_path: Path, spark: Any) -> None:
    check_damage(gs.distributed.spark.write_parquet, spark, damage, table, tmp_path)


def test_spark_notices_another_table(table: np.ndarray, tmp_path: Path, spark: Any) -> None:
    np.save(tmp_path / "x.npy", table)
    frame = gs.distributed.spark.to_dataframe(spark, Job(str(tmp_path / "x.npy"), options=OPTIONS))
    np.save(tmp_path / "x.npy", table + np.eye(*table.shape))
    with pytest.raises(Exception, match="IncompleteJob"):
        frame.count()
