// tests/support/small_types.h - a small graph's node types and relations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "models/describe/graph_types.h"
#include "models/describe/model_options.h"

namespace salient::test {

/// Columns of the features of edges that generated batches have.
inline constexpr int kEdgeDim = 3;

/// ModelOptions::edge_dim of a model that cannot do without.
inline int edge_dim_of(ModelKind kind) { return kind == ModelKind::kGine ? kEdgeDim : 0; }

/// Three types of other widths, one of them without features, and one that nothing is joined to; a relation within a
/// type, two between the same types, one that never has entries, and a type that none leads to.
inline GraphTypes small_types(std::int64_t scale = 1) {
  return {.node_types = {{"paper", 90 * scale, 7},
                         {"author", 80 * scale, 0},
                         {"sub.ject", 70 * scale, 3},
                         {"alone", 60 * scale, 2}},
          .relations = {{0, 0, "cites"},
                        {1, 0, "writes"},
                        {0, 1, "rev_writes"},
                        {2, 0, "about"},
                        {1, 1, "knows"},
                        {1, 0, "reviews"}},
          .target_type = 0};
}
inline constexpr std::size_t kRelationWithoutEntries = 4;

/// The relations that lead to a type, in order: its slots.
inline std::vector<int> relations_into(const GraphTypes& types, int type) {
  std::vector<int> found;
  for (std::size_t r = 0; r < types.relations.size(); ++r)
    if (types.relations[r].dst == type) found.push_back(static_cast<int>(r));
  return found;
}

/// The other way round, as fields of a file's metadata.
inline void add_text_of(const GraphTypes& types, std::map<std::string, std::string>& fields) {
  std::string &node_types = fields["node_types"], &relations = fields["relations"];
  for (const auto& [name, count, width] : types.node_types)
    node_types += (node_types.empty() ? "" : ",") + name + ":" + std::to_string(count) + ":" + std::to_string(width);
  for (const auto& [src, dst, name] : types.relations)
    relations += (relations.empty() ? "" : ",") + std::to_string(src) + ":" + std::to_string(dst) + ":" + name;
}

/// "paper:90:7,author:80:0" names, counts and widths; "0:0:cites,1:0:writes" source and destination types, names.
inline GraphTypes types_of_text(const std::string& node_types, const std::string& relations) {
  const auto each = [](const std::string& text, const auto& add) {
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
      std::istringstream fields(word);
      std::string a, b, c;
      std::getline(std::getline(std::getline(fields, a, ':'), b, ':'), c);
      add(a, b, c);
    }
  };
  GraphTypes types;
  each(node_types, [&](const auto& name, const auto& count, const auto& width) {
    types.node_types.push_back({name, std::stoll(count), std::stoi(width)});
  });
  each(relations, [&](const auto& src, const auto& dst, const auto& name) {
    types.relations.push_back({std::stoi(src), std::stoi(dst), name});
  });
  return types;
}

}  // namespace salient::test
