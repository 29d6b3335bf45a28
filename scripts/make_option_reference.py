#!/usr/bin/env python3
# scripts/make_option_reference.py - every option of every program on one page of Markdown, from what they print.
"""    make_option_reference.py [--out FILE] PROGRAM...        without --out: printed

Of salient-prepare and salient-bench the options of each command. The page is made when the site is; it is no file of
the repository, so it cannot be out of date.
"""
import argparse
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent))
from help_pages import OPTION, ask

COMMAND = re.compile(r"^  (?:salient-\w+ )?([a-z][a-z0-9]+)  ?(?!--?>)")


def cell(text):
    return re.sub(r"([<>*_|])", r"\\\1", text)


def table(said):
    """The options in their groups, whose names stand alone on a line: "data:"."""
    rows, group = [], None
    for line in said.lines:
        found = OPTION.match(line)
        if not found:
            group = line[:-1] if re.fullmatch(r"[a-z][\w ,]*:", line) else group
            continue
        if group is not None:
            rows, group = [*rows, f"\n**{group}**\n"] if group else rows, None
            rows += ["| option | default | what it does |", "|---|---|---|"]
        elif not rows:
            rows += ["| option | default | what it does |", "|---|---|---|"]
        name, value, text = found[1] or found[4], found[2] or found[5] or "", found[3] or ""
        default = "" if value in ("", "...") else f"`{value}`"
        rows.append(f"| `--{name}` | {default} | {cell(text)} |")
    return rows


def commands_of(program, said):
    """Those of salient-prepare, and the verbs of salient-bench."""
    if program.name not in ("salient-prepare", "salient-bench"):
        return []
    return list(dict.fromkeys(m[1] for m in map(COMMAND.match, said.prose) if m))


def page(programs):
    lines = ["# Options", "", "Made from the programs' own help. Options of salient-train, salient-infer and "
             "salient-serve are keys of `--config FILE.toml`, too, and variables: `SALIENT_BATCH_SIZE`.", ""]
    for program in programs:
        said = ask(program)
        purpose = re.sub(rf"^{program.name}(?: -|:) ", "", said.prose[0])
        lines += [f"## {program.name}", "", cell(purpose[:1].upper() + purpose[1:]) + ".", "", *table(said), ""]
        for command in commands_of(program, said):
            if options := table(ask(program, command)):
                lines += [f"### {program.name} {command}", "", *options, ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    text = page(options.programs)
    if options.out is None:
        return print(text, end="")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(text)


if __name__ == "__main__":
    main()
