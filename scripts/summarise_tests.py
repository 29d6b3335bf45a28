#!/usr/bin/env python3
# scripts/summarise_tests.py - one line for all tests: passed, failed, skipped, and why; exit 1 when one failed.
"""summarise_tests.py [--note TEXT]... RESULTS.xml...: reads what `ctest --output-junit` wrote."""
import argparse
import collections
import re
import sys
import xml.etree.ElementTree

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--note", action="append", default=[], help="added to the reasons")
parser.add_argument("results", nargs="+")
arguments = parser.parse_args()

SKIPPED_CASE = re.compile(r"^\S*: Skipped\n(.*)$", re.M)  # GoogleTest: one case of a program that ran otherwise
passed, failed, skipped, skipped_cases, reasons = 0, [], 0, 0, collections.Counter()


def reason_of(entry, output):
    """The test's own line, 'skipped: no GPU'; or what its first case says; or its last words."""
    said = re.search(r"^skipped: (.*)$", output, re.M) or SKIPPED_CASE.search(output)
    words = [line.strip() for line in output.splitlines() if re.search(r"\w", line)]
    return f"{entry.get('name')}: {said.group(1) if said else words[-1] if words else 'no reason given'}"


for path in arguments.results:
    for entry in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        output = entry.findtext("system-out") or ""
        status = entry.get("status")
        skip = entry.find("skipped")
        if status == "run":
            passed += 1
            for reason in SKIPPED_CASE.findall(output):
                skipped_cases += 1
                reasons[reason] += 1
        elif status == "disabled":
            skipped += 1
            reasons[f"{entry.get('name')}: disabled"] += 1
        elif skip is not None and skip.get("message", "").startswith("SKIP_RETURN_CODE"):
            skipped += 1
            reasons[reason_of(entry, output)] += 1
        else:  # failed, timed out, or could not be started, which ctest calls "notrun" too
            failed.append(entry.get("name"))

why = [reason if times == 1 else f"{reason} ({times} times)" for reason, times in reasons.items()] + arguments.note
cases = f" and {skipped_cases} single cases" if skipped_cases else ""
line = f"tests: {passed} passed, {len(failed)} failed, {skipped} skipped{cases}"
if failed:
    line += f"; failed: {', '.join(failed)}"
if why:
    line += f" [{'; '.join(why)}]"
print(line)
sys.exit(1 if failed or not passed else 0)
