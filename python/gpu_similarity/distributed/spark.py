"""Parts of a job as tasks of Spark. Needs pyspark and pyarrow.

A task that Spark runs twice, because it failed or was slow (speculation), gives the same edges, and
their files or rows are taken once: the checksum is that of a single run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .._results.checksum import Checksum, checksum
from ._job import Job
from ._records import JobResult, PartRecord, combine
from ._tables import is_path

__all__ = ["checksum_of", "to_dataframe", "write_parquet"]

# Spark has no unsigned integers.
_SCHEMA = "row long, col long, statistic double, p double"


def write_parquet(spark: Any, job: Job, folder: Any) -> JobResult:
    """Computes all parts as tasks, each of which writes its Parquet file.

    Nothing but a record of a few bytes a part comes back. Parts that the folder has already are
    not computed again.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        The cluster; spark.task.maxFailures and spark.speculation apply.
    job : Job
        What to compute.
    folder : str or path
        On a file system that all executors share.

    Returns
    -------
    JobResult
        With the checksum of a single run.

    Raises
    ------
    IncompleteJob
        Where the parts are not the whole.
    """
    job = _with_cut(spark, job)
    digest, place = job.digest(), str(folder)
    whole = _sent(spark, replace(job, expected=digest))

    def write(index: int) -> PartRecord:
        return whole().write_part(index, place, digest)

    context = spark.sparkContext
    return combine(context.parallelize(range(job.parts), job.parts).map(write).collect(), folder)


def to_dataframe(spark: Any, job: Job, *, labels: bool = False) -> Any:
    """The edges as a DataFrame of Spark with the columns row, col, statistic and p.

    A part is a partition. Nothing is computed before the DataFrame is (but for the counting passes
    of adjust="bh"), and then every time: write it, or cache it. Rows and columns are long integers.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        The cluster.
    job : Job
        What to compute.
    labels : bool
        Strings in place of the integers: the names of rows.

    Returns
    -------
    pyspark.sql.DataFrame
        `checksum_of` gives its checksum.
    """
    job = _with_cut(spark, job)
    whole = _sent(spark, replace(job, expected=job.digest()))

    def compute(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            for index in batch.column(0).to_pylist():
                found = whole().part(index)
                records = found.records
                row, col = records["row"].astype(np.int64), records["col"].astype(np.int64)
                yield pyarrow.RecordBatch.from_pydict(
                    {
                        "row": [str(found.label(i)) for i in row] if labels else row,
                        "col": [str(found.other_label(i)) for i in col] if labels else col,
                        "statistic": np.ascontiguousarray(records["statistic"]),
                        "p": np.ascontiguousarray(records["p"]),
                    }
                )

    numbers = spark.range(0, job.parts, 1, job.parts)
    return numbers.mapInArrow(compute, _SCHEMA.replace("long", "string") if labels else _SCHEMA)


def checksum_of(frame: Any) -> Checksum:
    """The checksum of a DataFrame with the columns row, col and statistic, computed by Spark."""

    def add(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            columns = (batch.column(name).to_numpy() for name in ("row", "col", "statistic"))
            yield pyarrow.RecordBatch.from_pydict({"checksum": [str(checksum(*columns))]})

    sums = frame.select("row", "col", "statistic").mapInArrow(add, "checksum string").collect()
    return sum((Checksum.parse(line[0]) for line in sums), Checksum())


def _with_cut(spark: Any, job: Job) -> Job:
    """The job as it is sent, with its cut, whose counting passes the executors compute."""
    job = job.sent()
    if not job.needs_cut:
        return job
    whole, context = _sent(spark, replace(job, expected=job.digest())), spark.sparkContext

    def count(step: Any) -> Any:
        numbers = context.parallelize(range(job.parts), job.parts)
        return numbers.map(lambda index: whole().count(index, step)).collect()

    return job._with_cut(count)


def _sent(spark: Any, job: Job) -> Callable[[], Job]:
    """The job, for tasks: its arrays are broadcast once, paths travel as they are."""
    tables = [
        table if table is None or is_path(table) else spark.sparkContext.broadcast(table)
        for table in (job.x, job.y)
    ]
    light = replace(job, x=None, y=None)

    def whole() -> Job:
        x, y = (t.value if hasattr(t, "value") else t for t in tables)
        return replace(light, x=x, y=y)

    return whole
