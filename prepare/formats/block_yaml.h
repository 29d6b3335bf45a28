// prepare/formats/block_yaml.h - reads the YAML that other programs write for descriptions: blocks of keys and lists.
// By hand: a library reads anchors, tags and cycles, which would have to be refused behind it (decision 38).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace salient {

/// A scalar, a map or a list. An empty value, null, [] and {} are a scalar "".
struct YamlNode {
  std::size_t line = 0;  ///< from 1
  std::string scalar{};  ///< without its quotes
  std::vector<std::pair<std::string, YamlNode>> fields{};
  std::vector<YamlNode> items{};

  bool is_map() const { return !fields.empty(); }
  bool is_list() const { return !items.empty(); }
  const YamlNode* find(std::string_view key) const;  ///< null if there is none
};

/// Maps and lists by indentation; scalars plain or in one kind of quotes, on one line; comments. Of several documents
/// the first.
///
/// @param path  what messages call it
/// @throws Error{kBadData} "PATH: line N: ..." for tabs that indent, values in brackets and braces, anchors, tags, text
///         of several lines, a key that is there twice, and blocks too deep.
YamlNode parse_block_yaml(std::string_view text, const std::string& path);

}  // namespace salient
