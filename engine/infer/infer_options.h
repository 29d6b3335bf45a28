// engine/infer/infer_options.h - everything that salient-infer depends on: one struct, one list, one set of rules.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/options/options.h"

namespace salient {

/// What is empty, 0 or -1 is the run's own.
struct InferOptions {
  std::string run{};
  std::string nodes = "test";
  std::vector<int> fanout{};
  bool exact = false;
  std::string out{};
  bool force = false;
  std::string checkpoint = "best";
  std::string format = "npy";
  int top_k = 1;
  int embeddings = 0;
  std::string dataset{};
  std::string data_root{};
  std::int64_t seed = -1;
  int batch_size = 0;
  std::string device = "auto";
  std::string features = "auto";
  std::string sampler = "auto";
  int workers = 0;
  int threads = 0;
  int slots = 0;
  std::string activations = "auto";
  double memory_gb = 0;
  std::string scratch{};
  int block_mb = 128;
  std::string comm = "auto";
  int comm_timeout = 300;
  std::string progress = "auto";
  std::string log_level = "info";

  /// Every broken rule at once, as "--option: rule"; empty means usable. Never touches disk, GPU or network.
  std::vector<std::string> problems() const;
};

/// `self` is InferOptions& when a value is set and const InferOptions& when it is printed.
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, InferOptions>
void visit_fields(Self& self, Visit&& field) {
  field("run", self.run, "directory of a run of salient-train");
  field("nodes", self.nodes, "train | valid | test | all | FILE.npy with node ids");
  field("fanout", self.fanout, "neighbours kept per node and hop, the nodes' own hop first; the run's --eval-fanout");
  field("exact", self.exact, "all neighbours, layer by layer, instead of --fanout");
  field("out", self.out, "folder for the results; empty = RUN/predictions/NODES-TIME");
  field("force", self.force, "replace --out if it holds earlier results");
  field("checkpoint", self.checkpoint, "best | latest | epoch-NNNN");
  field("format", self.format, "npy: arrays for programs | csv: a table for people");
  field("top-k", self.top_k, "classes per node, the most probable first");
  field("embeddings", self.embeddings, "also write the result of this layer, from 1; 0 = none");
  field("dataset", self.dataset, "another data set than the run's, with as many features and classes");
  field("data-root", self.data_root, "where prepared data sets live; SALIENT_DATA sets it too");
  field("seed", self.seed, "of the sampled neighbourhoods; -1 = the run's");
  field("batch-size", self.batch_size, "nodes per rank and batch; 0 = the run's --eval-batch-size");
  field("device", self.device, "auto | cpu | cuda");
  field("features", self.features,
        "host | device: where feature rows live; auto: in GPU memory if they take half at most");
  field("sampler", self.sampler,
        "host | device: who samples; auto: the GPU if the graph takes half of the rest at most");
  field("workers", self.workers, "threads that prepare batches; 0 = cores - 2, at least 1");
  field("threads", self.threads, "threads of the dense layers on a CPU; 0 = all cores");
  field("slots", self.slots, "batches in flight; 0 = 4, or a quarter more than workers");
  field("activations", self.activations, "--exact keeps layers' results in: auto | device | memory | file");
  field("memory-gb", self.memory_gb,
        "host memory for --exact before auto takes a file; 0 = four fifths of what is free");
  field("scratch", self.scratch, "folder for that file, removed at the end; empty = beside --out");
  field("block-mb", self.block_mb, "rows that --exact gathers at a time; a node with more neighbours takes more");
  field("comm", self.comm, "auto | nccl | mpi | self");
  field("comm-timeout", self.comm_timeout, "seconds to wait for other ranks before giving up");
  field("progress", self.progress, "auto | plain | none");
  field("log-level", self.log_level, "debug | info | warning | off");
}

/// The whole command line.
struct InferCommand {
  InferOptions options{};
  bool version = false;
  bool help = false;
};

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, InferCommand>
void visit_fields(Self& self, Visit&& field) {
  visit_fields(self.options, field);
  field("version", self.version, "print the versions of this program and its libraries and stop");
  field("help", self.help, "print this and stop");
}

/// Merges, the strongest last: defaults < SALIENT_* < command line. @param look_up  getenv in a program.
/// @throws Error{kUsage}.
InferCommand read_infer_command(std::span<const char* const> args,
                                const std::function<const char*(const char*)>& look_up);

/// @throws Error{kUsage} with every broken rule on one line.
void check(const InferOptions& options);

}  // namespace salient
