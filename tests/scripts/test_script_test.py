#!/usr/bin/env python3
"""scripts/test.sh in a project of six small tests: which of them it runs, and what it builds for them.

    test_script_test.py SOURCE_DIRECTORY
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
PROJECT = """cmake_minimum_required(VERSION 3.22)
project(small C)
enable_testing()
file(WRITE "${PROJECT_BINARY_DIR}/main.c" "int main(void) { return 0; }")
foreach(name IN ITEMS one_unit rule_property tool program other)
  add_executable(${name} "${PROJECT_BINARY_DIR}/main.c")
endforeach()
set_target_properties(program PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
add_custom_target(programs DEPENDS program)
add_test(NAME one_unit COMMAND one_unit)
add_test(NAME rule_property COMMAND rule_property)
add_test(NAME recorded COMMAND test -x $<TARGET_FILE:tool>)
add_test(NAME as_a_user COMMAND test -x $<TARGET_FILE_DIR:program>/program)
add_test(NAME of_programs COMMAND test -d $<TARGET_FILE_DIR:program>)
add_test(NAME of_all COMMAND test -d "${PROJECT_BINARY_DIR}")
set_tests_properties(one_unit PROPERTIES LABELS unit)
set_tests_properties(rule_property PROPERTIES LABELS property)
set_tests_properties(recorded PROPERTIES LABELS golden)
set_tests_properties(as_a_user of_programs of_all PROPERTIES LABELS integration)
"""
PRESETS = """{"version": 3, "configurePresets": [
  {"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/release"}]}
"""


class TestScript(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="salient-test-script-")).resolve()
        self.addCleanup(shutil.rmtree, self.root)
        shutil.copytree(SOURCE / "scripts", self.root / "scripts")
        (self.root / "scripts/setup.sh").write_text('#!/bin/sh\necho "set up: $*"\n')  # this machine is ready
        (self.root / "CMakeLists.txt").write_text(PROJECT)
        (self.root / "CMakePresets.json").write_text(PRESETS)

    def run_tests(self, *options, tests="", expect=0, ci=""):
        """@return names of the tests that ran, and of the programs that were built"""
        environment = {**os.environ, "SALIENT_TESTS": tests, "CI": ci}
        done = subprocess.run([self.root / "scripts/test.sh", "--cpu", *options], text=True, capture_output=True,
                              env=environment)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        self.printed = done.stdout + done.stderr
        folder = self.root / "build/release"
        built = {name for name in ("one_unit", "rule_property", "tool", "other") if (folder / name).exists()}
        built |= {"program"} if (folder / "bin/program").exists() else set()
        return set(re.findall(r"Test +#\d+: (\w+) ", done.stdout)), built

    def test_quick_runs_and_builds_what_needs_no_program(self):
        ran, built = self.run_tests("--quick")
        self.assertEqual(ran, {"one_unit", "rule_property", "recorded"})
        self.assertEqual(built, {"one_unit", "rule_property", "tool"})
        self.assertIn("tests: 3 passed, 0 failed", self.printed)

    def test_all_is_built_and_run_without_options(self):
        ran, built = self.run_tests()
        self.assertEqual(len(ran), 6)
        self.assertEqual(built, {"one_unit", "rule_property", "tool", "other", "program"})

    def test_continuous_integration_installs_what_tests_would_be_skipped_without(self):
        self.run_tests(tests="one_unit", ci="true")
        self.assertIn("set up: --cpu --browser --python --site\n", self.printed)
        self.run_tests(tests="one_unit")
        self.assertIn("set up: --cpu\n", self.printed)

    def test_names_choose_too_and_narrow_what_quick_takes(self):
        self.assertEqual(self.run_tests("--quick", tests="unit|user"), ({"one_unit"}, {"one_unit"}))
        self.assertEqual(self.run_tests(tests="of_programs"), ({"of_programs"}, {"one_unit", "program"}))
        ran, built = self.run_tests(tests="of_all")
        self.assertEqual((ran, len(built)), ({"of_all"}, 5))

    def test_a_test_that_fails_is_named_and_the_end_is_1(self):
        text = PROJECT.replace("add_test(NAME recorded COMMAND test -x", "add_test(NAME recorded COMMAND test -d")
        (self.root / "CMakeLists.txt").write_text(text)
        self.run_tests("--quick", expect=1)
        self.assertIn("2 passed, 1 failed, 0 skipped; failed: recorded", self.printed)

    def test_no_test_at_all_is_no_success(self):
        self.run_tests("--quick", tests="none_is_called_so", expect=1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
