#!/usr/bin/env python3
"""salient-bench as a user starts it: the identities that the figures of each verb obey, and what it refuses.

    salient_bench_test.py PATH/TO/salient-bench [MPIEXEC FLAG...]
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, MPIEXEC = sys.argv[1], sys.argv[2:]
PROGRAMS = pathlib.Path(PROGRAM).parent
SCALES = (1e-9, 1e-6, 1e-3, 1, 100, 1e3, 1e6)  # of the units that tables use


def run(*arguments, exit_code=0, before=()):
    done = subprocess.run([*before, PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == exit_code, (arguments, done.returncode, done.stderr)
    return done


def measured(verb, *options, before=()):
    """The rows of a benchmark by name, after what holds for every verb was checked."""
    with tempfile.TemporaryDirectory() as folder:
        result_file = pathlib.Path(folder, "result.json")
        table = run(verb, *options, "--json", result_file, before=before).stdout
        result = json.loads(result_file.read_text())
    assert result["benchmark"] == verb and result["hardware"]["cores"] >= 1 and result["versions"]["salient"], result
    assert result["versions"]["commit"], result
    assert result["settings"] and "json" not in result["settings"], result["settings"]
    assert result["title"] in table and all(note in table for note in result["notes"]), (table, result)
    expect_same_as_table(result["rows"], table.splitlines())
    rows = {row.pop("name"): row for row in result["rows"]}
    for name, row in rows.items():
        assert all(math.isfinite(value) and value >= 0 for value in row.values()), (name, row)
    return rows


def expect_same_as_table(rows, lines):
    """Every number of the JSON is in the table, in the same order, rounded, and in one unit per column."""
    units = {}
    for row in rows:
        line = next(line for line in lines if line.startswith(row["name"] + " "))
        cells = [cell for cell in line[len(row["name"]):].split() if cell != "-"]  # "-": does not apply
        values = [(key, value) for key, value in row.items() if key != "name"]
        assert len(cells) == len(values), (line, row)
        for cell, (key, value) in zip(cells, values):
            rounding = 0.5 * 10 ** -len(cell.partition(".")[2]) * (1 + 1e-9)
            fitting = {scale for scale in SCALES if abs(float(cell) - value * scale) <= rounding}
            units[key] = units.get(key, fitting) & fitting
            assert units[key], (line, key, value)


def near(a, b, tolerance=1e-9):
    assert math.isclose(a, b, rel_tol=tolerance), (a, b)


def tree_edges(fanouts):
    """Edges of one seed's neighbourhood if no two of its nodes were the same: what no sample exceeds."""
    sizes = [math.prod(fanouts[:hop + 1]) for hop in range(len(fanouts))]
    return sum(sizes)


def test_sampler():
    small = ["--nodes", 20000, "--mean-degree", 10, "--batch-size", 64, "--threads", 2, "--batches", 2]
    for rounds in (1, 3):
        rows = measured("sampler", *small, "--rounds", rounds)
        on_host = [name for name in rows if not name.startswith("GPU")]
        assert on_host == ["1 thread", "2 threads", "textbook, 1 thread"], rows
        one, two, textbook = (rows[name] for name in on_host)
        for row, threads in ((one, 1), (two, 2), (textbook, 1)):
            assert 0 < row["edges_per_second_median"] <= row["edges_per_second_best"], row
            assert row["edges_per_core_second"] * threads >= 0.99 * row["edges_per_second_median"], (row, threads)
            assert row["graph_bytes_per_edge"] == one["graph_bytes_per_edge"], rows
            assert 4 <= row["graph_bytes_per_edge"] <= 128, row  # at most a line per entry and one for its row's bounds
        for column in ("", "_of_reads", "_of_arithmetic"):
            near(one["parallel_efficiency" + column], 1)
        near(textbook["times_textbook"], 1)
        if rounds > 1:
            continue
        near(two["parallel_efficiency"], two["edges_per_core_second"] / one["edges_per_core_second"])
        for row in (one, two):
            near(row["times_textbook"], row["edges_per_core_second"] / textbook["edges_per_core_second"])
        for row in (one, two, textbook):  # a batch has at most one new node per edge, and seeds with several edges each
            assert row["nodes_per_second"] < 1.2 * row["edges_per_second_median"], row
        near(one["nodes_per_second"] / one["edges_per_second_median"],
             textbook["nodes_per_second"] / textbook["edges_per_second_median"], 0.05)  # of the same graph


def test_gather():
    rows = measured("gather", "--nodes", 20000, "--rows", 1000, "--threads", 2, "--rounds", 3, "--row-bytes", 200)
    on_gpu = rows.pop("GPU", None)
    assert list(rows) == ["1 thread", "2 threads"], rows
    assert on_gpu is None or 0 < on_gpu["bytes_per_second_median"] <= on_gpu["bytes_per_second_best"], on_gpu
    for row in rows.values():
        assert 0 < row["bytes_per_second_median"] <= row["bytes_per_second_best"], row
        near(row["share_of_memcpy"], row["bytes_per_second_best"] / row["memcpy_bytes_per_second"])
        near(row["share_of_row_reads"], row["bytes_per_second_best"] / row["row_reads_bytes_per_second"])
        assert row["reference_bytes_per_second"] > 0, row


def test_pipeline():
    seeds, dim, fanouts, batches = 64, 20, (4, 3), 10
    with tempfile.TemporaryDirectory() as folder:
        trace_file = pathlib.Path(folder, "trace.json")
        rows = measured("pipeline", "--nodes", 20000, "--mean-degree", 10, "--batch-size", seeds, "--workers", 2,
                        "--fanout", ",".join(map(str, fanouts)), "--rounds", 3, "--batches", batches,
                        "--feature-dim", dim, "--device", "cpu", "--trace", trace_file)
        events = json.loads(trace_file.read_text())["traceEvents"]
    assert list(rows) == ["1 worker", "2 workers"], rows
    for name in ("sample", "gather"):  # warm-up and three epochs, with one and with two workers
        assert sum(event["name"] == name for event in events) == 2 * 4 * batches, name
    nodes = seeds * (1 + tree_edges(fanouts))  # at most
    dst = [seeds, seeds * (1 + fanouts[0])]
    most_bytes = (4 * seeds + nodes * (4 + 2 * dim) + 4 * seeds * tree_edges(fanouts) + 4 * sum(d + 1 for d in dst)
                  + 256 * 8)  # labels, ids and rows, entries, row bounds, and what fills up each part
    for workers, row in enumerate(rows.values(), 1):
        assert 0 < row["batches_per_second_median"] <= row["batches_per_second_best"], row
        near(row["bytes_per_second"], row["bytes_per_batch"] * row["batches_per_second_best"])
        near(row["share_of_long_copy"], row["bytes_per_second"] / row["long_copy_bytes_per_second"])
        assert seeds * (4 + 4 + 2 * dim) < row["bytes_per_batch"] <= most_bytes, (row, most_bytes)
        assert row["bytes_per_batch"] == rows["1 worker"]["bytes_per_batch"], "batches do not depend on workers"
        in_stages = row["sample_seconds_per_batch"] + row["gather_seconds_per_batch"]
        near(row["overlap"], in_stages * row["batches_per_second_best"])
        assert 0 < row["overlap"] <= 1.01 * workers, (row, workers)  # stages of one worker follow each other


def expect_epochs(rows, plain, seeds, fanouts):
    """What holds for a table of trainings of two epochs, of which the second is measured."""
    for name, row in rows.items():
        epoch = row["epoch_seconds_median"]
        near(epoch, row["epoch_seconds_best"])
        near(row["busy_share"], row["train_seconds"] / epoch)
        assert 0 < row["train_seconds"] + row["blocked_seconds"] <= epoch, (name, row)
        assert row["transfer_seconds"] == 0, (name, row)  # on a CPU nothing is copied
        near(row["speedup_over_plain"], plain["epoch_seconds_median"] / epoch)
        edges = row["edges_per_second"] * epoch
        near(edges, round(edges))
        assert 0 < edges <= seeds * tree_edges(fanouts), (name, edges)
    near(plain["speedup_over_plain"], 1)


def test_paper_tables():
    seeds, fanouts = int(0.05 * 90941), (5, 4)
    small = ["--graphs", "arxiv", "--scale", 0.05, "--device", "cpu", "--hidden", 8, "--layers", 2, "--fanout", "5,4",
             "--epochs", 2, "--plain-epochs", 2]
    rows = measured("ablation", *small)
    names = ["arxiv: plain loop", "arxiv: + fast sampler", "arxiv: + pipelined transfer"]
    assert list(rows) == names, rows
    expect_epochs(rows, rows[names[0]], seeds, fanouts)
    fast, pipelined = (rows[name]["edges_per_second"] * rows[name]["epoch_seconds_median"] for name in names[1:])
    near(fast, pipelined)  # the same sampler draws the same edges
    rows = measured("table1", *small)
    names = ["arxiv: plain loop", "arxiv: SALIENT, features on the host"]
    assert list(rows) == names, rows
    expect_epochs(rows, rows[names[0]], seeds, fanouts)
    near(rows[names[1]]["edges_per_second"] * rows[names[1]]["epoch_seconds_median"], pipelined)
    assert "--graphs" in run("table1", "--help").stdout
    refusal = run("table1", "--graphs", "foo", "--device", "cpu", exit_code=2).stderr
    assert "arxiv, products, papers100M or mag240M" in refusal
    assert list(measured("ablation", *small, "--rows", "plain|fast")) == ["arxiv: plain loop", "arxiv: + fast sampler"]
    assert "--rows: no row has 'foo'" in run("table1", *small, "--rows", "plain|foo", exit_code=2).stderr
    assert "--rows: these need a GPU" in run("table1", *small, "--rows", "resident", exit_code=2).stderr
    assert "--rows: a part between two | is empty" in run("table1", *small, "--rows", "plain|", exit_code=2).stderr


def test_steps():
    rows = measured("steps", "--models", "gcn,gat", "--graph", "synthetic:arxiv:0.02", "--device", "cpu", "--hidden", 8,
                    "--layers", 2, "--fanout", "5,4", "--epochs", 2, "--rounds", 2)
    precisions = ["fp32"] + (["bf16"] if "avx512_bf16" in pathlib.Path("/proc/cpuinfo").read_text() else [])
    expected = [f"{model}, eager {precision}" for model in ("gcn", "gat") for precision in precisions]
    assert list(rows) == expected, rows  # without a GPU nothing is resident, and tf32 is none
    for name, row in rows.items():
        assert 0 < row["epoch_seconds_best"] <= row["epoch_seconds_median"] <= row["epoch_seconds_worst"], row
        near(row["speedup_over_eager"] * row["epoch_seconds_median"],
             rows[name.split(",")[0] + ", eager fp32"]["epoch_seconds_median"])
        assert 0 < row["last_train_accuracy"] < 1 and row["last_loss"] > 0, row
    heads = measured("steps", "--models", "gat,transformer", "--heads", 2, "--graph", "synthetic:arxiv:0.01",
                     "--hidden", 8, "--device", "cpu", "--layers", 2, "--fanout", "5,4", "--epochs", 2, "--rounds", 1)
    assert {"gat, eager fp32", "transformer, eager fp32"} <= set(heads), heads  # sage, the default model, has none
    for refused, option in (("--rounds 0", "--rounds"), ("--models foo", "--model"), ("--model gat", "--models"),
                            ("--dataset wordnet", "--graph"), ("--features host", "--features")):
        assert option in run("steps", *refused.split(), exit_code=2).stderr, refused


def test_cache():
    rows = measured("cache", "--like", "arxiv", "--scale", 0.05, "--batch-size", 64, "--shares", "0.1,0.5,1")
    assert list(rows) == ["vip", "degree", "counted", "best possible", "vip, rows of the graph"], rows
    for name, row in rows.items():
        found = [row[f"found_at_{share}"] for share in ("0.1", "0.5", "1")]
        assert 0 < found[0] < found[1] < found[2] and math.isclose(found[2], 1), (name, row)
        assert "graph" in name or found[1] <= rows["best possible"]["found_at_0.5"], (name, rows)


def test_typed():
    rows = measured("typed", "--dataset", "synthetic:mag:0.01", "--batch-size", 32, "--fanout", "3,2", "--threads", 1,
                    "--batches", 2, "--rounds", 2)
    assert list(rows) == ["1 thread"], rows
    one = rows["1 thread"]
    assert 0 < one["edges_per_second_median"] <= one["edges_per_second_best"], one
    assert one["nodes_per_second"] < one["edges_per_second_best"], one
    for refused, word in (("--dataset synthetic:arxiv", "--dataset"), ("--dataset synthetic:mag:2", "a scale"),
                          ("--fanout 0", "--fanout"), ("--batch-size 1000000", "--batch-size")):
        assert word in run("typed", *refused.split(), exit_code=2).stderr, refused


def test_links():
    rows = measured("links", "--nodes", 3000, "--mean-degree", 8, "--features", 16, "--links", 400, "--device", "cpu",
                    "--hidden", 8, "--layers", 2, "--fanout", "5,4", "--batch-size", 64, "--epochs", 2, "--rounds", 2)
    assert list(rows) == ["the host samples, fp32"], rows  # without a GPU nothing else does
    for row in rows.values():
        near(row["links_per_second"] * row["epoch_seconds_median"], 400)
        assert 0 < row["epoch_seconds_best"] <= row["epoch_seconds_median"] and row["last_loss"] > 0, row
    for refused, option in (("--rounds 0", "--rounds"), ("--links 0", "--links"), ("--dataset wordnet", "--nodes"),
                            ("--step resident", "--step"), ("--sampler host", "--sampler"),
                            ("--task multi-class", "--task")):
        assert option in run("links", *refused.split(), exit_code=2).stderr, refused


def test_tiers():
    for refused, option in (("--rounds 0", "--rounds"), ("--shares 0.5,1.1", "--shares"), ("--epochs 1", "--epochs"),
                            ("--dataset wordnet", "--graph"), ("--sampler host", "--sampler"),
                            ("--sampler device --graph-gb 1", "--shares"), ("--features host", "--features")):
        assert option in run("tiers", *refused.split(), exit_code=2).stderr, refused
    assert "memory of a GPU" in run("tiers", "--device", "cpu", exit_code=69).stderr


def test_scaling():
    seeds, batch = int(0.05 * 90941), 512
    small = ["--dataset", "synthetic:arxiv:0.05", "--device", "cpu", "--hidden", 8, "--layers", 2, "--fanout", "5,4",
             "--global-batch-size", batch, "--epochs", 2, "--dropout", 0]
    rows = measured("scaling", *small, before=[*MPIEXEC[:1], "-n", "2", *MPIEXEC[1:]] if MPIEXEC else [])
    assert list(rows) == ["1 rank", "2 ranks"][:len(rows)] and len(rows) == (2 if MPIEXEC else 1), rows
    one = rows["1 rank"]
    assert "exchange_seconds" not in one, one  # there is nothing to exchange
    for num_ranks, row in enumerate(rows.values(), 1):
        epoch = row["epoch_seconds_median"]
        near(epoch, row["epoch_seconds_best"])
        near(row["efficiency"], one["epoch_seconds_median"] / (num_ranks * epoch))
        assert row["steps_per_epoch"] == math.ceil(seeds / batch), row
        assert row["blocked_seconds"] + row.get("allreduce_seconds", 0) <= epoch, row
        near(row["loss"], one["loss"], 1e-3)  # the same batches, whatever the number of ranks
        if num_ranks == 1:
            continue
        near(row["allreduce_share"], row["allreduce_seconds"] / epoch)
        near(row["allreduce_seconds_per_step"], row["allreduce_seconds"] / row["steps_per_epoch"])
        near(row["exchange_over_bare"], row["exchange_seconds"] / row["bare_exchange_seconds"])


def test_inference(folder):
    graph, trained = pathlib.Path(folder, "graph"), pathlib.Path(folder, "run")
    subprocess.run([PROGRAMS / "salient-prepare", "synthetic", "--nodes", "1000", "--mean-degree", "8", "--features",
                    "10", "--classes", "4", "--out", graph], check=True, capture_output=True)
    subprocess.run([PROGRAMS / "salient-train", "--dataset", graph, "--out", trained, "--fanout", "4,4", "--hidden",
                    "8", "--epochs", "2", "--device", "cpu"], check=True, capture_output=True)
    rows = measured("inference", "--run", trained, "--fanouts", "2,1000", "--rounds", 2, "--device", "cpu")
    assert list(rows) == ["fanout 2", "fanout 1000", "exact"], rows
    few, many, exact = rows.values()
    num_nodes = 200  # a fifth of the graph
    for row in rows.values():
        assert 0 < row["seconds_best"] <= row["seconds_median"], row
        near(row["nodes_per_second"] * row["seconds_best"], num_nodes)
        near(row["accuracy"] * num_nodes, round(row["accuracy"] * num_nodes))
        assert 0 <= row["accuracy"] <= 1, row
    assert many["accuracy"] == exact["accuracy"], rows  # a thousand neighbours are all
    assert 0 < few["entries_read"] <= num_nodes * tree_edges((2, 2)) < many["entries_read"], rows
    num_entries = json.loads((graph / "dataset.json").read_text())["num_edges"]
    assert exact["entries_read"] <= 2 * num_entries, rows  # each layer reads every row once at most
    assert "no such run directory" in run("inference", "--run", folder + "/absent", exit_code=66).stderr


def test_refusals():
    assert "scaling" in run("--help").stdout and "--rounds" in run("gather", "--help").stdout
    assert "no benchmark is called 'sample'" in run("sample", exit_code=2).stderr
    assert "did you mean --threads" in run("gather", "--thread", "1", exit_code=2).stderr
    assert "raise --nodes" in run("pipeline", "--nodes", "2000", "--device", "cpu", exit_code=2).stderr
    for arguments, word in (("sampler --nodes 0", "--nodes"),
                            ("sampler --nodes 20000 --mean-degree 0", "--mean-degree"),
                            ("gather --rounds 0", "--rounds"), ("gather --nodes 0", "--nodes"),
                            ("sampler --fanout 0", "--fanout"),
                            ("sampler --graph-shares 2", "--graph-shares"), ("pipeline --slots 1", "--slots"),
                            ("sampler --threads 5000", "--threads"), ("table1 --plain-epochs 1", "--plain-epochs"),
                            ("table1 --dataset wordnet", "--graphs"), ("table1 --sampler host", "--sampler"),
                            ("ablation --dry-run", "--dry-run")):
        assert word in run(*arguments.split(), exit_code=2).stderr, arguments
    assert "cannot be written" in run("gather", "--json", "/nonexistent/result.json", exit_code=74).stderr


test_sampler()
test_gather()
test_cache()
test_typed()
test_pipeline()
if (PROGRAMS / "salient-infer").exists():  # a build with LibTorch
    test_paper_tables()
    test_steps()
    test_links()
    test_tiers()
    test_scaling()
    with tempfile.TemporaryDirectory() as scratch:
        test_inference(scratch)
test_refusals()
print("salient-bench: the figures of all verbs agree")
