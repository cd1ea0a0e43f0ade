"""Parts of a job: as they are written and checked, with Dask and a killed worker, with Spark."""

from __future__ import annotations

import json
import os
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
    result = gs.distributed._job.combine(records, tmp_path)
    assert result.checksum == expected.summary.checksum
    assert result.pairs_tested == expected.summary.pairs_tested
    np.testing.assert_array_equal(result.to_pandas()["p"], expected.p)

    written = (tmp_path / "part-00002.parquet").stat().st_mtime_ns
    assert job.write_part(2, tmp_path, digest) == records[2]
    assert (tmp_path / "part-00002.parquet").stat().st_mtime_ns == written
    (tmp_path / "part-00002.parquet").unlink()  # a record without its edges is no part
    assert job.write_part(2, tmp_path, digest) == records[2]
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".json"] * 5 + [".parquet"] * 5

    other = replace(job, options={**OPTIONS, "max_p": 0.5})
    with pytest.raises(gs.distributed.IncompleteJob, match="another job"):
        other.write_part(2, tmp_path, other.digest())


def test_what_does_not_add_up_is_refused(table: np.ndarray, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    combine, incomplete = gs.distributed._job.combine, gs.distributed.IncompleteJob
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
    (tmp_path / "part-00001.json").write_text(json.dumps(asdict(records[1]))[:50])  # torn
    assert job.write_part(1, tmp_path, job.digest()) == records[1]


def test_jobs_that_cannot_be_cut_are_refused(table: np.ndarray) -> None:
    with pytest.raises(ValueError, match="benjamini"):
        Job(table, parts=2, options={"adjust": "bh"})
    with pytest.raises(ValueError, match="parts"):
        Job(table, parts=0)
    with pytest.raises(ValueError, match="measure"):
        Job(table, measure="cosine")  # type: ignore[arg-type]


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


def test_dask_dataframe(table: np.ndarray, expected: gs.Edges, cluster: Any) -> None:
    pytest.importorskip("dask.dataframe")
    frame = gs.distributed.dask.to_dataframe(cluster, Job(table, parts=4, options=OPTIONS))
    assert frame.npartitions == 4
    edges = frame.compute()
    np.testing.assert_array_equal(edges["row"], expected.row)
    assert gs.checksum(edges["row"], edges["col"], edges["statistic"]) == expected.summary.checksum


@pytest.fixture(scope="module")
def spark() -> Any:
    """A cluster of two workers under two addresses, as if on two machines: Spark starts the second
    attempt of a slow task on another machine only."""
    pyspark = pytest.importorskip("pyspark")
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
                time.sleep(40)
            return super().part(index)

    return OnceSlowJob(*arguments, **options)


def test_spark_with_speculation(any_table: np.ndarray, tmp_path: Path, spark: Any) -> None:
    np.save(tmp_path / "x.npy", any_table)
    job = once_slow_job(str(tmp_path / "x.npy"), parts=6, options=OPTIONS)
    began = time.monotonic()
    result = gs.distributed.spark.write_parquet(spark, job, tmp_path / "edges")
    assert time.monotonic() - began < 39, "the slow attempt was waited for"
    assert len(list(tmp_path.glob("attempt-*-2"))) == 2
    check_whole(result, any_table)


def test_spark_dataframe(table: np.ndarray, expected: gs.Edges, tmp_path: Path, spark: Any) -> None:
    frame = gs.distributed.spark.to_dataframe(spark, Job(table, parts=5, options=OPTIONS))
    frame.write.parquet(str(tmp_path / "edges"))
    written = spark.read.parquet(str(tmp_path / "edges"))
    assert written.count() == len(expected)
    assert gs.distributed.spark.checksum_of(written) == expected.summary.checksum
