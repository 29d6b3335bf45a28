// models/describe/describe.cpp - the list of each model, from its convolution and what all models have around it.
#include <optional>
#include <utility>

#include "core/error.h"
#include "models/describe/layer_list.h"
#include "models/describe/typed_layers.h"
#include "models/describe/writer.h"

namespace salient {
namespace {

/// SAGEConv, with what it takes of the neighbours' rows and with the rows' own.
/// @param edges  what it takes of the features of edges, beside them; none: it reads none
OpId sage_convolution(Writer& write, const std::string& name, OpId neighbours, OpId self, std::int64_t out,
                      std::optional<OpId> edges = {}) {
  std::vector<OpId> terms{write.project({name + ".lin_l.weight"}, neighbours, out),
                          write.project({name + ".lin_r.weight"}, self, out)};
  if (edges) terms.push_back(write.project({name + ".lin_edge.weight"}, *edges, out));
  return write.sum(std::move(terms));
}

/// The mean over neighbours, or by their weights.
OpId neighbours_mean(Writer& write, const ModelOptions& o, OpId x) {
  return write.aggregate(Aggregate{.kind = SumKind::kMean, .is_by_weight = is_by_weight(o)}, x);
}

/// Of sage's rows, or of its edges' features, over each row's entries.
OpId sage_aggregate(Writer& write, const ModelOptions& o, OpId x) {
  return o.aggr == Aggregation::kMax ? write.maximum(x) : neighbours_mean(write, o, x);
}

OpId gcn_convolution(Writer& write, const ModelOptions& o, const std::string& name, OpId x, std::int64_t out) {
  const SumKind kind = o.gcn_norm == GcnNorm::kRow ? SumKind::kRowMean : SumKind::kSymmetric;
  const OpId sum = write.aggregate(Aggregate{.kind = kind, .is_by_weight = is_by_weight(o)}, x);
  return write.project({name + ".lin.weight", name + ".bias"}, sum, out);
}

/// @param what  eps and, of gine, the map of edges
OpId gin_convolution(Writer& write, const std::string& name, OpId x, std::int64_t out, Aggregate what) {
  const OpId first = write.linear(name + ".nn.0", write.aggregate(std::move(what), x), out);
  return write.linear(name + ".nn.3", write.activate(write.normalise(NormKind::kBatch, name + ".nn.1", first)), out);
}

Aggregate gin_sum(const ModelOptions& o, const std::string& name) {
  Aggregate what{.kind = o.gin_sum == GinSum::kScaled ? SumKind::kScaled : SumKind::kPlain, .eps = name + ".eps"};
  if (o.kind == ModelKind::kGine) what.edge_weight = name + ".lin.weight", what.edge_bias = name + ".lin.bias";
  return what;
}

OpId gat_convolution(Writer& write, const std::string& name, OpId x, std::int64_t out, Attend attend) {
  const OpId z = write.project({name + ".lin.weight"}, x, out, RowSet::kSources);
  attend.kind = AttentionKind::kGat;
  attend.vectors = {name + ".att_src", name + ".att_dst"};
  if (!attend.edge_weight.empty()) attend.vectors.push_back(name + ".att_edge");
  return write.attend(std::move(attend), {z}, out);
}

OpId gatv2_convolution(Writer& write, const std::string& name, OpId x, std::int64_t out, Attend attend) {
  const OpId l = write.linear(name + ".lin_l", x, out, RowSet::kSources), r = write.linear(name + ".lin_r", x, out);
  attend.kind = AttentionKind::kGatv2;
  attend.vectors = {name + ".att"};
  attend.bias = name + ".bias";
  return write.attend(std::move(attend), {l, r}, out);
}

OpId transformer_convolution(Writer& write, const std::string& name, OpId x, std::int64_t out, Attend attend) {
  attend.kind = AttentionKind::kDot;
  const OpId query = write.linear(name + ".lin_query", x, out);
  const OpId key = write.linear(name + ".lin_key", x, out, RowSet::kSources);
  const OpId value = write.linear(name + ".lin_value", x, out, RowSet::kSources);
  const OpId sums = write.attend(std::move(attend), {query, key, value}, out);
  return write.sum({sums, write.linear(name + ".lin_skip", x, out)});
}

/// The convolution of a layer of a stack. @param is_hidden  false: its result are the logits
OpId convolution(Writer& write, const ModelOptions& o, int layer, OpId x, bool is_hidden) {
  const std::string name = "convs." + std::to_string(layer);
  const std::int64_t out = is_hidden ? o.hidden_dim : o.num_classes;
  const Attend attend{.heads = is_hidden ? o.heads : 1,
                      .edge_weight = o.edge_dim > 0 ? name + ".lin_edge.weight" : "",
                      .is_by_weight = is_by_weight(o)};
  switch (o.kind) {
    case ModelKind::kSage: {
      std::optional<OpId> edges;
      const OpId neighbours = sage_aggregate(write, o, x);
      if (o.edge_dim > 0) edges = sage_aggregate(write, o, write.edge_input());
      return sage_convolution(write, name, neighbours, x, out, edges);
    }
    case ModelKind::kGat: return gat_convolution(write, name, x, out, attend);
    case ModelKind::kGin:
    case ModelKind::kGine: return gin_convolution(write, name, x, out, gin_sum(o, name));
    case ModelKind::kGcn: return gcn_convolution(write, o, name, x, out);
    case ModelKind::kGatv2: return gatv2_convolution(write, name, x, out, attend);
    case ModelKind::kTransformer: return transformer_convolution(write, name, x, out, attend);
    case ModelKind::kRgcn: return rgcn_convolution(write, o, name, x, is_hidden);
    case ModelKind::kRsage: return rsage_convolution(write, o, name, x, is_hidden);
    case ModelKind::kRgat: return rgat_convolution(write, o, name, x);
    case ModelKind::kHgt: return hgt_convolution(write, o, name, x);
    case ModelKind::kSageRi: break;  // is no stack
  }
  fail(ErrorKind::kInternal, "a model without a convolution");
}

/// As conv_stack.h has it; gin and gine are ones without dropout between its layers.
LayerList conv_stack(const ModelOptions& o) {
  const bool has_maps_behind = is_gin(o.kind), has_jk = o.jk != JumpingKnowledge::kNone;
  Writer write(o);
  OpId h = is_typed(o.kind) ? typed_input(write, o) : write.input(o.in_dim);
  std::vector<OpId> layers;
  for (int i = 0; i < o.num_layers; ++i) {
    const bool is_hidden = reads_out(o) || i + 1 < o.num_layers;
    const std::string number = std::to_string(i);
    write.begin_layer(i);
    const OpId x = h;
    h = convolution(write, o, i, x, is_hidden);
    if (!is_hidden) return write.take();
    if (o.residual)
      h = write.sum({h, write.width(x) == write.width(h) ? x : write.linear("res_linears." + number, x, o.hidden_dim)});
    if (o.norm != NormKind::kNone) h = write.normalise(o.norm, "norms." + number, h);
    h = write.activate(h);
    if (!has_maps_behind) h = write.drop(h, {.stream = static_cast<std::uint32_t>(i)});
    layers.push_back(h);
  }
  write.begin_layer(o.num_layers);
  if (has_jk) h = o.jk == JumpingKnowledge::kCat ? write.concat(layers) : write.largest(layers);
  if (has_maps_behind) h = write.drop(write.activate(write.linear("lin1", h, o.hidden_dim)), {.stream = 0});
  (void)write.linear(has_maps_behind ? "lin2" : "lin", h, o.num_classes);
  return write.take();
}

/// As sage_ri.h has it.
LayerList sage_ri(const ModelOptions& o) {
  constexpr double kSlope = 0.01;
  constexpr std::uint32_t kInput = 0, kNeighbours = 1, kSelf = 2, kOutput = 3;
  Writer write(o);
  const auto drop = [&](OpId x, int layer, std::uint32_t mask, RowSet rows = RowSet::kDestinations) {
    return write.drop(x, {.stream = static_cast<std::uint32_t>(layer) * 4 + mask, .is_by_node = true}, rows);
  };
  OpId x = drop(write.input(o.in_dim), 0, kInput, RowSet::kSources);
  std::vector<OpId> all{x};
  for (int i = 0; i < o.num_layers; ++i) {
    const std::string number = std::to_string(i);
    write.begin_layer(i);
    const OpId neighbours = drop(x, i, kNeighbours, RowSet::kSources), self = drop(x, i, kSelf);
    const OpId h =
        sage_convolution(write, "convs." + number, neighbours_mean(write, o, neighbours), self, o.hidden_dim);
    const OpId out = drop(write.activate(write.normalise(NormKind::kBatch, "bns." + number, h), kSlope), i, kOutput);
    x = write.sum({out, i == 0 ? write.linear("res_linears.0", x, o.hidden_dim) : x});
    all.push_back(x);
  }
  write.begin_layer(o.num_layers);
  const OpId first = write.linear("mlp.module_list.0", write.concat(all), 2 * std::int64_t{o.num_classes});
  const OpId wide = write.activate(write.normalise(NormKind::kBatch, "mlp.module_list.1", first), kSlope);
  (void)write.linear("mlp.module_list.3", wide, o.num_classes);
  return write.take();
}

}  // namespace

LayerList describe(const ModelOptions& options) {
  if (options.kind == ModelKind::kSageRi) return sage_ri(options);
  if (!is_typed(options.kind) || options.types.is_typed()) return conv_stack(options);
  ModelOptions smallest = options;
  smallest.types = {.node_types = {{"node", 1, options.in_dim}}, .relations = {{0, 0, "edge"}}};
  return conv_stack(smallest);
}

}  // namespace salient
