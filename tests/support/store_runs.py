# tests/support/store_runs.py - trainings on stores in a suite's folder, and predictions of these runs.
import json

import programs


class StoreRuns(programs.ProgramTest):
    """A suite says PROGRAMS, and TRAIN, the options of all its trainings."""

    def train(self, data, run, *options, expect=0, **how):
        return self.PROGRAMS.run("salient-train", "--dataset", self.work / data, "--out", self.work / run, *self.TRAIN,
                                 *options, expect=expect, **how)

    def infer(self, run, name, *options, expect=0, **how):
        return self.PROGRAMS.run("salient-infer", "--run", self.work / run, "--out", self.work / name, *programs.QUIET,
                                 *options, expect=expect, **how)

    def accuracy(self, run):
        return json.loads((self.work / run / "run.json").read_text())["result"]["test_accuracy"]

    def losses(self, run):
        return [row["loss"] for row in self.metrics(run)]
