"""Parts of a job as tasks of Dask. Needs dask and distributed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ._job import Job
from ._records import JobResult, PartRecord, combine
from ._tables import is_path

__all__ = ["to_dataframe", "write_parquet"]


def write_parquet(
    client: Any, job: Job, folder: Any, *, retries: int = 3, **submit: Any
) -> JobResult:
    """Computes all parts on the workers, each of which writes its Parquet file.

    Nothing but a record of a few bytes a part comes back. Parts that the folder has already are
    not computed again, so a job that was stopped goes on where it was.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    job : Job
        What to compute.
    folder : str or path
        On a file system that all workers share.
    retries : int
        How often a part that failed is tried again; parts of a worker that died go to others.
    **submit
        Passed to Client.submit, as resources={"GPU": 1}.

    Returns
    -------
    JobResult
        With the checksum of a single run.

    Raises
    ------
    IncompleteJob
        Where the parts are not the whole.

    Examples
    --------
    >>> import distributed, tempfile, numpy as np, gpu_similarity as gs
    >>> x = np.random.default_rng(0).normal(size=(50, 20))
    >>> with distributed.Client(processes=False, n_workers=1, dashboard_address=None) as client:
    ...     with tempfile.TemporaryDirectory() as folder:
    ...         job = gs.distributed.Job(x, parts=3, options={"max_p": 0.01})
    ...         done = gs.distributed.dask.write_parquet(client, job, folder)
    >>> done.checksum == gs.spearman_edges(x, max_p=0.01).summary.checksum
    True
    """
    job = job.sent()
    sent = _scattered(client, job)
    keywords = {"x": sent[0], "y": sent[1], "retries": retries, "pure": False, **submit}
    job = _with_cut(client, job, keywords)
    digest = job.digest()
    futures = client.map(
        _write_part,
        range(job.parts),
        job=_without_tables(job, digest),
        folder=str(folder),
        **keywords,
    )
    return combine(client.gather(futures), folder)


def to_dataframe(client: Any, job: Job, *, labels: bool = False) -> Any:
    """The edges as a dask.dataframe with the columns row, col, statistic and p, a part a partition.

    Nothing is computed before the data frame is, but for the counting passes of adjust="bh": Dask's
    own retries apply then. With `labels` row and col have names in place of numbers. Needs
    dask[dataframe].

    Examples
    --------
    >>> import distributed, numpy as np, gpu_similarity as gs
    >>> x = np.random.default_rng(0).normal(size=(50, 20))
    >>> job = gs.distributed.Job(x, parts=3, options={"max_p": 0.01})
    >>> with distributed.Client(processes=False, n_workers=1, dashboard_address=None) as client:
    ...     frame = gs.distributed.dask.to_dataframe(client, job).compute()
    >>> gs.checksum(frame.row, frame.col, frame.statistic) == gs.spearman_edges(
    ...     x, max_p=0.01
    ... ).summary.checksum
    True
    """
    import dask.dataframe
    import numpy as np
    import pandas
    from dask.delayed import delayed

    from .._results.edges import EDGE_DTYPE

    job = job.sent()
    if job.needs_cut:
        sent = _scattered(client, job)
        job = _with_cut(client, job, {"x": sent[0], "y": sent[1], "pure": False})
    kind = object if labels else np.int64
    meta = pandas.DataFrame(np.empty(0, EDGE_DTYPE)).astype({"row": kind, "col": kind})
    compute = delayed(_frame_of_part, pure=False)
    x, y = (None if table is None else delayed(table) for table in (job.x, job.y))
    light = _without_tables(job, job.digest())
    parts = [compute(index, light, x, y, labels) for index in range(job.parts)]
    return dask.dataframe.from_delayed(parts, meta=meta, verify_meta=False)


def _scattered(client: Any, job: Job) -> list[Any]:
    """Paths as they are; arrays sent to the workers once."""
    return [
        table
        if table is None or is_path(table)
        else client.scatter(table, broadcast=True, hash=False)
        for table in (job.x, job.y)
    ]


def _with_cut(client: Any, job: Job, keywords: dict[str, Any]) -> Job:
    """The job with its cut, whose counting passes the workers compute."""
    if not job.needs_cut:
        return job
    light = _without_tables(job, job.digest())

    def count(step: Any) -> Any:
        futures = client.map(_count_part, range(job.parts), job=light, step=step, **keywords)
        return client.gather(futures)

    return job._with_cut(count)


def _without_tables(job: Job, digest: str) -> Job:
    return replace(job, x=None, y=None, expected=digest)


def _write_part(index: int, job: Job, x: Any, y: Any, folder: str) -> PartRecord:
    assert job.expected is not None
    return replace(job, x=x, y=y).write_part(index, folder, job.expected)


def _count_part(index: int, job: Job, x: Any, y: Any, step: Any) -> Any:
    return replace(job, x=x, y=y).count(index, step)


def _frame_of_part(index: int, job: Job, x: Any, y: Any, labels: bool) -> Any:
    import pandas

    found = replace(job, x=x, y=y).part(index)
    if not labels:
        return pandas.DataFrame(found.records)
    return found.to_pandas().astype({"row": object, "col": object})
