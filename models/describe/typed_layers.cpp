// models/describe/typed_layers.cpp - see typed_layers.h.
#include "models/describe/typed_layers.h"

#include <cstddef>
#include <utility>

#include "models/describe/type_names.h"

namespace salient {
namespace {

/// f(relation, number) for each, with the writer at its entries.
template <class F>
void for_each_relation(Writer& write, const GraphTypes& types, const F& f) {
  for (std::size_t r = 0; r < types.relations.size(); ++r) {
    write.of(types.relations[r].dst, static_cast<int>(r));
    f(types.relations[r], static_cast<int>(r));
  }
  write.of_all();
}

/// f(type name as a part of parameters' names) for each, with the writer at its rows.
template <class F>
void for_each_type(Writer& write, const GraphTypes& types, const F& f) {
  for (std::size_t t = 0; t < types.node_types.size(); ++t) {
    write.of(static_cast<int>(t));
    f(types.node_types[t], module_name(types.node_types[t]));
  }
  write.of_all();
}

/// What a sum over relations leaves of the rows of types that none leads to: the rows themselves, as wide as they are.
void keep_others(Writer& write, const GraphTypes& types, OpId x, std::int64_t out, std::vector<OpId>& terms) {
  if (write.width(x) != out) return;
  const std::vector<int> num_into = num_relations_into(types);
  for (std::size_t t = 0; t < num_into.size(); ++t) {
    if (num_into[t] != 0) continue;
    write.of(static_cast<int>(t));
    terms.push_back(write.sum({x}));
  }
  write.of_all();
}

std::int64_t width_out(const ModelOptions& o, bool is_hidden) { return is_hidden ? o.hidden_dim : o.num_classes; }

}  // namespace

OpId typed_input(Writer& write, const ModelOptions& o) {
  std::vector<OpId> rows;
  for_each_type(write, o.types, [&](const GraphTypes::NodeType& type, const std::string& name) {
    rows.push_back(type.feature_dim == 0
                       ? write.lookup({"emb." + name + ".weight", type.num_nodes}, o.hidden_dim)
                       : write.linear("lin_in." + name, write.input(type.feature_dim), o.hidden_dim, RowSet::kSources));
  });
  OpId h = write.sum(std::move(rows), RowSet::kSources);
  if (!o.activate_input) return h;
  if (o.norm != NormKind::kNone) h = write.normalise(o.norm, "norm_in", h, RowSet::kSources);
  return write.drop(write.activate(h, 0, RowSet::kSources), {.stream = static_cast<std::uint32_t>(o.num_layers)},
                    RowSet::kSources);
}

OpId rgcn_convolution(Writer& write, const ModelOptions& o, const std::string& name, OpId x, bool is_hidden) {
  const std::int64_t out = width_out(o, is_hidden);
  Project part{.weight = name + ".weight",
               .form = WeightForm::kOfRelation,
               .num_relations = static_cast<int>(o.types.relations.size())};
  if (o.bases > 0) part.form = WeightForm::kBases, part.num_parts = o.bases, part.shares = name + ".comp";
  if (o.blocks > 0 && is_hidden) part.form = WeightForm::kBlocks, part.num_parts = o.blocks;
  std::vector<OpId> terms{
      write.project({.weight = name + ".root", .bias = name + ".bias", .form = WeightForm::kColumns}, x, out)};
  for_each_relation(write, o.types, [&](const GraphTypes::Relation&, int) {
    terms.push_back(write.project(part, write.aggregate(SumKind::kMean, x), out));
  });
  return write.sum(std::move(terms));
}

OpId rsage_convolution(Writer& write, const ModelOptions& o, const std::string& name, OpId x, bool is_hidden) {
  const std::int64_t out = width_out(o, is_hidden);
  std::vector<OpId> terms;
  for_each_relation(write, o.types, [&](const GraphTypes::Relation& relation, int) {
    const std::string of_relation = name + ".convs." + module_name(o.types, relation);
    terms.push_back(write.linear(of_relation + ".lin_l", write.aggregate(SumKind::kMean, x), out));
    write.of(relation.dst);
    terms.push_back(write.project({of_relation + ".lin_r.weight"}, x, out));
  });
  keep_others(write, o.types, x, out, terms);
  return write.sum(std::move(terms));
}

OpId rgat_convolution(Writer& write, const ModelOptions& o, const std::string& name, OpId x) {
  std::vector<OpId> terms;
  for_each_relation(write, o.types, [&](const GraphTypes::Relation& relation, int number) {
    const std::string of_relation = name + ".convs." + module_name(o.types, relation);
    write.of(relation.src, number);
    const OpId sources = write.project({of_relation + ".lin.weight"}, x, o.hidden_dim, RowSet::kSources);
    write.of(relation.dst, number);
    const OpId own = write.project({of_relation + ".lin.weight"}, x, o.hidden_dim);
    terms.push_back(write.attend({.kind = AttentionKind::kRelationGat,
                                  .heads = o.heads,
                                  .vectors = {of_relation + ".att_src", of_relation + ".att_dst"},
                                  .bias = of_relation + ".bias"},
                                 {sources, own}, o.hidden_dim));
  });
  keep_others(write, o.types, x, o.hidden_dim, terms);
  return write.sum(std::move(terms));
}

OpId hgt_convolution(Writer& write, const ModelOptions& o, const std::string& name, OpId x) {
  std::vector<OpId> terms;
  for_each_type(write, o.types, [&](const GraphTypes::NodeType&, const std::string& type) {
    terms.push_back(write.linear(name + ".kqv_lin.lins." + type, x, std::int64_t{3} * o.hidden_dim, RowSet::kSources));
  });
  Attend attend{
      .kind = AttentionKind::kHgt, .heads = o.heads, .maps = {name + ".k_rel.weight", name + ".v_rel.weight"}};
  for (const GraphTypes::Relation& relation : o.types.relations)
    attend.scales.push_back(name + ".p_rel." + joined_name(o.types, relation));
  const OpId sums =
      write.gelu(write.attend(std::move(attend), {write.sum(std::move(terms), RowSet::kSources)}, o.hidden_dim));
  terms.clear();
  for_each_type(write, o.types, [&](const GraphTypes::NodeType&, const std::string& type) {
    terms.push_back(
        write.mix(name + ".skip." + type, write.linear(name + ".out_lin.lins." + type, sums, o.hidden_dim), x));
  });
  return write.sum(std::move(terms));
}

}  // namespace salient
