#!/usr/bin/env python3
"""The files of deploy/ are sound: their structure, names that must agree, and their commands, which are started.

    deployment_test.py SOURCE_DIRECTORY BIN_DIRECTORY        needs PyYAML, which the Python of tests has

manifests_test.py has what the schemas of Kubernetes say.
"""
import configparser
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from python_of_tests import restart_where

SOURCE, BIN = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
DEPLOY = SOURCE / "deploy"
UNIT = DEPLOY / "salient-serve.service"


def documents(name):
    return list(yaml.safe_load_all((DEPLOY / "kubernetes" / name).read_text()))


def pods(job):
    return {name: replica["template"]["spec"] for name, replica in job["spec"]["mpiReplicaSpecs"].items()}


class Deployment(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="salient-deployment-")
        cls.addClassCleanup(scratch.cleanup)
        cls.work = pathlib.Path(scratch.name)
        for words in (["salient-prepare", "synthetic", "--nodes", "300", "--out", "data/mine"],
                      ["salient-train", "--dataset", "mine", "--out", "runs/mine", "--device", "cpu", "--epochs", "1",
                       "--hidden", "8"]):
            done = subprocess.run([BIN / words[0], *words[1:]], cwd=cls.work, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr

    def check_pod(self, pod):
        """Names of volumes agree, no user is root, and the claim is the documents'."""
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        [container] = pod["containers"]
        self.assertEqual({mount["name"] for mount in container["volumeMounts"]}, set(volumes))
        self.assertEqual(volumes["work"]["persistentVolumeClaim"]["claimName"], "salient")
        self.assertTrue(pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] > 0)
        built = (SOURCE / "docs/PACKAGES.md").read_text() + (SOURCE / "docs/DEPLOYMENT.md").read_text()
        self.assertIn(f"-t {container['image']} ", built)
        return container

    def check_serves(self, words):
        """Starts the server, on a free port, and asks what probes ask."""
        server = subprocess.Popen([BIN / words[0], *words[1:]], cwd=self.work, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env={**os.environ, "SALIENT_PORT": "0"})
        try:
            line = server.stdout.readline()
            self.assertRegex(line, "^listening on ")
            port = re.search(r":(\d+)", line.split()[-1])[1]
            for path in ("healthz", "metrics"):
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=30) as answer:
                    self.assertEqual(answer.status, 200)
        finally:
            server.terminate()
            server.communicate()
        self.assertEqual(server.returncode, 0)

    def test_the_deployment_serves_and_its_probes_are_answered(self):
        deployment, service = documents("serve.yaml")
        self.assertEqual((deployment["apiVersion"], deployment["kind"]), ("apps/v1", "Deployment"))
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        self.assertEqual(deployment["spec"]["selector"]["matchLabels"], labels)
        self.assertEqual(service["spec"]["selector"], labels)
        container = self.check_pod(deployment["spec"]["template"]["spec"])
        [port] = container["ports"]
        self.assertEqual(service["spec"]["ports"][0]["targetPort"], port["name"])
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            self.assertEqual(container[probe]["httpGet"], {"path": "/healthz", "port": port["name"]})
        defaults = subprocess.run([BIN / "salient-serve", "--run", "runs/mine", "--print-config"], cwd=self.work,
                                  capture_output=True, text=True).stdout
        self.assertIn(f"port = {port['containerPort']}", defaults)
        self.check_serves(container["args"])

    def test_the_mpi_job_starts_and_resumes(self):
        [job] = documents("train.yaml")
        self.assertEqual((job["apiVersion"], job["kind"]), ("kubeflow.org/v2beta1", "MPIJob"))
        self.assertEqual(set(job["spec"]), {"slotsPerWorker", "sshAuthMountPath", "runPolicy", "mpiReplicaSpecs"})
        self.check_cluster(pods(job), "Launcher", "Worker", job["spec"]["slotsPerWorker"],
                           job["spec"]["sshAuthMountPath"])
        [launcher] = pods(job)["Launcher"]["containers"]
        self.check_trains(launcher)

    def test_the_train_job_starts_and_resumes(self):
        runtime, job = documents("trainjob.yaml")
        for document, kind in ((runtime, "TrainingRuntime"), (job, "TrainJob")):
            self.assertEqual((document["apiVersion"], document["kind"]), ("trainer.kubeflow.org/v1alpha1", kind))
        self.assertEqual(job["spec"]["runtimeRef"], {"apiGroup": "trainer.kubeflow.org", "kind": "TrainingRuntime",
                                                     "name": runtime["metadata"]["name"]})
        self.assertLessEqual(set(job["spec"]["trainer"]), {"numNodes", "command", "args"})
        policy = runtime["spec"]["mlPolicy"]
        self.assertEqual(policy["numNodes"], job["spec"]["trainer"]["numNodes"])
        self.assertEqual(policy["mpi"]["mpiImplementation"], "OpenMPI")
        jobs = {part["name"]: part["template"] for part in runtime["spec"]["template"]["spec"]["replicatedJobs"]}
        self.assertEqual(jobs["launcher"]["metadata"]["labels"],  # by which Trainer finds whose command is the job's
                         {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"})
        specs = {name: template["spec"]["template"]["spec"] for name, template in jobs.items()}
        for spec in specs.values():
            self.assertEqual([container["name"] for container in spec["containers"]], ["node"])  # Trainer's rule
        self.check_cluster(specs, "launcher", "node", policy["mpi"]["numProcPerNode"],
                           policy["mpi"]["sshAuthMountPath"])
        self.check_trains(job["spec"]["trainer"])

    def check_cluster(self, specs, launcher, worker, slots, keys):
        """Pods of both kinds are of the image, and a worker has as many GPUs as ranks."""
        self.check_pod(specs[launcher])
        container = self.check_pod(specs[worker])
        self.assertEqual(container["resources"]["limits"]["nvidia.com/gpu"], slots)
        image = (SOURCE / "docker/mpi.Dockerfile").read_text()
        for path in (container["args"][-1], keys, container["command"][0]):
            self.assertIn(path, image)
        for spec in specs.values():
            self.assertIn(f"USER {spec['securityContext']['runAsUser']}\n", image)

    def check_trains(self, container):
        """Its command starts a run where there is none, and resumes it where there is."""
        tools, empty = self.work / "tools", self.work / "empty"
        for folder in (tools, empty):
            folder.mkdir(exist_ok=True)
        (tools / "mpirun").write_text("#!/bin/sh\necho \"$@\"\n")
        (tools / "mpirun").chmod(0o755)
        for folder, what in ((empty, "--dataset mine --out runs/mine"), (self.work, "--resume runs/mine")):
            said = subprocess.run([*container["command"], *container["args"]], cwd=folder, capture_output=True,
                                  text=True, check=True,
                                  env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}).stdout
            self.assertTrue(said.endswith(f"salient-train {what}\n"), said)
            known = subprocess.run([BIN / "salient-train", "--help=all"], capture_output=True, text=True).stdout
            for option in shlex.split(what)[::2]:
                self.assertIn(f"  {option} ", known)

    def test_the_apptainer_image_is_that_of_docker(self):
        text = (DEPLOY / "salient.def").read_text()
        sections = dict(re.findall(r"^%(\w+)\n((?:  .*\n)*)", text, re.M))
        self.assertEqual(set(sections), {"arguments", "files", "post", "environment", "runscript", "test", "help"})
        for name in ("post", "environment", "runscript", "test"):
            subprocess.run(["sh", "-n"], input=sections[name], text=True, check=True)
        docker = (SOURCE / "docker/Dockerfile").read_text()
        packages = [set(re.search(r"recommends \S+/salient_\*\.deb ([\w -]+)", part)[1].split())
                    for part in (sections["post"], docker)]
        self.assertEqual(packages[0] - packages[1], {"openmpi-bin"})
        self.assertEqual(packages[1] - packages[0], set())
        self.assertIn(f"FROM {re.search('BASE=(.*)', sections['arguments'])[1]} AS cpu", docker)
        cuda = re.search(r"BASE=nvidia/cuda:([\d.]+)-(\S+)", text)
        self.assertIn(f"ARG CUDA={cuda[1]}\n", docker)
        self.assertIn(f"FROM nvidia/cuda:${{CUDA}}-{cuda[2]} AS cuda", docker)
        self.assertIn("salient-fetch-torch", sections["post"])

    def test_the_unit_serves(self):
        unit = configparser.ConfigParser(strict=False, interpolation=None)
        unit.optionxform = str
        unit.read(UNIT)
        program, *words = shlex.split(unit["Service"]["ExecStart"])
        (self.work / "serve.toml").write_text('run = "runs/mine"\n')
        self.check_serves([pathlib.Path(program).name, *words])
        page = " ".join((SOURCE / "docs/DEPLOYMENT.md").read_text().split())
        said = re.search(r"\(([^)]*)\) does not start", page)[1]
        self.assertEqual(unit["Service"]["RestartPreventExitStatus"].split(), re.findall(r"\b\d+\b", said))
        if shutil.which("systemd-analyze"):
            copy = self.work / UNIT.name
            copy.write_text(UNIT.read_text().replace(program, str(BIN / "salient-serve")))
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True)
            self.assertNotIn(UNIT.name, done.stdout + done.stderr)  # what it says of other units is not ours


if __name__ == "__main__":
    restart_where("yaml")
    import yaml
    unittest.main(argv=sys.argv[:1], verbosity=2)
