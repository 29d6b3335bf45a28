#!/usr/bin/env python3
"""A Debian's packages as a typed graph, from the lists of packages that apt keeps on this machine.

    typed_packages.py [--lists /var/lib/apt/lists] [--seed 0]     into the working directory
    salient-prepare typed --schema graph.toml --target log_size --out data/packages

Five types of nodes: packages, their sources, maintainers of sources, sections and tags. packages.csv has a line for
each package: its priority, whether it is for any machine, how many words describe it, and log_size, the logarithm to
base 10 of its installed size in kB, which is to be predicted; the other types have no features. Nine relations: what a
package depends on, recommends, suggests, breaks and replaces, and what it is made from, filed under and tagged with;
and who maintains a source. train.csv, valid.csv and test.csv have 60, 20 and 20 % of the packages.
"""
import argparse
import csv
import math

import packages as lists

NEEDS = {"depends_on": ("Depends", "Pre-Depends"), "recommends": ("Recommends",), "suggests": ("Suggests",),
         "breaks": ("Breaks", "Conflicts"), "replaces": ("Replaces",)}
OF_PACKAGES = {"made_from": "source", "filed_under": "section", "tagged_with": "tag"}


def named_by(package, type):
    """The nodes of another type that a package is joined to."""
    if type == "source":
        return [lists.source_of(package)]
    words = package.get(type.title(), "").split(",")
    return [word.strip() for word in words if word.strip()]


def table(name, head, rows):
    quoting = csv.QUOTE_ALL if len(head) == 1 else csv.QUOTE_MINIMAL  # a blank in a line of one id parts no columns
    with open(name, "w", newline="") as out:
        csv.writer(out, lineterminator="\n", quoting=quoting).writerows([head, *rows])


def relations_of(packages):
    """{(source type, name, destination type): set of pairs}"""
    found = {("package", name, "package"): {
        (package, other) for package, fields in packages.items() for other in lists.needed_by(fields, of)
        if other in packages and other != package} for name, of in NEEDS.items()}
    for name, type in OF_PACKAGES.items():
        found["package", name, type] = {(package, node) for package, fields in packages.items()
                                        for node in named_by(fields, type)}
    found["source", "maintained_by", "maintainer"] = {
        (lists.source_of(fields), fields["Maintainer"].split("<")[0].strip()) for fields in packages.values()
        if "Maintainer" in fields}
    return found


def write(packages, seed):
    relations = relations_of(packages)
    table("packages.csv", ("id", "priority", "for_any_machine", "words", "log_size"), (
        (name, fields.get("Priority", ""), fields["Architecture"] == "all", len(fields.get("Description", "").split()),
         f"{math.log10(lists.size_of(fields)):.4f}" if lists.size_of(fields) > 0 else "")
        for name, fields in sorted(packages.items())))
    nodes = {}
    for (src, _, dst), pairs in relations.items():
        for source, destination in pairs:
            nodes.setdefault(src, set()).add(source)
            nodes.setdefault(dst, set()).add(destination)
    schema = ["[nodes]", 'package = { features = "packages.csv", labels = "packages.csv" }']
    for type in sorted(nodes.keys() - {"package"}):
        table(f"{type}s.csv", ("id",), ((node,) for node in sorted(nodes[type])))
        schema.append(f'{type} = {{ ids = "{type}s.csv" }}')
    schema += ["", "[edges]"]
    for (src, name, dst), pairs in relations.items():
        table(f"{name}.csv", (src, dst if dst != src else "other"), sorted(pairs))
        schema.append(f'"{src}:{name}:{dst}" = {{ file = "{name}.csv" }}')
    schema += ["", "[split]", 'of = "package"', *(f'{part} = "{part}.csv"' for part in lists.PARTS)]
    with open("graph.toml", "w") as out:
        out.write("".join(f"{line}\n" for line in schema))
    lists.write_parts(sorted(name for name, fields in packages.items() if lists.size_of(fields) > 0), seed)
    print(", ".join(f"{len(of)} {type}s" for type, of in sorted(nodes.items())) + f", {len(relations)} relations")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", default="/var/lib/apt/lists")
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    write(lists.read(wanted.lists, ("Tag",)), wanted.seed)
