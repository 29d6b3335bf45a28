// prepare/importers/edge_file.cpp - see edge_file.h.
#include "prepare/importers/edge_file.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/npy.h"
#include "core/files/value_rules.h"
#include "core/value_text.h"
#include "prepare/formats/npz_reader.h"
#include "prepare/importers/edge_features.h"
#include "prepare/importers/edge_table.h"
#include "prepare/importers/name_map.h"
#include "prepare/importers/sparse_npz.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

/// The two ids of a row. @throws Error{kBadData} naming file and line
class EdgeEnds {
 public:
  EdgeEnds(const EdgeTable& table, const EdgeFileOptions& options) : table_(table), options_(options) {}

  std::array<std::string_view, 2> of(std::span<const std::string_view> fields) const {
    return {fields[table_.columns[0]], fields[table_.columns[1]]};
  }

  /// An id of any characters.
  void require_id(std::string_view field, std::uint64_t number, std::string_view line) const {
    if (const char* rule = broken_id_rule(field, line)) fail_at_line(table_.file.path(), number, line, rule);
  }

  /// An id that is a number, of end 0 or 1. Sets `unusual`, if it is not set, where the form of this one is.
  std::uint64_t number(std::string_view field, std::size_t end, std::uint64_t number, std::string_view line,
                       TableRow& unusual) const {
    std::uint64_t id = 0;
    const IdForm form = id_form(field, id);
    if (form == IdForm::kUnusual && unusual.number == 0) unusual = {number, std::string(field)};
    if (form == IdForm::kNone) {
      require_id(field, number, line);
      fail_at_line(table_.file.path(), number, line, in_quotes(field) + " is not a node id", Topic::kNodeIds);
    }
    if (const std::optional<MatrixSizes>& matrix = table_.file.matrix()) {
      const std::uint64_t size = end == 0 ? matrix->num_rows : matrix->num_columns;
      if (id == 0 || id > size)
        fail_at_line(table_.file.path(), number, line,
                     in_quotes(field) + " is no " +
                         (matrix->num_columns == matrix->num_rows || end == 0 ? "row" : "column") +
                         " of the matrix, they count from 1 to " + std::to_string(size));
      return options_.num_nodes || options_.ends ? id - 1 : id;
    }
    if (options_.ends && id >= (*options_.ends)[end].count)
      fail_at_line(table_.file.path(), number, line, (*options_.ends)[end].rule(id));
    if (options_.num_nodes && id >= *options_.num_nodes)
      fail_at_line(table_.file.path(), number, line,
                   "node " + std::to_string(id) + ", the graph has " + std::to_string(*options_.num_nodes) +
                       (id == *options_.num_nodes ? ", which count from 0; do the ids count from 1?" : ""));
    return id;
  }

 private:
  const EdgeTable& table_;
  const EdgeFileOptions& options_;
};

/// Weights and times of the rows of a block.
struct ParsedValues {
  std::vector<double> weights{};
  std::vector<std::int64_t> times{};
  std::vector<double> features{};
  TimeForms forms{};
};

/// Those of all rows. @throws Error{kBadData} naming file and line
class ValueColumns {
 public:
  ValueColumns(const EdgeTable& table, const EdgeFileOptions& options) : table_(table), options_(options) {}

  void parse(std::span<const std::string_view> fields, std::uint64_t number, std::string_view line,
             ParsedValues& parsed) const {
    if (table_.weight_column) {
      const char* const rule =
          parse_weight(fields[*table_.weight_column], options_.weight_map, parsed.weights.emplace_back());
      if (rule != nullptr) refuse(fields[*table_.weight_column], number, line, rule);
    }
    for (const std::size_t column : table_.feature_columns)
      if (!from_text(fields[column], parsed.features.emplace_back()))
        refuse(fields[column], number, line,
               "the feature in column " + std::to_string(column) + " is no finite number");
    if (!table_.time_column) return;
    parsed.times.push_back(parsed.forms.parse(fields[*table_.time_column], table_.file.path(), number, line));
  }

  void take(const ParsedValues& parsed) {
    append(weights_, parsed.weights);
    append(times_, parsed.times);
    append(features_, parsed.features);
    forms_.add(parsed.forms, table_.file.path());
  }

  EdgeValues values() {
    forms_.say(table_.file.path());
    const std::string file = table_.file.path().string();
    return {mapped_weights(weights_, options_.weight_map, file), times_,
            edge_features_of(std::exchange(features_, {}), options_.feature_columns, options_.scaling,
                             options_.feature_type, options_.memory, file)};
  }

 private:
  [[noreturn]] void refuse(std::string_view field, std::uint64_t number, std::string_view line,
                           const std::string& rule) const {
    fail_at_line(table_.file.path(), number, line, in_quotes(field) + ": " + rule);
  }
  template <class T>
  void append(std::vector<T>& items, const std::vector<T>& more) const {
    options_.memory.check((items.size() + more.size()) * sizeof(T), table_.file.path().string());
    items.insert(items.end(), more.begin(), more.end());
  }

  const EdgeTable& table_;
  const EdgeFileOptions& options_;
  std::vector<double> weights_{};
  std::vector<std::int64_t> times_{};
  std::vector<double> features_{};
  TimeForms forms_{};
};

/// Appends, by doubling, after the limit was asked.
template <class T>
void append(std::vector<T>& items, const std::vector<T>& more, const MemoryLimit& memory, const std::string& what) {
  if (items.size() + more.size() > items.capacity()) {
    const std::size_t wanted = std::max(2 * items.capacity(), items.size() + more.size());
    memory.check(wanted * sizeof(T), what);
    items.reserve(wanted);
  }
  items.insert(items.end(), more.begin(), more.end());
}

/// Edges of a block, and the first id that is written in an unusual way.
struct NumberedEdges {
  EdgeList edges{};
  ParsedValues values{};
  TableRow unusual{};
};

/// Whether the rows are those of a METIS file of which every node has two neighbours: V, E; then the neighbours of each
/// node. As edges they would be a loop, and others.
bool is_metis_graph(const EdgeList& edges) {
  const std::uint64_t num_nodes = edges.sources.empty() ? 0 : edges.sources[0];
  if (num_nodes < 3 || edges.destinations[0] != num_nodes || edges.sources.size() != num_nodes + 1) return false;
  const auto has = [&](std::uint64_t node, std::uint64_t neighbor) {
    return edges.sources[node] == neighbor || edges.destinations[node] == neighbor;
  };
  for (std::uint64_t node = 1; node <= num_nodes; ++node)
    for (const std::uint64_t neighbor : {edges.sources[node], edges.destinations[node]})
      if (neighbor == 0 || neighbor > num_nodes || !has(neighbor, node)) return false;
  return true;
}

EdgeList read_text(const fs::path& path, const EdgeFileOptions& options) {
  EdgeTable table = open_edge_table(path, options);
  say_what_is_left(table);
  const EdgeEnds ends(table, options);
  ValueColumns columns(table, options);
  EdgeList edges;
  bool is_said = false;
  const auto parse = [&](std::span<const std::string_view> fields, std::uint64_t number, std::string_view line,
                         NumberedEdges& parsed) {
    const auto [source, destination] = ends.of(fields);
    parsed.edges.sources.push_back(ends.number(source, 0, number, line, parsed.unusual));
    parsed.edges.destinations.push_back(ends.number(destination, 1, number, line, parsed.unusual));
    columns.parse(fields, number, line, parsed.values);
  };
  const auto take = [&](const NumberedEdges& parsed) {
    if (parsed.unusual.number > 0 && !std::exchange(is_said, true))
      log_info(line_name(path, parsed.unusual.number) + ": " + unusual_id_text(parsed.unusual.text));
    append(edges.sources, parsed.edges.sources, options.memory, path.string());
    append(edges.destinations, parsed.edges.destinations, options.memory, path.string());
    columns.take(parsed.values);
  };
  table.rows.num_threads = options.num_threads;
  table.rows.label = "reading edges";
  table.file.for_each_row<NumberedEdges>(table.rows, parse, take);
  edges.values = columns.values();
  if (const std::optional<MatrixSizes>& matrix = table.file.matrix()) {
    if (matrix->num_entries != edges.sources.size())
      fail(ErrorKind::kBadData, path.string() + ": has " + std::to_string(edges.sources.size()) +
                                    " entries, its sizes say " + std::to_string(matrix->num_entries));
    edges.num_rows = matrix->num_rows;
    edges.first_id = 1;
    edges.is_symmetric = matrix->is_symmetric;
  } else if (table.header.empty() && is_metis_graph(edges)) {
    fail(ErrorKind::kBadData, path.string() + ": it looks like a graph of METIS, a line of sizes and then the " +
                                  "neighbours of each node; write its edges as two ids a line");
  }
  return edges;
}

/// The ids of some edges, and where they are.
struct NamedEdges {
  NameTable ids{};  ///< two for each edge
  std::vector<std::uint64_t> lines{};
  ParsedValues values{};
};

/// Refuses a first line that may be a header: in at least 20 edges its two ends occur nowhere else.
void refuse_lone_words(const EdgeTable& table, const NodePairs& edges) {
  constexpr std::size_t kLeastEdges = 20;
  const std::vector<TableRow>& head = table.file.head();
  if (edges.sources.size() < kLeastEdges || head.empty()) return;
  const NodeId source = edges.sources[0], destination = edges.destinations[0];
  for (const std::vector<NodeId>* ends : {&edges.sources, &edges.destinations})
    for (const NodeId node : std::span(*ends).subspan(1))
      if (node == source || node == destination) return;
  fail_at_line(table.file.path(), head.front().number, head.front().text,
               "may be a header, or an edge of two nodes that have no other", Topic::kHeader);
}

/// Entry i of the flat file belongs to end i / E ([2, E] in C order, [E, 2] in Fortran order) or i % 2.
EdgeList read_npy(const fs::path& path, const EdgeFileOptions& options) {
  const NpyFile file(path);
  const NpyHeader& header = file.header();
  const bool is_pairs = header.shape.size() == 2 && (header.shape[0] == 2 || header.shape[1] == 2);
  if (header.kind == 'b' || !is_pairs)
    fail(ErrorKind::kBadData, file.name() + ": edges are whole numbers [2, E] or [E, 2], found " + header.dtype() +
                                  " " + header.shape_text());
  options.memory.check(file.data().size() + 2 * sizeof(std::uint64_t) * header.num_items(), file.name());
  const std::vector<std::uint64_t> flat = ids_of(file);
  const bool ends_apart = (header.shape[0] == 2) != header.is_fortran_order;
  const std::size_t num_edges = flat.size() / 2;
  for (std::size_t i = 0; (options.num_nodes || options.ends) && i < flat.size(); ++i) {
    const std::size_t end = ends_apart ? i / num_edges : i % 2;
    const std::uint64_t count = options.ends ? (*options.ends)[end].count : *options.num_nodes;
    if (flat[i] >= count)
      fail_at_item(file.name(), i, std::to_string(flat[i]),
                   options.ends ? (*options.ends)[end].rule(flat[i]) : no_node(flat[i], count));
  }
  EdgeList edges;
  edges.sources.resize(num_edges);
  edges.destinations.resize(num_edges);
  for (std::size_t m = 0; m < num_edges; ++m) {
    edges.sources[m] = flat[ends_apart ? m : 2 * m];
    edges.destinations[m] = flat[ends_apart ? num_edges + m : 2 * m + 1];
  }
  return edges;
}

EdgeList read_npz(const fs::path& path, const EdgeFileOptions& options) {
  const ZipArchive archive(path);
  if (!has_sparse_matrix(archive, ""))
    fail(ErrorKind::kBadData, path.string() +
                                  ": has no sparse matrix (data, indices, indptr, shape, or data, row, col, "
                                  "shape); it has: " +
                                  names_in(archive));
  const bool has_weights = !options.weight_column.empty();
  if (has_weights && options.weight_column != "data")
    fail(ErrorKind::kBadData,
         path.string() + ": weights are the array 'data' of the matrix, not " + in_quotes(options.weight_column));
  const SparseMatrix matrix =
      read_sparse_matrix(archive, "", options.memory, has_weights ? SparseValues::kRead : SparseValues::kNotWanted);
  if (matrix.has_weights) log_info(path.string() + ": entries have different values, which are not used");
  require_size(path, matrix.num_rows, matrix.num_columns, options);
  options.memory.check(2 * sizeof(std::uint64_t) * matrix.columns.size(), path.string());
  EdgeList edges{.num_rows = matrix.num_rows};
  edges.sources.reserve(matrix.columns.size());
  for (std::size_t r = 0; r < matrix.num_rows; ++r)
    edges.sources.insert(edges.sources.end(), static_cast<std::size_t>(matrix.begin[r + 1] - matrix.begin[r]), r);
  edges.destinations.assign(matrix.columns.begin(), matrix.columns.end());
  for (std::size_t e = 0; e < matrix.values.size(); ++e) {
    double weight = 0;
    if (const char* rule = parse_weight(to_text(matrix.values[e]), options.weight_map, weight))
      fail_at_item(path.string() + ": data", e, to_text(matrix.values[e]), rule);
  }
  edges.values.weights = mapped_weights(matrix.values, options.weight_map, path.string());
  return edges;
}

}  // namespace

std::string EndNodes::rule(std::uint64_t id) const {
  if (count == 0) return "there is no node of type " + in_quotes(kind);
  return "node " + std::to_string(id) + ", those of type " + in_quotes(kind) + " are 0 to " +
         std::to_string(count - 1) + (id == count ? ", which count from 0; do the ids count from 1?" : "");
}

IdKind ids_of_edge_file(const fs::path& path, const EdgeFileOptions& options) {
  const bool is_array = path.extension() == ".npy" || path.extension() == ".npz";
  return is_array ? IdKind::kNumbers : open_edge_table(path, options).ids;
}

EdgeList read_edge_file(const fs::path& path, const EdgeFileOptions& options) {
  const bool is_array = path.extension() == ".npy" || path.extension() == ".npz";
  if (is_array && (!options.time_column.empty() || !options.feature_columns.empty() ||
                   (path.extension() == ".npy" && !options.weight_column.empty())))
    fail(ErrorKind::kBadData,
         path.string() + ": has no columns of weights or times, nor of features; a table in text does");
  if (path.extension() == ".npy") return read_npy(path, options);
  return path.extension() == ".npz" ? read_npz(path, options) : read_text(path, options);
}

NodePairs read_edges_of_names(const fs::path& path, const EdgeFileOptions& options,
                              const std::function<std::optional<NodeId>(std::string_view, std::size_t)>& node_of) {
  EdgeTable table = open_edge_table(path, options);
  const EdgeEnds ends(table, options);
  log_info(path.string() + ": ids are text" +
           (table.header.empty() ? ", and the first line is an edge, no header" : ""));
  say_what_is_left(table);
  ValueColumns columns(table, options);
  NodePairs edges;
  const auto parse = [&](std::span<const std::string_view> fields, std::uint64_t number, std::string_view line,
                         NamedEdges& parsed) {
    parsed.lines.push_back(number);
    for (const std::string_view id : ends.of(fields)) {
      ends.require_id(id, number, line);
      parsed.ids.append(id);
    }
    columns.parse(fields, number, line, parsed.values);
  };
  const auto take = [&](const NamedEdges& parsed) {
    NodePairs found;
    for (std::size_t i = 0; i < parsed.ids.size(); ++i) {
      const std::optional<NodeId> node = node_of(parsed.ids[i], i % 2);
      if (!node)
        fail_at_line(path, parsed.lines[i / 2], parsed.ids[i],
                     options.ends ? "no node of type " + in_quotes((*options.ends)[i % 2].kind) + " has this id"
                                  : "an edge of a node that the table of nodes does not have");
      (i % 2 == 0 ? found.sources : found.destinations).push_back(*node);
    }
    append(edges.sources, found.sources, options.memory, path.string());
    append(edges.destinations, found.destinations, options.memory, path.string());
    columns.take(parsed.values);
  };
  table.rows.num_threads = options.num_threads;
  table.rows.label = "reading edges";
  table.file.for_each_row<NamedEdges>(table.rows, parse, take);
  edges.values = columns.values();
  if (table.header.empty() && options.header == HeaderRule::kAuto && !options.is_node) refuse_lone_words(table, edges);
  return edges;
}

}  // namespace salient
