#!/usr/bin/env python3
"""The graph of a Debian's source packages as three tables, from the lists of packages that apt keeps on this machine.

    packages.py [--lists /var/lib/apt/lists] [--seed 0]       into the working directory
    packages.py --baselines                                   of tables that are there: the mean, and a linear model

edges.csv has a line for each dependency between packages of two sources, packages.csv one for each source: section,
priority, group of maintainers, counts, and log_size, the logarithm to base 10 of the installed size of its packages in
kB, which is to be predicted. train.csv, valid.csv and test.csv have 60, 20 and 20 % of the sources, an id a line.

The baselines see the columns that salient-prepare makes features of: words as a column each, numbers as they are.
--baselines needs numpy, and prints errors on the sources of test.csv.
"""
import argparse
import collections
import csv
import math
import pathlib
import random
import subprocess
import sys

PARTS = {"train": 0.6, "valid": 0.2, "test": 0.2}
COLUMNS = ("section", "priority", "maintainers", "binaries", "for_any_machine", "dependencies", "words", "tags")
LEAST_GROUP = 100  # packages of a maintainer that is a group of its own


def lines_of(path):
    """Of a list of apt, however it is compressed."""
    if path.suffix in ("", ".txt"):
        return path.read_text(errors="replace").splitlines()
    reader = "/usr/lib/apt/apt-helper"
    return subprocess.run([reader, "cat-file", path], check=True, capture_output=True).stdout.decode(
        errors="replace").splitlines()


def packages_in(path, whole):
    """Dictionaries of the first line of each field, and of all lines of the fields `whole`."""
    package = {}
    for line in lines_of(path):
        if not line:
            if package:
                yield package
            package = {}
        elif not line.startswith(" "):
            name, _, value = line.partition(": ")
            package[name] = value
        elif name in whole:
            package[name] += line
    if package:
        yield package


def read(folder, whole=()):
    """All packages by name, of the first list that has them."""
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*_Packages*")):
        for package in packages_in(path, whole):
            found.setdefault(package["Package"], package)
    if not found:
        sys.exit(f"{folder}: has no list of packages; apt-get update fetches them")
    return found


def source_of(package):
    return package.get("Source", package["Package"]).split(" ")[0]


def needed_by(package, fields=("Depends", "Pre-Depends")):
    """Names of the packages that it depends on, or that other fields list: of alternatives the first."""
    needs = ", ".join(package[field] for field in fields if field in package)
    return {need.split("|")[0].split("(")[0].split(":")[0].strip() for need in needs.split(",") if need.strip()}


def size_of(package):
    return int(package.get("Installed-Size", 0))


def write_parts(names, seed):
    random.Random(seed).shuffle(names)
    begin = 0
    for part, share in PARTS.items():
        end = len(names) if part == "test" else begin + int(share * len(names))
        pathlib.Path(f"{part}.csv").write_text("\n".join(["id", *names[begin:end]]) + "\n")
        begin = end


def write(packages, seed):
    sources = collections.defaultdict(list)
    for package in packages.values():
        sources[source_of(package)].append(package)
    edges, needs = set(), collections.Counter()
    for package in packages.values():
        for name in needed_by(package):
            if name in packages and source_of(packages[name]) != source_of(package):
                edges.add((source_of(package), source_of(packages[name])))
    for source, _ in edges:
        needs[source] += 1
    maintainers = collections.Counter(of[0].get("Maintainer", "") for of in sources.values())
    with open("packages.csv", "w", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(("source", *COLUMNS, "log_size"))
        for name, of in sorted(sources.items()):
            first, who = of[0], of[0].get("Maintainer", "")
            group = who.split("<")[0].strip() if maintainers[who] >= LEAST_GROUP else "others"
            size = sum(map(size_of, of))
            table.writerow((
                name, first.get("Section", "").split("/")[-1], first.get("Priority", ""), group, len(of),
                f"{sum(package['Architecture'] == 'all' for package in of) / len(of):.2f}", needs[name],
                sum(len(package.get("Description", "").split()) for package in of), first.get("Tag", "").count("::"),
                f"{math.log10(size):.4f}" if size > 0 else ""))
    with open("edges.csv", "w", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([("source", "needs"), *sorted(edges)])
    write_parts(sorted(name for name, of in sources.items() if any(map(size_of, of))), seed)
    print(f"{len(sources)} sources of {len(packages)} packages, {len(edges)} dependencies")


def baselines():
    import numpy as np

    with open("packages.csv") as file:
        rows = {row["source"]: row for row in csv.DictReader(file)}
    parts = {part: pathlib.Path(f"{part}.csv").read_text().splitlines()[1:] for part in PARTS}
    columns = []
    for name in COLUMNS:
        fields = [row[name] for row in rows.values()]
        try:
            columns.append(np.array([float(field) for field in fields]))
        except ValueError:
            columns += [np.array([field == word for field in fields], float) for word in sorted(set(fields))]
    x = np.stack([*columns, np.ones(len(rows))], 1)
    place = {name: i for i, name in enumerate(rows)}
    y = np.array([float(row["log_size"] or "nan") for row in rows.values()])
    train, test = ([place[name] for name in parts[part]] for part in ("train", "test"))
    weights = np.linalg.lstsq(x[train], y[train], rcond=None)[0]
    for name, predicted in (("mean", np.full(len(test), y[train].mean())), ("linear", x[test] @ weights)):
        errors = predicted - y[test]
        r2 = 1 - (errors**2).sum() / ((y[test] - y[test].mean()) ** 2).sum()
        print(f"{name}: r2 {r2:.4f}, rmse {np.sqrt((errors**2).mean()):.4f}, mae {np.abs(errors).mean():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", default="/var/lib/apt/lists")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--baselines", action="store_true")
    wanted = parser.parse_args()
    baselines() if wanted.baselines else write(read(wanted.lists), wanted.seed)
