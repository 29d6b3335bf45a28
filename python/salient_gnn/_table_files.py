# python/salient_gnn/_table_files.py - tables of any kind as files in text, which the programs read.
from __future__ import annotations

import csv
import os
import pathlib
from typing import Any

_ROWS = 65_536  # that are in memory at a time


def as_text(table: Any, file: pathlib.Path) -> str:
    """The file of a table in text; `file`, written here, for one that is none yet.

    A list of dicts has a row in each; of pairs, of edges, the two ends.
    """
    if isinstance(table, (str, os.PathLike)):
        path = pathlib.Path(table)
        if path.suffix.lower() not in (".parquet", ".pq") and not path.is_dir():
            return os.fspath(path)
        _write_arrow(_batches_of_parquet(path), file)
    elif isinstance(table, list):
        _write_rows(table, file)
    elif hasattr(table, "to_batches"):  # Arrow
        _write_arrow(table.to_batches(max_chunksize=_ROWS), file)
    elif hasattr(table, "write_csv"):  # polars
        table.write_csv(file)
    elif hasattr(table, "to_csv"):  # pandas
        table.to_csv(file, index=table.index.name is not None)
    else:
        kind = type(table).__name__
        raise TypeError(f"a table is a file, a data frame, a table of Arrow or a list of rows, not {kind}")
    return os.fspath(file)


def _write_rows(rows: list[Any], file: pathlib.Path) -> None:
    if not rows:
        raise ValueError("a table without rows")
    columns = list(rows[0]) if isinstance(rows[0], dict) else ["source", "target"]
    with open(file, "w", encoding="utf-8", errors="surrogateescape", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        for place, row in enumerate(rows):
            named = row if isinstance(row, dict) else dict(zip(columns, row))
            if set(named) != set(columns) or len(row) != len(columns):
                raise ValueError(f"row {place} is not one of {', '.join(map(str, columns))}")
            texts = ["" if named[column] is None else str(named[column]) for column in columns]
            if any("\n" in text or "\r" in text for text in texts):
                raise ValueError(f"row {place} has a line break, which fields have not")
            writer.writerow(texts)


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
