# python/salient_gnn/programs.py - starts salient-train and salient-infer, and reads what they write.
"""train() and predict() run the programs, which use every GPU feature of the engine and need no Python themselves."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import salient_programs
import torch
from torch import Tensor

from salient_gnn._arrays import is_mask, nodes_of, tensor_of, texts_of
from salient_gnn._table_files import as_text
from salient_gnn.nodes import Store
from salient_gnn.projector import write_projector


class ProgramError(RuntimeError):
    """A program ended with an error; `code` is its exit code, the message its last line."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclass
class Run:
    """A run directory, and the results that the program printed: "test accuracy", "valid accuracy", ...

    It is taken wherever a path is.
    """

    directory: pathlib.Path
    results: dict[str, float]

    def __fspath__(self) -> str:
        return str(self.directory)


@dataclass
class Predictions:
    """Of the nodes that were asked for, in their order."""

    ids: Tensor  #: int64 [N] their rows in the data set; of new nodes their places in the table
    logits: Tensor  #: float32 [N, classes]; of a regression the values, [N, targets]
    classes: Tensor  #: int32 [N] the most probable class, or int8 [N, labels]; of a regression the values, float32
    report: dict[str, Any]  #: inference.json: accuracy, fanouts, seconds, ...
    source_ids: np.ndarray  #: uint64 [N] or text [N]: what the data set's source calls them; without such ids the rows
    embeddings: Tensor | None = None  #: float32 [N, width] where predict() was asked for a layer's, embeddings=2

    @property
    def labels(self) -> Tensor:
        """The older name of `classes`."""
        return self.classes

    @property
    def probabilities(self) -> Tensor:
        """float32 [N, classes]: the softmax of the logits, where a node has several labels their sigmoid."""
        if self.classes.is_floating_point():
            raise ValueError("a regression predicts values, which have no probabilities")
        return self.logits.sigmoid() if self.classes.dtype == torch.int8 else self.logits.softmax(1)

    @property
    def values(self) -> Tensor:
        """float32 [N] of one target of a regression, or [N, targets]."""
        if not self.classes.is_floating_point():
            raise ValueError("the run predicts classes or labels, not values")
        return self.classes

    @property
    def class_names(self) -> list[str]:
        """In the order of the columns; empty where classes, or targets, have no names."""
        return self.report.get("class_names", self.report.get("target_names", []))

    def to_pandas(self) -> Any:
        """A pandas.DataFrame, a row a node, with the columns of salient-infer's table: node (its row in the data set),
        id; class, class_name where classes have names, and probability of the most probable class; and prob_NAME of
        each. Where a node has several labels NAME, 0 or 1, and prob_NAME; of a regression NAME_predicted."""
        try:
            import pandas
        except ImportError as cause:
            raise ImportError("to_pandas() needs pandas (pip install pandas)") from cause
        has_values, has_labels = self.classes.is_floating_point(), self.classes.dtype == torch.int8
        numbers = [str(i) for i in range(self.logits.shape[1])]
        if has_values:
            numbers = ["target"] if len(numbers) == 1 else [f"target_{i}" for i in numbers]
        names = self.class_names or numbers
        columns: dict[str, Any] = {"node": self.ids.numpy(), "id": self.source_ids}
        if has_values:
            values = zip(names, self.logits.T.numpy())  # of a regression the logits are its values
            return pandas.DataFrame({**columns, **{f"{name}_predicted": column for name, column in values}})
        probabilities = self.probabilities
        if has_labels:
            columns.update(zip(names, self.classes.T.numpy()))
        else:
            columns["class"] = self.classes.numpy()
            if self.class_names:
                columns["class_name"] = np.array(names, dtype=object)[self.classes.numpy()]
            columns["probability"] = probabilities.gather(1, self.classes.long()[:, None]).squeeze(1).numpy()
        columns.update((f"prob_{name}", column) for name, column in zip(names, probabilities.T.numpy()))
        return pandas.DataFrame(columns)

    def to_projector(self, run: str | os.PathLike[str], most: int = 10000) -> pathlib.Path:
        """Writes the embeddings of at most `most` nodes, evenly spaced, with id and class, where TensorBoard's
        projector finds them: `tensorboard --logdir RUN`, or the folder above it. Returns the folder in RUN."""
        return write_projector(self, run, most)


def train(dataset: Store | str | os.PathLike[str], *, quiet: bool = False, **options: Any) -> Run:
    """Trains a model with salient-train. Options are those of the program: hidden=256, fanout=[15, 10, 5], epochs=20.

    The program is looked for in the folder SALIENT_BIN, else in the wheel, else on PATH. quiet leaves its log out of
    standard error.
    """
    for name in ("dry_run", "print_config", "help", "version"):
        if options.get(name):
            raise ValueError(f"{name}: trains nothing; start salient-train itself")
    named = dataset if not isinstance(dataset, Store) else dataset.directory or dataset._origin[0]
    output = run_program("salient-train", {"dataset": named, **options}, quiet)
    results = {
        f"{line[1]} {figure[1]}": float(figure[2])
        for line in re.finditer(r"^(valid|test) (.+)$", output, re.MULTILINE)
        for figure in re.finditer(r"(?:^|, )(\w+) (-?[0-9.]+(?:e[+-]?[0-9]+)?)", line[2])
    }
    directory = re.search(r"^run directory (.+)$", output, re.MULTILINE)
    if directory is None:
        raise ProgramError("salient-train printed no run directory", 70)
    folder = options.get("out") or options.get("resume")  # what is printed is made printable: not every folder's name
    is_one = folder and int(options.get("trials") or 1) == 1
    return Run(pathlib.Path(folder if is_one else directory[1]), results)


def predict(
    run: str | os.PathLike[str],
    nodes: Any = "test",
    *,
    nodes_by: str | None = None,
    new_nodes: Any = None,
    new_edges: Any = None,
    quiet: bool = False,
    **options: Any,
) -> Predictions:
    """Predicts nodes with salient-infer: "train", "valid", "test", "all", distinct ids, or a mask of all rows.

    Ids, numbers or text, are those of the data set's source where it has some, else rows: as for the program, for
    salient-serve and for Dataset.rows_of(). nodes_by="row" takes rows, such as those of dataset.test.

    Instead, new_nodes is a table of nodes that the data set lacks, with an id and the columns of the data set's table,
    and new_edges one of their edges by ids, to known nodes and to each other: what prepare() takes, such as

        predict(run, new_nodes=[{"id": "new-1", "country": "SE", "age": None}], new_edges=[("new-1", "cust-00227")])

    Of a typed graph both are dicts, of tables by type and by relation, and those of the target type are predicted:

        predict(run, new_nodes={"paper": papers, "author": [{"id": "ann"}]},
                new_edges={("paper", "written_by", "author"): [("new-1", "ann")]})

    Options are those of the program: exact=True, fanout=[20, 20, 20], checkpoint="latest"; out=FOLDER keeps the files.
    """
    if nodes_by not in (None, "id", "row"):
        raise ValueError(f"nodes_by: {nodes_by!r} is neither 'id' nor 'row'")
    if options.get("format", "npy") != "npy":
        raise ValueError(f"format: {options['format']!r} has no arrays to return; start salient-infer itself")
    with tempfile.TemporaryDirectory(prefix="salient-predict-") as folder:
        wanted, added = None, {}
        if new_nodes is not None:
            if not isinstance(nodes, str) or nodes != "test":
                raise ValueError("nodes: not with new_nodes")
            tables = {"new_nodes": new_nodes} if new_edges is None else {"new_nodes": new_nodes, "new_edges": new_edges}
            added = {name: _as_files(table, pathlib.Path(folder), name) for name, table in tables.items()}
            nodes = None
        elif new_edges is not None:
            raise ValueError("new_edges: only of new_nodes")
        elif not isinstance(nodes, str):
            wanted = texts_of(nodes)
            if wanted is None:
                num_nodes = None if "dataset" in options else _num_nodes_of(run)
                wanted = nodes_of(nodes, "nodes", num_nodes)
                nodes_by = "row" if is_mask(tensor_of(nodes, "nodes"), num_nodes) else nodes_by
            if len(wanted) == 0:
                raise ValueError("nodes: there are none to predict")
            nodes = _write_list(pathlib.Path(folder), wanted)
        out = pathlib.Path(options.pop("out", None) or os.path.join(folder, "predictions"))
        said = {"run": os.fspath(run), "nodes": nodes, "nodes_by": nodes_by, "out": out, **added, **options}
        run_program("salient-infer", said, quiet)
        ids, classes = (torch.from_numpy(np.load(out / f"{name}.npy")) for name in ("ids", "predictions"))
        has_values = classes.is_floating_point()
        logits = classes.view(len(ids), -1) if has_values else torch.from_numpy(np.load(out / "logits.npy"))
        report = json.loads((out / "inference.json").read_text())
        if report["nodes"].get("are_rows_of_others"):
            warnings.warn(
                "nodes: the numbers are taken as the data set's own ids, and are rows of other nodes, too; "
                "nodes_by='row' takes rows, nodes_by='id' says that ids are meant", stacklevel=2)  # fmt: skip
        embeddings = out / "embeddings.npy"
        layer = torch.from_numpy(np.load(embeddings)) if embeddings.exists() else None
        return Predictions(ids, logits, classes, report, _source_ids_in(out, ids), layer)


def _as_files(table: Any, folder: pathlib.Path, name: str) -> str | list[str]:
    """What --new-nodes or --new-edges takes, of a table or of a dict of them."""
    if not isinstance(table, dict):
        return as_text(table, folder / f"{name}.csv")
    if not table:
        raise ValueError(f"{name}: an empty dict")
    return [
        f"{':'.join(key) if isinstance(key, tuple) else key}={as_text(part, folder / f'{name}-{place}.csv')}"
        for place, (key, part) in enumerate(table.items())
    ]


def _write_list(folder: pathlib.Path, nodes: list[str] | Tensor) -> str:
    """As a file that --nodes takes."""
    if isinstance(nodes, Tensor):
        np.save(folder / "nodes.npy", nodes.numpy())
        return os.fspath(folder / "nodes.npy")
    with open(folder / "nodes.csv", "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        file.write("id\n")
        for place, name in enumerate(nodes):
            if "\n" in name or "\r" in name:
                raise ValueError(f"nodes: item {place} is {name!r}, ids have no line breaks")
            quoted = name.replace('"', '""')
            file.write(f'"{quoted}"\n')
    return os.fspath(folder / "nodes.csv")


def _source_ids_in(folder: pathlib.Path, rows: Tensor) -> np.ndarray:
    numbers, names = folder / "source_ids.npy", folder / "source_ids.csv"
    if numbers.exists():
        return np.load(numbers)
    if not names.exists():
        return rows.numpy()
    lines = names.read_text(encoding="utf-8", errors="surrogateescape").split("\n")[1:-1]
    return np.array([line[1:-1].replace('""', '"') for line in lines], dtype=str)


def _num_nodes_of(run: str | os.PathLike[str]) -> int | None:
    """None where the run does not say so; salient-infer tells what is wrong with it."""
    try:
        return int(json.loads(pathlib.Path(run, "run.json").read_text())["dataset"]["nodes"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _arguments(options: dict[str, Any]) -> list[str]:
    words = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, (np.ndarray, np.generic, torch.Tensor)):
            value = value.tolist()
        if isinstance(value, bool):
            words.append(option if value else option + "=false")
        elif isinstance(value, (list, tuple)):
            words += [option, ",".join(map(str, value))]
        else:
            words += [option, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    return words


def run_program(name: str, options: dict[str, Any], quiet: bool) -> str:
    """Runs a program, or "salient-prepare edges", a command of one, to its end and returns its standard output.

    Ctrl-C reaches it, too: it ends in its own way.
    """
    program, *subcommand = name.split()
    command, last = [salient_programs.find(program), *subcommand, *_arguments(options)], ""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogateescape") as printed:  # paths are bytes
        process = subprocess.Popen(
            command, stdout=printed, stderr=subprocess.PIPE, encoding="utf-8", errors="backslashreplace",
            env=salient_programs.environment(),
        )  # fmt: skip
        assert process.stderr is not None
        try:
            for line in process.stderr:
                last = line.strip() or last
                if not quiet:
                    sys.stderr.write(line)
        finally:
            for line in process.stderr:  # a closed pipe would end the program at its next line, before its checkpoint
                last = line.strip() or last
            process.stderr.close()
            code = process.wait()
        printed.seek(0)
        output = printed.read()
    if code != 0:
        raise ProgramError(last or f"{name} ended with code {code}", code)
    return output
