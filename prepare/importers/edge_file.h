// prepare/importers/edge_file.h - an edge list in a file: text with two ids a line, NumPy pairs, or a sparse matrix.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/enum_names.h"
#include "core/types.h"
#include "prepare/importers/column_guess.h"
#include "prepare/importers/edge_values.h"
#include "prepare/importers/feature_table.h"
#include "prepare/importers/memory_limit.h"

namespace salient {

/// What the ids of a text file are.
enum class IdKind {
  kAuto,     ///< numbers if an id of the first edge begins as one: with a digit, a sign or a dot
  kNumbers,  ///< whole numbers, also as 3.0
  kText,     ///< any characters
};

constexpr auto names_of(IdKind) {
  return std::to_array<EnumName<IdKind>>(
      {{IdKind::kAuto, "auto"}, {IdKind::kNumbers, "numbers"}, {IdKind::kText, "text"}});
}

/// Ids as the file has them. Edge m: sources[m] -> destinations[m].
struct EdgeList {
  std::vector<std::uint64_t> sources{}, destinations{};
  EdgeValues values{};
  std::optional<std::uint64_t> num_rows{};  ///< of a matrix: its nodes are first_id and those that follow
  std::uint64_t first_id = 0;
  bool is_symmetric = false;  ///< the reverse of every edge is meant, too
};

/// The same with nodes instead of ids.
struct NodePairs {
  std::vector<NodeId> sources{}, destinations{};
  EdgeValues values{};
};

/// The nodes that one end of every edge is among.
struct EndNodes {
  std::uint64_t count = 0;
  std::string kind{};  ///< what they are called, for messages

  /// The rule that an id of none of them breaks.
  std::string rule(std::uint64_t id) const;
};

struct EdgeFileOptions {
  std::vector<std::string> columns{};  ///< two names or numbers from 0; empty: see below
  /// Of text: a name or number from 0; empty: none. Of NAME.npz `data` is the values of the matrix, as weights.
  std::string weight_column{}, time_column{};
  std::vector<std::string> feature_columns{};  ///< of text, likewise: finite numbers
  FeatureScaling scaling = FeatureScaling::kAuto;
  FeatureType feature_type = FeatureType::kF16;
  WeightMap weight_map = WeightMap::kNone;
  IdKind ids = IdKind::kAuto;
  std::optional<std::uint64_t> num_nodes{};       ///< of numbers, when known: ids from there on are refused
  std::optional<std::array<EndNodes, 2>> ends{};  ///< instead of num_nodes: sources and destinations are two kinds
  HeaderRule header = HeaderRule::kAuto;
  std::function<bool(std::string_view id)> is_node{};  ///< where the nodes are known already; null = they are not
  int num_threads = 0;                                 ///< 0 = all cores
  MemoryLimit memory{};
};

/// What the ids of the file are: kNumbers or kText.
IdKind ids_of_edge_file(const std::filesystem::path& path, const EdgeFileOptions& options);

/// NAME.npy: whole numbers [2, E] or [E, 2]; 2 x 2 reads as [2, E]. NAME.npz: a square matrix of scipy.sparse, with an
/// edge row -> column for each entry, whatever its value, which may be its weight. Anything else is text, plain or
/// gzip: `#` and `%` begin comment lines; fields are parted by blanks, tabs, commas or semicolons, and may be in double
/// quotes.
///
/// A first line without numbers, and that does not begin as one, is a header of numbers. Of text it is one if columns
/// are chosen by their names, if it has a usual pair of names, such as source and target, if it has words above values,
/// if its two ends are no nodes where those are known, or if they look like no other end and occur nowhere in the first
/// 1,000 rows. EdgeFileOptions::header decides it. Columns are those chosen, else those with such names, else the two
/// there are beside weights and times, else the two whose fields are nodes. Times are numbers or dates, all alike.
///
/// A Matrix Market file is such text, of a matrix as in NAME.npz. Its ids count from 1: where num_nodes is known they
/// come out as row numbers, 1 less. Where there are `ends`, a matrix has as many rows as there are sources, and as many
/// columns as destinations.
///
/// @throws Error{kNoInput}; Error{kIo}; Error{kBadData} naming file and line, or entry; Error{kHostMemory}
/// Determinism: edges come in the file's order for any number of threads.
EdgeList read_edge_file(const std::filesystem::path& path, const EdgeFileOptions& options);

/// The same for text of kText. node_of(id, end) is called in the file's order, end 0 for sources; nullopt refuses the
/// line.
NodePairs read_edges_of_names(const std::filesystem::path& path, const EdgeFileOptions& options,
                              const std::function<std::optional<NodeId>(std::string_view, std::size_t)>& node_of);

}  // namespace salient
