#!/usr/bin/env python3
# scripts/figures.py - figures of README.md and docs/BENCHMARKS.md, from the JSON of benchmarks/results.
"""A document says <!--=NAME-->VALUE: VALUE is what FIGURES makes of the row of a benchmark's report. The chart of
docs/pictures is made of such rows, too.

    scripts/figures.py            writes the values into the documents, and the chart
    scripts/figures.py --check    says which differ, and ends with 1 if some do; a test
"""
import json
import pathlib
import re
import statistics
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "scripts" / "lib"))
from bar_chart import bar_chart

DOCUMENTS = ["README.md", "docs/BENCHMARKS.md"]
MARK = re.compile(r"<!--=([\w-]+)-->([0-9][0-9.,]*[0-9]|[0-9])?")


class Figure(NamedTuple):
    report: str  # benchmarks/results/REPORT.json
    row: str  # the first of that name
    key: str
    decimals: int
    scale: float = 1  # shown = value * scale


SAMPLER, TABLE1 = "h200-16-cores-sampler-111M-nodes", "h200-16-cores-table1-papers100M"
TODAY = "h200-16-cores-table1-papers100M-resident"
BF16, EAGER = "h200-x4-64-cores-scaling-papers100M-bf16", "h200-x4-64-cores-scaling-papers100M"
PREDICT, EXACT = "h200-16-cores-inference-papers100M", "h200-16-cores-exact-papers100M"
RATE, EPOCH = "edges_per_second_median", "epoch_seconds_median"
FIGURES = {
    "sampler-1": Figure(SAMPLER, "1 thread", RATE, 1, 1e-6),
    "sampler-16": Figure(SAMPLER, "16 threads", RATE, 0, 1e-6),
    "sampler-gpu": Figure(SAMPLER, "GPU, 3 streams", RATE, 0, 1e-6),
    "epoch-bf16": Figure(TODAY, "papers100M: SALIENT, resident steps, bf16", EPOCH, 3),
    "epoch-fp32": Figure(TODAY, "papers100M: SALIENT, resident steps", EPOCH, 3),
    "epoch-host": Figure(
        TABLE1, "papers100M: SALIENT, features on the host, sampling on the GPU", EPOCH, 2
    ),
    "epoch-plain": Figure(TABLE1, "papers100M: plain loop", EPOCH, 1),
    "predict": Figure(PREDICT, "fanout 20, resident, bf16", "seconds_median", 3),
    "exact": Figure(EXACT, "exact, resident, f16", "seconds_median", 3),
    "bf16-1": Figure(BF16, "1 rank, device", EPOCH, 3),
    "bf16-2": Figure(BF16, "2 ranks, device", EPOCH, 3),
    "bf16-4": Figure(BF16, "4 ranks, device", EPOCH, 3),
    "eager-1": Figure(EAGER, "1 rank", EPOCH, 3),
    "eager-2": Figure(EAGER, "2 ranks", EPOCH, 3),
    "eager-4": Figure(EAGER, "4 ranks", EPOCH, 3),
}


def value_of(figure):
    rows = json.loads((ROOT / f"benchmarks/results/{figure.report}.json").read_text())["rows"]
    row = next(row for row in rows if row["name"] == figure.row)
    return f"{row[figure.key] * figure.scale:.{figure.decimals}f}"


LOADERS, CHART = "h200-16-cores-pyg-loader-reduce-3", "docs/pictures/loaders.svg"
LOG = "docs/log/0007-loaders-in-python.md"  # of what has no report
LOADER_NAMES = {
    "PyG": "PyG with pyg-lib",
    "salient, host": "all on the host",
    "salient, features on the GPU": "features on the GPU",
    "salient, all on the GPU": "features and graph on the GPU",
}


def training_bars():
    """Batches a second that PyG's GraphSAGE trains on, by loader, and what they were measured on."""
    report = json.loads((ROOT / f"benchmarks/results/{LOADERS}.json").read_text())
    rows = {row["loader"]: row for row in report["rows"] if row["use"] == "reduce"}
    rates = {name: statistics.median(rows[name]["batches_per_second"]) for name in LOADER_NAMES}
    bars = []
    for name, rate in rates.items():
        is_pyg = name == "PyG"
        times = "" if is_pyg else f", {rate / rates['PyG']:.1f} x"
        bars.append((LOADER_NAMES[name], rate, f"{rate:.0f}{times}", is_pyg))
    facts = report["facts"]
    return (
        f"{facts['device_name']}, {facts['cores']} cores: PyG's GraphSAGE is trained; synthetic graph of the size of "
        f"ogbn-products, {facts['batch_size']} seeds",
        bars,
    )


def cpu_bars():
    """What the loaders give alone on a CPU, as the log has it: each of others, and ours that ran beside it in turns."""
    table = (ROOT / LOG).read_text().split("On 2 shared cores of an AMD EPYC", 1)[1]
    rows = re.findall(r"^\| ([^|]+?) \| ([0-9.]+) ", table, re.MULTILINE)
    bars, theirs = [], 0.0
    for name, text in rows:
        rate, is_ours = float(text), name == "salient_gnn beside it"
        times = f", {rate / theirs:.1f} x" if is_ours else ""
        theirs = theirs if is_ours else rate
        bars.append((name, rate, f"{rate:.0f}{times}", not is_ours))
    return "2 shared cores of an AMD EPYC, no GPU: the loader alone; a twentieth of that graph, 512 seeds", bars


def loader_chart():
    title = "Batches a second in Python: PyG's loader, GraphBolt, and salient_gnn, fanouts 15,10,5"
    return bar_chart(title, [training_bars(), cpu_bars()])


def main(words):
    if words not in ([], ["--check"]):
        sys.exit(__doc__)
    problems, used = [], set()
    for name in DOCUMENTS:
        path = ROOT / name
        text = path.read_text()

        def replaced(match):
            key, shown = match[1], match[2]
            used.add(key)
            if key not in FIGURES:
                problems.append(f"{name}: no figure is called {key}")
                return match[0]
            value = value_of(FIGURES[key])
            if shown != value:
                problems.append(f"{name}: {key} is {value}, the document says {shown}")
            return f"<!--={key}-->{value}"

        written = MARK.sub(replaced, text)
        if not words and written != text:
            path.write_text(written)
    chart = ROOT / CHART
    if not words:
        chart.write_text(loader_chart())
    elif not chart.exists() or chart.read_text() != loader_chart():
        problems.append(f"{CHART} is not that of its report")
    problems += [f"no document has {key}" for key in FIGURES if key not in used]
    print("\n".join(problems) or f"{len(used)} figures are those of their reports")
    return bool(problems and words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
