// prepare/importers/edge_file.h - an edge list in a plain file: text with two ids a line, or a NumPy array of pairs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace salient {

/// Ids as the file has them. Edge m: sources[m] -> destinations[m].
struct EdgeList {
  std::vector<std::uint64_t> sources{}, destinations{};
};

struct EdgeFileOptions {
  std::vector<int> columns{};                ///< empty = the file has two; else which two, from 0
  std::optional<std::uint64_t> num_nodes{};  ///< when known: ids from there on are refused, naming the record
  int num_threads = 0;                       ///< 0 = all cores
};

/// NAME.npy: integers [2, E] or [E, 2]; 2 x 2 reads as [2, E]. Anything else is text, plain or gzip: `#` and `%` begin
/// comment lines; a first line without numbers, and that does not begin as one, is a header; ids are unsigned and
/// parted by blanks, tabs or one comma.
///
/// @throws Error{kNoInput}; Error{kIo}; Error{kBadData} naming file and line, or entry.
/// Determinism: edges come in the file's order for any number of threads.
EdgeList read_edge_file(const std::filesystem::path& path, const EdgeFileOptions& options);

}  // namespace salient
