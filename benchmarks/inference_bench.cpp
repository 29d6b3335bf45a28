// benchmarks/inference_bench.cpp - what sampled inference costs in accuracy, and what it saves in time.
//
// The study of the SALIENT paper (Kaler et al., MLSys 2022, section 5): the same model predicts the same nodes from 5,
// 10, ... sampled neighbours per hop, and from all of them. Seconds are wall time of one rank and include the start of
// the pipeline.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/open_named_dataset.h"
#include "apps/run_config.h"
#include "apps/run_fields.h"
#include "apps/selected_nodes.h"
#include "benchmarks/bench_report.h"
#include "benchmarks/measure.h"
#include "benchmarks/verbs.h"
#include "core/error.h"
#include "core/host/machine.h"
#include "core/timer.h"
#include "engine/comm/communicator.h"
#include "engine/device/fit_to_machine.h"
#include "engine/device/planned_data.h"
#include "engine/infer/exact_inference.h"
#include "engine/infer/inference_needs.h"
#include "engine/infer/loader_predictions.h"
#include "engine/infer/resident_exact.h"
#include "engine/infer/resident_predictions.h"
#include "engine/infer/sampled_inference.h"
#include "engine/plan/graph_types_of.h"
#include "engine/train/run_model.h"
#include "engine/train/trained_run.h"
#include "loaders/device_upload.h"
#include "models/describe/costs.h"
#include "sampler/neighbor_sampler.h"

namespace salient {
namespace {

struct InferenceBenchOptions {
  std::string run{};
  std::vector<int> fanouts{5, 10, 15, 20, 50};
  bool exact = true;
  bool exact_resident = true;
  bool sampled = true;
  std::string nodes = "test";
  std::string checkpoint = "best";
  std::string dataset{};
  std::string data_root{};
  int batch_size = 0;
  int rounds = 3;
  MachineOptions machine{};
  std::string json{};
};

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, InferenceBenchOptions>
void visit_fields(Self& self, Visit&& field) {
  field("run", self.run, "run directory; empty = the newest below runs/");
  field("fanouts", self.fanouts, "rows for each: this many neighbours in every hop");
  field("exact", self.exact, "a last row with all neighbours, layer by layer; --exact=false leaves it out");
  field("sampled", self.sampled, "the rows of --fanouts; --sampled=false leaves them out");
  field("exact-resident", self.exact_resident, "a row with all neighbours, layers' results in f16 on the GPU");
  field("nodes", self.nodes, "train | valid | test | all | a file with node ids");
  field("checkpoint", self.checkpoint, "best | latest | epoch-NNNN");
  field("dataset", self.dataset, "empty = the run's");
  field("data-root", self.data_root, "where prepared data sets live; empty = the run's");
  field("batch-size", self.batch_size, "nodes per batch; 0 = the run's --eval-batch-size");
  field("rounds", self.rounds, "times that each row is measured");
  visit_fields(self.machine, field);
  field("json", self.json, "also write the result to this file");
}

std::string newest_run() {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path newest;
  for (const fs::directory_entry& entry : fs::directory_iterator("runs", error))
    if (fs::exists(entry.path() / "config.toml", error) &&
        (newest.empty() || entry.last_write_time(error) > fs::last_write_time(newest, error)))
      newest = entry.path();
  if (newest.empty()) fail(ErrorKind::kNoInput, "there is no run below runs/; name one with --run, or train one first");
  return newest.string();
}

/// What one way to predict found.
struct Prediction {
  InferenceCounts counts{};
  std::int64_t entries = 0;  ///< of the adjacency that were read
  double rate() const { return static_cast<double>(counts.nodes) / counts.seconds; }
};

/// What every way to predict needs.
struct Setup {
  const InferenceBenchOptions& options;
  const TrainOptions& run;
  const ComputeDevice& device;
  Communicator& comm;
  const Dataset& dataset;
  const TrainedModel& trained;
  const std::vector<NodeId>& nodes;
  ResidentView data{};  ///< of resident_data_for()
};

BenchReport new_report(const InferenceBenchOptions& options, const TrainOptions& run, const Dataset& dataset,
                       const ComputeDevice& device, std::size_t num_nodes) {
  BenchReport report("inference",
                     "inference of " + name_of(run.model.kind) + " on " + std::to_string(num_nodes) + " nodes (" +
                         options.nodes + ") of " + dataset.name +
                         (dataset.source_kind == "synthetic" ? " (synthetic), " : ", ") +
                         std::to_string(run.model.num_layers) + " layers, hidden " +
                         std::to_string(run.model.hidden_dim) + ", on " + device.name(),
                     {{"accuracy", "accuracy %", 100, 2},
                      {"seconds_best", "seconds best", 1, 3},
                      {"seconds_median", "median", 1, 3},
                      {"nodes_per_second", "nodes/s best", 1, 0},
                      {"entries_read", "M entries read", 1e-6, 2}});
  report.add_settings(options);
  return report;
}

void add_row(BenchReport& report, const std::string& name, const Measured<Prediction>& found) {
  const InferenceCounts& counts = found.best.counts;
  const double accuracy = counts.labelled > 0 ? counts.accuracy() : BenchReport::kNone;
  const auto num_nodes = static_cast<double>(counts.nodes);
  report.add_row(name, {accuracy, num_nodes / found.rate.best, num_nodes / found.rate.median, found.rate.best,
                        static_cast<double>(found.best.entries)});
}

LoaderOptions loader_options_of(const Setup& setup, int fanout) {
  const MachineOptions& machine = setup.options.machine;
  return {
      .rule = {std::vector<int>(static_cast<std::size_t>(setup.run.model.num_layers), fanout), setup.run.batches.draw},
      .time = setup.run.batches.time.rule(),
      .degrees = degrees_for(reads_degrees(setup.run.model)),
      .entries = entry_parts_for(setup.run.model, setup.dataset),
      .num_workers = machine.workers,
      .num_slots = machine.slots,
      .to_device = setup.device.is_cuda(),
      .data = setup.data};
}

InferenceOptions inference_options_of(const Setup& setup) {
  return {.batch_size = static_cast<std::size_t>(setup.options.batch_size), .seed = setup.run.seed};
}

/// Resident wherever nothing prevents it.
BatchPlan plan_of(const Setup& setup, int fanout, Precision precision, const DataResidency& data,
                  Purpose purpose = Purpose::kInference) {
  return plan_batches(
      {.purpose = purpose,
       .spec = {.model = setup.run.model,
                .rule = loader_options_of(setup, fanout).rule,
                .time = setup.run.batches.time.rule(),
                .max_seeds = static_cast<std::size_t>(setup.options.batch_size),
                .numerics = {.precision = precision, .gradient_order = numerics_of(setup.run).gradient_order}},
       .dataset = setup.dataset,
       .data = data,
       .asked = StepKind::kResident});
}

/// Where it fits beside the batches of the largest fanout, -1 being all neighbours.
ResidentData resident_data_for(const Setup& setup) {
  const int fanout =
      *std::ranges::max_element(setup.options.fanouts, {}, [](int f) { return static_cast<unsigned>(f); });
  const LoaderOptions loading = loader_options_of(setup, fanout);
  const InferenceOptions inference = inference_options_of(setup);
  RunNeeds needs = needs_of_sampled_inference(
      setup.dataset,
      {loading, setup.nodes, inference.batch_size, inference.seed, model_options_of(setup.run, setup.dataset)});
  std::int64_t resident_bytes = 0;  // beside the batches: one after the other they are measured in the same memory
  for (const int f : setup.options.fanouts) {
    const BatchPlan plan = plan_of(setup, f, numerics_of(setup.run).precision, kAllOnDevice);
    if (plan.is_resident())
      resident_bytes = std::max(resident_bytes, resident_predictions_bytes(plan.spec, setup.dataset));
  }
  needs.others.push_back({"resident predictions", 0, resident_bytes});
  const Launch launch;
  const RankPlace place{setup.comm, launch, setup.device};
  return make_resident(place, setup.dataset,
                       plan_data(place, request_of(setup.options.machine), setup.dataset, [&] { return needs; }));
}

void add_sampled_row(BenchReport& report, const Setup& setup, const std::string& name, Predictions& predictions) {
  const InferenceOptions inference = inference_options_of(setup);
  add_row(report, name, measure({.name = name, .rounds = setup.options.rounds}, [&] {
            const InferenceCounts counts = sampled_inference({*setup.trained.model, setup.device, setup.comm},
                                                             predictions, setup.nodes, inference);
            return Prediction{counts, predictions.stats().edges};
          }));
}

/// By batches of a loader, and where the data and the model allow it resident, in the run's precision and in bf16.
void predict_sampled(BenchReport& report, const Setup& setup, int fanout) {
  const std::string name = "fanout " + std::to_string(fanout);
  {
    LoaderPredictions eager(setup.dataset, loader_options_of(setup, fanout), setup.device);
    add_sampled_row(report, setup, name, eager);
  }
  std::vector<Precision> precisions{numerics_of(setup.run).precision};
  if (precisions.front() != Precision::kBf16) precisions.push_back(Precision::kBf16);
  for (const Precision precision : precisions) {
    const BatchPlan plan = plan_of(setup, fanout, precision, residency_of(setup.data));
    if (!plan.is_resident()) return;
    const auto resident =
        make_resident_predictions(plan.spec, setup.dataset, setup.data, setup.device, *setup.trained.model);
    add_sampled_row(report, setup, name + ", resident, " + name_of(precision), *resident);
  }
}

/// Every layer of all nodes of the graph, where they have room beside it on the GPU. Results take the place of
/// features, which are copied again outside the time that is measured. Entries are counted once a layer; those of the
/// last hidden one are read again for nodes whose own part had no room.
void predict_exactly_resident(BenchReport& report, const Setup& setup) {
  const BatchPlan plan = plan_of(setup, 1, Precision::kBf16, residency_of(setup.data), Purpose::kExactInference);
  if (!plan.is_resident()) return;
  const ResidentSpec& spec = plan.spec;
  const auto memory = setup.device.memory();
  if (!memory || resident_exact_bytes(spec, setup.dataset) > memory->free_bytes) return;
  add_row(report, "exact, resident, f16", measure({.name = "exact, resident", .rounds = setup.options.rounds}, [&] {
            Prediction found{resident_exact_inference({*setup.trained.model, setup.device, setup.comm}, setup.dataset,
                                                      setup.data, spec, {setup.nodes, /*may_overwrite=*/true})};
            const RowTable rows = setup.dataset.features;
            upload("features", rows.data, rows.num_rows * rows.row_bytes,
                   const_cast<std::byte*>(setup.data.device_rows.data));
            const std::size_t layers = static_cast<std::size_t>(setup.run.model.num_layers);
            found.entries = static_cast<std::int64_t>(setup.dataset.graph.indices.size() * (layers - 1));
            for (const NodeId v : setup.nodes) found.entries += setup.dataset.graph.degree(v);
            return found;
          }));
}

void predict_exactly(BenchReport& report, const Setup& setup) {
  ExactOptions exact = exact_options_for(setup.device, setup.options.machine.workers, setup.options.machine.slots);
  exact.data = setup.data;
  const ModelOnRanks ranks{*setup.trained.model, setup.device, setup.comm};
  add_row(report, "exact", measure({.name = "exact", .rounds = setup.options.rounds}, [&] {
            const Timer timer;
            const ExactPlan plan = plan_exact_inference(ranks, setup.dataset, setup.nodes, exact);
            Prediction found{exact_inference(ranks, setup.dataset, plan, exact)};
            found.counts.seconds = timer.seconds();  // with the search for needed nodes
            const CsrGraph& graph = setup.dataset.graph;
            for (std::size_t i = 0; i < plan.layers.size(); ++i)
              for (const NodeId v : plan.needed.after(i)) found.entries += graph.degree(v);
            return found;
          }));
}

}  // namespace

int bench_inference(Arguments arguments) {
  InferenceBenchOptions options;
  if (!read_options("inference", arguments, options)) return 0;
  if (options.rounds < 1) fail(ErrorKind::kUsage, "--rounds: at least 1");
  std::vector<FieldProblem> problems;
  add_problems(problems, options.machine);
  refuse(problems);
  if (!are_fanouts(options.fanouts)) fail(ErrorKind::kUsage, "--fanouts: each 1 to 65535, or -1 for all");
  if (options.run.empty()) options.run = newest_run();
  const auto comm = make_self_communicator();
  const TrainOptions run = read_run_options(*comm, options.run);
  if (options.dataset.empty()) options.dataset = run.data.dataset;
  if (options.data_root.empty()) options.data_root = run.data.root;
  if (options.batch_size == 0) options.batch_size = run.evaluation.batch_size;
  const int cores = num_usable_cores();
  const ComputeDevice device = ComputeDevice::choose(options.machine.device, /*local_rank=*/0,
                                                     options.machine.threads > 0 ? options.machine.threads : cores);
  fit_to_machine(options.machine, device, cores);
  const Dataset dataset = open_named_dataset(options.dataset, options.data_root);
  const TrainedModel trained =
      open_trained_model(*comm, device, {options.run, options.checkpoint, run, numerics_of(run)}, dataset);
  const std::vector<NodeId> nodes = select_nodes(dataset, {.what = options.nodes}).nodes;

  Setup setup{options, run, device, *comm, dataset, trained, nodes};
  const ResidentData data = resident_data_for(setup);
  setup.data = data.view();
  BenchReport report = new_report(options, run, dataset, device, nodes.size());
  for (const int fanout : options.fanouts)
    if (options.sampled) predict_sampled(report, setup, fanout);
  if (options.exact_resident) predict_exactly_resident(report, setup);
  if (options.exact) predict_exactly(report, setup);
  report.publish(options.json);
  return 0;
}

}  // namespace salient
