// apps/infer_run.cpp - see infer_run.h.
#include "apps/infer_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/new_node_predictions.h"
#include "core/console/log.h"
#include "core/error.h"
#include "core/memory_size.h"
#include "core/number_text.h"
#include "core/value_text.h"
#include "core/version.h"
#include "engine/comm/agreement.h"
#include "engine/device/planned_data.h"
#include "engine/infer/exact_inference.h"
#include "engine/infer/inference_needs.h"
#include "engine/infer/make_predictions.h"
#include "engine/infer/resident_exact.h"
#include "engine/infer/resident_predictions.h"
#include "engine/infer/sampled_inference.h"
#include "engine/plan/graph_types_of.h"
#include "engine/train/run_model.h"
#include "loaders/exchange_depth.h"
#include "models/describe/costs.h"
#include "sampler/neighbor_sampler.h"

namespace salient {
namespace {

/// Puts the data where it fits beside what `find_needs()` returns. Collective.
template <class FindNeeds>
ResidentData make_data_resident(const InferRun& run, const ResidencyRequest& request, FindNeeds&& find_needs) {
  const RankPlace place = place_of(run.session);
  const bool has_choice = place.device.is_cuda() || request.features == Residency::kPartitioned;
  const DataPlan plan = plan_data(place, request, run.dataset, [&] { return has_choice ? find_needs() : RunNeeds{}; });
  return make_resident(place, run.dataset, plan);
}

/// With all data in GPU memory.
StepQuestion question_of(const InferRun& run, const SampledOptions& sampled, Purpose purpose) {
  const std::size_t num_nodes = std::max<std::size_t>(1, run.nodes.size());
  return {.purpose = purpose,
          .spec = {.model = run.trained_with.model,
                   .rule = sampled.rule(run.dataset.types),
                   .time = sampled.time().rule(),
                   .links = predicts_links(run.trained_with) ? std::optional(LinkSpec{}) : std::nullopt,
                   .max_seeds = std::min(static_cast<std::size_t>(sampled.batch_size), num_nodes),
                   .numerics = run.numerics},
          .dataset = run.dataset,
          .data = kAllOnDevice,
          .asked = sampled.step,
          .keeps_layer = run.options.results.embeddings > 0};
}

InferenceCounts predict_sampled(const InferRun& run, const SampledOptions& sampled, const OnRound& on_round) {
  const MachineOptions& machine = run.options.machine;
  LoaderOptions loading = sampled_loading(run, sampled);
  const InferenceOptions inference{.batch_size = static_cast<std::size_t>(sampled.batch_size),
                                   .seed = static_cast<std::uint32_t>(sampled.seed),
                                   .unit = TargetUnit(run.dataset, run.session.device.torch_device())};
  StepQuestion question = question_of(run, sampled, Purpose::kInference);
  const ResidentData data = make_data_resident(run, request_of(machine), [&] {
    SampledShape shape{loading, run.nodes, inference.batch_size, inference.seed,
                       model_options_of(run.trained_with, run.dataset)};
    if (plan_batches(question).is_resident())
      shape.resident_bytes = resident_predictions_bytes(question.spec, run.dataset);
    return needs_of_sampled_inference(run.dataset, shape);
  });
  loading.data = data.view();
  question.data = residency_of(loading.data);
  const ModelOnRanks ranks{*run.trained.model, run.session.device, *run.session.comm};
  const auto predictions = make_predictions(question, {run.dataset, loading, ranks.device, ranks.comm, ranks.model});
  return sampled_inference(ranks, *predictions, run.nodes, inference, on_round);
}

/// Of nodes that the data set lacks.
InferenceCounts predict_added(const InferRun& run, const OnRound& on_round) {
  const SampledOptions& sampled = run.options.sampled;
  require_plain_edges(run.trained_with.model, run.dataset);
  const NewNodeBatch::Sampling sampling{.rule = sampled.rule(run.dataset.types),
                                        .degrees = degrees_for(reads_degrees(run.trained_with.model))};
  NewNodePredictions predictions(run.dataset, run.added.nodes, run.labelled(), sampling, run.session.device);
  return sampled_inference({*run.trained.model, run.session.device, *run.session.comm}, predictions, run.nodes,
                           {.batch_size = static_cast<std::size_t>(sampled.batch_size),
                            .seed = static_cast<std::uint32_t>(sampled.seed),
                            .unit = TargetUnit(run.dataset, run.session.device.torch_device())},
                           on_round);
}

/// Exact inference that stays on the GPU, if graph, features and layers fit there.
std::optional<InferenceCounts> predict_exact_resident(const InferRun& run, const OnRound& on_round) {
  const Session& session = run.session;
  const char* const what = "resident exact inference";
  StepQuestion question = question_of(run, run.options.sampled, Purpose::kExactInference);
  question.exact = {.num_ranks = session.comm->size(),
                    .is_partitioned = run.options.machine.features == Residency::kPartitioned,
                    .has_place = run.options.layerwise.activations.has_value(),
                    .is_f32 = run.options.layerwise.activation_dtype == ActivationDtype::kF32,
                    .free_bytes = session.device.free_bytes()};
  const BatchPlan if_it_fits = plan_batches(question);
  require_asked(what, question.asked, if_it_fits);
  if (!if_it_fits.is_resident()) return std::nullopt;
  const ResidentSpec& spec = question.spec;
  RunNeeds needs;
  needs.others = {{"layers' results", 0, resident_exact_bytes(spec, run.dataset)},
                  libraries_line(session.device.is_cuda())};
  const ResidentData data = make_data_resident(run, request_of(run.options.machine), [&] { return needs; });
  question.data = residency_of(data.view());
  const BatchPlan plan = plan_batches(question);
  require_asked(what, question.asked, plan, ErrorKind::kDeviceMemory);
  if (!plan.is_resident()) return std::nullopt;
  log_info("exact inference is resident: graph, features and layers' results, in f16, are on the GPU");
  return resident_exact_inference({*run.trained.model, session.device, *session.comm}, run.dataset, data.view(), spec,
                                  {run.nodes, /*may_overwrite_features=*/true}, on_round);
}

/// A head that reads features does so for any node, whoever owns it. Collective.
void require_rows_for_head(const InferRun& run) {
  together(*run.session.comm, [&] {
    const bool is_typed = run.dataset.types.is_typed();  // whose heads read no features
    if (run.trained.model->head_reads_all_layers() && !is_typed && run.dataset.features.data == nullptr)
      fail(ErrorKind::kNoInput,
           "the last layer of this model reads features of all nodes, and features.npy is missing here");
  });
}

InferenceCounts predict_exact(const InferRun& run, const std::filesystem::path& scratch, const OnRound& on_round) {
  if (const auto resident = predict_exact_resident(run, on_round)) return *resident;
  const Session& session = run.session;
  const LayerwiseOptions& layerwise = run.options.layerwise;
  ExactOptions exact = exact_options_for(session.device, run.options.machine.workers, run.options.machine.slots);
  exact.storage = layerwise.activations;
  exact.type = layerwise.activation_dtype;
  if (layerwise.memory_gb > 0) exact.host_budget = bytes_of(layerwise.memory_gb);
  exact.scratch = scratch;
  exact.block_bytes = static_cast<std::size_t>(layerwise.block_mb) << 20;
  const ModelOptions& model = run.trained_with.model;
  if (run.dataset.has_sparse_features() && (model.aggr == Aggregation::kMax || model.kind == ModelKind::kGine))
    exact.least_row_bytes = static_cast<std::size_t>(run.dataset.feature_dim) * sizeof(float);
  exact.launch = session.launch;
  exact.kept_layer = run.options.results.embeddings;
  const auto num_layers = static_cast<std::size_t>(run.trained_with.model.num_layers);
  exact.rule = with_fanouts_of({.fanouts = std::vector<int>(num_layers, kAllNeighbors)}, run.options.sampled.fanout_of,
                               run.dataset.types);
  const ModelOnRanks ranks{*run.trained.model, session.device, *session.comm};
  if (run.options.machine.features == Residency::kPartitioned) {
    require_rows_for_head(run);
    exact.waiting = kRowsOnTheWay;
  }
  const ExactPlan plan = plan_exact_inference(ranks, run.dataset, run.nodes, exact);
  if (session.is_rank_0()) log_lines(to_text(plan), log_info);
  ResidencyRequest request = request_of(run.options.machine);
  request.graph = GraphResidency::kHost;  // exact inference samples there
  const ResidentData data = make_data_resident(
      run, request, [&] { return needs_of_exact_inference(run.dataset, plan, exact, session.device.is_cuda()); });
  exact.data = data.view();
  return exact_inference(ranks, run.dataset, plan, exact, on_round);
}

/// gin's plain sums are as large as the fanouts of its training make them.
bool depends_on_fanouts(const TrainOptions& trained_with) {
  const ModelOptions& model = trained_with.model;
  return is_gin(model.kind) && model.gin_sum == GinSum::kPlain;
}

std::string line_on_fanouts(const TrainOptions& trained_with) {
  return name_of(trained_with.model.kind) + " adds up the neighbours that it is given, and was trained with --fanout " +
         to_text(trained_with.batches.fanout);
}

/// Where all neighbours are more than the model was trained with: says so, beside what the run's own fanouts give.
void compare_with_fanouts(const InferRun& run, const InferenceCounts& exact, const OnRound& on_round) {
  const TrainOptions& trained_with = run.trained_with;
  if (!depends_on_fanouts(trained_with) ||
      std::ranges::all_of(trained_with.batches.fanout, [](int fanout) { return fanout == kAllNeighbors; }))
    return;
  SampledOptions sampled = run.options.sampled;
  sampled.fanout = trained_with.batches.fanout;
  std::string line = line_on_fanouts(trained_with) + ": all neighbours mislead it";
  if (run.dataset.task != Task::kRegression && exact.labelled > num_of_unknown_class(run)) {
    const InferenceCounts counts =
        predict_sampled(run, sampled, [&](const InferenceRound&) { on_round({}); });  // a signal may end it
    line += "; accuracy " + fixed(exact.accuracy(), 4) + " with all, " + fixed(counts.accuracy(), 4) + " with those";
  }
  if (run.session.is_rank_0()) log_warning(line + "; leave out --exact, or train with --gin-sum scaled");
}

}  // namespace

std::int64_t num_of_unknown_class(const InferRun& run, const std::function<bool(NodeId)>& counts) {
  if (run.unknown_classes.empty() || run.dataset.task != Task::kMultiClass) return 0;
  return std::ranges::count_if(run.nodes, [&](NodeId node) {
    return run.labelled().class_of(node) >= run.dataset.num_classes && (!counts || counts(node));
  });
}

LoaderOptions sampled_loading(const InferRun& run, const SampledOptions& sampled) {
  return {.rule = sampled.rule(run.dataset.types),
          .time = sampled.time().rule(),
          .degrees = degrees_for(reads_degrees(run.trained_with.model)),
          .entries = entry_parts_for(run.trained_with.model, run.dataset),
          .num_workers = run.options.machine.workers,
          .num_slots = run.options.machine.slots,
          .to_device = run.session.device.is_cuda()};
}

InferenceCounts predict(const InferRun& run, const std::filesystem::path& scratch, const OnRound& on_round) {
  if (run.options.exact) {
    const InferenceCounts counts = predict_exact(run, scratch, on_round);
    compare_with_fanouts(run, counts, on_round);
    return counts;
  }
  const bool is_other = run.options.sampled.fanout != run.trained_with.batches.fanout;
  if (is_other && depends_on_fanouts(run.trained_with) && run.session.is_rank_0())
    log_warning(line_on_fanouts(run.trained_with) + ", not " + to_text(run.options.sampled.fanout));
  return run.has_added() ? predict_added(run, on_round) : predict_sampled(run, run.options.sampled, on_round);
}

namespace {

void add_scores(nlohmann::ordered_json& json, const Scores& scores, const Dataset& dataset) {
  const char* const known[] = {"labelled", "known_labels", "known_values"};  // by task
  json[known[static_cast<std::size_t>(dataset.task)]] = scores.counts.labelled;
  if (scores.unknown > 0) json["of_unknown_class"] = scores.unknown;
  for (const auto& [metric, value] : figures_of(scores, dataset)) json[name_of(metric)] = value;
}

/// "" without known labels.
std::string scores_line(const Scores& scores, const Dataset& dataset) {
  const InferenceCounts& counts = scores.counts;
  std::string line;
  for (const auto& [metric, value] : figures_of(scores, dataset))
    line.append(line.empty() ? "" : ", ").append(name_of(metric)).append(" ").append(figure_text(metric, value));
  if (line.empty()) return "";
  const std::string labelled = std::to_string(counts.labelled), nodes = std::to_string(counts.nodes) + " nodes";
  switch (dataset.task) {
    case Task::kMultiClass: return line + " (" + labelled + " of " + nodes + " have a label)";
    case Task::kMultiLabel: return line + " (" + labelled + " known labels of " + nodes + ")";
    case Task::kRegression: return line + " (" + labelled + " known values of " + nodes + ")";
  }
  return line;
}

using Json = nlohmann::ordered_json;

/// Of exact predictions: "all", or the relations of a typed graph that are left out, each with the hops from 1.
Json all_neighbours(const FanoutsOf& fanout_of) {
  Json left_out = Json::object();
  for (const auto& [relation, fanouts] : fanout_of.relations)
    for (std::size_t hop = 0; hop < fanouts.size(); ++hop)
      if (fanouts[hop] == 0) left_out[relation].push_back(hop + 1);
  return left_out.empty() ? Json("all") : Json{{"all_but", left_out}};
}

Json sampled_neighbours(const SampledOptions& sampled) {
  Json json = {{"fanout", sampled.fanout},
               {"with_replacement", sampled.draw == Draw::kWithReplacement},
               {"draw", name_of(sampled.draw.value_or(Draw::kUniform))},
               {"time_rule", name_of(sampled.time().seen)},
               {"seed", sampled.seed},
               {"batch_size", sampled.batch_size}};
  if (sampled.asked) json["time"] = sampled.asked->value;
  for (const auto& [relation, fanouts] : sampled.fanout_of.relations) json["fanout_of"][relation] = fanouts;
  return json;
}

}  // namespace

std::vector<std::pair<Metric, double>> figures_of(const Scores& scores, const Dataset& dataset) {
  if (!scores.has_accuracy()) return {};
  Figures all = scores.figures;
  if (dataset.task != Task::kRegression) all[Metric::kAccuracy] = scores.counts.accuracy();
  if (dataset.task == Task::kMultiLabel) all[Metric::kF1] = scores.counts.f1();
  std::vector<std::pair<Metric, double>> found;
  for (const Metric metric :
       {Metric::kRocAuc, Metric::kF1, Metric::kAccuracy, Metric::kMacroF1, Metric::kBalancedAccuracy, Metric::kMcc,
        Metric::kAveragePrecision, Metric::kR2, Metric::kRmse, Metric::kMae})
    if (all[metric]) found.emplace_back(metric, *all[metric]);
  return found;
}

std::string report_of(const InferRun& run, const InferResult& result, const char* program) {
  const InferOptions& options = run.options;
  const Dataset& dataset = run.dataset;
  const InferenceCounts& counts = result.counts;
  Json json;
  json["program"] = std::string(program) + " " + kVersion;
  json["run"] = options.run;
  json["checkpoint"] = run.trained.checkpoint.filename().string();
  json["model"] = name_of(run.trained_with.model.kind);
  json["dataset"] = {{"name", dataset.name}, {"source", dataset.source_kind}, {"fingerprint", dataset.fingerprint}};
  if (!options.links.empty())
    json["links"] = {{"file", options.links}};
  else if (predicts_links(run.trained_with))
    json["nodes"] = {
        {"selected", options.nodes.what}, {"side", name_of(options.side)}, {"top_k", options.results.top_k}};
  else if (run.has_added())
    json["nodes"] = {
        {"new", to_text(options.added.nodes)}, {"edges", to_text(options.added.edges)}, {"count", counts.nodes}};
  else
    json["nodes"] = {{"selected", options.nodes.what},
                     {"by", name_of(options.nodes.by.value_or(NodesBy::kId))},
                     {"count", counts.nodes}};
  if (run.are_rows_of_others) json["nodes"]["are_rows_of_others"] = true;
  json["neighbours"] = options.exact ? all_neighbours(options.sampled.fanout_of) : sampled_neighbours(options.sampled);
  json["precision"] = name_of(run.numerics.precision);
  json["ranks"] = run.session.comm->size();
  if (!dataset.class_names.empty())
    json[dataset.task == Task::kRegression ? "target_names" : "class_names"] = dataset.class_names;
  add_scores(json, result, dataset);
  for (const auto& [name, scores] : result.splits) {
    Json split = {{"nodes", scores.counts.nodes}};
    add_scores(split, scores, dataset);
    json["splits"][name] = std::move(split);
  }
  json["seconds"] = counts.seconds;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";  // paths are bytes
}

void print_result(const InferResult& result, const Dataset& dataset, const std::filesystem::path& folder) {
  const InferenceCounts& counts = result.counts;
  for (const auto& [name, scores] : result.splits)
    if (const std::string line = scores_line(scores, dataset); !line.empty()) log_result(name + " " + line);
  if (const std::string line = scores_line(result, dataset); !line.empty()) log_result(line);
  log_result("inference seconds " + fixed(counts.seconds, 2) + " (" +
             fixed(static_cast<double>(counts.nodes) / counts.seconds, 1) + " nodes/s)");
  log_result("output directory " + folder.string());
}

}  // namespace salient
