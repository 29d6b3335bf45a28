// engine/plan/fanouts_of.cpp - see fanouts_of.h.
#include "engine/plan/fanouts_of.h"

#include <algorithm>
#include <cstddef>

#include "core/error.h"
#include "core/value_text.h"

namespace salient {
namespace {

std::string relation_names(const GraphSchema& schema) {
  constexpr std::size_t kMost = 20;
  std::string names;
  for (std::size_t r = 0; r < std::min(kMost, schema.relations.size()); ++r)
    names.append(r == 0 ? "" : ", ").append(text_of(schema, schema.relations[r]));
  const std::size_t more = schema.relations.size() - std::min(kMost, schema.relations.size());
  return more > 0 ? names + " and " + std::to_string(more) + " more" : names;
}

std::size_t relation_named(const std::string& name, const GraphSchema& schema) {
  const auto found = std::ranges::find_if(schema.relations,
                                          [&](const Relation& relation) { return text_of(schema, relation) == name; });
  if (found == schema.relations.end())
    fail(ErrorKind::kUsage, "fanouts of '" + name + "': " +
                                (schema.is_typed() ? "no such relation; there are " + relation_names(schema)
                                                   : "the graph is plain, and has no relations with names"));
  return static_cast<std::size_t>(found - schema.relations.begin());
}

}  // namespace

std::string to_text(const FanoutsOf& fanouts) {
  std::string text;
  for (const FanoutsOf::Named& named : fanouts.relations)
    text.append(text.empty() ? "" : ",").append(named.relation).append("=").append(to_text(named.fanouts));
  return text;
}

bool from_text(std::string_view text, FanoutsOf& fanouts) {
  FanoutsOf::Named* named = nullptr;
  for (std::size_t from = 0; from <= text.size() && !text.empty();) {
    const std::size_t end = std::min(text.find(',', from), text.size());
    std::string_view item = text.substr(from, end - from);
    from = end + 1;
    if (const std::size_t equals = item.find('='); equals != std::string_view::npos) {
      const std::string relation(item.substr(0, equals));
      std::erase_if(fanouts.relations, [&](const FanoutsOf::Named& other) { return other.relation == relation; });
      named = &fanouts.relations.emplace_back(FanoutsOf::Named{relation});
      item.remove_prefix(equals + 1);
    }
    if (named == nullptr || !from_text(item, named->fanouts.emplace_back())) return false;
  }
  return true;
}

bool are_fanouts_of(const FanoutsOf& fanouts, int num_hops) {
  return std::ranges::all_of(fanouts.relations, [&](const FanoutsOf::Named& named) {
    return std::ssize(named.fanouts) == num_hops &&
           std::ranges::all_of(named.fanouts, [](int f) { return f >= kAllNeighbors && f < 1 << 16; });
  });
}

SamplingRule with_fanouts_of(SamplingRule rule, const FanoutsOf& fanouts, const GraphSchema& schema) {
  if (fanouts.empty()) return rule;
  std::vector<std::vector<int>> of_relations(schema.relations.size(), rule.fanouts);
  for (const FanoutsOf::Named& named : fanouts.relations)
    of_relations[relation_named(named.relation, schema)] = named.fanouts;
  rule.relation_fanouts = std::move(of_relations);
  return rule;
}

std::vector<int> unreached_types(const GraphSchema& schema, const SamplingRule& rule) {
  if (!schema.is_typed()) return {};
  std::vector<bool> is_met(schema.node_types.size(), false);
  is_met[static_cast<std::size_t>(schema.target_type)] = true;
  for (std::size_t hop = 0; hop < rule.fanouts.size(); ++hop) {
    const std::vector<bool> are_destinations = is_met;
    for (std::size_t r = 0; r < schema.relations.size(); ++r) {
      const Relation& relation = schema.relations[r];
      if (relation.num_entries > 0 && rule.fanout_of(r, hop) != 0 &&
          are_destinations[static_cast<std::size_t>(relation.dst)])
        is_met[static_cast<std::size_t>(relation.src)] = true;
    }
  }
  std::vector<int> types;
  for (std::size_t t = 0; t < is_met.size(); ++t)
    if (!is_met[t]) types.push_back(static_cast<int>(t));
  return types;
}

}  // namespace salient
