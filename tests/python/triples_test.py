# tests/python/triples_test.py - links of a knowledge graph as labelled triples, the form that PyKEEN reads and writes.
import os
import pathlib
import subprocess

import numpy as np
import pytest
from salient_gnn import Dataset

PREPARE = pathlib.Path(os.environ.get("SALIENT_BIN", ""), "salient-prepare")
pytestmark = pytest.mark.skipif(not PREPARE.exists(), reason="SALIENT_BIN has no salient-prepare")

SPLITS = {
    "train": [("berlin", "capital of", "germany"), ("café", "in", "berlin"), ("oslo", "capital of", "norway")],
    "valid": [("oslo", "in", "norway")],
    "test": [("berlin", "in", "germany"), ("café", "in", "germany")],
}


def prepared(folder, files, *words):
    options = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    subprocess.run([PREPARE, "triples", *options, "--out", folder, *words], check=True, capture_output=True)
    return Dataset.open(folder)


@pytest.fixture()
def files(tmp_path):
    paths = {name: tmp_path / f"{name}.txt" for name in SPLITS}
    for name, triples in SPLITS.items():
        paths[name].write_text("".join("\t".join(triple) + "\n" for triple in triples), encoding="utf-8")
    return paths


@pytest.mark.parametrize("words", [(), ("--reverse", "none")])
def test_triples_are_those_of_the_files(tmp_path, files, words):
    data = prepared(tmp_path / "store", files, *words)
    for name, wanted in SPLITS.items():
        triples = data.triples(name)
        assert triples.dtype.kind == "U" and triples.shape == (len(wanted), 3)
        assert sorted(map(tuple, triples.tolist())) == sorted(wanted)


def test_a_written_file_is_read_again(tmp_path, files):
    data = prepared(tmp_path / "store", files)
    again = {name: tmp_path / f"again-{name}.tsv" for name in SPLITS}
    for name, file in again.items():
        np.savetxt(file, data.triples(name), "%s", "\t", encoding="utf-8")
    copy = prepared(tmp_path / "copy", again)
    for name in SPLITS:
        assert np.array_equal(copy.triples(name), data.triples(name))


def test_what_has_no_triples_says_so(tmp_path, files):
    data = prepared(tmp_path / "store", {"train": files["train"]})
    with pytest.raises(ValueError, match="is none of train, valid and test"):
        data.triples("all")
    assert data.triples("test").shape == (0, 3)
    for file in data.directory.glob("links-*"):
        file.unlink()
    with pytest.raises(ValueError, match="has no links with relations"):
        data.triples("train")
