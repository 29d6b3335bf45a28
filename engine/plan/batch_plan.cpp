// engine/plan/batch_plan.cpp - see batch_plan.h.
#include "engine/plan/batch_plan.h"

#include <algorithm>
#include <array>

#include "core/value_text.h"
#include "engine/plan/graph_types_of.h"
#include "engine/plan/repeated_rows.h"
#include "models/describe/costs.h"
#include "models/describe/resident_limits.h"
#include "models/resident/limits.h"

namespace salient {
namespace {

using Q = const StepQuestion&;

constexpr std::int64_t kMaxRows = std::int64_t{1} << 23;  // of a layer: some GB of activations

constexpr unsigned bit(Purpose purpose) { return 1U << static_cast<unsigned>(purpose); }
constexpr unsigned kOnce = bit(Purpose::kInference), kExact = bit(Purpose::kExactInference);
constexpr unsigned kTraining = bit(Purpose::kTraining) | bit(Purpose::kEvaluation);
constexpr unsigned kSampled = kTraining | kOnce | bit(Purpose::kServing), kAll = kSampled | kExact;

constexpr bool kPrevents = true, kIsSlower = false;

bool has_resident_fanouts(Q q) {
  return std::ranges::all_of(q.spec.rule.fanouts, [](int f) { return f >= 1 && f <= kMaxResidentFanout; });
}

/// Rows that the first layer computes for a batch with every fanout full; for a product of what it reads, one for every
/// entry, too.
std::int64_t most_rows(Q q) {
  const bool multiplies_sources =
      std::ranges::any_of(products_of(describe(model_of(q.spec, q.dataset)), ProductOrder::kSumsFirst),
                          [](const RowProduct& p) { return p.rows == RowSet::kSources; });
  const std::size_t hops = q.spec.rule.fanouts.size() - (multiplies_sources ? 0 : 1);
  auto rows = static_cast<std::int64_t>(q.spec.max_seeds);
  for (std::size_t h = 0; h < hops && rows <= kMaxRows; ++h) rows *= 1 + q.spec.rule.fanouts[h];
  return rows;
}

/// Resident layers' results are f16: without being asked for they take the place of f32 in bf16 runs, and where two
/// hidden layers of all nodes, as exact_inference() keeps them, have no room in f32.
bool is_better_in_f32(Q q) {
  const auto kept = static_cast<std::int64_t>(std::min(2, q.spec.model.num_layers - 1));
  const std::int64_t bytes = kept * static_cast<std::int64_t>(q.dataset.num_nodes()) * q.spec.model.hidden_dim * 4;
  return q.spec.numerics.precision != Precision::kBf16 && bytes <= q.exact.free_bytes.value_or(0) / 5 * 4;
}

std::string draw(Q q) { return "neighbours are drawn by " + name_of(q.spec.rule.draw); }

/// Of steps over pairs of rows.
std::string obstacle_in_links(Q q) {
  if (!q.spec.links) return {};
  const LinkSpec& links = *q.spec.links;
  if (links.decoder != DecoderKind::kDot) return "links are scored by " + name_of(links.decoder) + ", and not by dot";
  if (links.rule.sampler != NegativeSampler::kUniform)
    return "negatives are those of the sampler '" + name_of(links.rule.sampler) + "', and not of 'uniform'";
  return {};
}

std::string obstacle_in_model(Q q) { return resident_obstacle(model_of(q.spec, q.dataset)); }

/// Half a second to a second: docs/INFERENCE.md. A server does it once for all its requests.
std::string slow_set_up(Q q) {
  return "to set up a graph of " + name_of(q.spec.model.kind) + " once takes as long as it saves";
}

/// Requests to a server have few seeds, whose trees are small.
std::string repeated_rows(Q q) {
  return cost_of_repeated_rows(q.spec, q.dataset, q.purpose == Purpose::kTraining ? Gradients::kAll : Gradients::kNone);
}

bool reads_edges(Q q) { return model_of(q.spec, q.dataset).edge_dim > 0; }

constexpr std::array<StepRule, 27> kRules{{
    {"asked for", kAll, kPrevents, [](Q q) { return q.asked == StepKind::kEager; }},
    {"the graph has node types", kAll, kPrevents, [](Q q) { return q.dataset.types.is_typed(); }},
    {"neighbours are drawn by time", kSampled, kPrevents, [](Q q) { return q.spec.time.has_value(); }},
    {"links are predicted", kAll & ~kTraining, kPrevents, [](Q q) { return q.spec.links.has_value(); }},
    {"links", bit(Purpose::kTraining), kPrevents, [](Q q) { return !obstacle_in_links(q).empty(); }, obstacle_in_links},
    {"the model reads features of edges", kAll, kPrevents,
     [](Q q) { return reads_edges(q) && ((kExact & bit(q.purpose)) != 0 || q.spec.links); }},
    {"features are partitioned", kExact, kPrevents, [](Q q) { return q.exact.is_partitioned; }},
    {"a place for layers' results is asked for", kExact, kPrevents, [](Q q) { return q.exact.has_place; }},
    {"layers' results in f32 are asked for", kExact, kPrevents, [](Q q) { return q.exact.is_f32; }},
    {"the result of a layer is asked for", kOnce | kExact, kPrevents, [](Q q) { return q.keeps_layer; }},
    {"there are several ranks", kExact, kPrevents, [](Q q) { return q.exact.num_ranks > 1; }},
    {"the model is not GraphSAGE", kExact, kPrevents, [](Q q) { return q.spec.model.kind != ModelKind::kSage; }},
    {"the model has norms, residual connections or jumping knowledge", kExact, kPrevents,
     [](Q q) { return q.spec.model.kind == ModelKind::kSage && !is_plain_sage(q.spec.model); }},
    {"the model has one layer", kExact, kPrevents, [](Q q) { return q.spec.model.num_layers < 2; }},
    {"this build has no CUDA", kAll, kPrevents, [](Q q) { return !q.has_kernels; }},
    {"the features are sparse", kAll, kPrevents, [](Q q) { return q.dataset.has_sparse_features(); }},
    {"model", kAll, kPrevents, [](Q q) { return !obstacle_in_model(q).empty(); }, obstacle_in_model},
    {"features and graph are not both in GPU memory", kAll, kPrevents,
     [](Q q) { return !is_on_gpus(q.data.features) || q.data.graph != GraphResidency::kDevice; }},
    {"features of edges are not in GPU memory", kSampled, kPrevents,
     [](Q q) { return reads_edges(q) && !q.data.edge_features; }},
    {"draw", kSampled, kPrevents, [](Q q) { return !has_tree_draw(q.spec.rule.draw); }, draw},
    {"a node has several labels", kAll, kPrevents,
     [](Q q) { return q.dataset.task == Task::kMultiLabel && !q.spec.links; }},
    {"a fanout is not in 1 to 32", kSampled, kPrevents, [](Q q) { return !has_resident_fanouts(q); }},
    {"a batch may have more than 2^23 rows", kSampled, kPrevents, [](Q q) { return most_rows(q) > kMaxRows; }},
    {"there is no GPU", kExact, kIsSlower, [](Q q) { return !q.exact.free_bytes; }},
    {"layers' results fit on the GPU in f32", kExact, kIsSlower, is_better_in_f32},
    {"set-up", kOnce, kIsSlower, [](Q q) { return !is_plain_sage(q.spec, q.dataset); }, slow_set_up},
    {"repeats", kTraining | kOnce, kIsSlower, [](Q q) { return !repeated_rows(q).empty(); }, repeated_rows},
}};

}  // namespace

ModelOptions model_of(const ResidentSpec& spec, const Dataset& dataset) {
  ModelOptions model = fitted_to(spec.model, dataset);
  if (spec.links) model.num_classes = model.hidden_dim;
  return model;
}

bool is_plain_sage(const ResidentSpec& spec, const Dataset& dataset) { return is_plain_sage(model_of(spec, dataset)); }

DataResidency residency_of(const ResidentView& data) {
  return {.features = data.features,
          .graph = data.graph ? GraphResidency::kDevice : GraphResidency::kHost,
          .edge_features = data.edge_rows.num_rows > 0};
}

std::span<const StepRule> step_rules() { return kRules; }

BatchPlan plan_batches(const StepQuestion& question) {
  for (const StepRule& rule : kRules) {
    if (!rule.is_for(question.purpose) || (question.asked && !rule.prevents) || !rule.refuses(question)) continue;
    return {.spec = question.spec, .kind = StepKind::kEager, .why = rule.reason(question)};
  }
  return {.spec = question.spec, .kind = StepKind::kResident};
}

void require_asked(const char* what, std::optional<StepKind> asked, const BatchPlan& plan, ErrorKind kind) {
  if (asked == StepKind::kResident && !plan.is_resident()) fail(kind, std::string(what) + ": " + plan.why);
}

std::string to_text(const char* what, const BatchPlan& plan) {
  if (!plan.is_resident()) return std::string(what) + " are eager: " + plan.why;
  return std::string(what) + " are resident: sampling, gathering and arithmetic (" +
         name_of(plan.spec.numerics.precision) + ") in one graph on the GPU";
}

}  // namespace salient
