#!/usr/bin/env python3
"""Three "hosts" on one machine: a network namespace and a hostname each, a switch between them, and a cable to pull.

    three_hosts_test.py BIN_DIRECTORY MPIEXEC    OpenMPI 4; needs root, ip and unshare; else skipped
"""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import programs
from job import wait_until

PROGRAMS, MPIEXEC = programs.Programs(sys.argv[1]), sys.argv[2]
NAME = f"salient{os.getpid()}"
HOSTS = ["alpha", "beta", "gamma"]
NETWORK = "10.213.77"
CPU = [*programs.QUIET, "--workers", "1", "--threads", "1"]
TRAIN = [*programs.SMALL, *CPU, "--eval-every", "1000", "--global-batch-size", "250"]
COMM_TIMEOUT = 8  # seconds, in which MPI starts on a slow machine, too

# mpirun uses it as rsh: starts a command on a "host". The hosts see the same files; name and network are their own.
AGENT = """#!/bin/sh
host=$1; shift
exec ip netns exec {name}-$host unshare --uts sh -c "hostname $host && exec sh -c \\"\\$1\\"" agent "$*"
"""
# The same for containers that all have one name: each has processes and temporary files of its own, too.
CONTAINER_AGENT = """#!/bin/sh
host=$1; shift
mkdir -p {work}/tmp-$host
exec ip netns exec {name}-$host env TMPDIR={work}/tmp-$host unshare --uts --pid --fork --kill-child --mount-proc \\
  sh -c "hostname container && exec sh -c \\"\\$1\\"" agent "$*"
"""


def ip(*arguments, check=True):
    return subprocess.run(["ip", *arguments], capture_output=True, text=True, check=check)


def build_network():
    """A namespace that is the switch, and one per host with a cable to it. @return why it is impossible; "" = done"""
    try:
        ip("netns", "add", f"{NAME}-switch")
        ip("-n", f"{NAME}-switch", "link", "add", "bridge", "type", "bridge")
        ip("-n", f"{NAME}-switch", "link", "set", "bridge", "up")
        for number, host in enumerate(HOSTS, 1):
            ip("netns", "add", f"{NAME}-{host}")
            ip("-n", f"{NAME}-{host}", "link", "set", "lo", "up")
            ip("-n", f"{NAME}-{host}", "link", "add", "cable", "type", "veth", "peer", "name", host,
               "netns", f"{NAME}-switch")
            ip("-n", f"{NAME}-{host}", "address", "add", f"{NETWORK}.{number}/24", "dev", "cable")
            ip("-n", f"{NAME}-{host}", "link", "set", "cable", "up")
            ip("-n", f"{NAME}-switch", "link", "set", host, "master", "bridge", "up")
            # mpirun and its daemons have no time-out but TCP's, 15 minutes by default; this is 13 s.
            ip("netns", "exec", f"{NAME}-{host}", "sh", "-c", "echo 5 > /proc/sys/net/ipv4/tcp_retries2")
        subprocess.run(["unshare", "--uts", "hostname", "alpha"], capture_output=True, text=True, check=True)
        wait_until(lambda: ip("-n", f"{NAME}-switch", "link", "show", "master",
                              "bridge").stdout.count(" state UP ") == len(HOSTS), "the cables are up")
    except subprocess.CalledProcessError as error:
        return f"no network namespaces here: {error.stderr.strip() or error.cmd}"
    return ""


def remove_network():
    for host in [*HOSTS, "switch"]:
        subprocess.run(["ip", "netns", "delete", f"{NAME}-{host}"], capture_output=True, check=False)


class ThreeHosts(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.agent, cls.container_agent = cls.work / "agent", cls.work / "container-agent"
        for agent, text in ((cls.agent, AGENT), (cls.container_agent, CONTAINER_AGENT)):
            agent.write_text(text.format(name=NAME, work=cls.work))
            agent.chmod(0o755)
        PROGRAMS.generate(cls.work / "data/graph", nodes=2000, degree=8)

    def setUp(self):
        self.addCleanup(remove_network)
        self.assertEqual(build_network(), "")

    def launch(self, agent, slots, *command):
        """mpirun on the first host, which starts as many ranks on each host as `slots` says."""
        hosts = [f"{host}:{count}" for host, count in zip(HOSTS, slots)]
        network = f"{NETWORK}.0/24"
        mpirun = [MPIEXEC, "--allow-run-as-root", "--bind-to", "none", "--mca", "plm_rsh_agent", agent,
                  "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", network,
                  "--mca", "oob_tcp_if_include", network, "--host", ",".join(hosts), "-np", sum(slots),
                  *command, "--comm-timeout", COMM_TIMEOUT]
        return self.start([agent, HOSTS[0], shlex.join(map(str, mpirun))])

    def launch_by_torchrun(self, name, slots, *args):
        """The processes that torchrun would start on each host, whose first ones find each other. @return their jobs"""
        port, jobs, first = 29500, [], 0
        for host, count in zip(HOSTS, slots):
            for local_rank in range(count):
                variables = {"RANK": first + local_rank, "LOCAL_RANK": local_rank, "LOCAL_WORLD_SIZE": count,
                             "WORLD_SIZE": sum(slots), "MASTER_ADDR": f"{NETWORK}.1", "MASTER_PORT": port,
                             "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_plm_rsh_agent": "/no/ssh/here"}
                command = PROGRAMS.command("salient-train", "--dataset", self.work / "data/graph", *TRAIN, "--out",
                                           self.work / name, *args, "--comm-timeout", COMM_TIMEOUT)
                jobs.append(self.start([self.agent, host, shlex.join(command)],
                                       env={key: str(value) for key, value in variables.items()}))
            first += count
        return jobs

    def launch_training(self, name, *args):
        """A rank on each host."""
        return self.launch(self.agent, [1, 1, 1], PROGRAMS.folder / "salient-train", "--dataset",
                           self.work / "data/graph", *TRAIN, "--out", self.work / name, *args)

    def train_alone(self, name, num_epochs):
        PROGRAMS.run("salient-train", "--dataset", self.work / "data/graph", *TRAIN, "--epochs", num_epochs, "--out",
                     self.work / name, expect=0)

    def losses(self, name):
        return [row["loss"] for row in self.metrics(name)]

    def test_the_curve_is_that_of_one_process(self):
        errors = self.finish(self.launch_training("three", "--epochs", 3), 0).stderr
        self.assertIn("between 3 ranks on 3 hosts", errors)
        for rank, host in enumerate(HOSTS):
            self.assertRegex(errors, rf"(?m)^ +{rank}  {host} +cpu ")
        self.train_alone("alone", 3)
        for a, b in zip(self.losses("alone"), self.losses("three"), strict=True):
            self.assertLess(abs(a - b), 1e-5 * a)

    def test_torchrun_needs_no_ssh_and_trains_as_mpirun_does(self):
        self.finish(self.launch(self.agent, [2, 1, 1], PROGRAMS.folder / "salient-train", "--dataset",
                                self.work / "data/graph", *TRAIN, "--out", self.work / "by-mpirun", "--epochs", 2), 0)
        jobs = self.launch_by_torchrun("by-torchrun", [2, 1, 1], "--epochs", 2)
        errors = [self.finish(job, 0).stderr for job in jobs]
        self.assertIn("between 4 ranks on 3 hosts", errors[0])
        for rank, host in enumerate(["alpha", "alpha", "beta", "gamma"]):
            self.assertRegex(errors[0], rf"(?m)^ +{rank}  {host} +cpu ")
        self.assertEqual(self.losses("by-torchrun"), self.losses("by-mpirun"))

    def test_a_host_of_torchrun_that_is_killed_ends_all_others(self):
        jobs = self.launch_by_torchrun("killed", [1, 1, 1], "--epochs", 100000, "--checkpoint-every", 1000)
        jobs[0].wait_for_line("epoch 2:")
        jobs[1].kill()
        self.assertNotEqual(jobs[0].end(90).returncode, 0)
        for job in (jobs[0], jobs[2]):
            job.wait_for_last()

    def test_features_in_parts_give_the_curve_of_one_process(self):
        PROGRAMS.run("salient-prepare", "partition", self.work / "data/graph", "--parts", 3, expect=0)
        errors = self.finish(self.launch_training("parts", "--features", "partitioned", "--epochs", 3), 0).stderr
        self.assertRegex(errors, r"epoch 3: .* [1-9][0-9.]* % remote")
        self.train_alone("parts-alone", 3)
        for a, b in zip(self.losses("parts-alone"), self.losses("parts"), strict=True):
            self.assertLess(abs(a - b), 1e-5 * a)

    def test_containers_of_one_name_share_nothing_and_find_what_one_process_finds(self):
        self.train_alone("model", 1)
        infer = PROGRAMS.command("salient-infer", "--run", self.work / "model", "--nodes", "all", "--exact",
                                 "--block-mb", 1, *CPU)
        self.finish(self.start([*infer, "--out", self.work / "predicted"]), 0)
        for place in ("memory", "file"):
            out = self.work / f"predicted-{place}"
            job = self.launch(self.container_agent, [2, 1, 1], *infer, "--activations", place, "--out", out)
            errors = self.finish(job, 0).stderr
            self.assertIn("between 4 ranks on 3 hosts", errors)
            self.assertRegex(errors, r"(?m)^ +3  container +cpu ")
            self.assertEqual((out / "logits.npy").read_bytes(), (self.work / "predicted/logits.npy").read_bytes())

    def test_a_pulled_cable_ends_every_process(self):
        job = self.launch_training("cut", "--epochs", 100000, "--checkpoint-every", 1000)
        job.wait_for_line("epoch 2:")
        ip("-n", f"{NAME}-switch", "link", "set", "gamma", "down")
        done = job.end(90)  # mpirun notices after 13 s of TCP's own
        job.wait_for_last()
        self.assertNotEqual(done.returncode, 0)
        reports = [line for line in done.stderr.splitlines() if "salient-train: error:" in line]
        self.assertEqual(len(reports), 1, done.stderr)
        self.assertRegex(reports[0], "no answer from rank 2 on gamma")


if __name__ == "__main__":
    missing = [tool for tool in ("ip", "unshare", "hostname") if shutil.which(tool) is None]
    problem = f"{missing[0]} is not installed" if missing else "it takes root" if os.geteuid() != 0 else build_network()
    if not missing:
        remove_network()  # each test has its own
    if problem:
        print(f"skipped: {problem}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
