#!/usr/bin/env python3
# scripts/help_pages.py - manual pages and completion of the programs, from what they print for --help.
"""    help_pages.py --version VERSION --share FOLDER PROGRAM...

Into FOLDER, the share/ of a prefix: man/man1, and completion for bash, zsh and fish where these shells look for it.
--help is printed from the tables of options, so pages and completion have every option with its default and its words.
Of salient-prepare each command's options are asked for, too.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "lib"))
import completions

OPTION = re.compile(r"^  --([a-z][a-z-]*)(?: (\S+(?: \S+)*?))?  +(\S.*)$|^  --([a-z][a-z-]*)(?: (\S+))?$")
COMMAND = re.compile(r"^  (salient-prepare) ([a-z]+)\b")
EXIT_CODES = [("0", "done"), ("1", "training failed, or something is missing"), ("2", "usage, option, configuration"),
              ("65", "bad data"), ("66", "a file is missing"), ("69", "no usable GPU"),
              ("70", "an error of ours: please report it"), ("71, 72", "out of host memory, of GPU memory"),
              ("74", "reading, writing or listening failed"), ("75", "communication failed"),
              ("130, 143", "ended by SIGINT, by SIGTERM; salient-serve then ends with 0")]


class Help:
    """What a program, or one of its commands, says of itself."""

    def __init__(self, text):
        self.lines = lines = text.rstrip().splitlines()
        self.options = [(m[1] or m[4], m[2] or m[5] or "", m[3] or "") for m in map(OPTION.match, lines) if m]
        self.prose = [line for line in lines if not OPTION.match(line)]

    def words_of(self, help_text):
        """The words that an option knows: "auto | cpu | cuda: ..."."""
        listed = re.match(r"[\w-]+(?: \| [\w-]+)+", help_text)
        return listed[0].split(" | ") if listed else []


def ask(program, *words):
    done = subprocess.run([program, *words, "--help=all"], capture_output=True, text=True,
                          env={**os.environ, "COLUMNS": "1000"})  # an option a line
    if done.returncode != 0:
        sys.exit(f"help_pages: error: {program} --help: {done.stderr.strip()}")
    return Help(done.stdout)


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def verbatim(lines):
    return [".nf", *map(escaped, lines), ".fi"]


def option_lines(options):
    for name, value, text in options:
        yield ".TP"
        yield f"\\fB\\-\\-{escaped(name)}\\fR" + (f" \\fI{escaped(value)}\\fR" if value else "")
        yield escaped(text or "see above")


def man_page(name, about, commands, version, others):
    purpose = re.sub(rf"^{name}(?: -|:) ", "", about.prose[0])
    lines = [f'.TH {name.upper()} 1 "" "salient {version}" "User Commands"', ".SH NAME",
             f"{escaped(name)} \\- {escaped(purpose)}", ".SH SYNOPSIS",
             f".B {escaped(name)}" + (" COMMAND" if commands else "") + " [OPTION]...", ".SH DESCRIPTION"]
    lines += verbatim(about.prose[1:])
    if about.options:
        lines += [".SH OPTIONS", "Values are the defaults.", *option_lines(about.options)]
    for command, said in commands.items():
        lines += [f".SH {command.upper()}", *verbatim(said.prose[:1]), *option_lines(said.options)]
    lines.append(".SH EXIT STATUS")
    for code, meaning in EXIT_CODES:
        lines += [".TP", code, escaped(meaning)]
    lines += [".SH SEE ALSO", ", ".join(f"\\fB{escaped(other)}\\fR(1)" for other in others if other != name)]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", required=True)
    parser.add_argument("--share", type=pathlib.Path, required=True)
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    names = sorted(program.name for program in options.programs)
    man = options.share / "man/man1"
    man.mkdir(parents=True, exist_ok=True)
    for program in options.programs:
        name, about = program.name, ask(program)
        found = dict.fromkeys(m[2] for m in map(COMMAND.match, about.prose) if m and name == m[1] and m[2] != "COMMAND")
        commands = {command: ask(program, command) for command in found}
        (man / f"{name}.1").write_text(man_page(name, about, commands, options.version, names))
        completions.write_completions(completions.Program(name, about, commands), options.share)


if __name__ == "__main__":
    main()
