// prepare/importers/typed_schema.cpp - see typed_schema.h.
#include "prepare/importers/typed_schema.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace salient {
namespace {

std::string text_of(const EdgeSource& source) { return source.src + ":" + source.name + ":" + source.dst; }

/// Sets the rule and returns nullopt where there is no such type.
std::optional<int> type_of(SchemaDraft& draft, const char* field, const std::string& what, const std::string& name) {
  const std::optional<int> type = draft.schema.type_named(name);
  if (!type && draft.rule.empty()) {
    draft.field = field;
    draft.rule = what + "no node type '" + name + "'; there are " + type_names(draft.schema);
  }
  return type;
}

void add_reverses(GraphSchema& schema) {
  const std::size_t num_given = schema.relations.size();
  const auto is_given = [&](int src, const std::string& name, int dst) {
    return std::any_of(schema.relations.begin(), schema.relations.begin() + static_cast<std::ptrdiff_t>(num_given),
                       [&](const Relation& r) { return r.src == src && r.name == name && r.dst == dst; });
  };
  for (std::size_t r = 0; r < num_given; ++r) {
    const Relation forward = schema.relations[r];
    const bool is_reverse = forward.name.starts_with(kReversePrefix) &&
                            is_given(forward.dst, forward.name.substr(sizeof kReversePrefix - 1), forward.src);
    const std::string name = kReversePrefix + forward.name;
    if (is_reverse || is_given(forward.dst, name, forward.src)) continue;
    schema.relations.push_back(
        {.src = forward.dst, .dst = forward.src, .name = name, .reverse_of = static_cast<int>(r)});
  }
}

}  // namespace

SchemaDraft draft_schema(const TypedOptions& options) {
  SchemaDraft draft;
  for (const NodeSource& source : options.nodes)
    draft.schema.node_types.push_back({.name = source.type, .count = source.count.value_or(0)});
  for (const EdgeSource& source : options.edges) {
    const std::string what = "'" + text_of(source) + "': ";
    const std::optional<int> src = type_of(draft, "edges", what, source.src),
                             dst = type_of(draft, "edges", what, source.dst);
    if (!src || !dst) return draft;
    draft.schema.relations.push_back({.src = *src, .dst = *dst, .name = source.name});
  }
  if (!options.target.empty()) {
    const std::optional<int> target = type_of(draft, "labels", "", options.target);
    if (!target) return draft;
    draft.schema.target_type = *target;
  }
  if (options.reverses == Reverses::kAdd) add_reverses(draft.schema);
  number_slots(draft.schema);
  GraphSchema checked = draft.schema;  // counts of files are not known yet
  for (NodeType& type : checked.node_types)
    if (type.count == 0) type.count = 1;
  draft.field = "edges";
  draft.rule = broken_rule(checked);
  checked.relations.clear();
  if (std::string rule = broken_rule(checked); !rule.empty()) {
    draft.field = "nodes";
    draft.rule = std::move(rule);
  }
  return draft;
}

}  // namespace salient
