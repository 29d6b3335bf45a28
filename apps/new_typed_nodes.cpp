// apps/new_typed_nodes.cpp - new nodes of typed graphs from tables; see new_node_table.h.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "apps/new_node_ids.h"
#include "apps/new_node_table.h"
#include "apps/selected_nodes.h"
#include "core/console/log.h"
#include "core/error.h"
#include "prepare/importers/edge_file.h"
#include "prepare/importers/feature_table.h"
#include "store/raw_rows.h"

namespace salient {
namespace {

/// Rows of numbers as they are. @return  [rows, dim]
std::vector<float> plain_rows(const std::string& file, const std::string& id_column, const NodeType& type,
                              NewNodeIds& ids) {
  const FeatureTableOptions how{.wishes = {.scaling = FeatureScaling::kNone}, .type = FeatureType::kF32};
  const CodedFeatures read =
      read_feature_table(file, {.id_column = id_column}, how, [&](std::string_view id) { return ids.add(id); });
  for (const ColumnCoding& column : read.coding.columns)
    if (column.kind != ColumnKind::kNumber || column.marks_blanks)
      fail(ErrorKind::kBadData, file + ": column '" + column.name + "' has words or blanks; features of type '" +
                                    type.name + "' are numbers as the store has them");
  if (read.features.dim != type.features.dim)
    fail(ErrorKind::kBadData, file + ": " + std::to_string(read.features.dim) + " columns beside the id; type '" +
                                  type.name + "' has " + std::to_string(type.features.dim) + " features");
  std::vector<float> rows(read.features.rows.size() / sizeof(float));
  if (!rows.empty()) std::memcpy(rows.data(), read.features.rows.data(), read.features.rows.size());
  return rows;
}

/// Whether every entry of a relation within a type is there the other way round, too.
bool is_own_reverse(const Dataset& dataset, const Relation& relation) {
  if (relation.src != relation.dst) return false;
  const SlotTable& slots = *dataset.slots;
  const auto type = static_cast<std::size_t>(relation.dst);
  for (std::uint64_t node = slots.node_begin[type]; node < slots.node_begin[type + 1]; ++node)
    for (const NodeId other : dataset.graph.row(slots.row_of(type, static_cast<NodeId>(node), relation.slot)))
      if (!std::ranges::binary_search(dataset.graph.row(slots.row_of(type, other, relation.slot)),
                                      static_cast<NodeId>(node)))
        return false;
  return true;
}

class TypedReader {
 public:
  TypedReader(const Dataset& dataset, const TypedNewNodeFiles& files)
      : dataset_(dataset), schema_(dataset.types), files_(files) {
    std::vector<NodeLookup> lookups = lookups_of_types(dataset);
    for (std::size_t t = 0; t < lookups.size(); ++t)
      ids_.emplace_back(std::move(lookups[t]), static_cast<std::size_t>(schema_.node_types[t].count));
  }

  NewNodeTable read() {
    read_nodes();
    for (const std::string& item : files_.edges) read_edges(item);
    if (num_unseen_ > 0)
      log_warning("--new-edges: " + std::to_string(num_unseen_) +
                  " edges are left out: they lead to nodes of the data set, which do not see new ones");
    finish_rows();
    return std::move(table_);
  }

 private:
  static std::size_t at(int number) { return static_cast<std::size_t>(number); }

  /// What stands behind "NAME=".
  static std::optional<std::string> file_of(const std::string& item, const std::string& name) {
    return item.starts_with(name + "=") ? std::optional(item.substr(name.size() + 1)) : std::nullopt;
  }

  void read_nodes() {
    std::vector<std::string> file_of_type(schema_.node_types.size());
    for (const std::string& item : files_.nodes) {
      const auto type = std::ranges::find_if(
          schema_.node_types, [&](const NodeType& known) { return file_of(item, known.name).has_value(); });
      if (type == schema_.node_types.end())
        fail(ErrorKind::kUsage,
             "--new-nodes: '" + item + "': TYPE=FILE, with a type of " + dataset_.name + ": " + type_names(schema_));
      file_of_type[static_cast<std::size_t>(type - schema_.node_types.begin())] = *file_of(item, type->name);
    }
    if (file_of_type[at(schema_.target_type)].empty())
      fail(ErrorKind::kUsage, "--new-nodes: none is of type '" + schema_.target().name + "', which the run predicts");
    first_place_.assign(schema_.node_types.size(), 0);
    read_nodes_of(schema_.target_type, file_of_type[at(schema_.target_type)]);
    table_.ids = ids_[at(schema_.target_type)].ids_of_added();
    for (std::size_t t = 0; t < file_of_type.size(); ++t)
      if (t != at(schema_.target_type) && !file_of_type[t].empty()) read_nodes_of(static_cast<int>(t), file_of_type[t]);
    const auto num_targets = static_cast<NodeId>(ids_[at(schema_.target_type)].num_added());
    for (NodeId place = 0; place < num_targets; ++place) table_.nodes.predicted.push_back(place);
  }

  void read_nodes_of(int type, const std::string& file) {
    NewNodes& nodes = table_.nodes;
    NewNodeIds& ids = ids_[at(type)];
    const NodeType& said = schema_.node_types[at(type)];
    first_place_[at(type)] = nodes.types.size();
    std::optional<RawRows> coding;
    if (type == schema_.target_type && said.features.dim > 0) coding = raw_rows_of(dataset_, dataset_.name);
    std::vector<float> rows;
    if (said.features.dim == 0)
      read_id_list(file, {.id_column = files_.id_column}, [&](std::string_view id) { return ids.add(id); });
    else
      rows = coding ? coded_rows(file, files_.id_column, *coding, ids) : plain_rows(file, files_.id_column, said, ids);
    if (ids.num_added() == 0) fail(ErrorKind::kBadData, file + ": has no row below its header");
    nodes.features.insert(nodes.features.end(), rows.begin(), rows.end());
    nodes.types.insert(nodes.types.end(), ids.num_added(), static_cast<std::uint8_t>(type));
    rows_.resize(nodes.types.size(), std::vector<std::vector<NodeId>>(dataset_.slots->num_slots[at(type)]));
  }

  const Relation& relation_of(const std::string& item, std::string& file) const {
    for (const Relation& relation : schema_.relations)
      if (const auto found = file_of(item, text_of(schema_, relation))) {
        file = *found;
        return relation;
      }
    std::string known;
    for (const Relation& relation : schema_.relations)
      if (known.size() < 500) known.append(known.empty() ? "" : ", ").append(text_of(schema_, relation));
    fail(ErrorKind::kUsage,
         "--new-edges: '" + item + "': SRC:NAME:DST=FILE, with a relation of " + dataset_.name + ": " + known);
  }

  /// The relation that has the same edges the other way round; null if there is none.
  const Relation* reverse_of(const Relation& relation) const {
    const Relation* const first = schema_.relations.data();
    for (const Relation& other : schema_.relations)
      if ((other.reverse_of && first + *other.reverse_of == &relation) ||
          (relation.reverse_of && first + *relation.reverse_of == &other))
        return &other;
    return is_own_reverse(dataset_, relation) ? &relation : nullptr;
  }

  void read_edges(const std::string& item) {
    std::string file;
    const Relation& relation = relation_of(item, file);
    const Relation* const reverse = reverse_of(relation);
    const NewNodeIds &sources = ids_[at(relation.src)], &destinations = ids_[at(relation.dst)];
    const auto is_node = [&](std::string_view id) { return sources.find(id) || destinations.find(id); };
    const NodePairs edges = read_edges_of_names(
        file, {.ids = IdKind::kText, .is_node = is_node},
        [&](std::string_view id, std::size_t end) { return end == 0 ? sources.find(id) : destinations.find(id); });
    for (std::size_t e = 0; e < edges.sources.size(); ++e) {
      const bool is_seen = add(edges.destinations[e], relation, edges.sources[e]);
      const bool is_seen_back = reverse != nullptr && add(edges.sources[e], *reverse, edges.destinations[e]);
      if (!is_seen && !is_seen_back) ++num_unseen_;
    }
  }

  /// `seer` sees `seen` by a relation, if it is new. Both are numbers among the nodes of their types.
  bool add(NodeId seer, const Relation& relation, NodeId seen) {
    const std::size_t src = at(relation.src), dst = at(relation.dst);
    const std::size_t known = ids_[dst].num_known(), known_sources = ids_[src].num_known();
    if (seer < known) return false;
    const std::size_t id = seen < known_sources ? dataset_.slots->node_begin[src] + seen
                                                : dataset_.num_nodes() + first_place_[src] + (seen - known_sources);
    rows_[first_place_[dst] + (seer - known)][relation.slot].push_back(static_cast<NodeId>(id));
    return true;
  }

  void finish_rows() {
    NewNodes& nodes = table_.nodes;
    std::size_t num_alone = 0;
    for (std::vector<std::vector<NodeId>>& slots : rows_) {
      const std::size_t before = nodes.indices.size();
      for (std::vector<NodeId>& row : slots) {
        std::ranges::sort(row);
        row.erase(std::ranges::unique(row).begin(), row.end());
        nodes.indices.insert(nodes.indices.end(), row.begin(), row.end());
        nodes.indptr.push_back(std::ssize(nodes.indices));
      }
      if (nodes.indices.size() == before) ++num_alone;
    }
    if (num_alone > 0)
      log_info(std::to_string(num_alone) + " of " + std::to_string(rows_.size()) + " new nodes have no neighbour");
  }

  const Dataset& dataset_;
  const GraphSchema& schema_;
  const TypedNewNodeFiles& files_;
  std::vector<NewNodeIds> ids_{};                         // [T]
  std::vector<std::size_t> first_place_{};                // [T] of its new nodes in the list
  std::vector<std::vector<std::vector<NodeId>>> rows_{};  // [new nodes][slots]
  std::size_t num_unseen_ = 0;
  NewNodeTable table_{};
};

}  // namespace

NewNodeTable read_new_typed_nodes(const Dataset& dataset, const TypedNewNodeFiles& files) {
  return TypedReader(dataset, files).read();
}

}  // namespace salient
