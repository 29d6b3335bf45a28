#!/usr/bin/env python3
"""Every block of the documents is run by a test, or is no command; and every option that they name is there.

    documentation_test.py SOURCE_DIRECTORY BIN_DIRECTORY [MPIEXEC [FLAGS...]]       CPU; a minute on 2 cores
"""
import itertools
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy

SOURCE, BIN = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
LAUNCH = sys.argv[3:]
DOCUMENTS = [SOURCE / name for name in ("README.md", "CONTRIBUTING.md", "python/README.md")]
DOCUMENTS += sorted((SOURCE / "docs").glob("*.md"))

OUTPUT, PICTURE, FORMULA = "printed, not typed", "a picture", "a formula"
# The blocks of each document, in order: "here", the test that runs it, or why none does. Those of one document may need
# what an earlier one has made.
BLOCKS = {
    "docs/DATASETS.md": ["here"] + 2 * ["tests/apps/user_data_test.py"] + ["here"],
    "README.md": ["tests/scripts/quickstart_test.py", OUTPUT, "here", "here"],
    "CONTRIBUTING.md": ["here"],
    "python/README.md": ["tests/python/install_test.py"] + 4 * ["tests/python/readme_test.py"],
    "docs/ARCHITECTURE.md": 2 * [PICTURE],
    "docs/BENCHMARKS.md": [FORMULA] + 3 * ["here"] + ["tests/python/readme_test.py"],
    "docs/DEPLOYMENT.md": ["the administrator's"] + 2 * ["tests/scripts/deployment_test.py"] + ["the administrator's"],
    "docs/DISTRIBUTED.md": ["here", "tests/apps/three_hosts_test.py", OUTPUT, "here", "here", OUTPUT, FORMULA],
    "docs/INFERENCE.md": ["here", OUTPUT, "here", "tests/python/readme_test.py", OUTPUT],
    "docs/KERNELS.md": 5 * ["tests/workbench/salient_kernels_test.py"] + ["tests/scripts/workbench_model_test.py"]
                       + [OUTPUT, "tests/workbench/salient_kernels_test.py", "the head of a candidate"]
                       + 2 * ["tests/workbench/own_cases_test.py"] + ["tests/workbench/import_test.py"]
                       + ["tests/workbench/attack_test.py"] + 3 * ["tests/workbench/salient_kernels_test.py"]
                       + ["tests/scripts/workbench_gpu_test.py", "tests/workbench/salient_kernels_test.py"],
    "docs/EDGE_WEIGHTS_AND_TIMES.md": 2 * ["tests/apps/edge_values_test.py"] + ["tests/apps/edge_weights_test.py"]
                                      + 2 * ["tests/apps/temporal_test.py"]
                                      + 2 * ["tests/sampler/temporal_sampler_test.cpp"]
                                      + ["tests/apps/temporal_test.py"]
                                      + ["tests/apps/edge_features_test.py"],
    "docs/LINKS.md": 4 * ["tests/apps/links_test.py"]
                     + ["tests/apps/typed_links_test.py", "tests/apps/typed_examples_test.py", "here",
                        "tests/apps/ogb_links_test.py", "here", "tests/apps/ogb_links_test.py"],
    "docs/RESULTS.md": ["tests/apps/timed_links_test.py"],
    "docs/LIBRARY.md": 2 * ["tests/scripts/installed_library_test.py"],
    "docs/SERVING.md": ["here", "here", OUTPUT, "here", "here", OUTPUT, "here"]
                       + 2 * ["tests/apps/serve_links_test.py"] + [OUTPUT, "here"],
    "docs/PACKAGES.md": ["tests/scripts/package_test.py", "tests/scripts/bare_machine_test.py"]
                        + 2 * ["tests/python/install_test.py"] + ["tests/scripts/dockerfile_test.py"],
    "docs/PYG.md": 9 * ["tests/python/pyg_page_test.py"],
    "docs/REPORT.md": ["here", "here"] + 2 * ["tests/python/tensorboard_test.py"],
    "docs/TABLES.md": ["tests/apps/node_tables_test.py"],
    "docs/TYPED_GRAPHS.md": ["here"] + 2 * ["tests/apps/typed_examples_test.py"]
                            + 2 * ["tests/apps/typed_new_nodes_test.py"]
                            + ["tests/prepare/importers/ogb_typed_test.cpp",
                               "tests/prepare/importers/graphbolt_importer_test.cpp"]
                            + 2 * ["tests/apps/salient_prepare_test.cpp"] + [OUTPUT],
    "docs/TRAINING.md": ["tests/python/readme_test.py", "tests/apps/debian_packages_test.py"],
}
# What the commands are given so that they run on a small machine; and commands that other tests run.
SMALLER = {"salient-train": ["--device", "cpu", "--hidden", "8", "--epochs", "2", "--progress", "none"],
           "salient-infer": ["--device", "cpu"], "python3": ["--nodes", "300", "--columns", "60", "--values", "5"],
           "salient-bench": ["--device", "cpu", "--rounds", "1"]}
ELSEWHERE = {"scripts/fetch_ogb.sh": "tests/scripts/fetch_ogb_test.py"}
NODES = 600


def blocks_of(document):
    """Between fences, or indented by four blanks."""
    found = re.findall(r"^```[a-z]*\n(.*?)^```|(?<=\n\n)((?: {4}[^\n]*\n)+)", document.read_text(), re.M | re.S)
    return [fenced or re.sub("^ {4}", "", indented, flags=re.M) for fenced, indented in found]


def commands_of(text):
    """The lines that begin with a program or script, as words; comments and continued lines resolved."""
    begun = ""
    for line in text.replace("\\\n", " ").splitlines():
        begun += line + "\n"
        try:
            words = shlex.split(begun, comments=True)
        except ValueError:  # a quotation that the next line goes on with
            continue
        begun = ""
        if words and re.match(r"(salient-|scripts/|(curl|python3|mpirun|srun|rsync)$)", words[0]):
            for is_and, command in itertools.groupby(words, lambda word: word == "&&"):
                if not is_and:
                    yield list(command)


def write_files(folder):
    draw = random.Random(1)
    (folder / "mine.csv").write_text("".join(f"{v},{draw.randrange(NODES)}\n" for v in range(NODES) for _ in range(4)))
    (folder / "messages.csv").write_text("source,target,time\n" + "".join(
        f"{7 * t % 60},{60 + t * t % 59},{t}\n" for t in range(900)))
    (folder / "asked.csv").write_text("source,target,time\n3,61,450\n5,63,1000\n")
    npy.write(folder / "x.npy", (NODES, 4), [draw.random() for _ in range(4 * NODES)], "<f4")
    npy.write(folder / "y.npy", (NODES,), [v % 3 for v in range(NODES)], "<i8")
    (folder / "graph.part.4").write_text("".join(f"{v % 4}\n" for v in range(NODES)))
    npy.write(folder / "ids.npy", (3,), [5, 2, 9], "<i8")
    customers = ["cust-02221", "cust-00227", *(f"cust-{v:05d}" for v in range(60))]
    (folder / "shop.csv").write_text("source,target\n" + "".join(f"{c},{draw.choice(customers)}\n" for c in customers))
    (folder / "segments.csv").write_text("id,size,label\n" + "".join(
        f"{c},{draw.random():.2f},{('retail', 'premium')[v % 2]}\n" for v, c in enumerate(customers)))
    (folder / "new.csv").write_text("id,size\nnew-1,0.5\nnew-2,0.25\n")
    (folder / "new_edges.csv").write_text("source,target\nnew-1,cust-00007\nnew-2,new-1\n")
    (folder / "papers.csv").write_text("id,year,label\n" + "".join(
        f"p{v},{2000 + v % 20},{('theory', 'systems')[v % 2]}\n" for v in range(60)))
    (folder / "subjects.csv").write_text("id\ngraphs\nkernels\n")
    for name, other in (("written_by", lambda v: v % 40), ("about", lambda v: ("graphs", "kernels")[v % 2]),
                        ("cites", lambda v: f"p{v // 2}")):
        (folder / f"{name}.csv").write_text("".join(f"p{v},{other(v)}\n" for v in range(60)))
    (folder / "customers.csv").write_text("age,customer\n31,cust-00007\n52,cust-00041\n")


class Documentation(unittest.TestCase):
    server = None  # salient-serve and its address

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="salient-documentation-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        write_files(cls.folder)
        edges = ["edges", "--edges", "mine.csv", "--features", "x.npy", "--labels", "y.npy", "--split", "0.6,0.2,0.2"]
        cls.start("salient-prepare", *edges, "--out", "data/wordnet")
        cls.start("salient-prepare", "edges", "--edges", "shop.csv", "--nodes", "segments.csv", "--label", "label",
                  "--split", "0.6,0.2,0.2", "--out", "data/shop")
        shutil.copytree(cls.folder / "data/wordnet", cls.folder / "data/ogbn-products")
        (cls.folder / "hosts").write_text("localhost slots=4\n")
        for raw in ("RAW/amazon-photo", "data/ogb/papers100M-bin", "data/ogb/arxiv"):
            cls.start("salient-prepare", "synthetic", "--like", "arxiv", "--scale", "0.005", "--raw-ogb", "--out", raw)
        for name, run in (("wordnet", "wordnet"), ("wordnet", "mine"), ("shop", "shop")):
            cls.start("salient-train", "--dataset", name, "--out", f"runs/{run}-sage-20261121-101500",
                      *SMALLER["salient-train"])

    @classmethod
    def start(cls, *words):
        program = [sys.executable, SOURCE / words[1]] if words[0] == "python3" else [BIN / words[0], *words[1:2]]
        result = subprocess.run([*program, *words[2:]], cwd=cls.folder, text=True, capture_output=True)
        if result.returncode != 0:
            raise AssertionError(f"{shlex.join(map(str, words))}: {result.stdout[-500:]}{result.stderr[-500:]}")
        return result.stdout

    def serve(self, words):
        process = subprocess.Popen([BIN / words[0], *words[1:], "--device", "cpu", "--port", "0"], cwd=self.folder,
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.terminate)
        line = process.stdout.readline()
        self.assertRegex(line, "^listening on ")
        self.server = line.split()[-1]

    def ask(self, words):
        """What curl does, which need not be installed."""
        body = words[words.index("-d") + 1].encode() if "-d" in words else None
        with urllib.request.urlopen(re.sub("http://[^/]+", self.server, words[-1]), body, 30) as answer:
            self.assertEqual(answer.status, 200)

    def load(self, words):
        for option, value in (("--nodes-of-dataset", str(NODES)), ("--seconds", "0.5")):
            words = [*words, option, value]
        told = subprocess.run([sys.executable, SOURCE / words[0], self.server.rstrip("/"), *words[2:]], text=True,
                              capture_output=True)
        self.assertRegex(told.stdout, r"^[1-9]\d* answers in .* 0 failed", told.stderr)

    def launch(self, words):
        """Several ranks on this machine; where there is no Slurm, by mpirun."""
        at = next(i for i, word in enumerate(words) if "salient-" in word)
        program = pathlib.Path(words[at]).name
        options, rest = words[1:at], [*words[at + 1:], *SMALLER[program], "--workers", "1", "--threads", "1"]
        if words[0] == "srun" and not shutil.which("srun"):
            options = ["-np", "2"]
        elif words[0] == "mpirun":
            options[options.index("-np") + 1] = str(min(4, int(options[options.index("-np") + 1])))
        starter = LAUNCH if words[0] == "mpirun" or not shutil.which("srun") else ["srun"]
        done = subprocess.run([*starter, *options, BIN / program, *rest], cwd=self.folder, text=True,
                              capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stderr + done.stdout, r"(?m)^communication: \w+ between [24] ranks")

    def copy(self, words):
        """What rsync does, which need not be installed, to another host: here a folder."""
        source, target = self.folder / words[-2], self.folder / words[-1].replace(":", "/")
        target.mkdir(parents=True, exist_ok=True)
        left_out = words[words.index("--exclude") + 1] if "--exclude" in words else ""
        self.assertTrue(source.exists() and words[-1].endswith("/"), words)
        if source.is_file():
            shutil.copy(source, target)
            return self.start("salient-prepare", "verify", str(target))
        return shutil.copytree(source, target / source.name, ignore=shutil.ignore_patterns(left_out))

    def run_command(self, words):
        if words[0] in ("mpirun", "srun"):
            return self.launch(words) if LAUNCH else None
        if words[0] == "rsync":
            return self.copy(words)
        if words[0] in ELSEWHERE:
            return self.assertTrue((SOURCE / ELSEWHERE[words[0]]).exists())
        if words[0] == "curl":
            return self.ask(words) if self.server else None
        if words[0] == "scripts/load_serve.py":
            return self.load(words) if self.server else None
        if words[0] == "salient-serve":
            return self.serve(words)
        pattern = next((word for word in words if "*" in word), None)
        if pattern:
            at = words.index(pattern)
            words[at:at + 1] = sorted(str(path.relative_to(self.folder)) for path in self.folder.glob(pattern))
        extra = SMALLER.get(words[0], [])
        if "--scale" in words:
            words[words.index("--scale") + 1] = "0.001"
        if "bf16" in words and "avx512_bf16" not in pathlib.Path("/proc/cpuinfo").read_text():
            words[words.index("bf16")] = "fp32"  # the other is refused on such a CPU
        if "--resume" in words:  # its options are the run's
            extra = extra[-2:]
        if words[0] == "salient-doctor":
            result = subprocess.run([BIN / words[0], *words[1:]], cwd=self.folder, text=True, capture_output=True)
            return self.assertIn("epoch of", result.stdout)  # the machine itself may lack something
        return self.start(*words, *extra)

    def test_every_block_is_named_and_its_test_is_there(self):
        self.assertEqual({str(path.relative_to(SOURCE)) for path in DOCUMENTS if blocks_of(path)}, set(BLOCKS))
        for document, runs in BLOCKS.items():
            with self.subTest(document=document):
                self.assertEqual(len(blocks_of(SOURCE / document)), len(runs), "add the new block to BLOCKS")
                for test in runs:
                    self.assertTrue(not test.startswith("tests/") or (SOURCE / test).exists(), test)

    def test_commands_work_as_they_stand(self):
        for document, runs in BLOCKS.items():
            for block, by in zip(blocks_of(SOURCE / document), runs):
                if document == "CONTRIBUTING.md":
                    continue
                for words in commands_of(block) if by == "here" else ():
                    with self.subTest(document=document, command=shlex.join(words)):
                        self.run_command(words)

    def test_commands_of_contributors_work(self):
        [block] = blocks_of(SOURCE / "CONTRIBUTING.md")
        commands = [line.split("  ")[0] for line in block.splitlines()]
        self.assertEqual(commands, ["scripts/setup.sh", "scripts/test.sh --quick", "scripts/test.sh",
                                    "cmake --workflow --preset dev", "scripts/check_format.sh --fix",
                                    "scripts/check_layers.py, check_sizes.py", "scripts/check_tidy.sh [FILE...]"])
        self.assertIn("scripts/test.sh", (SOURCE / ".ci/run").read_text())  # which begins with scripts/setup.sh
        presets = self.run_in(SOURCE, "cmake", "--list-presets=workflow").stdout
        for name in re.search(r"--preset (dev .*)$", block, re.M)[1].split("also: ")[1].split(", ") + ["dev"]:
            self.assertIn(f'"{name}"', presets)
        clone = self.folder / "clone"
        left_out = {".git", "build", "data", "runs", "dist"}
        shutil.copytree(SOURCE, clone, ignore=lambda at, names: left_out & set(names) if at == str(SOURCE) else ())
        before = {path: path.read_bytes() for path in clone.rglob("*.cpp")}
        self.run_in(clone, "scripts/check_format.sh", "--fix", skip=77)
        self.assertEqual(before, {path: path.read_bytes() for path in clone.rglob("*.cpp")})
        self.run_in(clone, "python3", "scripts/check_layers.py")
        self.run_in(clone, "python3", "scripts/check_sizes.py")
        self.run_in(SOURCE, "scripts/check_tidy.sh", "--build", BIN.parent, "core/number_text.cpp", skip=77)

    def run_in(self, folder, *words, skip=0):
        done = subprocess.run(words, cwd=folder, text=True, capture_output=True)
        self.assertIn(done.returncode, (0, skip), done.stdout + done.stderr)
        return done

    def test_every_package_and_wheel_has_a_row(self):
        known = (SOURCE / "third_party/README.md").read_text().lower()
        files = [SOURCE / "scripts/lib" / name for name in ("packages.sh", "wheels.sh", "python.sh", "site.sh")]
        lists = "".join(file.read_text() for file in files)
        names = re.findall(r"^([a-z][a-z0-9-]+) +[0-9]\S* +[0-9]+ [0-9a-f]{64}$", lists, re.M)
        for text in re.findall(r"^(?:readonly )?(?:\w+_)?packages=\((.*?)\)", lists, re.M | re.S):
            names += re.sub("#.*", "", text).split()
        self.assertGreater(len(names), 30)
        for name in names:
            with self.subTest(name=name):
                self.assertIn(name, known)

    def test_help_fits_a_terminal(self):
        programs = [[program] for program in sorted(BIN.glob("salient-*")) if "." not in program.name]
        commands = re.findall(r"^  salient-prepare ([a-z]+)", self.start("salient-prepare", "--help"), re.M)
        for words in programs + [["salient-prepare", command] for command in commands]:
            for topic in ("--help", "--help=all", "-h"):
                if topic == "--help" or "env" not in str(words[0]):
                    printed = self.start(*words, topic)
                    wide = [line for line in printed.splitlines() if len(line) > 80]
                    with self.subTest(command=words, topic=topic):
                        self.assertTrue(printed)
                        self.assertEqual(wide, [])

    def test_every_option_of_every_command_is_there(self):
        helps = {}
        count = 0
        for document in DOCUMENTS:
            for program, words in re.findall(r"\b(salient-[a-z]+)((?: +[^\s`|&#;)]+)+)", document.read_text()):
                options = re.findall(r"(?<=\s)--([a-z][a-z0-9-]*)", words)
                if not options or not (BIN / program).exists():
                    continue
                verb = re.match(r" +([a-z][a-z0-9]*)\b", words)
                key = (program, verb[1] if verb and program in ("salient-prepare", "salient-bench") else None)
                if "--task link" in words:  # has options of its own, without an encoder
                    model = re.search(r"--model ([a-z0-9-]+)", words)
                    key = (program, "--task", "link", *(["--model", model[1]] if model else []))
                if key not in helps:
                    helps[key] = self.start(program, *filter(None, key[1:]), "--help=all") + "\n  --help \n  --version "
                for option in options:
                    count += 1
                    with self.subTest(document=document.name, command=program + words):
                        self.assertRegex(helps[key], rf"--{option}\b")
        self.assertGreater(count, 80)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
