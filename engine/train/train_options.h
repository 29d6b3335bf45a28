// engine/train/train_options.h - everything a training run depends on: one struct, one list, one set of rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/options/options.h"

namespace salient {

struct TrainOptions {
  std::string dataset{};
  std::string data_root = "data";
  std::string model = "sage";
  int layers = 3;
  int hidden = 256;
  std::vector<int> fanout = {15, 10, 5};
  int batch_size = 1024;
  int global_batch_size = 0;
  double dropout = 0.5;
  std::string norm = "none";
  bool residual = false;
  std::string jk = "none";
  std::string aggr = "mean";
  int heads = 1;
  std::string init = "pyg";
  int epochs = 20;
  double lr = 0.003;
  std::string schedule = "constant";
  double warmup = 0;
  double plateau_factor = 0.5;
  int plateau_patience = 10;
  double weight_decay = 0;
  double label_smoothing = 0;
  std::uint32_t seed = 1;
  int trials = 1;
  bool deterministic = false;
  std::string metric = "auto";
  int patience = 0;
  std::vector<int> eval_fanout = {20, 20, 20};
  int eval_batch_size = 1024;
  int eval_every = 1;
  std::string device = "auto";
  std::string features = "auto";
  double cache_gb = 0;
  std::size_t cached_rows = 0;  ///< no option: what choose_places() makes of `cache_gb`
  std::string sampler = "auto";
  std::string precision = "fp32";
  int workers = 0;
  int threads = 0;
  int slots = 0;
  std::string comm = "auto";
  int comm_timeout = 300;
  std::string out{};
  int checkpoint_every = 1;
  int keep = 3;
  std::string resume{};
  std::string progress = "auto";
  std::string log_level = "info";
  bool trace = false;

  bool operator==(const TrainOptions&) const = default;

  /// Every broken rule at once, as "--option: rule"; empty means usable. Never touches disk, GPU or network.
  std::vector<std::string> problems() const;
};

/// `self` is TrainOptions& when a value is set and const TrainOptions& when it is printed.
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, TrainOptions>
void visit_fields(Self& self, Visit&& field) {
  field("dataset", self.dataset, "name below --data-root, a directory, or synthetic:arxiv|products|papers100M[:scale]");
  field("data-root", self.data_root, "where prepared data sets live; SALIENT_DATA sets it too");
  field("model", self.model, "sage | gat | gin | sage-ri | gcn | gatv2");
  field("layers", self.layers, "number of layers, one per fanout");
  field("hidden", self.hidden, "width of the hidden layers");
  field("fanout", self.fanout, "neighbours kept per node, the seeds' own hop first; -1 keeps all");
  field("batch-size", self.batch_size, "seeds per rank and step");
  field("global-batch-size", self.global_batch_size, "seeds per step over all ranks; 0 = ranks x batch-size");
  field("dropout", self.dropout, "share of activations dropped between layers");
  field("norm", self.norm, "none | batch | layer: normalisation of hidden layers");
  field("residual", self.residual, "hidden layers add their input");
  field("jk", self.jk, "jumping knowledge: none | cat | max of all layers, then a linear map");
  field("aggr", self.aggr, "mean | max: how sage aggregates neighbours");
  field("heads", self.heads, "attention heads of gat and gatv2, which share --hidden");
  field("init", self.init, "pyg: uniform within 1/sqrt(fan_in) | xavier: the paper artifact's");
  field("epochs", self.epochs, "passes over the training nodes");
  field("lr", self.lr, "Adam step size");
  field("schedule", self.schedule, "constant | cosine: down to 0 at the last step | plateau: down when stuck");
  field("warmup", self.warmup, "epochs, or part of one, over which the step size rises from 0");
  field("plateau-factor", self.plateau_factor, "plateau: what the step size is multiplied by");
  field("plateau-patience", self.plateau_patience, "plateau: epochs without a better validation result before that");
  field("weight-decay", self.weight_decay, "L2 penalty of Adam");
  field("label-smoothing", self.label_smoothing,
        "share of each label spread evenly over all classes, or over yes and no");
  field("seed", self.seed, "all randomness of the run derives from it");
  field("trials", self.trials, "runs with the seeds seed, seed + 1, ...; ends with mean and standard deviation");
  field("deterministic", self.deterministic, "on a GPU: gradients summed in a fixed order; a CPU always does so");
  field("metric", self.metric,
        "auto | accuracy | rocauc | f1: what picks the best epoch; auto: rocauc for two classes and for several labels "
        "a node");
  field("patience", self.patience, "ends when so many epochs brought no better validation result; 0 = never");
  field("eval-fanout", self.eval_fanout, "fanouts of validation and test");
  field("eval-batch-size", self.eval_batch_size, "seeds per evaluation batch");
  field("eval-every", self.eval_every, "epochs between validations; the last epoch is always validated");
  field("device", self.device, "auto | cpu | cuda");
  field(
      "features", self.features,
      "host | cached | device: in host memory, the most used rows on the GPU too, or all on the GPU; auto: what fits");
  field("cache-gb", self.cache_gb, "GPU memory for the rows of --features cached; 0 = what is left");
  field("sampler", self.sampler,
        "host | device: who samples; auto: the GPU if the graph fits too; batches are the same");
  field("precision", self.precision, "fp32 | tf32 | bf16: how a GPU multiplies matrices; all else is fp32");
  field("workers", self.workers, "threads that prepare batches; 0 = cores - 2, at least 1");
  field("threads", self.threads, "threads of the dense layers on a CPU; 0 = all cores");
  field("slots", self.slots, "batches in flight; 0 = a quarter more than workers");
  field("comm", self.comm, "auto | nccl | mpi | self");
  field("comm-timeout", self.comm_timeout, "seconds to wait for other ranks before giving up");
  field("out", self.out, "run directory; empty = runs/DATASET-MODEL-TIME");
  field("checkpoint-every", self.checkpoint_every, "epochs between checkpoints; 0 = only the best and the last");
  field("keep", self.keep, "checkpoints kept beside the best one");
  field("resume", self.resume, "run directory to continue");
  field("progress", self.progress, "auto | plain | none");
  field("log-level", self.log_level, "debug | info | warning | off");
  field("trace", self.trace, "write trace.json: what every thread and stream did, for Perfetto");
}

/// What to do instead of a run, or before it. Not part of a run's configuration.
struct TrainActions {
  std::string config{};
  bool print_config = false;
  bool dry_run = false;
  bool version = false;
  bool help = false;
};

/// The whole command line.
struct TrainCommand {
  TrainOptions options{};
  TrainActions actions{};
};

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, TrainCommand>
void visit_fields(Self& self, Visit&& field) {
  visit_fields(self.options, field);
  field("config", self.actions.config, "TOML file with any of the options above");
  field("print-config", self.actions.print_config, "print the resolved configuration and stop");
  field("dry-run", self.actions.dry_run, "check everything, print the memory plan and stop");
  field("version", self.actions.version, "print the versions of this program and its libraries and stop");
  field("help", self.actions.help, "print this and stop");
}

/// Merges, the strongest last: defaults < recipe of model and data set < --config file < SALIENT_* < command line.
///
/// @param look_up  getenv in a program.
/// @throws Error{kUsage} for a bad option from any source; Error{kNoInput} when the config file is missing.
TrainCommand read_train_command(std::span<const char* const> args,
                                const std::function<const char*(const char*)>& look_up);

/// @throws Error{kUsage} with every broken rule on one line.
void check(const TrainOptions& options);

/// Seeds of a step, over all ranks.
inline std::size_t global_batch_of(const TrainOptions& options, int num_ranks) {
  if (options.global_batch_size > 0) return static_cast<std::size_t>(options.global_batch_size);
  return static_cast<std::size_t>(options.batch_size) * static_cast<std::size_t>(num_ranks);
}

}  // namespace salient
