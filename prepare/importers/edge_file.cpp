// prepare/importers/edge_file.cpp - see edge_file.h.
#include "prepare/importers/edge_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/npy.h"
#include "prepare/formats/npz_reader.h"
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

  std::array<std::string_view, 2> of(std::span<const std::string_view> fields, std::uint64_t number,
                                     std::string_view line) const {
    const std::size_t most = std::max(table_.columns[0], table_.columns[1]);
    const auto refuse = [&](const std::string& rule) {
      fail_at_line(table_.file.path(), number, line, rule, Topic::kEdgeColumns);
    };
    if (table_.takes_all_columns && fields.size() != 2)
      refuse(std::to_string(fields.size()) + " columns; an edge has two");
    if (fields.size() <= most)
      refuse("only " + std::to_string(fields.size()) + " columns; column " + std::to_string(most) + " was asked for");
    return {fields[table_.columns[0]], fields[table_.columns[1]]};
  }

  std::uint64_t number(std::string_view field, std::uint64_t number, std::string_view line) const {
    std::uint64_t id = 0;
    if (!parse_id(field, id))
      fail_at_line(table_.file.path(), number, line, in_quotes(field) + " is not a node id", Topic::kNodeIds);
    if (const std::optional<MatrixSizes>& matrix = table_.file.matrix()) {
      if (id == 0 || id > matrix->num_rows)
        fail_at_line(
            table_.file.path(), number, line,
            in_quotes(field) + " is no row of the matrix, they count from 1 to " + std::to_string(matrix->num_rows));
      return options_.num_nodes ? id - 1 : id;
    }
    if (options_.num_nodes && id >= *options_.num_nodes)
      fail_at_line(table_.file.path(), number, line,
                   "node " + std::to_string(id) + ", the graph has " + std::to_string(*options_.num_nodes));
    return id;
  }

 private:
  const EdgeTable& table_;
  const EdgeFileOptions& options_;
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

EdgeList read_text(const fs::path& path, const EdgeFileOptions& options) {
  EdgeTable table = open_edge_table(path, options);
  const EdgeEnds ends(table, options);
  EdgeList edges;
  const auto parse = [&](std::span<const std::string_view> fields, std::uint64_t number, std::string_view line,
                         EdgeList& parsed) {
    const auto [source, destination] = ends.of(fields, number, line);
    parsed.sources.push_back(ends.number(source, number, line));
    parsed.destinations.push_back(ends.number(destination, number, line));
  };
  table.file.for_each_row<EdgeList>(table.separator, options.num_threads, "reading edges", parse,
                                    [&](const EdgeList& parsed) {
                                      append(edges.sources, parsed.sources, options.memory, path.string());
                                      append(edges.destinations, parsed.destinations, options.memory, path.string());
                                    });
  if (const std::optional<MatrixSizes>& matrix = table.file.matrix()) {
    if (matrix->num_entries != edges.sources.size())
      fail(ErrorKind::kBadData, path.string() + ": has " + std::to_string(edges.sources.size()) +
                                    " entries, its sizes say " + std::to_string(matrix->num_entries));
    edges.num_rows = matrix->num_rows;
    edges.first_id = 1;
    edges.is_symmetric = matrix->is_symmetric;
  }
  return edges;
}

/// The ids of some edges, and where they are.
struct NamedEdges {
  NameTable ids{};  ///< two for each edge
  std::vector<std::uint64_t> lines{};
};

std::vector<std::int64_t> whole_numbers_of(const NpyFile& file) {
  const NpyHeader& header = file.header();
  std::vector<std::int64_t> flat(header.num_items());
  if (header.kind != 'f') {
    convert_to_int64(header, file.data().data(), flat.size(), flat.data());
    return flat;
  }
  constexpr std::size_t kBlock = std::size_t{64} << 10;
  std::vector<double> block(std::min(kBlock, flat.size()));
  for (std::size_t from = 0; from < flat.size(); from += block.size()) {
    const std::size_t count = std::min(block.size(), flat.size() - from);
    const std::byte* const raw = file.data().data() + from * static_cast<std::size_t>(header.item_bytes);
    convert_to_double(header, raw, count, block.data());
    for (std::size_t i = 0; i < count; ++i) {
      if (!(std::fabs(block[i]) <= 0x1p53) || block[i] != std::floor(block[i]))
        fail(ErrorKind::kBadData, file.name() + ": entry " + std::to_string(from + i) + " is " +
                                      std::to_string(block[i]) + ", ids are whole numbers");
      flat[from + i] = static_cast<std::int64_t>(block[i]);
    }
  }
  return flat;
}

/// Entry i of the flat file belongs to end i / E ([2, E] in C order, [E, 2] in Fortran order) or i % 2.
EdgeList read_npy(const fs::path& path, const EdgeFileOptions& options) {
  const NpyFile file(path);
  const NpyHeader& header = file.header();
  const bool is_pairs = header.shape.size() == 2 && (header.shape[0] == 2 || header.shape[1] == 2);
  if (header.kind == 'b' || !is_pairs)
    fail(ErrorKind::kBadData, file.name() + ": edges are whole numbers [2, E] or [E, 2], found " + header.dtype() +
                                  " " + header.shape_text());
  options.memory.check(file.data().size() + 2 * sizeof(std::int64_t) * header.num_items(), file.name());
  const std::vector<std::int64_t> flat = whole_numbers_of(file);
  for (std::size_t i = 0; i < flat.size(); ++i)
    if (flat[i] < 0 || (options.num_nodes && static_cast<std::uint64_t>(flat[i]) >= *options.num_nodes))
      fail(ErrorKind::kBadData, file.name() + ": entry " + std::to_string(i) + " is " + std::to_string(flat[i]) +
                                    (flat[i] < 0 ? ", ids are not negative"
                                                 : ", the graph has " + std::to_string(*options.num_nodes) + " nodes"));
  const bool ends_apart = (header.shape[0] == 2) != header.is_fortran_order;
  const std::size_t num_edges = flat.size() / 2;
  EdgeList edges;
  edges.sources.resize(num_edges);
  edges.destinations.resize(num_edges);
  for (std::size_t m = 0; m < num_edges; ++m) {
    edges.sources[m] = static_cast<std::uint64_t>(flat[ends_apart ? m : 2 * m]);
    edges.destinations[m] = static_cast<std::uint64_t>(flat[ends_apart ? num_edges + m : 2 * m + 1]);
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
  const SparseMatrix matrix = read_sparse_matrix(archive, "", options.memory);
  require_square(path, matrix.num_rows, matrix.num_columns, options.num_nodes);
  options.memory.check(2 * sizeof(std::uint64_t) * matrix.columns.size(), path.string());
  EdgeList edges{.num_rows = matrix.num_rows};
  edges.sources.reserve(matrix.columns.size());
  for (std::size_t r = 0; r < matrix.num_rows; ++r)
    edges.sources.insert(edges.sources.end(), static_cast<std::size_t>(matrix.begin[r + 1] - matrix.begin[r]), r);
  edges.destinations.assign(matrix.columns.begin(), matrix.columns.end());
  return edges;
}

}  // namespace

IdKind ids_of_edge_file(const fs::path& path, const EdgeFileOptions& options) {
  const bool is_array = path.extension() == ".npy" || path.extension() == ".npz";
  return is_array ? IdKind::kNumbers : open_edge_table(path, options).ids;
}

EdgeList read_edge_file(const fs::path& path, const EdgeFileOptions& options) {
  if (path.extension() == ".npy") return read_npy(path, options);
  return path.extension() == ".npz" ? read_npz(path, options) : read_text(path, options);
}

NodePairs read_edges_of_names(const fs::path& path, const EdgeFileOptions& options,
                              const std::function<std::optional<NodeId>(std::string_view)>& node_of) {
  EdgeTable table = open_edge_table(path, options);
  const EdgeEnds ends(table, options);
  log_info(path.string() + ": ids are text" + (table.has_header ? "" : ", and the first line is an edge, no header"));
  NodePairs edges;
  const auto parse = [&](std::span<const std::string_view> fields, std::uint64_t number, std::string_view line,
                         NamedEdges& parsed) {
    parsed.lines.push_back(number);
    for (const std::string_view id : ends.of(fields, number, line)) {
      if (id.empty()) fail_at_line(path, number, line, "an empty id");
      parsed.ids.append(id);
    }
  };
  const auto take = [&](const NamedEdges& parsed) {
    NodePairs found;
    for (std::size_t i = 0; i < parsed.ids.size(); ++i) {
      const std::optional<NodeId> node = node_of(parsed.ids[i]);
      if (!node)
        fail_at_line(path, parsed.lines[i / 2], parsed.ids[i],
                     "an edge of a node that the table of nodes does not have");
      (i % 2 == 0 ? found.sources : found.destinations).push_back(*node);
    }
    append(edges.sources, found.sources, options.memory, path.string());
    append(edges.destinations, found.destinations, options.memory, path.string());
  };
  table.file.for_each_row<NamedEdges>(table.separator, options.num_threads, "reading edges", parse, take);
  return edges;
}

}  // namespace salient
