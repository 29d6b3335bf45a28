// apps/salient_infer.cpp - argv -> options -> a run's model applied to nodes, and what it finds as files.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/advice.h"
#include "apps/infer_command.h"
#include "apps/passive_openmp.h"
#include "apps/placement.h"
#include "apps/run_config.h"
#include "apps/session.h"
#include "core/console/leftovers.h"
#include "core/console/log.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/staged_directory.h"
#include "core/host/interrupt.h"
#include "core/host/program.h"
#include "core/number_text.h"
#include "core/version.h"
#include "engine/comm/agreement.h"
#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"
#include "engine/comm/mpi_communicator.h"
#include "engine/device/fit_to_machine.h"
#include "engine/device/planned_data.h"
#include "engine/infer/exact_inference.h"
#include "engine/infer/inference_needs.h"
#include "engine/infer/node_scores.h"
#include "engine/infer/prediction_writer.h"
#include "engine/infer/sampled_inference.h"
#include "engine/infer/selected_nodes.h"
#include "engine/report/run_directory.h"
#include "engine/train/signal_agreement.h"
#include "engine/train/trained_run.h"

namespace salient {
namespace {

constexpr const char* kProgram = "salient-infer";
constexpr double kControlTimeout = 300;            // seconds; before --comm-timeout is known
constexpr const char* kReport = "inference.json";  // marks a folder of ours

/// Options that may differ between hosts.
constexpr std::string_view kOwnToAHost[] = {"data-root", "workers", "threads", "slots",    "progress",
                                            "log-level", "out",     "scratch", "memory-gb"};

/// A signal asked to end, and all ranks know.
struct StoppedBySignal {};

void print_help() {
  std::cout << "salient-infer - predictions of a trained model\n\n"
               "  salient-infer --run runs/wordnet-sage-20261121-101500\n"
               "  salient-infer --run runs/wordnet-sage-20261121-101500 --nodes all --exact --out predictions\n\n"
               "options (with their defaults; empty = the run's); SALIENT_NAME variables set them too:\n";
  options::print_help(std::cout, InferCommand{});
  std::cout << std::flush;
}

/// A node has any number of labels, not one class.
bool has_several_labels(const Dataset& dataset) { return dataset.label_type().task == Task::kMultiLabel; }

/// The weights may be used on other data, but not on data that has changed unnoticed.
void check_origin(const CheckpointOrigin& origin, const Dataset& dataset, bool is_other_data_meant) {
  if (origin.dataset_fingerprint == dataset.fingerprint) return;
  if (!is_other_data_meant)
    fail(ErrorKind::kBadData, "the data set " + dataset.name +
                                  " is not the one that the run was trained on (its checksum is " +
                                  dataset.fingerprint + ", the run's " + origin.dataset_fingerprint +
                                  "); name it with --dataset if that is meant");
  log_warning("the model was trained on " + origin.dataset_name + ", not on this data set");
}

/// --nodes as rank 0 reads it. Collective.
std::vector<NodeId> select_nodes_together(Communicator& comm, const Dataset& dataset, const std::string& what) {
  std::string bytes;
  together(comm, [&] {
    if (comm.rank() != 0) return;
    const std::vector<NodeId> nodes = select_nodes(dataset, what);
    bytes.assign(reinterpret_cast<const char*>(nodes.data()), nodes.size() * sizeof(NodeId));
  });
  comm.broadcast(bytes);
  std::vector<NodeId> nodes(bytes.size() / sizeof(NodeId));
  std::memcpy(nodes.data(), bytes.data(), bytes.size());
  return nodes;
}

/// A model and what it is applied to.
struct Job {
  Model& model;
  const Dataset& dataset;
  std::span<const NodeId> nodes;
  const InferOptions& options;
  const ComputeDevice& device;
  Communicator& comm;
  const Launch& launch;

  /// Puts the data where it fits beside what `find_needs()` returns. Collective.
  template <class FindNeeds>
  ResidentData make_data_resident(const ResidencyRequest& request, FindNeeds&& find_needs) const {
    ResidentData data;
    together(comm, [&] {
      const RunNeeds needs = device.is_cuda() ? find_needs() : RunNeeds{};  // without a GPU there is no choice
      data = make_resident(request, dataset, needs, device, launch.ranks_on_host);
    });
    return data;
  }
};

InferenceCounts predict_sampled(const Job& job, const TrainOptions& run, const OnRound& on_round) {
  const InferOptions& options = job.options;
  LoaderOptions loading{.fanouts = options.sampled.fanout,
                        .with_replacement = options.sampled.with_replacement.value_or(false),
                        .num_workers = options.machine.workers,
                        .num_slots = options.machine.slots,
                        .to_device = job.device.is_cuda()};
  const InferenceOptions inference{.batch_size = static_cast<std::size_t>(options.sampled.batch_size),
                                   .seed = static_cast<std::uint32_t>(options.sampled.seed)};
  const ResidentData data = job.make_data_resident(request_of(options.machine), [&] {
    return needs_of_sampled_inference(job.dataset,
                                      {loading, job.nodes, inference.batch_size, inference.seed, run.model.hidden_dim});
  });
  loading.data = data.view();
  BatchLoader loader(job.dataset, loading);
  return sampled_inference({job.model, job.device, job.comm}, loader, job.nodes, inference, on_round);
}

InferenceCounts predict_exact(const Job& job, const std::filesystem::path& scratch, const OnRound& on_round) {
  const InferOptions& options = job.options;
  ExactOptions exact = exact_options_for(job.device, options.machine.workers, options.machine.slots);
  exact.place = options.layerwise.activations;
  if (options.layerwise.memory_gb > 0) exact.host_budget = static_cast<std::int64_t>(options.layerwise.memory_gb * 1e9);
  exact.scratch = scratch;
  exact.block_bytes = static_cast<std::size_t>(options.layerwise.block_mb) << 20;
  exact.launch = job.launch;
  exact.kept_layer = options.results.embeddings;
  const ModelOnRanks ranks{job.model, job.device, job.comm};
  const ExactPlan plan = plan_exact_inference(ranks, job.dataset, job.nodes, exact);
  if (job.comm.rank() == 0) log_info(to_text(plan));
  ResidencyRequest request = request_of(options.machine);
  request.graph = GraphResidency::kHost;  // exact inference samples there
  const ResidentData data = job.make_data_resident(
      request, [&] { return needs_of_exact_inference(job.dataset, plan, exact, job.device.is_cuda()); });
  exact.data = data.view();
  return exact_inference(ranks, job.dataset, plan, exact, on_round);
}

struct Result {
  InferenceCounts counts{};
  std::optional<double> rocauc{};  ///< where the data set has it and the nodes' labels allow it
};

/// The file that says how the others came about.
std::string report_of(const InferOptions& options, const TrainOptions& run, const TrainedModel& trained,
                      const Dataset& dataset, const Result& result, int num_ranks) {
  const InferenceCounts& counts = result.counts;
  nlohmann::ordered_json json;
  json["program"] = std::string(kProgram) + " " + kVersion;
  json["run"] = options.run;
  json["checkpoint"] = trained.checkpoint.filename().string();
  json["model"] = name_of(run.model.kind);
  json["dataset"] = {{"name", dataset.name}, {"source", dataset.source_kind}, {"fingerprint", dataset.fingerprint}};
  json["nodes"] = {{"selected", options.nodes}, {"count", counts.nodes}};
  if (options.exact)
    json["neighbours"] = "all";
  else
    json["neighbours"] = {{"fanout", options.sampled.fanout},
                          {"with_replacement", options.sampled.with_replacement.value_or(false)},
                          {"seed", options.sampled.seed},
                          {"batch_size", options.sampled.batch_size}};
  json["ranks"] = num_ranks;
  json[has_several_labels(dataset) ? "known_labels" : "labelled"] = counts.labelled;
  if (counts.labelled > 0) json["accuracy"] = counts.accuracy();
  if (counts.labelled > 0 && has_several_labels(dataset)) json["f1"] = counts.f1();
  if (result.rocauc) json["rocauc"] = *result.rocauc;
  json["seconds"] = counts.seconds;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";  // paths are bytes
}

/// The stable last lines.
void print_result(const Result& result, const Dataset& dataset, const std::filesystem::path& folder) {
  const InferenceCounts& counts = result.counts;
  const std::string rocauc = result.rocauc ? "rocauc " + fixed(*result.rocauc, 4) + ", " : "";
  if (counts.labelled > 0 && has_several_labels(dataset))
    log_result(rocauc + "f1 " + fixed(counts.f1(), 4) + ", accuracy " + fixed(counts.accuracy(), 4) + " (" +
               std::to_string(counts.labelled) + " known labels of " + std::to_string(counts.nodes) + " nodes)");
  else if (counts.labelled > 0)
    log_result(rocauc + "accuracy " + fixed(counts.accuracy(), 4) + " (" + std::to_string(counts.labelled) + " of " +
               std::to_string(counts.nodes) + " nodes have a label)");
  log_result("inference seconds " + fixed(counts.seconds, 2) + " (" +
             fixed(static_cast<double>(counts.nodes) / counts.seconds, 1) + " nodes/s)");
  log_result("output directory " + folder.string());
}

/// --out, or a new name inside the run.
std::filesystem::path output_folder(const InferOptions& options) {
  if (!options.results.directory.empty()) return options.results.directory;
  const std::filesystem::path nodes(options.nodes);
  return unused_name(std::filesystem::path(options.run) / "predictions" /
                     (nodes.stem().string() + local_time("-%Y%m%d-%H%M%S")));
}

/// Where --activations file has its file; on rank 0 alone `folder` is known, and it need not exist on other hosts.
std::filesystem::path scratch_folder(const InferOptions& options, const std::filesystem::path& folder) {
  if (!options.layerwise.scratch.empty()) return options.layerwise.scratch;
  return folder.has_parent_path() ? folder.parent_path() : ".";
}

/// @param control  host communication, for what must be agreed on before the device is known.
int infer(const InferOptions& wanted, const Launch& launch, Communicator& control) {
  set_terminal(wanted.console, launch);
  require_equal_programs(control, kProgram, common_configuration(wanted, kOwnToAHost));
  install_interrupt_handlers();
  const TrainOptions run = read_run_options(control, wanted.run);
  InferOptions options = wanted;
  together(control, [&] { options = with_defaults_of(wanted, run); });
  const Session session = open_session(wanted.machine, wanted.comm, launch, control);
  const ComputeDevice& device = session.device;
  Communicator& comm = *session.comm;
  fit_to_machine(options.machine, device, launch.cores);
  log_placement(comm, launch, device, options.machine.workers, session.place);
  const Dataset dataset = open_dataset_together(comm, launch, options.data);
  const TrainedModel trained = open_trained_model(comm, device, options.run, run, dataset, options.checkpoint);
  std::filesystem::path folder;
  std::optional<StagedDirectory> staged;
  together(comm, [&] {
    const bool has_labels = has_several_labels(dataset);
    if (options.results.top_k > dataset.num_classes)
      fail(ErrorKind::kUsage,
           "--top-k: the data set has " + std::to_string(dataset.num_classes) + (has_labels ? " labels" : " classes"));
    if (has_labels && options.results.top_k > 1 && options.results.format != PredictionFormat::kCsv)
      fail(ErrorKind::kUsage, "--top-k: predictions.npy has every label of a node; use --format csv");
    if (comm.rank() != 0) return;
    check_origin(trained.origin, dataset, /*is_other_data_meant=*/!wanted.data.dataset.empty());
    folder = output_folder(options);
    warn_of_leftovers(folder);
    staged.emplace(folder, options.results.force ? ReplaceExisting::kReplace : ReplaceExisting::kRefuse, kReport);
  });
  const std::vector<NodeId> nodes = select_nodes_together(comm, dataset, options.nodes);

  NodeScores scores(dataset, nodes);
  PredictionOutput output{
      .format = options.results.format, .top_k = options.results.top_k, .embedding_layer = options.results.embeddings};
  if (has_roc_auc(dataset)) output.on_logits = [&](std::span<const float> logits) { scores.add(logits); };
  PredictionWriter writer(staged ? staged->path() : "", nodes, dataset.label_table(), dataset.num_classes, output,
                          comm);
  SignalAgreement signals(comm, /*steps_between=*/1);
  const OnRound on_round = [&](const InferenceRound& round) {
    writer.add(round);
    if (signals.after_step().stop) throw StoppedBySignal();
  };
  Result result;
  try {
    const Job job{*trained.model, dataset, nodes, options, device, comm, launch};
    result.counts = options.exact ? predict_exact(job, scratch_folder(options, folder), on_round)
                                  : predict_sampled(job, run, on_round);
  } catch (const StoppedBySignal&) {
    if (comm.rank() == 0) log_warning("interrupted; nothing was written");
    return 128 + signals.signal();
  } catch (...) {
    comm.cancel();  // nothing that is cleaned up on the way out may wait for the other ranks
    throw;
  }
  together(comm, [&] {
    writer.close();
    if (comm.rank() != 0) return;
    if (has_roc_auc(dataset)) result.rocauc = scores.roc_auc();
    (void)write_text_file(staged->path() / kReport, report_of(options, run, trained, dataset, result, comm.size()));
    staged->publish();
  });
  if (comm.rank() == 0) print_result(result, dataset, folder);
  return 0;
}

/// What main() does on each rank.
int run_rank(const Launch& launch, std::span<const char* const> args) {
  const auto control = launch.size > 1 ? make_mpi_communicator(launch, kControlTimeout) : make_self_communicator();
  InferCommand command;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing writes the environment
  const auto look_up = [](const char* name) -> const char* { return std::getenv(name); };
  together(*control, [&] { command = read_infer_command(args, look_up); });
  const bool is_teller = launch.rank == 0;
  if (command.help) return is_teller ? print_help() : void(), 0;
  if (command.version) return is_teller ? print_versions(kProgram) : void(), 0;
  together(*control, [&] { refuse(problems_of(command.options)); });
  return infer(command.options, launch, *control);
}

}  // namespace
}  // namespace salient

int main(int argc, char** argv) {
  salient::start_program();
  salient::restart_with_passive_openmp(argv);
  const int code = salient::run_ranks(salient::kProgram, salient::infer_advice, [&](const salient::Launch& launch) {
    return salient::run_rank(launch, {argv + 1, static_cast<std::size_t>(argc - 1)});
  });
  return salient::end_program(salient::kProgram, code);
}
