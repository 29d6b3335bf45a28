// engine/train/train_options.cpp - the rules between options, and where their values come from.
#include "engine/train/train_options.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "engine/train/recipes.h"
#include "engine/train/run_model.h"
#include "sampler/neighbor_sampler.h"
#include "store/dataset_name.h"

namespace salient {
namespace {

using options::Assignment;
using options::is_one_of;

/// `--layers 2` alone means two of the default fanouts, and `--fanout 10,10` alone means two layers.
void fit_depth(TrainOptions& options, const std::function<bool(const char*)>& is_said) {
  if (is_said("fanout") && !is_said("layers")) options.layers = static_cast<int>(options.fanout.size());
  const auto num_layers = static_cast<std::size_t>(std::clamp(options.layers, 1, 64));
  if (!is_said("fanout")) options.fanout.resize(num_layers, options.fanout.back());
  if (!is_said("eval-fanout")) options.eval_fanout.resize(num_layers, options.eval_fanout.back());
}

/// A run directory is resumed with its own configuration, to which the other sources are then applied.
std::vector<Assignment> resumed_configuration(const std::string& run_directory) {
  if (run_directory.empty()) return {};
  std::vector<Assignment> found = options::from_toml_file(run_directory + "/config.toml");
  std::erase_if(found, [](const Assignment& a) { return a.name == "resume" || a.name == "out"; });
  found.push_back({"out", run_directory, "--resume"});
  return found;
}

}  // namespace

std::vector<std::string> TrainOptions::problems() const {
  std::vector<std::string> found;
  const auto rule = [&](bool holds, std::string text) {
    if (!holds) found.push_back(std::move(text));
  };
  const auto num_layers = static_cast<std::size_t>(std::max(layers, 0));
  rule(!dataset.empty(), "--dataset: is required, such as --dataset wordnet");
  std::ranges::move(problems_of(model_options_of(*this)), std::back_inserter(found));
  rule(are_fanouts(fanout), "--fanout: each 1 to 65535, or -1 for all");
  rule(fanout.size() == num_layers, "--fanout: " + std::to_string(layers) + " numbers, one per layer");
  rule(are_fanouts(eval_fanout), "--eval-fanout: each 1 to 65535, or -1 for all");
  rule(eval_fanout.size() == num_layers, "--eval-fanout: " + std::to_string(layers) + " numbers, one per layer");
  rule(batch_size >= 1, "--batch-size: at least 1");
  rule(global_batch_size >= 0, "--global-batch-size: at least 1, or 0");
  rule(eval_batch_size >= 1, "--eval-batch-size: at least 1");
  rule(epochs >= 1, "--epochs: at least 1");
  rule(lr > 0, "--lr: above 0");
  rule(is_one_of(schedule, {"constant", "cosine", "plateau"}), "--schedule: constant, cosine or plateau");
  rule(warmup >= 0 && warmup <= epochs, "--warmup: 0 to --epochs");
  rule(plateau_factor > 0 && plateau_factor < 1, "--plateau-factor: between 0 and 1");
  rule(plateau_patience >= 0, "--plateau-patience: at least 0");
  rule(label_smoothing >= 0 && label_smoothing < 1, "--label-smoothing: from 0 to below 1");
  rule(trials >= 1 && trials <= 10'000, "--trials: 1 to 10000");
  rule(is_one_of(metric, {"auto", "accuracy", "rocauc", "f1"}), "--metric: auto, accuracy, rocauc or f1");
  rule(patience >= 0, "--patience: at least 1, or 0 for never");
  rule(weight_decay >= 0, "--weight-decay: at least 0");
  rule(eval_every >= 1, "--eval-every: at least 1");
  rule(is_one_of(device, {"auto", "cpu", "cuda"}), "--device: auto, cpu or cuda");
  rule(is_one_of(features, {"auto", "host", "cached", "device"}), "--features: auto, host, cached or device");
  rule(cache_gb >= 0, "--cache-gb: at least 0");
  rule(cache_gb == 0 || features == "cached", "--cache-gb: only with --features cached");
  rule(is_one_of(sampler, {"auto", "host", "device"}), "--sampler: auto, host or device");
  rule(is_one_of(precision, {"fp32", "tf32", "bf16"}), "--precision: fp32, tf32 or bf16");
  const bool may_be_on_gpu = device != "cpu";
  rule(may_be_on_gpu || precision == "fp32", "--precision: " + precision + " needs a GPU");
  rule(may_be_on_gpu || (features != "device" && features != "cached"), "--features: " + features + " needs a GPU");
  rule(may_be_on_gpu || sampler != "device", "--sampler: device needs a GPU");
  rule(workers >= 0 && workers <= 1024, "--workers: 1 to 1024, or 0 for the default");
  rule(threads >= 0 && threads <= 1024, "--threads: 1 to 1024, or 0 for the default");
  rule(slots == 0 || (slots >= 2 && slots <= 4096), "--slots: 2 to 4096, or 0 for the default");
  rule(is_one_of(comm, {"auto", "nccl", "mpi", "self"}), "--comm: auto, nccl, mpi or self");
  rule(comm_timeout >= 1, "--comm-timeout: at least 1 second");
  rule(resume.empty() || out == resume, "--out: a resumed run goes on in its own directory, " + resume);
  rule(checkpoint_every >= 0, "--checkpoint-every: at least 0");
  rule(keep >= 1, "--keep: at least 1");
  rule(is_one_of(progress, {"auto", "plain", "none"}), "--progress: auto, plain or none");
  rule(is_one_of(log_level, {"debug", "info", "warning", "off"}), "--log-level: debug, info, warning or off");
  return found;
}

void check(const TrainOptions& options) {
  std::string all;
  for (const std::string& problem : options.problems()) all.append(all.empty() ? "" : "; ").append(problem);
  if (!all.empty()) fail(ErrorKind::kUsage, all);
}

TrainCommand read_train_command(std::span<const char* const> args,
                                const std::function<const char*(const char*)>& look_up) {
  const std::vector<Assignment> command_line = options::from_command_line<TrainCommand>(args);
  std::vector<Assignment> environment = options::from_environment<TrainOptions>(look_up);
  if (const char* root = look_up("SALIENT_DATA"))
    environment.insert(environment.begin(), {"data-root", root, "SALIENT_DATA"});

  // The command line says which files to read, so it is applied once to learn that, and again as the strongest.
  TrainCommand first;
  options::apply(first, std::span<const Assignment>(environment));
  options::apply(first, std::span<const Assignment>(command_line));
  std::vector<Assignment> files = resumed_configuration(first.options.resume);
  if (!first.actions.config.empty())
    std::ranges::copy(options::from_toml_file(first.actions.config), std::back_inserter(files));

  TrainCommand told;  // everything but the recipe, which depends on it
  const auto apply_all = [&](TrainCommand& command) {
    options::apply(command.options, std::span<const Assignment>(files));
    options::apply(command.options, std::span<const Assignment>(environment));
    options::apply(command, std::span<const Assignment>(command_line));
  };
  apply_all(told);
  const std::string name = dataset_name(told.options.dataset, told.options.data_root);
  const std::vector<Assignment> recipe = recipe_for(name, told.options.model);

  TrainCommand command;
  options::apply(command.options, std::span<const Assignment>(recipe));
  apply_all(command);
  std::vector<Assignment> said;
  for (const std::vector<Assignment>* source : {&std::as_const(files), &std::as_const(environment), &command_line})
    said.insert(said.end(), source->begin(), source->end());
  fit_depth(command.options, [&](const char* field) {
    return std::ranges::any_of(said, [&](const Assignment& assignment) { return assignment.name == field; });
  });
  return command;
}

}  // namespace salient
