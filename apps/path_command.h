// apps/path_command.h - the command line of salient-train --task link --model nbfnet: path-based models of triples.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "apps/link_command.h"
#include "engine/paths/path_options.h"

namespace salient {

enum class PathModelName : std::uint8_t { kNbfnet };
constexpr auto names_of(PathModelName) {
  return std::to_array<EnumName<PathModelName>>({{PathModelName::kNbfnet, "nbfnet"}});
}

struct PathRunOptions {
  DataOptions data{};
  LinkTask task = LinkTask::kLink;
  PathModelName model = PathModelName::kNbfnet;
  std::string negatives = "all";  ///< or how many; link.negatives says it as a number
  LinkOptions link{
      .hidden = 32, .batch_size = 32, .epochs = 20, .optimiser = RowRule::kAdam, .lr = 0.005, .checkpoint_every = 1};
  PathOptions paths{};
  CommOptions comm{};
  OutputOptions output{};  ///< directory and resume
  ConsoleOptions console{};
};

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, PathRunOptions>
void visit_fields(Self& self, Visit&& field) {
  visit_triples(self, field);
  field("model", self.model, "a pass over the whole graph for each head and relation");
  field("layers", self.paths.layers, "of a pass: the longest path that a score depends on");
  field("aggregate", self.paths.sum, "how the messages of a node become one row");
  field("hidden", self.link.hidden, "width of the rows, a multiple of 8");
  field("negatives", self.negatives, "candidates beside the true one: all nodes by softmax, or so many, by bce");
  field("adversarial-temperature", self.paths.adversarial_temperature,
        "negatives weigh by softmax(score / it) in bce; 0 = alike");
  field("batch-size", self.link.batch_size, "links per step, each asked for from both sides");
  field("epochs", self.link.epochs, "passes over the training links");
  field("optimizer", self.link.optimiser, "");
  field("lr", self.link.lr, "its step size");
  field("weight-decay", self.link.weight_decay, "L2 penalty of the optimizer");
  visit_run(self, field, "run directory; empty = runs/DATASET-MODEL-TIME");
}

using PathCommand = Command<PathRunOptions, RankedActions>;

/// As read_link_command(). @throws as read_train_command()
PathCommand read_path_command(std::span<const char* const> args, const std::function<const char*(const char*)>& look_up,
                              const ConfigReader& read_run = read_resumed_config);

/// As embedding_options_of(), of a run of a path-based model.
std::optional<PathRunOptions> path_options_of(const std::filesystem::path& run);

/// Every rule that the options break. Touches no disk.
std::vector<FieldProblem> problems_of(const PathRunOptions& options);

/// As of LinkRunOptions.
std::optional<LinkOptions> link_options_of(const PathRunOptions& options);

/// Trains and prints the result. @return the exit code
int run_path_command(const PathCommand& command, const Launch& launch, Communicator& control);

}  // namespace salient
