#!/usr/bin/env python3
# tests/scripts/dockerfile_test.py - docker/Dockerfile and the commands of the documents that use it, without a daemon.
"""
    dockerfile_test.py SOURCE_FOLDER BIN_FOLDER
    dockerfile_test.py SOURCE_FOLDER --run STAGE WORK_FOLDER [--ccache FOLDER] [--cuda FOLDER]

With --run the steps of a stage, and of those that it copies from, are run on bare Debian systems in WORK_FOLDER, which
it makes and leaves: as root, with debootstrap; half an hour or more, since the programs are built. For NVIDIA's images
a bare Debian takes their place, where the CUDA toolkit in FOLDER is at /usr/local/cuda.
"""
import argparse
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from bare_system import BareSystem, run

SOURCE = pathlib.Path(sys.argv[1]).resolve()
SUITE = "bookworm"  # what debootstrap makes of the images debian:12, and what takes the place of NVIDIA's
TOOLKIT = "/usr/local/cuda"


class Stage:
    def __init__(self, name, base):
        self.name, self.base, self.steps = name, base, []  # pairs: instruction, rest of its line

    def last(self, instruction):
        return [rest for word, rest in self.steps if word == instruction][-1]


def read_dockerfile():
    """Its arguments with their values, and its stages by name, in order."""
    text = re.sub(r"^\s*#.*\n", "", (SOURCE / "docker/Dockerfile").read_text(), flags=re.M)
    arguments, stages = {}, {}
    for line in text.replace("\\\n", " ").splitlines():
        if not line.strip():
            continue
        instruction, rest = line.split(maxsplit=1)
        for name, value in arguments.items():
            rest = rest.replace(f"${{{name}}}", value)
        if instruction == "ARG":
            name, value = rest.split("=")
            arguments[name] = value
        elif instruction == "FROM":
            base, _, name = rest.split()
            stages[name] = Stage(name, base)
        else:
            list(stages.values())[-1].steps.append((instruction, " ".join(rest.split())))
    return arguments, stages


def docker_commands(path):
    """The words of each command line that begins with docker, also in comments."""
    lines = re.sub(r"^#", "", path.read_text(), flags=re.M).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if re.match(r"\s*docker (build|run) ", line)]


class NoUsage(argparse.ArgumentParser):
    def error(self, message):
        raise ValueError(message)


def parsers_of_docker():
    build, start = NoUsage(), NoUsage()
    build.add_argument("-f", "--file", required=True)
    build.add_argument("--target", required=True)
    build.add_argument("-t", "--tag", required=True)
    build.add_argument("--build-arg", action="append", default=[])
    build.add_argument("context")
    start.add_argument("--rm", action="store_true")
    start.add_argument("--gpus", choices=["all"])
    start.add_argument("-p", "--publish")
    start.add_argument("-v", "--volume", action="append", default=[])
    start.add_argument("--user")
    start.add_argument("image")
    start.add_argument("command", nargs=argparse.REMAINDER)
    return {"build": build, "run": start}


class Dockerfile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.arguments, cls.stages = read_dockerfile()
        cls.package = (SOURCE / "cmake/package.cmake").read_text()
        cls.programs = set(re.findall(r"salient-(?:doctor|infer|prepare|report|train|serve)\b", cls.package))

    def help_of(self, program):
        return run(BIN / program, "--help").stdout

    def test_steps_use_what_is_there(self):
        for name in ("cpu", "cuda"):
            build, image = self.stages[f"build-{name}"], self.stages[name]
            self.assertIn(("COPY", ". /src"), build.steps)
            self.assertEqual(build.last("WORKDIR"), "/src")
            made = re.search(r"scripts/package.sh.* --out (\S+)", build.last("RUN"))[1]
            self.assertIn(("COPY", f"--from={build.name} {made} {made}"), image.steps)
            self.assertIn(f" {made}/salient_*.deb ", image.last("RUN"))
            for script, words in re.findall(r"(scripts/\w+\.sh)((?: \S+)*)", build.last("RUN").replace(" &&", "\n&&")):
                usage = run(SOURCE / script, "--help").stdout
                for option in re.findall(r"--[a-z]+", words):
                    self.assertIn(f"[{option}", usage, script)
            cache = dict(pair.split("=") for pair in [image.last("ENV")])["XDG_CACHE_HOME"]
            self.assertIn(f"XDG_CACHE_HOME={cache} salient-fetch-torch", image.last("RUN"))
            self.assertIn(f"chmod -R a+rX {cache}/salient", image.last("RUN"))
            self.assertNotEqual(image.last("USER"), "0")
        self.assertIn("bin/salient-fetch-torch", self.package)
        common = (SOURCE / "scripts/lib/common.sh").read_text()
        self.assertEqual(self.arguments["CUDA"].split(".")[0], re.search(r"cuda_major=(\d+)", common)[1])

    def test_a_linter_has_no_objection(self):
        linter = shutil.which("hadolint")
        if linter is None:
            self.skipTest("no hadolint")
        run(linter, SOURCE / "docker/Dockerfile")

    def test_commands_of_the_documents_name_what_is_there(self):
        parsers, built, started = parsers_of_docker(), {}, 0
        for document in ("docker/Dockerfile", "docs/PACKAGES.md"):
            for verb, *words in docker_commands(SOURCE / document):
                with self.subTest(document=document, command=shlex.join(words)):
                    options = parsers[verb].parse_args(words)
                    if verb == "build":
                        self.check_build(options)
                        built[options.tag] = self.stages[options.target]
                    else:
                        self.assertIn(options.image, built)
                        self.check_run(options, built[options.image])
                        started += 1
        self.assertEqual(sorted(built), ["salient:cpu", "salient:cuda"])
        self.assertGreaterEqual(started, 3)

    def test_all_documents_serve_by_the_same_command(self):
        commands = [[words for words in docker_commands(SOURCE / document) if "salient-serve" in words]
                    for document in ("docker/Dockerfile", "docs/PACKAGES.md")]
        self.assertEqual(len(commands[0]), 1)
        self.assertEqual(*commands)

    def check_build(self, options):
        self.assertTrue((SOURCE / options.context / options.file).is_file())
        self.assertIn(options.target, self.stages)
        for word in options.build_arg:
            self.assertIn(word.split("=")[0], self.arguments)

    def check_run(self, options, stage):
        work = stage.last("WORKDIR")
        for volume in options.volume:
            there = volume.split(":")[1]
            self.assertTrue(there == work or there.startswith(work + "/"), volume)
        self.assertEqual(options.gpus is not None, stage.name == "cuda")
        program, *words = options.command
        self.assertIn(program, self.programs)
        usage = self.help_of(program)
        for word in words:
            if word.startswith("--"):
                self.assertRegex(usage, rf"(?m)^  {word} ")
        if options.publish:
            self.assertIn("--host 0.0.0.0", " ".join(words))  # the program itself listens to its container alone
            port = options.publish.split(":")[-1]
            self.assertIn(port, words[words.index("--port") + 1] if "--port" in words else
                          re.search(r"(?m)^  --port .*", usage)[0])
        if program == "salient-train":
            self.assertTrue(options.user, "the image's user cannot write to the caller's folder")


def copy_context(target):
    left_out = set((SOURCE / ".dockerignore").read_text().split())
    shutil.copytree(SOURCE, target, symlinks=True,
                    ignore=lambda at, names: left_out & set(names) if pathlib.Path(at) == SOURCE else ())


def run_stage(name, stages, options):
    """@return  the system that the stage leaves"""
    stage = stages[name]
    others = {other: run_stage(other, stages, options)
              for word, rest in stage.steps if word == "COPY" for other in re.findall(r"--from=(\S+)", rest)}
    system = BareSystem(options.work / name, SUITE)
    folder, user, variables, mounts = "/", "0", {}, []
    if options.ccache:
        variables["CCACHE_DIR"] = "/ccache"
        mounts.append((options.ccache, "/ccache"))
    if stage.base.startswith("nvidia/cuda:"):  # whose environment has these, too
        variables["PATH"] = f"{TOOLKIT}/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        variables["LD_LIBRARY_PATH"] = f"{TOOLKIT}/lib64"
        mounts.append((options.cuda, TOOLKIT))
    for instruction, rest in stage.steps:
        begin = time.monotonic()
        if instruction == "COPY":
            *origin, first, target = rest.split()
            target = system.root / target.lstrip("/")
            if origin:
                shutil.copytree(others[origin[0].split("=")[1]].root / first.lstrip("/"), target)
            else:
                copy_context(target)
        elif instruction == "RUN":
            system.run(f"cd {folder}\n{rest}", user=user, mounts=mounts, **variables)
        elif instruction == "WORKDIR":
            folder = rest
            (system.root / folder.lstrip("/")).mkdir(exist_ok=True)
        elif instruction == "ENV":
            variables |= dict([rest.split("=")])
        elif instruction == "USER":
            user = rest
        elif instruction == "CMD":
            for command in (rest, '["salient-train", "--version"]'):
                print(system.run(f"cd {folder}\n" + shlex.join(eval(command)), user=user, mounts=mounts,
                                 **variables).stdout[:300])
        else:
            raise ValueError(f"{instruction}: what does it do without docker?")
        print(f"{name}: {instruction} {rest[:60]}: {time.monotonic() - begin:.0f} s", flush=True)
    return system


def run_image(words):
    parser = argparse.ArgumentParser(prog="dockerfile_test.py SOURCE_FOLDER --run")
    parser.add_argument("stage")
    parser.add_argument("work", type=lambda word: pathlib.Path(word).resolve())
    parser.add_argument("--ccache", type=lambda word: pathlib.Path(word).resolve())
    parser.add_argument("--cuda", type=lambda word: pathlib.Path(word).resolve())
    options = parser.parse_args(words)
    stages = read_dockerfile()[1]
    if stages[options.stage].base.startswith("nvidia/cuda:") and options.cuda is None:
        parser.error("NVIDIA's images need --cuda FOLDER")
    options.work.mkdir()
    run_stage(options.stage, stages, options)


if __name__ == "__main__":
    if sys.argv[2:3] == ["--run"]:
        run_image(sys.argv[3:])
    else:
        BIN = pathlib.Path(sys.argv[2]).resolve()
        unittest.main(argv=sys.argv[:1], verbosity=2)
