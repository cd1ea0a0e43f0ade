"""Edges as Apache Arrow: tables, record batches and Parquet files. Needs pyarrow."""

from __future__ import annotations

from ._results.arrow_tables import batch as batch
from ._results.arrow_tables import batches, reader, schema, table, write_parquet

__all__ = ["batches", "reader", "schema", "table", "write_parquet"]
