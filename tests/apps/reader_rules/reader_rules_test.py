#!/usr/bin/env python3
"""Every reader of foreign files through every rule: nothing is lost or invented without a word.

    reader_rules_test.py BIN_DIRECTORY [READER_REGEX [RULE_REGEX]]

Prints a matrix for texts and one for arrays: refused, right (read as it should be) or said (the same, with a word about
it), "-" where the rule does not apply. A field that is none of these fails, and so does one whose outcome is not the
wanted one.
"""
import concurrent.futures
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import readers
import text_rules
import value_rules

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")


def start(reader, data, options=()):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="salient-reader-rules-"))
    try:
        return reader.start(folder, data, options)
    finally:
        shutil.rmtree(folder)


def judge(reader, case, outcome, wanted):
    """"refused", "right" or "said"; else why it is none of them."""
    printed = outcome.out + outcome.err
    if CONTROL.search(outcome.err.replace("\t", "")):
        return f"control characters in {outcome.err!r}"
    if outcome.code == 0:
        left_out = f"{reader.file}.*{case.refused}.*{reader.left_out}"
        if reader.left_out and case.refused is not None and re.search(left_out, printed):
            return "said"
        if not case.is_read:
            return f"is read: {outcome.content}\n{printed}"
        if case.holds and not case.holds(outcome.content):
            return f"what must hold does not: {outcome.content}\n{printed}"
        if not case.holds and outcome.content != wanted:
            return f"content\n{outcome.content}, wanted\n{wanted}\n{printed}"
        if case.said is None:
            return "right"
        return "said" if re.search(case.said, printed) else f"/{case.said}/ is not said: {printed}"
    if case.refused is None:
        return f"ends with {outcome.code}: {outcome.err}"
    errors = [line for line in outcome.err.split("\n") if "error: " in line]
    if outcome.code not in (2, 65) or len(errors) != 1:
        return f"ends with {outcome.code}: {outcome.err}"
    if reader.file not in errors[0] or not re.search(case.refused, errors[0]):
        return f"{reader.file} and /{case.refused}/ are wanted: {errors[0]}"
    return "refused"


def field(reader, rule, good):
    case = rule(reader)
    if isinstance(case, str):
        return ("-", "") if case else ("", "no reason why the rule does not apply")
    wanted = good
    if case.like is not None:
        plain = start(reader, case.like, case.options)
        if plain.code != 0:
            return "", f"the plain file ends with {plain.code}: {plain.err}"
        wanted = plain.content
    if case.becomes:
        wanted = case.becomes(good)
    found = judge(reader, case, start(reader, case.data, case.options), wanted)
    return (found, "") if found in ("refused", "right", "said") else ("", found)


def print_matrix(title, all_readers, rules, fields):
    print(f"\n{title}")
    for number, reader in enumerate(all_readers):
        print(f"  {number:2} {reader.name}")
    width = max(len(rule.__doc__.split("\n")[0]) for rule in rules)
    print(" " * width, *(f"{number:>7}" for number in range(len(all_readers))))
    for rule in rules:
        row = (fields[reader.name, rule.__name__][0] or "WRONG" for reader in all_readers)
        print(f"{rule.__doc__.splitlines()[0]:{width}}", *(f"{found:>7}" for found in row))


def check(title, all_readers, rules, pool):
    """Runs, prints, and counts what is wrong."""
    good = dict(zip((reader.name for reader in all_readers),
                    pool.map(lambda reader: start(reader, text_rules.encode(reader.text())), all_readers)))
    wrong = 0
    for name, outcome in good.items():
        if outcome.code != 0 or not outcome.content:
            print(f"{name}: the good file ends with {outcome.code}: {outcome.err}")
            wrong += 1
    pairs = [(reader, rule) for rule in rules for reader in all_readers]
    found = pool.map(lambda pair: field(*pair, good[pair[0].name].content), pairs)
    fields = {(reader.name, rule.__name__): result for (reader, rule), result in zip(pairs, found)}
    if all_readers and rules:
        print_matrix(title, all_readers, rules, fields)
    for (reader, rule), (_, why) in fields.items():
        if why:
            print(f"\n{reader} / {rule}: {why}")
            wrong += 1
    return wrong


def main():
    readers.BIN = pathlib.Path(sys.argv[1]).resolve()
    patterns = [re.compile(word) for word in (sys.argv[2:] + ["", ""])[:2]]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for title, all_readers, rules in (("Texts", readers.READERS, text_rules.RULES),
                                          ("Arrays", value_rules.READERS, value_rules.RULES)):
            chosen = [reader for reader in all_readers if patterns[0].search(reader.name)
                      and (not reader.name.startswith(("config.toml", "infer"))
                           or (readers.BIN / "salient-train").exists())]
            wrong += check(title, chosen, [rule for rule in rules if patterns[1].search(rule.__name__)], pool)
    print(f"\n{wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
