// prepare/importers/graphbolt_layout.cpp - see graphbolt_layout.h.
#include "prepare/importers/graphbolt_layout.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "prepare/formats/block_yaml.h"
#include "prepare/formats/text_fields.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUsualFeature = "feat";

class Reader {
 public:
  Reader(const fs::path& dir, std::string task, std::string feature)
      : dir_(dir),
        path_((dir / "metadata.yaml").string()),
        task_(std::move(task)),
        feature_(std::move(feature)),
        root_(parse_block_yaml(read_text_file(path_), path_)) {
    layout_.file = path_;
  }

  GraphBoltLayout read() {
    layout_.name = text_or(root_, "dataset_name", "");
    const YamlNode& graph = field(root_, "graph");
    for (const YamlNode& node : list(field(graph, "nodes"))) add_nodes(node);
    for (const YamlNode& edge : list(field(graph, "edges"))) add_edges(edge);
    if (const YamlNode* const features = root_.find("feature_data")) choose_features(*features);
    if (const YamlNode* const tasks = root_.find("tasks")) read_task(*tasks);
    if (!unused_.empty()) log_warning(path_ + ": not used: " + unused_);
    return std::move(layout_);
  }

 private:
  [[noreturn]] void refuse(const YamlNode& node, const std::string& rule) const {
    fail(ErrorKind::kBadData, path_ + ": line " + std::to_string(node.line) + ": " + rule);
  }
  const YamlNode& field(const YamlNode& node, const char* key) const {
    const YamlNode* const found = node.find(key);
    if (found == nullptr) refuse(node, std::string("'") + key + "' is expected here");
    return *found;
  }
  const std::vector<YamlNode>& list(const YamlNode& node) const {
    if (!node.is_list()) refuse(node, "a list is expected");
    return node.items;
  }
  static std::string text_or(const YamlNode& node, const char* key, const std::string& other) {
    const YamlNode* const found = node.find(key);
    return found == nullptr || found->scalar.empty() ? other : found->scalar;
  }
  std::uint64_t count(const YamlNode& node, const char* key) const {
    std::uint64_t number = 0;
    if (!parse_number(std::string_view(field(node, key).scalar), number))
      refuse(field(node, key), std::string(key) + " is no count");
    return number;
  }
  void leave_out(const std::string& what) { unused_.append(unused_.empty() ? "" : ", ").append(what); }

  /// The file of a node with format and path.
  fs::path path_of(const YamlNode& node) const {
    const std::string format = text_or(node, "format", "numpy");
    const fs::path path = dir_ / field(node, "path").scalar;
    if (format == "torch" || path.extension() == ".pt" || path.extension() == ".pth")
      refuse(node, in_quotes(path.filename().string()) + " is a Python pickle, which is not read; save it as numpy");
    if (format != "numpy" && format != "csv") refuse(node, "format " + in_quotes(format) + "; numpy and csv are read");
    return path;
  }

  void add_nodes(const YamlNode& node) {
    const std::string type = text_or(node, "type", "");
    if (!layout_.nodes.empty() && (type.empty() || !layout_.is_typed()))
      refuse(node, "nodes of several types, of which each has a type");
    layout_.nodes.push_back({.type = type, .count = count(node, "num")});
  }

  void add_edges(const YamlNode& node) {
    const std::string relation = text_or(node, "type", "");
    EdgeSource source{.file = path_of(node)};
    if (layout_.is_typed()) {
      const std::size_t first = relation.find(':'), last = relation.rfind(':');
      if (first == std::string::npos || first == last) refuse(node, in_quotes(relation) + " is no SRC:NAME:DST");
      source.src = relation.substr(0, first);
      source.name = relation.substr(first + 1, last - first - 1);
      source.dst = relation.substr(last + 1);
    } else if (!layout_.edges.empty()) {
      refuse(node, "edges of a second relation, and nodes without a type");
    }
    layout_.edges.push_back(std::move(source));
  }

  /// Those of nodes, one for each type.
  void choose_features(const YamlNode& data) {
    for (NodeSource& nodes : layout_.nodes) {
      std::vector<const YamlNode*> of_type;
      for (const YamlNode& item : data.items)
        if (text_or(item, "domain", "node") == "node" && text_or(item, "type", "") == nodes.type)
          of_type.push_back(&item);
      const std::string wanted = !feature_.empty() ? feature_ : of_type.size() > 1 ? kUsualFeature : "";
      for (const YamlNode* item : of_type) {
        const std::string name = text_or(*item, "name", "");
        if (wanted.empty() || name == wanted)
          nodes.file = path_of(*item);
        else
          leave_out("features " + in_quotes(name) + (nodes.type.empty() ? "" : " of " + nodes.type));
      }
    }
    for (const YamlNode& item : data.items)
      if (text_or(item, "domain", "node") != "node")
        leave_out("features " + in_quotes(text_or(item, "name", "")) + " of edges");
  }

  void read_task(const YamlNode& tasks) {
    const YamlNode* task = nullptr;
    for (const YamlNode& candidate : tasks.items) {
      const std::string name = text_or(candidate, "name", "");
      if (task == nullptr && (task_.empty() || name == task_))
        task = &candidate;
      else
        leave_out("task " + in_quotes(name));
    }
    if (task == nullptr && !task_.empty()) refuse(tasks, "no task is called " + in_quotes(task_));
    if (task == nullptr) return;
    if (task->find("num_classes") != nullptr) layout_.num_classes = static_cast<int>(count(*task, "num_classes"));
    constexpr std::array kSets = {"train_set", "validation_set", "test_set"};
    for (std::size_t s = 0; s < kSets.size(); ++s)
      if (const YamlNode* const set = task->find(kSets[s]))
        for (const YamlNode& part : set->items) add_set(part, layout_.sets[s]);
  }

  void add_set(const YamlNode& part, std::vector<GraphBoltSet>& sets) {
    GraphBoltSet set{.type = text_or(part, "type", "")};
    for (const YamlNode& item : list(field(part, "data"))) {
      const std::string name = text_or(item, "name", "");
      if (name == "seeds" || name == "seed_nodes")
        set.seeds = path_of(item);
      else if (name == "labels")
        set.labels = path_of(item);
      else
        refuse(item, in_quotes(name) + " of a task: seeds and labels of nodes are read, no edges");
    }
    if (set.seeds.empty()) refuse(part, "a set without seeds");
    sets.push_back(std::move(set));
  }

  fs::path dir_;
  std::string path_, task_, feature_, unused_{};
  YamlNode root_;
  GraphBoltLayout layout_{};
};

}  // namespace

GraphBoltLayout read_graphbolt_layout(const fs::path& dir, const std::string& task, const std::string& feature) {
  if (!fs::is_directory(dir)) fail(ErrorKind::kNoInput, dir.string() + " is not a folder");
  return Reader(dir, task, feature).read();
}

}  // namespace salient
