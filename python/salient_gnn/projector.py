# python/salient_gnn/projector.py - embeddings as TensorBoard's projector shows them.
from __future__ import annotations

import os
import pathlib
from typing import Any

import numpy as np

CONFIG = """embeddings {
  tensor_name: "embeddings"
  tensor_path: "projector/embeddings.tsv"
  metadata_path: "projector/nodes.tsv"
}
"""


def write_projector(predictions: Any, run: str | os.PathLike[str], most: int) -> pathlib.Path:
    """Of Predictions; see Predictions.to_projector()."""
    if predictions.embeddings is None:
        raise ValueError("there are no embeddings: predict(..., embeddings=LAYER) writes them")
    step = max(1, -(-len(predictions.embeddings) // most))
    columns = {"id": predictions.source_ids[::step]}
    classes = predictions.classes[::step].numpy()
    if classes.ndim == 1:
        names = None if np.issubdtype(classes.dtype, np.floating) else predictions.class_names
        columns["class" if names is not None else "value"] = np.array(names)[classes] if names else classes
    folder = pathlib.Path(run, "projector")
    folder.mkdir(exist_ok=True)
    np.savetxt(folder / "embeddings.tsv", predictions.embeddings[::step].numpy(), fmt="%.6g", delimiter="\t")
    with open(folder / "nodes.tsv", "w", encoding="utf-8", errors="replace") as file:
        if len(columns) > 1:  # of one column TensorBoard takes the first line as a node
            file.write("\t".join(columns) + "\n")
        for row in zip(*columns.values()):
            file.write("\t".join(" ".join(str(value).split()) or "-" for value in row) + "\n")
    pathlib.Path(run, "projector_config.pbtxt").write_text(CONFIG)
    return folder
