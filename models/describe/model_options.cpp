// models/describe/model_options.cpp - see model_options.h.
#include "models/describe/model_options.h"

#include <string>
#include <utility>

#include "models/describe/costs.h"

namespace salient {

namespace {

template <class Has>
std::string kinds_where(const Has& has) {
  std::string names;
  for (const auto& [kind, name] : names_of(ModelKind{}))
    if (has(kind)) names.append(names.empty() ? "" : ", ").append(name);
  return names;
}

void add_problems_of_weights(std::vector<FieldProblem>& found, const ModelOptions& o) {
  const bool is_rgcn = o.kind == ModelKind::kRgcn;
  for (const auto& [field, value] : {std::pair{"bases", o.bases}, {"blocks", o.blocks}}) {
    check_field(found, value >= 0 && value <= 1024, field, "0 to 1024");
    check_field(found, value == 0 || is_rgcn, field, "only rgcn has a choice, not " + name_of(o.kind));
  }
  check_field(found, o.bases == 0 || o.blocks == 0, "blocks", "bases or blocks, not both");
  check_field(
      found, o.blocks < 1 || o.hidden_dim % o.blocks == 0, "blocks",
      std::to_string(o.blocks) + " must divide the width of the hidden layers, " + std::to_string(o.hidden_dim));
}

}  // namespace

bool is_typed(ModelKind kind) { return kind >= ModelKind::kRgcn && kind <= ModelKind::kHgt; }

bool is_gin(ModelKind kind) { return kind == ModelKind::kGin || kind == ModelKind::kGine; }

bool can_read_edge_features(ModelKind kind) {
  return kind == ModelKind::kSage || kind == ModelKind::kGat || kind == ModelKind::kGatv2 ||
         kind == ModelKind::kTransformer || kind == ModelKind::kGine;
}

bool can_aggregate_by_weight(ModelKind kind) { return !is_typed(kind) && !is_gin(kind); }

bool reads_out(const ModelOptions& options) {
  return options.jk != JumpingKnowledge::kNone || is_gin(options.kind) || options.kind == ModelKind::kSageRi ||
         options.kind == ModelKind::kRgat || options.kind == ModelKind::kHgt;
}

std::vector<FieldProblem> problems_of(const ModelOptions& o) {
  std::vector<FieldProblem> found;
  const bool has_heads = has_attention(o.kind);
  const bool has_own_shape = o.kind == ModelKind::kSageRi;
  check_field(found, o.num_layers >= 1 && o.num_layers <= 64, "layers", "1 to 64");
  check_field(found, o.hidden_dim >= 1 && o.hidden_dim <= 1 << 16, "hidden", "1 to 65536");
  check_field(found, o.dropout >= 0 && o.dropout < 1, "dropout", "from 0 to below 1");
  const std::string own_shape = "sage-ri has its own norm, residual connections and jumping knowledge";
  check_field(found, !has_own_shape || o.norm == NormKind::kNone, "norm", own_shape);
  check_field(found, !has_own_shape || !o.residual, "residual", own_shape);
  check_field(found, !o.activate_input || is_typed(o.kind), "activate-input",
              "plain models read features as they are; " + kinds_where(is_typed) + " map them first");
  check_field(found, !has_own_shape || o.jk == JumpingKnowledge::kNone, "jk", own_shape);
  check_field(found, o.aggr == Aggregation::kMean || o.kind == ModelKind::kSage, "aggr",
              "only sage has a choice, not " + name_of(o.kind));
  const ModelOptions usual;
  check_field(found, o.gcn_norm == usual.gcn_norm || o.kind == ModelKind::kGcn, "gcn-norm",
              "only gcn has a choice, not " + name_of(o.kind));
  check_field(found, o.gin_sum == usual.gin_sum || is_gin(o.kind), "gin-sum",
              "only gin and gine have a choice, not " + name_of(o.kind));
  check_field(found, o.edge_features == usual.edge_features || o.kind != ModelKind::kGine, "edge-features",
              "gine is gin with the features of edges; gin reads none");
  check_field(found, o.time_encoding >= 0 && o.time_encoding <= 1024, "time-encoding", "0 to 1024");
  check_field(
      found, o.time_encoding == 0 || can_read_edge_features(o.kind), "time-encoding",
      name_of(o.kind) + " has no place for features of edges; " + kinds_where(can_read_edge_features) + " have");
  check_field(
      found, !is_by_weight(o) || can_aggregate_by_weight(o.kind), "aggregate",
      name_of(o.kind) + " has no place for the weights of edges; " + kinds_where(can_aggregate_by_weight) + " have");
  check_field(found, !is_by_weight(o) || o.aggr == Aggregation::kMean, "aggregate", "a maximum has no weights");
  check_field(found, o.heads >= 1 && o.heads <= 1024, "heads", "1 to 1024");
  check_field(found, o.heads == 1 || has_heads, "heads",
              name_of(o.kind) + " has no attention heads; " + kinds_where(has_attention) + " have");
  check_field(found, !has_heads || o.heads < 1 || o.hidden_dim % o.heads == 0, "heads",
              std::to_string(o.heads) + " must divide the width of the hidden layers, " + std::to_string(o.hidden_dim));
  add_problems_of_weights(found, o);
  return found;
}

std::string obstacle_in_types(ModelKind kind, const GraphTypes& types) {
  if (types.is_typed() && types.relations.empty()) return "the graph has no relations";
  if (is_typed(kind) == types.is_typed()) return {};
  return name_of(kind) +
         (is_typed(kind) ? " is a model of typed graphs, and this one is plain: "
                         : " is a model of plain graphs, and this one has node types: ") +
         kinds_where([&](ModelKind other) { return is_typed(other) == types.is_typed(); });
}

}  // namespace salient
