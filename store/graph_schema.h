// store/graph_schema.h - the node types of a typed graph, and its relations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/slot_table.h"
#include "store/row_table.h"
#include "store/sparse_rows.h"

namespace salient {

inline constexpr std::size_t kMaxNodeTypes = 255;
inline constexpr std::size_t kMaxRelations = 65534;
/// Every relation has a slot of its own at each node that it leads to; knowledge graphs have hundreds of them, and more
/// than this is a mistake.
inline constexpr std::uint32_t kMaxSlots = 4096;

/// What the feature rows of a node type are; every type has its own.
struct FeatureShape {
  int dim = 0;  ///< 0 = none
  FeatureType type = FeatureType::kF16;
  FeatureLayout layout = FeatureLayout::kDense;
  float fp8_scale = 0;  ///< of kFp8: as in RowTable

  bool is_sparse() const { return layout == FeatureLayout::kCsr; }
  /// Of a dense row, stored.
  std::size_t row_bytes() const { return static_cast<std::size_t>(dim) * size_of(type); }
  bool operator==(const FeatureShape&) const = default;
};

struct NodeType {
  std::string name{};
  std::uint64_t count = 0;
  FeatureShape features{};

  bool operator==(const NodeType&) const = default;
};

inline constexpr char kReversePrefix[] = "rev_";  ///< before the name of a relation: its reverse

/// Edges of one meaning, from nodes of one type to nodes of one type. Its entries are in the rows of its destinations.
struct Relation {
  int src = 0, dst = 0;  ///< node types
  std::string name{};
  std::uint32_t slot = 0;  ///< of the nodes of dst; relations into a type have 0, 1, ... in their order
  std::uint64_t num_entries = 0;
  std::optional<int> reverse_of{};  ///< the relation whose entries it has the other way round

  bool operator==(const Relation&) const = default;
};

/// Of a plain graph empty: it has one type and one relation, without names.
struct GraphSchema {
  std::vector<NodeType> node_types{};  ///< in the order of their ids
  std::vector<Relation> relations{};
  int target_type = 0;  ///< whose labels the data set has, and whose nodes its split

  bool is_typed() const { return !node_types.empty(); }
  const NodeType& target() const { return node_types[static_cast<std::size_t>(target_type)]; }
  std::optional<int> type_named(std::string_view name) const;
  bool operator==(const GraphSchema&) const = default;
};

/// Names of node types are parts of "SRC:NAME:DST" and of fields of files: 1 to 100 characters, no control character
/// and none of ':', '=', ',', '/' and blanks.
bool is_schema_name(std::string_view name);

/// Those of relations are between the two types: 1 to 1,000 characters, no control character. Knowledge graphs have
/// paths and sentences as such names.
bool is_relation_name(std::string_view name);

/// "paper:written_by:author"
std::string text_of(const GraphSchema& schema, const Relation& relation);

/// The names of all types, "paper, author, subject", for messages.
std::string type_names(const GraphSchema& schema);

/// Gives each relation its slot: the number of the relations into the same type before it.
void number_slots(GraphSchema& schema);

/// Which rows are whose. Of a plain graph empty.
SlotTable slot_table_of(const GraphSchema& schema);

/// The first rule that a schema breaks, "" if it is one of a store: names, ends, slots, counts, limits.
std::string broken_rule(const GraphSchema& schema);

}  // namespace salient
