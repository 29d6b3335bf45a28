// prepare/importers/link_files.cpp - see link_files.h.
#include "prepare/importers/link_files.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/files/npy.h"
#include "core/files/value_rules.h"
#include "store/link_table.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

NegativeSource source_of(std::vector<NodeId> ids, std::uint64_t width, const fs::path& file) {
  const auto kept = std::make_shared<const std::vector<NodeId>>(std::move(ids));
  return {.rows = kept->size() / width, .width = width, .file = file.string(), .read = [kept](const auto& use) {
            use(*kept);
          }};
}

std::vector<NodeId> pairs_in_text(const fs::path& file, const NodeIndex& index, const MemoryLimit& memory) {
  const auto find = [&](std::string_view id) { return index.find(id); };
  const NodePairs pairs = read_edges_of_names(
      file,
      {.ids = IdKind::kText, .is_node = [&](std::string_view id) { return find(id).has_value(); }, .memory = memory},
      [&](std::string_view id, std::size_t) { return find(id); });
  std::vector<NodeId> ends;
  set_ends(pairs.sources, pairs.destinations, ends);
  return ends;
}

/// Of an array whose ids are numbers. @param width  of a row
std::vector<NodeId> ids_in_array(const NpyFile& array, std::uint64_t width, const NodeIndex& index,
                                 const MemoryLimit& memory) {
  if (index.has_names())
    fail(ErrorKind::kBadData, array.name() + ": an array of numbers, and the ids of the nodes are text");
  memory.check(array.header().num_items() * (sizeof(std::uint64_t) + sizeof(NodeId)), array.name());
  const std::vector<std::uint64_t> ids = ids_of(array);
  const std::uint64_t rows = ids.size() / width;
  std::vector<NodeId> nodes(ids.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::size_t at = array.header().is_fortran_order ? i % width * rows + i / width : i;
    const std::optional<NodeId> node = index.find(ids[at]);
    if (!node)
      fail(ErrorKind::kBadData, array.name() + ": record " + std::to_string(i / width) + " has " +
                                    std::to_string(ids[at]) + ": no node has this id");
    nodes[i] = *node;
  }
  return nodes;
}

/// Rows of records that became links.
std::vector<NodeId> rows_of(std::vector<NodeId> ids, std::uint64_t width, const std::vector<std::uint64_t>& records) {
  std::size_t to = 0;
  for (const std::uint64_t record : records)
    for (std::uint64_t j = 0; j < width; ++j) ids[to++] = ids[record * width + j];
  ids.resize(to);
  return ids;
}

/// Of training: links are distinct edges, which have no records of their own.
void check_rows(std::uint64_t rows, std::uint64_t num_records, const std::string& file) {
  if (rows != num_records)
    fail(ErrorKind::kBadData,
         file + ": negatives of " + std::to_string(rows) + " links, there are " + std::to_string(num_records));
}

}  // namespace

EdgeFileOptions link_file_options(EdgeFileOptions of_edges, bool have_times) {
  of_edges.weight_column = "";
  if (!have_times) of_edges.time_column = "";
  of_edges.feature_columns.clear();
  return of_edges;
}

void set_ends(const std::vector<NodeId>& sources, const std::vector<NodeId>& destinations, std::vector<NodeId>& ends) {
  ends.resize(2 * sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    ends[2 * i] = sources[i];
    ends[2 * i + 1] = destinations[i];
  }
}

LinkNegativeSources read_negatives(const LinkFiles& files, const NodeIndex& index, const RawGraph& graph,
                                   const GivenLinks& given) {
  LinkNegativeSources sources;
  if (files.between == RepeatsBetween::kKeep || graph.has_link_times) sources.links = NegativeLinks::kWarn;
  for (std::size_t split = 0; split < files.negatives.size(); ++split) {
    const fs::path& file = files.negatives[split];
    if (file.empty()) continue;
    SplitNegatives& of = sources.of[split];
    if (file.extension() != ".npy") {
      of.pairs = source_of(pairs_in_text(file, index, graph.memory), 2, file);
      continue;
    }
    const NpyFile array(file);
    const std::vector<std::uint64_t>& shape = array.header().shape;
    if (shape.size() != 2 || shape[1] == 0)
      fail(ErrorKind::kBadData, file.string() + ": shape " + array.header().shape_text() +
                                    "; expected [m, 2], pairs, or [n, K], K destinations of each link");
    std::vector<NodeId> ids = ids_in_array(array, shape[1], index, graph.memory);
    if (shape[1] == 2) {
      of.pairs = source_of(std::move(ids), 2, file);
    } else if (split == kTrainLinks) {
      check_rows(shape[0], graph.links[split].size() / 2, file.string());
      of.destinations = source_of(std::move(ids), shape[1], file);
    } else {
      check_rows(shape[0], given.num_records[split - 1], file.string());
      of.destinations = source_of(rows_of(std::move(ids), shape[1], given.kept[split - 1]), shape[1], file);
    }
  }
  return sources;
}

}  // namespace salient
