// apps/train_command.cpp - see train_command.h.
#include "apps/train_command.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "apps/older_runs.h"
#include "apps/recipes.h"
#include "sampler/neighbor_sampler.h"
#include "store/dataset_name.h"

namespace salient {
namespace {

using options::Assignment;

/// `--layers 2` alone means two of the default fanouts, and `--fanout 10,10` alone means two layers.
void fit_depth(TrainOptions& options, const std::function<bool(const char*)>& is_said) {
  std::vector<int>&fanout = options.batches.fanout, &eval_fanout = options.evaluation.fanout;
  if (is_said("fanout") && !is_said("layers")) options.model.num_layers = static_cast<int>(fanout.size());
  const auto num_layers = static_cast<std::size_t>(std::clamp(options.model.num_layers, 1, 64));
  if (!is_said("fanout")) fanout.resize(num_layers, fanout.back());
  if (!is_said("eval-fanout")) eval_fanout.resize(num_layers, eval_fanout.back());
}

/// A run directory is resumed with its own configuration, to which the other sources are then applied.
std::vector<Assignment> resumed_configuration(const std::string& run_directory, const ConfigReader& read_run) {
  if (run_directory.empty()) return {};
  std::vector<Assignment> found =
      with_older_values(options::from_toml_text(read_run(run_directory), run_directory + "/config.toml"));
  std::erase_if(found, [](const Assignment& a) { return a.name == "resume" || a.name == "out"; });
  found.push_back({"out", run_directory, "--resume"});
  return found;
}

/// A script's "--resume $RUN" with an empty RUN must not start a new run.
void require_paths(const std::vector<Assignment>& command_line) {
  for (const Assignment& said : command_line)
    if (said.text.empty() && (said.name == "resume" || said.name == "config"))
      fail(ErrorKind::kUsage, said.said_by + " cannot be ''");
}

void add_fanout_problems(std::vector<FieldProblem>& found, const char* field, const std::vector<int>& fanout,
                         int num_layers) {
  check_field(found, are_fanouts(fanout), field, "each 1 to 65535, or -1 for all");
  check_field(found, std::ssize(fanout) == std::max(num_layers, 0), field,
              std::to_string(num_layers) + " numbers, one per layer");
}

void add_problems(std::vector<FieldProblem>& found, const BatchOptions& options, int num_layers) {
  add_fanout_problems(found, "fanout", options.fanout, num_layers);
  check_field(found, are_fanouts_of(options.fanout_of, num_layers), "fanout-of",
              "SRC:NAME:DST=" + std::to_string(num_layers) + " numbers, one per layer, each 0 to 65535, or -1 for all");
  check_field(found, options.size >= 1 || options.size == kAutoBatchSize, "batch-size", "at least 1, or 0");
  check_field(found, options.global_size >= 0, "global-batch-size", "at least 1, or 0");
  const bool draws = std::ranges::any_of(options.fanout, [](int fanout) { return fanout != -1; });
  check_field(found, options.draw == Draw::kUniform || draws, "draw",
              name_of(options.draw) + " needs a --fanout that draws; -1 keeps all neighbours");
}

void add_problems(std::vector<FieldProblem>& found, const OptimisationOptions& options) {
  check_field(found, options.epochs >= 1, "epochs", "at least 1");
  check_field(found, options.lr > 0, "lr", "above 0");
  check_field(found, options.warmup >= 0 && options.warmup <= options.epochs, "warmup", "0 to --epochs");
  const OptimisationOptions none;
  const bool is_plateau = options.schedule == ScheduleKind::kPlateau;
  check_field(found, is_plateau || options.plateau_factor == none.plateau_factor, "plateau-factor",
              "only with --schedule plateau");
  check_field(found, is_plateau || options.plateau_patience == none.plateau_patience, "plateau-patience",
              "only with --schedule plateau");
  check_field(found, options.plateau_factor > 0 && options.plateau_factor < 1, "plateau-factor", "between 0 and 1");
  check_field(found, options.plateau_patience >= 0, "plateau-patience", "at least 0");
  check_field(found, options.weight_decay >= 0, "weight-decay", "at least 0");
  check_field(found, options.label_smoothing >= 0 && options.label_smoothing < 1, "label-smoothing",
              "from 0 to below 1");
  check_field(found, !options.class_weights.empty(), "class-weights", "none, balanced, or a file");
}

void add_problems(std::vector<FieldProblem>& found, const EvaluationOptions& options, int num_layers) {
  add_fanout_problems(found, "eval-fanout", options.fanout, num_layers);
  check_field(found, options.batch_size >= 1, "eval-batch-size", "at least 1");
  check_field(found, options.every >= 1, "eval-every", "at least 1");
  check_field(found, options.patience >= 0, "patience", "at least 1, or 0 for never");
}

void add_problems(std::vector<FieldProblem>& found, const LinkTrainOptions& options) {
  const auto are_few = [](int count) { return count >= 1 && count <= kMaxNegatives; };
  check_field(found, are_few(options.rule.negatives), "negatives", "1 to " + std::to_string(kMaxNegatives));
  check_field(found, are_few(options.eval_negatives), "eval-negatives", "1 to " + std::to_string(kMaxNegatives));
}

}  // namespace

std::vector<FieldProblem> problems_of(const TrainOptions& options) {
  std::vector<FieldProblem> found = problems_of(options.model);
  add_problems(found, options.batches, options.model.num_layers);
  add_problems(found, options.batches.time, options.batches.draw, options.model);
  add_problems(found, options.batches.draw, options.model);
  add_problems(found, options.links);
  add_problems(found, options.optimisation);
  add_problems(found, options.evaluation, options.model.num_layers);
  add_problems(found, options.machine);
  add_problems(found, options.comm, options.machine);
  const OutputOptions& output = options.output;
  check_field(found, !options.data.dataset.empty(), "dataset", "is required, such as --dataset wordnet");
  check_field(found, !options.data.root.empty(), "data-root", "is a folder, . for the working directory");
  check_field(found, options.trials >= 1 && options.trials <= 10'000, "trials", "1 to 10000");
  check_field(found, !options.batches.time.rule() || options.machine.sampler != GraphResidency::kDevice, "sampler",
              "the host draws by --time-rule");
  check_field(found, options.machine.device != DeviceKind::kCpu || options.step != StepKind::kResident, "step",
              "resident needs a GPU");
  check_field(found, options.machine.device != DeviceKind::kCpu || options.precision != Precision::kTf32, "precision",
              to_text(options.precision) + " needs a GPU");
  check_field(found, output.resume.empty() || output.directory == output.resume, "out",
              "a resumed run goes on in its own directory, " + output.resume);
  check_field(found, output.checkpoint_every >= 0, "checkpoint-every", "at least 0");
  check_field(found, output.keep >= 1, "keep", "at least 1");
  return found;
}

TrainCommand read_train_command(std::span<const char* const> args,
                                const std::function<const char*(const char*)>& look_up, const ConfigReader& read_run) {
  const std::vector<Assignment> command_line = options::from_command_line<TrainCommand>(args);
  require_paths(command_line);
  std::vector<Assignment> environment = options::from_environment<TrainOptions>(look_up);
  if (const auto root = options::data_folder(look_up))
    environment.insert(environment.begin(), {"data-root", *root, options::kDataVariable});

  // The command line says which files to read, so it is applied once to learn that, and again as the strongest.
  TrainCommand first;
  options::apply(first, std::span<const Assignment>(environment));
  options::apply(first, std::span<const Assignment>(command_line));
  std::vector<Assignment> files = resumed_configuration(first.options.output.resume, read_run);
  if (!first.actions.config.empty())
    std::ranges::copy(options::from_toml_file(first.actions.config), std::back_inserter(files));

  TrainCommand without_recipe;  // which depends on the rest
  const auto apply_all = [&](TrainCommand& command) {
    options::apply(command.options, std::span<const Assignment>(files));
    options::apply(command.options, std::span<const Assignment>(environment));
    options::apply(command, std::span<const Assignment>(command_line));
  };
  apply_all(without_recipe);
  const TrainOptions& so_far = without_recipe.options;
  const std::string name = dataset_name(so_far.data.dataset, so_far.data.root);
  const std::vector<Assignment> recipe = recipe_for(name, so_far.model.kind);

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
