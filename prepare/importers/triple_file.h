// prepare/importers/triple_file.h - head, relation and tail of each line of a text file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace salient {

/// Which fields of a line are what. Other fields are not read.
struct TripleColumns {
  std::size_t head = 0, relation = 1, tail = 2;
  std::size_t count = 3;  ///< fields of a line

  bool operator==(const TripleColumns&) const = default;
};

/// Of files whose first line is their number of triples: numbers, the relation last (FB15k, OpenKE).
inline constexpr TripleColumns kNumberedColumns{.head = 0, .relation = 2, .tail = 1};

/// Of "h", "r" and "t", each once, and "-" for a field that is not read; none for other words.
std::optional<TripleColumns> triple_columns(std::span<const std::string> words);

struct Triple {
  std::string_view head{}, relation{}, tail{};
  std::uint64_t line = 0;  ///< from 1
};

/// Calls take(triple) for each line of plain or gzip text, in order. Fields are separated by tabs where the first
/// triple has one, by commas where it has a comma and no blank, else by blanks. Empty lines are passed over. A first
/// line that is a number alone says how many triples follow.
///
/// @param columns  none: kNumberedColumns of a file that says its number, else head, relation, tail
/// @return         the number of triples
/// @throws as LineReader; Error{kBadData} naming file and line for another number of fields, an empty one, a name with
///         control characters or of more than 1,000 characters, and for a number of triples that is not so
std::uint64_t read_triples(const std::filesystem::path& path, const std::optional<TripleColumns>& columns,
                           const std::function<void(const Triple&)>& take);

}  // namespace salient
