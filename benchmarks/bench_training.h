// benchmarks/bench_training.h - what the benchmarks that train have in common.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "apps/train_command.h"
#include "benchmarks/verbs.h"
#include "core/error.h"
#include "engine/report/metrics.h"
#include "store/dataset.h"

namespace salient {

/// A folder for the files of a training; removed with everything in it by the destructor.
class ScratchFolder {
 public:
  ScratchFolder();  ///< @throws Error{kIo}
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::vector<std::string> items_of(const std::string& list, char between = ',');

/// The training data alone: an epoch is measured, not what the model is worth.
Dataset without_evaluation(Dataset dataset);

/// Seconds of the median and of the best epoch, the first being a warm-up. @param epochs  [>= 2]
struct EpochTimes {
  double median = 0, best = 0;
};
EpochTimes epoch_times(const std::vector<EpochMetrics>& epochs);

/// The options of a benchmark before those of salient-train, which it hands on.
template <class Own>
struct TrainingBench {
  Own own{};
  TrainCommand train{};
};

template <class Self, class Visit>
requires requires(Self& self) {
  self.own;
  self.train;
}
void visit_fields(Self& self, Visit&& field) {
  visit_fields(self.own, field);
  visit_fields(self.train, field);
}

template <class Own>
bool is_option_of(Own& own, std::string_view wanted) {
  bool is_own = false;
  visit_fields(own, [&](std::string_view name, auto&, std::string_view) { is_own |= name == wanted; });
  return is_own;
}

/// The benchmark's own options, of a command line that has both kinds.
/// @throws Error{kUsage}
template <class Own>
Own read_own_options(Arguments arguments) {
  Own own;
  for (const options::Assignment& a : options::from_command_line<TrainingBench<Own>>(arguments))
    if (is_option_of(own, a.name)) options::apply(own, a);
  return own;
}

/// Reads both kinds of options. The training's are read as salient-train reads them, recipes and environment included.
/// @param defaults  what this benchmark sets before the user does, such as "--epochs=6"; the precision is fp32 where
///                  nobody chooses, so that a row says what it runs
/// @throws Error{kUsage}.
template <class Own>
TrainingBench<Own> read_training_bench(Arguments arguments, std::vector<std::string> defaults) {
  TrainingBench<Own> command{.own = read_own_options<Own>(arguments)};
  defaults.insert(defaults.begin(), "--precision=fp32");
  for (const options::Assignment& a : options::from_command_line<TrainingBench<Own>>(arguments))
    if (!is_option_of(command.own, a.name)) defaults.push_back("--" + a.name + "=" + a.text);
  std::vector<const char*> pointers;
  for (const std::string& argument : defaults) pointers.push_back(argument.c_str());
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing writes the environment
  command.train = read_train_command(pointers, [](const char* name) -> const char* { return std::getenv(name); });
  refuse(problems_of(command.train.options));
  BatchOptions& batches = command.train.options.batches;
  if (batches.size == kAutoBatchSize) batches.size = BatchOptions{}.size;  // whatever the graph, so that rows compare
  require_option(!command.train.actions.dry_run && !command.train.actions.print_config,
                 "--dry-run and --print-config are salient-train's own");
  if (command.train.options.optimisation.epochs < 2)
    fail(ErrorKind::kUsage, "--epochs: at least 2, as the first is a warm-up");
  check_json_path(command.own.json);
  return command;
}

/// Prints the options and returns true if the arguments ask for that.
template <class Own>
bool print_training_help(Arguments arguments, const char* title, const TrainingBench<Own>& defaults) {
  for (const std::string_view argument : arguments)
    if (argument.starts_with("--help") || argument == "-h") {
      options::print_help(std::cout, std::string(title) + "; options with their defaults\n", defaults);
      return true;
    }
  return false;
}

}  // namespace salient
