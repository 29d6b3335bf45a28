#!/usr/bin/env python3
"""Three "hosts" on one machine: a network namespace and a hostname each, a switch between them, and a cable to pull.

    three_hosts_test.py BIN_DIRECTORY MPIEXEC       OpenMPI 4; needs root (CAP_NET_ADMIN, CAP_SYS_ADMIN), ip and unshare; else skipped
"""
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BIN, MPIEXEC = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
PROGRAM = BIN / "salient-train"
NAME = f"salient{os.getpid()}"
HOSTS = ["alpha", "beta", "gamma"]
NETWORK = "10.213.77"
TRAIN = ["--device", "cpu", "--hidden", "16", "--fanout", "5,4", "--eval-every", "1000", "--lr", "0.01", "--workers", "1", "--threads",
         "1", "--progress", "none", "--global-batch-size", "250"]
COMM_TIMEOUT, LIMIT = 5, 30  # seconds

# What mpirun takes for rsh: starts a command on a "host". The hosts see the same files but have their own name and network.
AGENT = """#!/bin/sh
host=$1; shift
exec ip netns exec {name}-$host unshare --uts sh -c "hostname $host && exec sh -c \\"\\$1\\"" agent "$*"
"""


def ip(*arguments, check=True):
    return subprocess.run(["ip", *arguments], capture_output=True, text=True, check=check)


def build_network():
    """A namespace that is the switch, and one per host with a cable to it. @return why it cannot be; "" = it is there"""
    try:
        ip("netns", "add", f"{NAME}-switch")
        ip("-n", f"{NAME}-switch", "link", "add", "bridge", "type", "bridge")
        ip("-n", f"{NAME}-switch", "link", "set", "bridge", "up")
        for number, host in enumerate(HOSTS, 1):
            ip("netns", "add", f"{NAME}-{host}")
            ip("-n", f"{NAME}-{host}", "link", "set", "lo", "up")
            ip("-n", f"{NAME}-{host}", "link", "add", "cable", "type", "veth", "peer", "name", host, "netns", f"{NAME}-switch")
            ip("-n", f"{NAME}-{host}", "address", "add", f"{NETWORK}.{number}/24", "dev", "cable")
            ip("-n", f"{NAME}-{host}", "link", "set", "cable", "up")
            ip("-n", f"{NAME}-switch", "link", "set", host, "master", "bridge", "up")
            # mpirun and its daemons know no time-out but TCP's, 15 minutes by default; this is 13 s.
            ip("netns", "exec", f"{NAME}-{host}", "sh", "-c", "echo 5 > /proc/sys/net/ipv4/tcp_retries2")
        subprocess.run(["unshare", "--uts", "hostname", "alpha"], capture_output=True, text=True, check=True)
        deadline = time.monotonic() + 10
        while ip("-n", f"{NAME}-switch", "link", "show", "master", "bridge").stdout.count(" state UP ") < len(HOSTS):
            if time.monotonic() > deadline:
                return "the cables of the network namespaces do not come up"
            time.sleep(0.05)
    except subprocess.CalledProcessError as error:
        return f"no network namespaces here: {error.stderr.strip() or error.cmd}"
    return ""


def remove_network():
    for host in [*HOSTS, "switch"]:
        subprocess.run(["ip", "netns", "delete", f"{NAME}-{host}"], capture_output=True, check=False)


def pids():
    """Of the programs that run on the "hosts", and of what started them there."""
    found = []
    for host in HOSTS:
        found += map(int, ip("netns", "pids", f"{NAME}-{host}").stdout.split())
    return found


class ThreeHosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(prefix="salient-hosts-"))
        cls.agent = cls.work / "agent"
        cls.agent.write_text(AGENT.format(name=NAME))
        cls.agent.chmod(0o755)
        made = subprocess.run([BIN / "salient-prepare", "synthetic", "--nodes", "2000", "--mean-degree", "8", "--features", "12",
                               "--classes", "5", "--out", cls.work / "data/graph"], text=True, capture_output=True)
        assert made.returncode == 0, made.stderr

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.work)

    def setUp(self):
        self.assertEqual(build_network(), "")

    def tearDown(self):
        for pid in pids():
            os.kill(pid, signal.SIGKILL)
        remove_network()

    def start(self, name, *args):
        """mpirun on the first host, a rank on each."""
        command = [MPIEXEC, "--allow-run-as-root", "--bind-to", "none", "--mca", "plm_rsh_agent", str(self.agent),
                   "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", f"{NETWORK}.0/24", "--mca", "oob_tcp_if_include",
                   f"{NETWORK}.0/24", "--host", ",".join(HOSTS), "-np", "3", str(PROGRAM), "--dataset", str(self.work / "data/graph"), *TRAIN,
                   "--comm-timeout", str(COMM_TIMEOUT), "--out", str(self.work / name), *map(str, args)]
        return subprocess.Popen([str(self.agent), HOSTS[0], shlex.join(command)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def losses(self, name):
        return [json.loads(line)["loss"] for line in (self.work / name / "metrics.jsonl").read_text().splitlines()]

    def test_the_curve_is_that_of_one_process(self):
        process = self.start("three", "--epochs", 3)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors + output)
        self.assertIn("between 3 ranks on 3 hosts", errors)
        for rank, host in enumerate(HOSTS):
            self.assertRegex(errors, rf"(?m)^ +{rank}  {host} +cpu ")
        alone = subprocess.run([PROGRAM, "--dataset", self.work / "data/graph", *TRAIN, "--epochs", "3", "--out", self.work / "alone"],
                               text=True, capture_output=True, timeout=60)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        for a, b in zip(self.losses("alone"), self.losses("three"), strict=True):
            self.assertLess(abs(a - b), 1e-5 * a)

    def test_a_pulled_cable_ends_every_process(self):
        process = self.start("cut", "--epochs", 100000, "--checkpoint-every", 1000)
        for line in process.stderr:
            if line.startswith("epoch 2:"):
                break
        ip("-n", f"{NAME}-switch", "link", "set", "gamma", "down")
        begin = time.monotonic()
        try:
            _, errors = process.communicate(timeout=COMM_TIMEOUT + LIMIT)
        except subprocess.TimeoutExpired:
            left = {pid: pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")[:100] for pid in pids()}
            process.kill()
            self.fail(f"still running: {left}")
        while pids() and time.monotonic() - begin < COMM_TIMEOUT + LIMIT:
            time.sleep(0.2)
        self.assertEqual(pids(), [])
        self.assertNotEqual(process.returncode, 0)
        told = [line for line in errors.splitlines() if "salient-train: error:" in line]
        self.assertEqual(len(told), 1, errors)
        self.assertRegex(told[0], "no answer from rank 2 on gamma")


if __name__ == "__main__":
    missing = [tool for tool in ("ip", "unshare", "hostname") if shutil.which(tool) is None]
    problem = f"{missing[0]} is not installed" if missing else "it takes root" if os.geteuid() != 0 else build_network()
    if not missing:
        remove_network()  # each test has its own
    if problem:
        print(f"skipped: {problem}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
