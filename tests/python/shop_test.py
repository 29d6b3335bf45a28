# tests/python/shop_test.py - from two tables to predictions: by three commands, in ten lines of Python, over HTTP.
import csv
import os
import pathlib
import re
import subprocess

import numpy as np
import pytest
import salient_gnn
from serving import Server

BIN = pathlib.Path(os.environ.get("SALIENT_BIN", ""))
pytestmark = pytest.mark.skipif(not (BIN / "salient-train").exists(), reason="SALIENT_BIN has none")
SEGMENTS = ["retail", "premium", "business", "dormant"]


def write_tables(folder):
    """5,000 customers with text ids, unscaled numbers, words, blanks, and 40 % of the labels missing."""
    r = np.random.default_rng(0)
    n = 5000
    ids = np.array([f"cust-{i:05d}" for i in r.permutation(n)])
    c = r.integers(0, 4, n)
    src = r.integers(0, n, 30000)
    same = [np.flatnonzero(c == k) for k in range(4)]
    dst = np.where(r.random(30000) < 0.7, [r.choice(same[c[s]]) for s in src], r.integers(0, n, 30000))
    amounts, days = r.gamma(2, 30, 30000), r.integers(1, 29, 30000)
    with open(folder / "edges.csv", "w") as out:
        out.write("customer,recommended,amount,date\n")
        for s, d, amount, day in zip(ids[src], ids[dst], amounts, days):
            out.write(f"{s},{d},{amount:.2f},2024-03-{day:02d}\n")
    age, income = 30 + 8 * c + r.normal(0, 12, n), np.exp(10 + 0.2 * c + r.normal(0, 0.6, n))
    with open(folder / "customers.csv", "w") as out:
        out.write("customer_id,country,age,income,newsletter,segment\n")
        for v in range(n):
            age_text = "" if r.random() < 0.05 else f"{age[v]:.0f}"
            segment = "" if r.random() < 0.4 else SEGMENTS[c[v]]
            country = r.choice(["DE", "FR", "US", "JP"])
            out.write(f"{ids[v]},{country},{age_text},{income[v]:.2f},{r.random() < 0.5},{segment}\n")
    return [str(ids[v]) for v in same[1][:5]]  # of premium


def test_three_commands_and_ten_lines_of_python_and_a_server_agree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    premium = write_tables(tmp_path)

    def done(command):
        words = command.split()
        done = subprocess.run([BIN / words[0], *words[1:]], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    # The commands as they stand in the documents: default options alone.
    done("salient-prepare edges --edges edges.csv --nodes customers.csv --label segment --split 0.6,0.2,0.2 "
         "--out data/shop")  # fmt: skip
    printed = done("salient-train --dataset shop")
    accuracy = float(re.search(r"test accuracy ([0-9.]+)", printed)[1])
    print(f"test accuracy {accuracy} by three commands")
    assert accuracy >= 0.94
    run = re.search(r"run directory (.+)", printed)[1]
    told = done(f"salient-infer --run {run} --nodes cust-02221,cust-00227 --probabilities --format csv")
    with open(pathlib.Path(re.search(r"output directory (.+)", told)[1], "predictions.csv")) as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == ["cust-02221", "cust-00227"]
    by_command = [[float(row[f"prob_{name}"]) for name in sorted(SEGMENTS)] for row in rows]

    # The same in Python.
    shop = salient_gnn.prepare("data/again", "edges.csv", "customers.csv", label="segment", split=[0.6, 0.2, 0.2],
                               quiet=True)  # fmt: skip
    again = salient_gnn.train(shop, quiet=True)
    two = salient_gnn.predict(again, ["cust-02221", "cust-00227"], quiet=True)
    new = {"id": "new-1", "country": "SE", "age": None, "income": 29000.5, "newsletter": True}
    edges = [("new-1", other) for other in premium]
    one = salient_gnn.predict(again, new_nodes=[new], new_edges=edges, quiet=True)
    assert again.results["test accuracy"] >= 0.94
    assert one.class_names[int(one.classes[0])] == "premium"

    # Of the run of the commands, with the same answers from each door.
    two = salient_gnn.predict(run, two.source_ids, quiet=True)
    one = salient_gnn.predict(run, new_nodes=[new], new_edges=edges, embeddings=2, quiet=True)
    assert two.class_names == sorted(SEGMENTS)
    assert np.allclose(two.probabilities, by_command, atol=1e-5)
    assert list(one.source_ids) == ["new-1"]
    row = {name: value for name, value in new.items() if name != "id"}
    body = {"new_nodes": [{"features": row, "neighbors": premium}], "probabilities": "by_name", "embeddings": 2}
    with Server(BIN, run) as server:
        [answer] = server.predict(body)
    assert answer["name"] == "premium"
    assert np.allclose([answer["probabilities"][name] for name in one.class_names], one.probabilities[0], atol=1e-5)
    assert np.allclose(answer["embedding"], one.embeddings[0], atol=1e-4)
