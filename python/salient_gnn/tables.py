# python/salient_gnn/tables.py - tables of edges and nodes, in files or in memory, become a store.
"""prepare() hands tables to salient-prepare edges, which codes their columns; Parquet files and data frames as text."""

from __future__ import annotations

import os
import pathlib
import tempfile
from typing import Any

from salient_gnn._table_files import as_text
from salient_gnn.dataset import Dataset
from salient_gnn.programs import run_program


def prepare(
    out: str | os.PathLike[str], edges: Any, nodes: Any = None, *, quiet: bool = False, **options: Any
) -> Dataset:
    """Makes the store `out` of a table of edges and one of nodes, by salient-prepare edges, and opens it.

        dataset = salient_gnn.prepare("data/shop", "edges.parquet", customers, label="segment", split=[0.6, 0.2, 0.2])

    Each table is a file in text; a Parquet file, or a folder of them; a data frame of pandas or polars; a table of
    Arrow; or a list of rows, as dicts, and of edges as pairs. Options are those of the program: scale_features="none",
    drop_columns=["day"], force=True. Columns, ids and blanks are as docs/DATASETS.md says of text.

    Parquet needs pyarrow. It is read 65,536 rows at a time, and lies as text in the temporary folder meanwhile.

    Raises ProgramError with the program's last line; ValueError for a column that text cannot hold.
    """
    with tempfile.TemporaryDirectory(prefix="salient-tables-") as folder:
        named = {"edges": edges} if nodes is None else {"edges": edges, "nodes": nodes}
        files = {name: as_text(table, pathlib.Path(folder, f"{name}.csv")) for name, table in named.items()}
        run_program("salient-prepare edges", {**files, **options, "out": os.fspath(out)}, quiet)
    return Dataset.open(out)
