#!/usr/bin/env python3
"""Writes tests/engine/infer/golden/metrics.json: predictions, and scikit-learn's figures of them.

    scripts/make_metrics_golden.py        needs numpy and scikit-learn; the figures in the file are those of 1.9

The cases hold what is easy to get wrong: a class of 1 % of the nodes, a class that is never predicted, one that is
predicted and has no nodes, scores that are equal, values of which some are not known.
"""
import json
import pathlib
import warnings

import numpy as np
from sklearn import metrics

warnings.simplefilter("ignore")  # of classes without predictions, or without nodes: the figures are defined
draw = np.random.default_rng(7)


def of_classes(name, num_classes, labels, predictions):
    return {
        "name": name, "num_classes": num_classes, "labels": labels.tolist(), "predictions": predictions.tolist(),
        "figures": {
            "macro_f1": metrics.f1_score(labels, predictions, average="macro"),
            "balanced_accuracy": metrics.balanced_accuracy_score(labels, predictions),
            "mcc": metrics.matthews_corrcoef(labels, predictions)}}


def classes():
    labels = draw.integers(0, 5, 300)
    mostly = np.where(draw.random(300) < 0.7, labels, draw.integers(0, 5, 300))
    yield of_classes("five classes", 5, labels, mostly)
    rare = (draw.random(1000) < 0.01).astype(int)
    rare[:3] = 1
    yield of_classes("a class of 1 %", 2, rare, np.where(draw.random(1000) < 0.98, rare, 1 - rare))
    yield of_classes("a class of 1 % that is never predicted", 2, rare, np.zeros(1000, int))
    yield of_classes("a class without predictions", 4, np.minimum(labels, 3), np.minimum(mostly, 2))
    yield of_classes("a class without true nodes", 4, np.minimum(labels, 2), np.minimum(mostly, 3))
    yield of_classes("one class alone", 3, np.ones(20, int), np.ones(20, int))
    yield of_classes("nothing right", 2, np.array([0, 1, 0, 1]), np.array([1, 0, 1, 0]))


def ranked():
    labels = (draw.random(400) < 0.1).astype(int)
    scores = (draw.standard_normal(400) + labels).astype(np.float32)
    for name, values in (("scores", scores), ("equal scores", np.round(scores)), ("one score", np.zeros(400))):
        yield {"name": name, "labels": labels.tolist(), "scores": values.tolist(),
               "figures": {"average_precision": metrics.average_precision_score(labels, values),
                           "rocauc": metrics.roc_auc_score(labels, values)}}


def values():
    known = (draw.standard_normal((50, 2)) * [1, 1000] + [0, 100_000]).astype(np.float32)
    predicted = (known + draw.standard_normal((50, 2)) * [0.5, 300]).astype(np.float32)
    blank = draw.random((50, 2)) < 0.2
    figures = []
    for t in range(2):
        pair = known[~blank[:, t], t].astype(float), predicted[~blank[:, t], t].astype(float)
        figures.append([metrics.root_mean_squared_error(*pair), metrics.mean_absolute_error(*pair),
                        metrics.r2_score(*pair)])
    with_blanks = [[None if blank[i, t] else float(known[i, t]) for t in range(2)] for i in range(50)]
    yield {"name": "two targets", "known": with_blanks, "predicted": predicted.tolist(),
           "figures": dict(zip(("rmse", "mae", "r2"), np.mean(figures, 0).tolist()))}
    for name, guess in (("equal values, right", 3.0), ("equal values, wrong", 4.0)):
        pair = np.full(5, 3.0), np.full(5, guess)
        yield {"name": name, "known": [[3.0]] * 5, "predicted": [[guess]] * 5,
               "figures": {"rmse": metrics.root_mean_squared_error(*pair), "mae": metrics.mean_absolute_error(*pair),
                           "r2": metrics.r2_score(*pair)}}


path = pathlib.Path(__file__).resolve().parents[1] / "tests/engine/infer/golden/metrics.json"
path.parent.mkdir(exist_ok=True)
path.write_text(json.dumps({"classes": list(classes()), "ranked": list(ranked()), "values": list(values())}) + "\n")
