// tests/support/sampled_arrays.h - all that a BatchSampler gives of a typed graph, as named arrays, and the first
// difference between two of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sampler/batch_sampler.h"

namespace salient::test {

struct NamedArray {
  std::string name{};
  std::vector<std::int64_t> values{};
};

/// Sizes first, then what was copied. Every array ends with a word that nothing may overwrite.
inline std::vector<NamedArray> arrays_of(BatchSampler& sampler, std::span<const NodeId> seeds, BatchKey key) {
  constexpr LocalId kGuard = -77;
  const MfgShape shape = sampler.sample(seeds, key);
  std::vector<NamedArray> found;
  const auto add = [&](std::string name, const auto& values) {
    found.push_back({std::move(name), std::vector<std::int64_t>(values.begin(), values.end())});
  };
  std::deque<std::pair<std::string, std::vector<LocalId>>> memory;
  const auto room = [&](std::string name, LocalId count) {
    memory.emplace_back(std::move(name), std::vector<LocalId>(static_cast<std::size_t>(count) + 1, kGuard));
    return memory.back().second.data();
  };
  add("num_nodes", std::vector{shape.num_nodes});
  add("num_nodes_of_type", shape.num_nodes_of_type);
  std::vector<NodeId> nodes(static_cast<std::size_t>(shape.num_nodes) + 1, static_cast<NodeId>(kGuard));
  std::vector<MfgMemory::Hop> hops;
  std::vector<TypedHopMemory> typed;
  for (std::size_t h = 0; h < shape.hops.size(); ++h) {
    const std::string of_hop = "hops[" + std::to_string(h) + "].";
    const MfgShape::Hop& hop = shape.hops[h];
    const TypedHopShape& types = shape.typed_hops.at(h);
    add(of_hop + "sizes", std::vector{hop.num_dst, hop.num_src, hop.num_edges, types.num_rows});
    add(of_hop + "relation_begin", types.relation_begin);
    add(of_hop + "num_src_of_type", types.num_src_of_type);
    add(of_hop + "num_dst_of_type", types.num_dst_of_type);
    hops.push_back({room(of_hop + "indptr", types.num_rows + 1), room(of_hop + "indices", hop.num_edges)});
    typed.push_back({room(of_hop + "row_begin", hop.num_dst + 1), room(of_hop + "row_dst", types.num_rows),
                     room(of_hop + "relation_rows", types.relation_begin.back())});
  }
  std::vector<LocalId*> of_types;
  for (std::size_t t = 0; t < shape.num_nodes_of_type.size(); ++t)
    of_types.push_back(room("nodes_of_type[" + std::to_string(t) + "]", shape.num_nodes_of_type[t]));
  sampler.copy_to({.nodes = nodes.data(), .hops = hops, .typed_hops = typed, .nodes_of_type = of_types});
  add("nodes", nodes);
  for (const auto& [name, values] : memory) add(name, values);
  return found;
}

/// The first difference, as text; "" without any.
inline std::string first_difference(const std::vector<NamedArray>& found, const std::vector<NamedArray>& expected) {
  std::ostringstream text;
  for (std::size_t a = 0; a < expected.size(); ++a) {
    if (a >= found.size()) return expected[a].name + " is missing";
    const auto& [name, values] = found[a];
    const auto& [wanted_name, wanted] = expected[a];
    if (name != wanted_name) return name + " where " + wanted_name + " is expected";
    for (std::size_t i = 0; i < std::min(values.size(), wanted.size()); ++i) {
      if (values[i] == wanted[i]) continue;
      text << name << "[" << i << "] is " << values[i] << ", expected " << wanted[i] << ", of " << wanted.size();
      return text.str();
    }
    if (values.size() == wanted.size()) continue;
    text << name << " has " << values.size() << " values, expected " << wanted.size();
    return text.str();
  }
  return "";
}

}  // namespace salient::test
