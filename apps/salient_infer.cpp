// apps/salient_infer.cpp - salient-infer: argv -> options -> predictions of a run's model, as files.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/advice.h"
#include "apps/applied_variables.h"
#include "apps/embedding_results.h"
#include "apps/infer_command.h"
#include "apps/infer_run.h"
#include "apps/link_scores.h"
#include "apps/older_runs.h"
#include "apps/program.h"
#include "apps/rank_table.h"
#include "apps/run_config.h"
#include "apps/selected_nodes.h"
#include "apps/session.h"
#include "apps/trained_on.h"
#include "apps/triple_model.h"
#include "core/console/leftovers.h"
#include "core/console/log.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/staged_directory.h"
#include "core/host/interrupt.h"
#include "engine/device/fit_to_machine.h"
#include "engine/device/tensor_memory.h"
#include "engine/infer/node_figures.h"
#include "engine/infer/prediction_writer.h"
#include "engine/infer/split_counts.h"
#include "engine/report/run_directory.h"
#include "engine/train/signal_agreement.h"
#include "store/node_ids.h"

namespace salient {
namespace {

constexpr const char* kProgram = "salient-infer";
constexpr const char* kHelp =
    "salient-infer - predictions of a trained model\n\n"
    "  salient-infer --run runs/wordnet-sage-20261121-101500\n"
    "  salient-infer --run RUN --nodes all --exact --out predictions\n\n"
    "options (with their defaults; empty = the run's); a --config file and SALIENT_NAME variables set them, too, but "
    "for variables that say what a training is, such as SALIENT_FANOUT:\n";
constexpr int kRoundsKept = 3;                     // on a GPU: what it computes while the host writes
constexpr const char* kReport = "inference.json";  // marks a folder of ours

/// Options that may differ between hosts.
constexpr std::string_view kOwnToAHost[] = {"data-root", "workers", "threads", "slots",    "progress",
                                            "log-level", "out",     "scratch", "memory-gb"};

/// A signal asked to end, and all ranks know.
struct StoppedBySignal {};

/// Becomes rank 0's. Collective.
template <class T>
void broadcast(std::vector<T>& values, Communicator& comm) {
  std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  comm.broadcast(bytes);
  values.resize(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
}

/// --new-nodes as rank 0 reads them. Collective.
void read_new_nodes_together(InferRun& run) {
  run.session.on_rank_0([&] {
    const AddedNodes& said = run.options.added;
    const std::string& id_column = run.options.nodes.id_column;
    run.added = run.dataset.types.is_typed()
                    ? read_new_typed_nodes(run.dataset, {said.nodes.items, said.edges.items, id_column})
                    : read_new_nodes(run.dataset, {to_text(said.nodes), to_text(said.edges), id_column});
  });
  Communicator& comm = *run.session.comm;
  NewNodes& nodes = run.added.nodes;
  broadcast(nodes.features, comm);
  broadcast(nodes.indptr, comm);
  broadcast(nodes.indices, comm);
  broadcast(nodes.types, comm);
  broadcast(nodes.predicted, comm);
  run.nodes = nodes.predicted;
  if (nodes.types.empty()) {
    run.nodes.resize(nodes.num_nodes());
    std::iota(run.nodes.begin(), run.nodes.end(), NodeId{0});
  }
  run.of_added = unlabelled_nodes(run.dataset, nodes.num_predicted());
}

/// --nodes as rank 0 reads it. Collective.
void select_nodes_together(InferRun& run) {
  if (!run.options.added.nodes.empty()) return read_new_nodes_together(run);
  run.session.on_rank_0([&] {
    SelectedNodes selected = select_nodes(run.dataset, run.options.nodes);
    run.nodes = std::move(selected.nodes);
    run.are_rows_of_others = selected.are_rows_of_others;
  });
  broadcast(run.nodes, *run.session.comm);
  if (run.times) run.times->set(run.nodes, run.options.sampled.asked->value);
  if (run.are_rows_of_others)
    log_warning(
        "--nodes: the numbers are taken as the data set's own ids, and are rows of other nodes, too; "
        "--nodes-by row takes rows, --nodes-by id says that ids are meant");
}

/// Of a typed graph.
void require_possible(const InferOptions& options, const Dataset& dataset) {
  if (dataset.types.is_typed()) (void)options.sampled.rule(dataset.types);
}

/// Device, ranks, data set and model. Collective.
InferRun set_up(const InferOptions& said, const Launch& launch, Communicator& control) {
  const TrainOptions trained_with = read_run_options(control, said.run);
  InferOptions options;
  together(control, [&] { options = with_defaults_of(said, trained_with); });
  InferRun run{.session = open_session(said.machine, said.comm, launch, control),
               .trained_with = trained_with,
               .options = options};
  const Session& session = run.session;
  together(*session.comm, [&] {
    require_precision(session, said.precision);
    require_step(session, said.sampled.step);
  });
  run.numerics = numerics_on(session.device, trained_with, said.precision);
  fit_to_machine(run.options.machine, session.device, launch.cores);
  (void)log_rank_table(session, run.options.machine.workers);
  FittedData fitted = fit_to_run(*session.comm,
                                 {.run = options.run,
                                  .checkpoint = options.checkpoint,
                                  .is_other_data_meant = !said.data.dataset.empty(),
                                  .features = options.match_features},
                                 open_dataset_together(session, options.data, options.machine));
  run.dataset = std::move(fitted.dataset);
  together(*session.comm, [&] { require_possible(options, run.dataset); });
  if (options.sampled.asked) together(*session.comm, [&] { run.times.emplace(run.dataset); });
  run.unknown_classes = std::move(fitted.unknown_classes);
  run.trained = open_trained_model(*session.comm, session.device,
                                   {options.run, options.checkpoint, trained_with, run.numerics}, run.dataset);
  const std::string older_kind = older_kind_line(trained_with.model);
  if (session.is_rank_0() && !older_kind.empty()) log_info(older_kind);
  return run;
}

void check_top_k(const ResultOptions& results, const Dataset& dataset) {
  if (dataset.task == Task::kRegression && (results.top_k > 1 || results.probabilities))
    fail(ErrorKind::kUsage, std::string(results.probabilities ? "--probabilities" : "--top-k") +
                                ": of classes and labels; the run predicts values");
  const bool has_labels = dataset.task == Task::kMultiLabel;
  if (results.top_k > dataset.num_classes)
    fail(ErrorKind::kUsage,
         "--top-k: the run has " + std::to_string(dataset.num_classes) + (has_labels ? " labels" : " classes"));
  if (has_labels && results.top_k > 1 && results.format != PredictionFormat::kCsv)
    fail(ErrorKind::kUsage, "--top-k: predictions.npy has every label of a node; use --format csv");
}

/// Of the first file, without its end.
std::string short_name_of(const AddedNodes& added) {
  const std::string& first = added.nodes.items.front();
  return std::filesystem::path(first.substr(first.find('=') + 1)).stem().string();  // npos + 1 is 0
}

/// --out, or a new name inside the run.
std::filesystem::path output_folder(const InferOptions& options) {
  if (!options.results.directory.empty()) return options.results.directory;
  const std::string name = !options.links.empty()        ? std::filesystem::path(options.links).stem().string()
                           : options.added.nodes.empty() ? short_name_of(options.nodes)
                                                         : short_name_of(options.added);
  return unused_name(std::filesystem::path(options.run) / "predictions" / (name + local_time("-%Y%m%d-%H%M%S")));
}

/// Where --activations file has its file; on rank 0 alone `folder` is known, and it need not exist on other hosts.
std::filesystem::path scratch_folder(const InferOptions& options, const std::filesystem::path& folder) {
  if (!options.layerwise.scratch.empty()) return options.layerwise.scratch;
  return folder.has_parent_path() ? folder.parent_path() : ".";
}

/// What nodes and classes are called beside their numbers.
void name_nodes_and_classes(const InferRun& run, PredictionOutput& output) {
  output.ids = run.has_added() ? run.added.ids : NodeIds::of(run.dataset);
  output.class_names = run.dataset.class_names;
  if (!output.class_names.empty())
    output.class_names.insert(output.class_names.end(), run.unknown_classes.begin(), run.unknown_classes.end());
}

/// How many labels say nothing of the run's classes. @return  their number
std::int64_t say_what_is_unknown(const InferRun& run) {
  const std::int64_t unknown = num_of_unknown_class(run);
  if (unknown == 0 || !run.session.is_rank_0()) return unknown;
  const auto labelled =
      std::ranges::count_if(run.nodes, [&](NodeId node) { return run.labelled().class_of(node) >= 0; });
  log_warning(std::to_string(unknown) + " of " + std::to_string(labelled) +
              " labelled nodes are of classes that the run does not know: " +
              (unknown == labelled ? "there is no accuracy" : "accuracy counts them as wrong") +
              (unknown == labelled ? "" : ", other scores leave them out"));
  return unknown;
}

/// Of the parts of the split that have nodes.
std::vector<std::pair<std::string, Scores>> scores_of_splits(const InferRun& run, const SplitCounts& counts) {
  std::vector<std::pair<std::string, Scores>> found;
  for (const auto& [split, name] : names_of(Split{})) {
    const auto has_node = [&, split = split](NodeId node) { return counts.has(split, node); };
    if (counts.of(split).nodes > 0)
      found.emplace_back(name, Scores{.counts = counts.of(split),
                                      .figures = counts.figures(split),
                                      .unknown = num_of_unknown_class(run, has_node)});
  }
  return found;
}

/// Predicts, and writes what is found into `staged`, which is rank 0's. Collective. @return the exit code
int write_predictions(const InferRun& run, const std::filesystem::path& folder,
                      std::optional<StagedDirectory>& staged) {
  const Session& session = run.session;
  const ResultOptions& results = run.options.results;
  NodeFigures figures(run.labelled());
  std::size_t num_seen = 0;
  PredictionOutput output{.format = results.format,
                          .top_k = results.top_k,
                          .embedding_layer = results.embeddings,
                          .probabilities = results.probabilities,
                          .rounds_kept = session.device.is_cuda() ? kRoundsKept : 0};
  std::optional<SplitCounts> splits;
  const bool are_all = !run.has_added() && run.nodes.size() == num_targets(run.dataset);
  if (session.is_rank_0() && are_all) splits.emplace(run.dataset, run.nodes);
  output.on_rows = [&](std::span<const float> logits, std::span<const std::int32_t> classes) {
    const std::size_t num_rows = logits.size() / static_cast<std::size_t>(run.dataset.num_classes);
    for (std::size_t i = 0; i < num_rows; ++i)
      figures.add(run.nodes[num_seen++], logits.subspan(i * logits.size() / num_rows, logits.size() / num_rows),
                  classes[i * classes.size() / num_rows]);
    if (splits) splits->add(logits, classes);
  };
  if (staged) name_nodes_and_classes(run, output);
  PredictionWriter writer(staged ? staged->path() : "", run.nodes, run.labelled().label_table(),
                          run.dataset.num_classes, output, *session.comm);
  SignalAgreement signals(*session.comm, /*steps_between=*/1);
  InferResult result;
  result.unknown = say_what_is_unknown(run);
  try {
    result.counts = predict(run, scratch_folder(run.options, folder), [&](const InferenceRound& round) {
      writer.add(round);
      if (signals.after_step().stop) throw StoppedBySignal();
    });
    writer.finish();
  } catch (const StoppedBySignal&) {
    if (session.is_rank_0()) log_warning("interrupted; nothing was written");
    return 128 + signals.signal();
  } catch (...) {
    session.comm->cancel();  // nothing that is cleaned up on the way out may wait for the other ranks
    throw;
  }
  together(*session.comm, [&] {
    writer.close();
    if (!session.is_rank_0()) return;
    result.figures = figures.figures();
    if (splits) result.splits = scores_of_splits(run, *splits);
    (void)write_text_file(staged->path() / kReport, report_of(run, result, kProgram));
    staged->publish();
  });
  if (session.is_rank_0()) print_result(result, run.dataset, folder);
  return 0;
}

/// Scores of --links, or the likeliest links of --nodes. @return the exit code
int write_links(InferRun& run, const std::filesystem::path& folder, StagedDirectory& staged) {
  const bool is_typed = run.dataset.types.is_typed();
  const auto write = is_typed                    ? write_typed_links
                     : run.options.links.empty() ? write_likeliest_links
                                                 : write_link_scores;
  if (run.options.links.empty() && !is_typed) select_nodes_together(run);
  write(run, staged.path(), scratch_folder(run.options, folder));
  (void)write_text_file(staged.path() / kReport, report_of(run, {}, kProgram));
  staged.publish();
  log_result("results in " + folder.string());
  return 0;
}

/// By a model of a knowledge graph, on one rank. @return the exit code
int infer_by_triples(const InferOptions& said, const Launch& launch) {
  set_terminal(said.console, launch);
  require_options_of_embeddings(said);
  install_interrupt_handlers();
  const std::filesystem::path folder = output_folder(said);
  warn_of_leftovers(folder);
  StagedDirectory staged(folder, said.results.force ? ReplaceExisting::kReplace : ReplaceExisting::kRefuse, kReport);
  const std::string report = write_embedding_results(said, kProgram, staged.path());
  (void)write_text_file(staged.path() / kReport, report);
  staged.publish();
  log_result("results in " + folder.string());
  return 0;
}

int infer(const InferCommand& command, const Launch& launch, Communicator& control) {
  const InferOptions& said = command.options;
  if (command.actions.print_config) {
    if (launch.rank == 0) options::print_toml(std::cout, said);
    return 0;
  }
  if (launch.rank == 0)
    for (const std::string& line : variables_left_out<InferOptions>(in_environment)) log_info(line);
  require_equal_programs(control, kProgram, common_configuration(said, kOwnToAHost));
  if (launch.size == 1 && is_run_of_triples(said.run)) return infer_by_triples(said, launch);
  InferRun run = set_up(said, launch, control);
  together(*run.session.comm, [&] { require_asked_of(run); });
  std::filesystem::path folder;
  std::optional<StagedDirectory> staged;
  install_interrupt_handlers();  // only now: until here a signal ends the process at once, and nothing is left behind
  together(*run.session.comm, [&] {
    if (!predicts_links(run.trained_with)) check_top_k(run.options.results, run.dataset);
    if (!run.session.is_rank_0()) return;
    folder = output_folder(run.options);
    warn_of_leftovers(folder);
    staged.emplace(folder, said.results.force ? ReplaceExisting::kReplace : ReplaceExisting::kRefuse, kReport);
  });
  if (!run.session.device.is_cuda()) reuse_tensor_memory();
  if (predicts_links(run.trained_with)) return write_links(run, folder, *staged);
  select_nodes_together(run);
  return write_predictions(run, folder, staged);
}

/// A run that is applied is read later.
InferCommand read_command_line(std::span<const char* const> args,
                               const std::function<const char*(const char*)>& look_up, const ConfigReader&) {
  return read_infer_command(args, look_up);
}

}  // namespace
}  // namespace salient

int main(int argc, char** argv) {
  using namespace salient;
  return run_program<InferCommand>({kProgram, infer_advice, kHelp, read_command_line, infer}, argc, argv);
}
