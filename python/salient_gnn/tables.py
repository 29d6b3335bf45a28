# python/salient_gnn/tables.py - tables of edges and nodes, in files or in memory, become a store.
"""prepare() hands tables to salient-prepare edges, which codes their columns; Parquet files and data frames as text."""

from __future__ import annotations

import os
import pathlib
import tempfile
from typing import Any

from salient_gnn.dataset import Dataset
from salient_gnn.programs import run_program

_ROWS = 65_536  # that are in memory at a time


def prepare(
    out: str | os.PathLike[str], edges: Any, nodes: Any = None, *, quiet: bool = False, **options: Any
) -> Dataset:
    """Makes the store `out` of a table of edges and one of nodes, by salient-prepare edges, and opens it.

        dataset = salient_gnn.prepare("data/shop", "edges.parquet", customers, label="segment", split=[0.6, 0.2, 0.2])

    Each table is a file in text; a Parquet file, or a folder of them; a data frame of pandas or polars; or a table of
    Arrow. Options are those of the program: scale_features="none", drop_columns=["day"], force=True. Columns, ids and
    blanks are as docs/DATASETS.md says of text.

    Parquet needs pyarrow. It is read 65,536 rows at a time, and lies as text in the temporary folder meanwhile.

    Raises ProgramError with the program's last line; ValueError for a column that text cannot hold.
    """
    with tempfile.TemporaryDirectory(prefix="salient-tables-") as folder:
        named = {"edges": edges} if nodes is None else {"edges": edges, "nodes": nodes}
        files = {name: _as_text(table, pathlib.Path(folder, f"{name}.csv")) for name, table in named.items()}
        run_program("salient-prepare edges", {**files, **options, "out": os.fspath(out)}, quiet)
    return Dataset.open(out)


def _as_text(table: Any, file: pathlib.Path) -> str:
    """The file of a table in text; `file`, written here, for one that is none yet."""
    if isinstance(table, (str, os.PathLike)):
        path = pathlib.Path(table)
        if path.suffix.lower() not in (".parquet", ".pq") and not path.is_dir():
            return os.fspath(path)
        _write_arrow(_batches_of_parquet(path), file)
    elif hasattr(table, "to_batches"):  # Arrow
        _write_arrow(table.to_batches(max_chunksize=_ROWS), file)
    elif hasattr(table, "write_csv"):  # polars
        table.write_csv(file)
    elif hasattr(table, "to_csv"):  # pandas
        table.to_csv(file, index=table.index.name is not None)
    else:
        raise TypeError(f"a table is a file, a data frame or a table of Arrow, not {type(table).__name__}")
    return os.fspath(file)


def _batches_of_parquet(path: pathlib.Path) -> Any:
    try:
        import pyarrow.parquet
    except ImportError as cause:
        raise ImportError(f"{path}: a Parquet file needs pyarrow (pip install pyarrow)") from cause
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files:
        raise FileNotFoundError(f"{path}: a folder without a .parquet file")
    for file in files:
        with pyarrow.parquet.ParquetFile(file) as opened:
            yield from opened.iter_batches(batch_size=_ROWS)


def _write_arrow(batches: Any, file: pathlib.Path) -> None:
    import pyarrow as pa
    import pyarrow.csv

    writer = None
    for batch in batches:
        for field in batch.schema:
            if pa.types.is_nested(field.type):
                raise ValueError(f"column {field.name!r} holds {field.type}, not one value a row: leave it out")
        plain = pa.schema(
            [
                pa.field(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
                for field in batch.schema
            ]
        )
        if writer is None:
            writer = pyarrow.csv.CSVWriter(file, plain)
        writer.write_batch(batch.cast(plain) if batch.schema != plain else batch)
    if writer is None:
        raise ValueError("a table without rows")
    writer.close()
