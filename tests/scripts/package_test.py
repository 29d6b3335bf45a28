#!/usr/bin/env python3
# tests/scripts/package_test.py - the Debian package: its files, pages and completion, and its programs without root.
"""    package_test.py SOURCE_FOLDER BUILD_FOLDER TORCH_FOLDER        unpacks the package instead of installing it"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD, TORCH = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
TORCH_VERSION = re.search(r"torch_version=(\S+)", (SOURCE / "scripts/lib/common.sh").read_text())[1]
for tool in ("dpkg-shlibdeps", "dpkg-deb", "file", "cpack"):
    if shutil.which(tool) is None:
        print(f"skipped: no {tool}")
        sys.exit(77)


def run(*command, expect=0, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert done.returncode == expect, (command, done.returncode, done.stdout + done.stderr)
    return done


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(prefix="salient-package-test-"))
        run(SOURCE / "scripts/package.sh", "--build", BUILD, "--out", cls.work)
        [cls.deb] = cls.work.glob("salient_*_amd64.deb")
        run("dpkg-deb", "-x", cls.deb, cls.work / "root")
        cls.usr = cls.work / "root/usr"
        cls.programs = sorted(path.name for path in (cls.usr / "lib/salient/libexec").iterdir())

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.work)

    def start(self, name, *words, expect=0, **variables):
        nowhere = {"HOME": str(self.work / "home"), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"}
        return run(self.usr / "bin" / name, *words, expect=expect, env={**nowhere, **variables})

    def test_all_parts_want_the_same_libtorch(self):
        files = ("scripts/lib/common.sh", "scripts/lib/salient-env.sh", "cmake/TorchWheel.cmake")
        found = [re.findall(r"torch_version[= ]([\d.]+)", (SOURCE / name).read_text()) for name in files]
        self.assertEqual(found, 3 * [[TORCH_VERSION]])
        self.assertIn(f'programs = ["torch=={TORCH_VERSION}"]', (SOURCE / "pyproject.toml").read_text())

    def test_the_version_is_that_of_the_tag(self):
        version = re.search(r"project\(salient VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertEqual(run("dpkg-deb", "-f", self.deb, "Version").stdout.strip(), version)
        clone = self.work / "clone"
        (clone / "scripts/lib").mkdir(parents=True)
        for name in ("scripts/lib/common.sh", "CMakeLists.txt"):
            shutil.copy(SOURCE / name, clone / name)
        git = ("git", "-C", clone, "-c", "user.name=a", "-c", "user.email=a@example.org")
        run("git", "init", "-q", clone)
        run(*git, "commit", "-q", "--allow-empty", "-m", "a release")
        for tag, code in ((f"v{version}", 0), ("v99.0", 2)):
            run(*git, "tag", tag)
            done = run("bash", "-c", f"program=a; . {clone}/scripts/lib/common.sh; check_tag", expect=code)
        self.assertIn("has the tag v99.0", done.stderr)

    def test_an_empty_folder_is_refused(self):
        for script in ("bundle.sh", "package.sh"):  # --out "$UNSET" must not mean /
            for option in ("--out", "--build"):
                done = run(SOURCE / "scripts" / script, option, "", expect=2)
                self.assertIn(f"{option} cannot be empty", done.stderr)

    def test_it_has_the_programs_and_names_what_they_need(self):
        self.assertLessEqual({"salient-train", "salient-infer", "salient-prepare", "salient-report", "salient-doctor"},
                             set(self.programs))
        control = run("dpkg-deb", "-f", self.deb).stdout
        for word in ("Package: salient", "libtbb12", "libhwloc15", "Architecture: amd64"):
            self.assertIn(word, control)
        listed = run("dpkg-deb", "-c", self.deb).stdout.splitlines()
        self.assertTrue(all(line.split()[1] == "root/root" for line in listed))
        for name in self.programs:
            dynamic = run("readelf", "-d", self.usr / "lib/salient/libexec" / name).stdout
            self.assertNotRegex(dynamic, "R(UN)?PATH")

    def test_programs_find_libtorch_or_say_how_to_get_it(self):
        done = self.start("salient-train", "--version", expect=66)
        self.assertIn("salient-fetch-torch", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        for name in self.programs:
            done = self.start(name, "--version", SALIENT_TORCH_DIR=str(TORCH),
                              LD_LIBRARY_PATH=os.environ.get("LD_LIBRARY_PATH", ""))
            self.assertTrue(done.stdout.startswith(f"{name} "), done.stdout)
        self.start("salient-prepare", "--help")
        self.assertIn("SALIENT_TORCH_DIR", self.start("salient-fetch-torch", "--help").stdout)
        self.assertIn("bin/salient-fetch-torch --help", self.start("salient-fetch-torch", "--none", expect=2).stderr)

    def test_the_doctor_needs_no_libtorch_but_finds_cudas_libraries_beside_it(self):
        bundle, site = self.work / "bundle", self.work / "site"
        for folder in (bundle / "bin", bundle / "libexec", site / "torch/lib", site / "nvidia/cu13/lib"):
            folder.mkdir(parents=True)
        starter = shutil.copy(SOURCE / "scripts/lib/salient-env.sh", bundle / "bin/salient-doctor")
        program = bundle / "libexec/salient-doctor"
        program.write_text('#!/bin/sh\necho "$LD_LIBRARY_PATH"\n')
        program.chmod(0o755)
        (site / "torch/version.py").write_text(f"__version__ = '{TORCH_VERSION}'\n")
        (site / "torch/lib/libtorch_cpu.so").touch()
        self.assertTrue(self.start(starter).stdout.startswith(f"{bundle.resolve()}/lib"))
        self.assertIn("nvidia/cu13/lib", self.start(starter, SALIENT_TORCH_DIR=str(site / "torch")).stdout)
        run(starter, env={"PATH": "/usr/bin:/bin"})  # without HOME
        true = pathlib.Path("/bin/true").read_bytes()
        for name, origin in (("libq.so.6", "a package of the distribution"),
                             ("libnccl-q", f"pip install torch=={TORCH_VERSION}"),
                             ("libcuq.so", "CUDA 13"), ("libmpi-q", "OpenMPI")):
            program.write_bytes(true.replace(b"libc.so.6", name.encode().ljust(9, b"\0")))
            done = self.start(starter, expect=66)
            self.assertIn(f"{name} ({origin}", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_libtorch_of_a_python3_later_on_path_is_found(self):
        bundle, path = self.work / "bundle of ranks", []
        for folder in (bundle / "bin", bundle / "libexec"):
            folder.mkdir(parents=True)
        for name, version in (("other", None), ("older", "2.0.0"), ("the user's", TORCH_VERSION)):
            python, torch = self.work / name / "bin/python3", self.work / name / "site/torch"
            python.parent.mkdir(parents=True)
            (torch / "lib").mkdir(parents=True)
            (torch / "lib/libtorch_cpu.so").touch()
            (torch / "version.py").write_text(f"__version__ = '{version}'\n")
            python.write_text(f'#!/bin/sh\necho "{torch}"\n' if version else "#!/bin/sh\nexit 1\n")
            python.chmod(0o755)
            path.append(str(python.parent))
        starter = shutil.copy(SOURCE / "scripts/lib/salient-env.sh", bundle / "bin/salient-train")
        program = bundle / "libexec/salient-train"
        program.write_text('#!/bin/sh\necho "$LD_LIBRARY_PATH"\n')
        program.chmod(0o755)
        # As under an mpirun started by its absolute path, whose folder comes first and has a python3 of its own.
        done = self.start(starter, PATH=":".join([*path[:2], "/usr/bin:/bin", path[2]]))
        self.assertIn(f"{self.work}/the user's/site/torch/lib", done.stdout)
        self.start(starter, PATH=":".join([*path[:2], "/usr/bin:/bin"]), expect=66)

    def test_every_option_is_in_the_manual_page(self):
        for name in self.programs:
            page = self.usr / f"share/man/man1/{name}.1"
            text = page.read_text().replace("\\-", "-")
            told = run(BUILD / "bin" / name, "--help").stdout
            options = set(re.findall(r"^  (--[a-z-]+)", told, re.M))
            self.assertEqual([option for option in options if f"\\fB{option}\\fR" not in text], [], name)
            if shutil.which("man"):
                read = run("man", "--warnings", "-l", page, env={**os.environ, "MANPAGER": "cat", "LC_ALL": "C.UTF-8"})
                self.assertEqual(read.stderr, "")
                self.assertIn("SYNOPSIS", read.stdout)
        self.assertIn("--edges", (self.usr / "share/man/man1/salient-prepare.1").read_text().replace("\\-", "-"))

    def test_cmake_installs_pages_and_completion_too(self):
        prefix = self.work / "installed"
        run("cmake", "--install", BUILD, "--component", "programs", "--prefix", prefix)
        pages, share = sorted(path.name for path in (prefix / "share/man/man1").iterdir()), prefix / "share"
        self.assertEqual(pages, [f"{name}.1" for name in self.programs])
        for pattern in ("bash-completion/completions/{}", "zsh/site-functions/_{}",
                        "fish/vendor_completions.d/{}.fish"):
            for name in self.programs:
                with self.subTest(pattern=pattern, name=name):
                    self.assertEqual(len(list(share.glob(pattern.format(name)))), 1)
        done = run(prefix / "bin/salient-prepare", "--version", env={"PATH": "/usr/bin:/bin"})
        self.assertTrue(done.stdout.startswith("salient-prepare "), done.stdout)

    def completed(self, *words):
        """What bash offers for the last word."""
        name = words[0]
        script = (f"source {self.usr}/share/bash-completion/completions/{name}; "
                  f"COMP_WORDS=({' '.join(map(repr, words))});"
                  f" COMP_CWORD={len(words) - 1}; _{name.replace('-', '_')}; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        return run("bash", "-c", script, cwd=self.work).stdout.split()

    def test_completion_offers_options_words_commands_and_files(self):
        self.assertEqual(self.completed("salient-train", "--eval-f"), ["--eval-fanout"])
        self.assertEqual(self.completed("salient-train", "--device", ""), ["auto", "cpu", "cuda"])
        self.assertEqual(self.completed("salient-prepare", "e"), ["edges"])
        self.assertIn("--columns", self.completed("salient-prepare", "edges", "--c"))
        self.assertNotIn("--columns", self.completed("salient-prepare", "ogb", "--c"))
        self.assertEqual(self.completed("salient-infer", "--run", "roo"), ["root"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
