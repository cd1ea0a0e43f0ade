"""Parts of a job as tasks of Dask. Needs dask and distributed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ._job import Job, JobResult, PartRecord, combine, is_path

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
    digest = job.digest()
    sent = _scattered(client, job)
    futures = client.map(
        _write_part,
        range(job.parts),
        job=_without_tables(job),
        x=sent[0],
        y=sent[1],
        folder=str(folder),
        digest=digest,
        retries=retries,
        pure=False,
        **submit,
    )
    return combine(client.gather(futures), folder)


def to_dataframe(client: Any, job: Job) -> Any:
    """The edges as a dask.dataframe with the columns row, col, statistic and p, a part a partition.

    Nothing is computed before the data frame is: Dask's own retries apply then. Needs
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

    from .._edges import EDGE_DTYPE

    meta = pandas.DataFrame(np.empty(0, EDGE_DTYPE))
    compute = delayed(_frame_of_part, pure=False)
    x, y = (None if table is None else delayed(table) for table in (job.x, job.y))
    light = replace(_without_tables(job), expected=job.digest())
    parts = [compute(index, light, x, y) for index in range(job.parts)]
    return dask.dataframe.from_delayed(parts, meta=meta, verify_meta=False)


def _scattered(client: Any, job: Job) -> list[Any]:
    """Paths as they are; arrays sent to the workers once."""
    return [
        table
        if table is None or is_path(table)
        else client.scatter(table, broadcast=True, hash=False)
        for table in job.sent()
    ]


def _without_tables(job: Job) -> Job:
    return replace(job, x=None, y=None)


def _write_part(index: int, job: Job, x: Any, y: Any, folder: str, digest: str) -> PartRecord:
    return replace(job, x=x, y=y).write_part(index, folder, digest)


def _frame_of_part(index: int, job: Job, x: Any, y: Any) -> Any:
    import pandas

    return pandas.DataFrame(replace(job, x=x, y=y).part(index).records)
