// prepare/importers/name_table.h - many names in two arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace salient {

/// Texts one after another: number i is text[begin[i]] to text[begin[i + 1]].
struct NameTable {
  std::vector<char> text{};
  std::vector<std::int64_t> begin{0};

  std::size_t size() const { return begin.size() - 1; }
  void append(std::string_view name) {
    text.insert(text.end(), name.begin(), name.end());
    begin.push_back(static_cast<std::int64_t>(text.size()));
  }
  std::string_view operator[](std::size_t i) const {
    const auto from = static_cast<std::size_t>(begin[i]), to = static_cast<std::size_t>(begin[i + 1]);
    return {text.data() + from, to - from};
  }
};

}  // namespace salient
