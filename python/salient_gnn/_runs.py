# python/salient_gnn/_runs.py - what a run directory says of the data that its weights were trained on.
from __future__ import annotations

import json
import os
import pathlib
from dataclasses import dataclass
from typing import Any

from salient_gnn import _core


def printable(text: str | os.PathLike[str]) -> str:
    """A name or a path as one line that a terminal may show: control characters become \\n, \\x1b, ..."""
    return _core.printable(os.fspath(text).encode(errors="surrogateescape"))


def checkpoint_folder(run: str | os.PathLike[str], checkpoint: str) -> pathlib.Path:
    """Of "best", "latest" or "epoch-0003"; "latest" where there is no best one."""
    folder = pathlib.Path(run) / "checkpoints"
    if checkpoint == "best" and not (folder / "best").exists():
        checkpoint = "latest"
    path = folder / checkpoint
    if not (path / "model.safetensors").is_file():
        raise FileNotFoundError(
            f"{printable(path)}/model.safetensors: is missing; a run directory of salient-train has it"
        )
    return path


@dataclass
class TrainedOn:
    """A data set, and what its numbers stand for."""

    name: str
    fingerprint: str
    schema: dict[str, Any]  #: task, num_classes, feature_dim, class_names, column_names, feature_origin
    is_complete: bool  #: False: a run of an older version kept the first three of these alone


@dataclass
class LinkEmbeddings:
    """The shape of embeddings of entities and relations, a run of --model none."""

    decoder: str
    hidden: int
    num_nodes: int
    num_relations: int


def link_embeddings_of(folder: pathlib.Path) -> LinkEmbeddings | None:
    """Of a checkpoint's folder; None where it is of another kind."""
    file = folder / "state.json"
    if not file.is_file():
        return None
    try:
        state = json.loads(file.read_text(errors="replace"))
        if state.get("format") != "salient link checkpoint":
            return None
        identity = state["identity"]
        sizes = (int(identity[name]) for name in ("hidden", "nodes", "relations"))
        return LinkEmbeddings(str(identity["decoder"]), *sizes)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _no_state(file, error) from None


def trained_on(folder: pathlib.Path) -> TrainedOn:
    """Of a checkpoint's folder."""
    file = folder / "state.json"
    try:
        state = json.loads(file.read_text(errors="replace"))
        dataset = state["dataset"]
        schema = dataset.get("schema")
        if schema is None:
            model = json.loads(state["model"])
            numbers = {"task": model["task"], "num_classes": model["num_classes"], "feature_dim": model["in_dim"]}
            schema = {**numbers, "class_names": [], "column_names": [], "feature_origin": {}}
        return TrainedOn(dataset["name"], dataset["xxh3"], schema, "schema" in dataset)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _no_state(file, error) from None


def _no_state(file: pathlib.Path, error: Exception) -> Exception:
    refusal = _core.Error(f"{printable(file)}: does not say what the run was trained on ({error!r})")
    refusal.code = 65
    return refusal
