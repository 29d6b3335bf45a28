// apps/named_files.h - files of one option: FILE, or of typed graphs TYPE=FILE or SRC:NAME:DST=FILE, given repeatedly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace salient {

struct NamedFiles {
  std::vector<std::string> items{};  ///< as they were said

  bool empty() const { return items.empty(); }
  bool operator==(const NamedFiles&) const = default;

  /// "paper=papers.csv,author=authors.csv", which from_text() reads back.
  friend std::string to_text(const NamedFiles& files) {
    std::string text;
    for (const std::string& item : files.items) text.append(text.empty() ? "" : ",").append(item);
    return text;
  }

  /// Adds to what there is; an item replaces the one with its name, which is what is before the first '='. At a comma
  /// another item begins if it has a name, as the one before it has.
  friend bool from_text(std::string_view text, NamedFiles& files) {
    if (text.empty()) files.items.clear();
    const auto has_name = [](std::string_view item) { return item.find('=') != std::string_view::npos; };
    std::vector<std::string> found;
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = std::min(text.find(',', from), text.size());
      const std::string_view piece = text.substr(from, end - from);
      if (!found.empty() && !(has_name(piece) && has_name(found.back())))
        found.back().append(",").append(piece);
      else
        found.emplace_back(piece);
      from = end + 1;
    }
    const auto name_of_item = [&](const std::string& item) {
      return item.substr(0, has_name(item) ? item.find('=') : 0);
    };
    for (std::string& item : found) {
      std::erase_if(files.items, [&](const std::string& other) { return name_of_item(other) == name_of_item(item); });
      files.items.push_back(std::move(item));
    }
    return true;
  }
};

}  // namespace salient
