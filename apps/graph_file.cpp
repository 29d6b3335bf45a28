// apps/graph_file.cpp - see graph_file.h.
#include "apps/graph_file.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/field_values.h"
#include "core/files/file_io.h"
#include "core/files/flat_toml.h"

namespace salient::prepare {
namespace {

namespace fs = std::filesystem;

/// A graph file, and what is wrong in it.
class GraphFile {
 public:
  explicit GraphFile(const std::string& path) : path_(path), folder_(fs::path(path).parent_path()) {
    root_ = parse_toml_tables(read_text_file(path), path);
  }

  void read(TypedArguments& given) const {
    allow(root_, "the file", {"name"});
    if (const TomlItem* const name = find(root_, "name"); name != nullptr && given.name.empty())
      given.name = name->value;
    for (const TomlTable& section : root_.tables) {
      if (section.key == "nodes")
        read_nodes(section, given);
      else if (section.key == "edges")
        read_edges(section, given);
      else if (section.key == "split")
        read_split(section, given);
      else
        refuse(section.line, "section '" + section.key + "'; there are nodes, edges and split");
    }
  }

 private:
  [[noreturn]] void refuse(int line, const std::string& what) const {
    fail(ErrorKind::kUsage, path_ + ": line " + std::to_string(line) + ": " + what);
  }

  static const TomlItem* find(const TomlTable& table, std::string_view key) {
    const auto found = std::ranges::find(table.items, key, &TomlItem::key);
    return found == table.items.end() ? nullptr : &*found;
  }

  void allow(const TomlTable& table, const std::string& what, std::initializer_list<const char*> keys) const {
    for (const TomlItem& item : table.items) {
      if (std::ranges::any_of(keys, [&](std::string_view key) { return key == item.key; })) continue;
      std::string list;
      for (const char* key : keys) list.append(list.empty() ? "" : ", ").append(key);
      refuse(item.line, what + " has no '" + item.key + "'; it takes " + list);
    }
  }

  std::string path_of(const TomlItem& item) const {
    if (item.value.empty()) refuse(item.line, "'" + item.key + "' names no file");
    return (folder_ / item.value).string();
  }

  void require_tables(const TomlTable& section) const {
    for (const TomlItem& item : section.items)
      refuse(item.line, "'" + item.key + "' of " + section.key + " takes a value in braces");
  }

  void read_nodes(const TomlTable& section, TypedArguments& given) const {
    require_tables(section);
    for (const TomlTable& type : section.tables) {
      const std::string what = "node type '" + type.key + "'";
      allow(type, what, {"features", "ids", "count", "labels"});
      if (type.key.find('=') != std::string::npos) refuse(type.line, "a name with '='");
      const TomlItem *const features = find(type, "features"), *const ids = find(type, "ids"),
                            *const count = find(type, "count");
      if ((features != nullptr) + (ids != nullptr) + (count != nullptr) != 1)
        refuse(type.line, what + " takes one of features, ids (a list, of nodes without features) and count");
      const std::string source = count ? "count:" + count->value : path_of(features ? *features : *ids);
      given.nodes.items.push_back(type.key + "=" + source);
      if (const TomlItem* const labels = find(type, "labels"))
        given.labels.items.push_back(type.key + "=" + path_of(*labels));
    }
  }

  void read_edges(const TomlTable& section, TypedArguments& given) const {
    require_tables(section);
    for (const TomlTable& relation : section.tables) {
      allow(relation, "relation '" + relation.key + "'", {"file"});
      const TomlItem* const file = find(relation, "file");
      if (relation.key.find('=') != std::string::npos) refuse(relation.line, "a name with '='");
      if (file == nullptr) refuse(relation.line, "relation '" + relation.key + "' has no file");
      given.edges.items.push_back(relation.key + "=" + path_of(*file));
    }
  }

  void read_split(const TomlTable& section, TypedArguments& given) const {
    for (const TomlTable& table : section.tables) refuse(table.line, "split has no table '" + table.key + "'");
    allow(section, "split", {"of", "train", "valid", "test", "fractions"});
    const TomlItem* const of = find(section, "of");
    const bool is_of_labels = of == nullptr || std::ranges::any_of(given.labels.items, [&](const std::string& labels) {
                                return labels.starts_with(of->value + "=");
                              });
    if (!is_of_labels) refuse(of->line, "the split is of '" + of->value + "', which has no labels");
    const auto take = [&](const char* key, std::string& path) {
      const TomlItem* const item = find(section, key);
      if (item == nullptr) return;
      if (!path.empty()) refuse(item->line, std::string(key) + ": is also given as an option");
      path = path_of(*item);
    };
    take("train", given.train);
    take("valid", given.valid);
    take("test", given.test);
    const TomlItem* const fractions = find(section, "fractions");
    if (fractions == nullptr) return;
    if (!given.split.empty()) refuse(fractions->line, "fractions: are also given as an option");
    if (!from_text(std::string_view(fractions->value), given.split))
      refuse(fractions->line, "fractions are three numbers, as [0.6, 0.2, 0.2]");
  }

  std::string path_;
  fs::path folder_;
  TomlTable root_{};
};

}  // namespace

void read_graph_file(const std::string& path, TypedArguments& given) {
  if (!given.nodes.items.empty() || !given.edges.items.empty() || !given.labels.items.empty())
    fail(ErrorKind::kUsage, path + ": says nodes, edges and labels, which options say, too: one of both");
  GraphFile(path).read(given);
}

}  // namespace salient::prepare
