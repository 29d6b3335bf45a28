// tests/support/small_store.h - a store of eight nodes on disk, and ways to break exactly one rule of it.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/files/file_io.h"
#include "core/files/npy.h"
#include "prepare/importers/raw_graph.h"
#include "prepare/writing/write_store.h"
#include "store/dataset.h"
#include "tests/support/scratch.h"

namespace salient::test {

/// A ring of nodes 0 .. 6 with one chord 1 - 4 and a self loop at 2; node 7 is isolated. Three classes, label of v = v
/// mod 3, node 6 unlabelled; two features.
inline RawGraph small_graph() {
  RawGraph graph;
  graph.name = "small";
  graph.source_kind = "edges";
  graph.source_path = "by hand";
  graph.num_nodes = 8;
  for (NodeId v = 0; v < 7; ++v) {
    graph.sources.push_back(v);
    graph.destinations.push_back((v + 1) % 7);
  }
  for (const auto& [s, d] : {std::pair<NodeId, NodeId>{1, 4}, {2, 2}, {4, 1}}) {
    graph.sources.push_back(s);
    graph.destinations.push_back(d);
  }
  graph.labels = {0, 1, 2, 0, 1, 2, -1, 1};
  graph.num_classes = 3;
  graph.features.dim = 2;
  std::vector<float> values;
  for (int i = 0; i < 16; ++i) values.push_back(static_cast<float>(i) / 4);
  append_feature_rows(graph.features, values.data(), values.size(), "by hand");
  graph.train = {4, 0, 1};
  graph.valid = {3};
  graph.test = {7, 6};
  return graph;
}

/// The same graph with two labels a node; node 6 has no known one, node 7 one of two.
inline RawGraph small_multi_label_graph() {
  RawGraph graph = small_graph();
  graph.labels.clear();
  graph.task = Task::kMultiLabel;
  graph.num_classes = 2;
  graph.multi_labels = {0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, -1, -1, -1, -1, 1};
  return graph;
}

/// The same graph with two targets a node, "price" and "weight"; node 6 has neither, node 7 one of two.
inline RawGraph small_regression_graph() {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  RawGraph graph = small_graph();
  graph.labels.clear();
  graph.task = Task::kRegression;
  graph.num_classes = 2;
  graph.class_names = {"price", "weight"};
  graph.targets = {10, 0.5F, 20, 0.5F, 3, 1, 4, 2, 30, 0.5F, 6, 0, kNone, kNone, kNone, 7};
  return graph;
}

/// A store in a folder of its own, and ways to change its files.
class StoreFolder {
 public:
  std::filesystem::path path() const { return scratch_ / "store"; }
  std::filesystem::path operator/(const std::string& name) const { return path() / name; }

  /// Changes dataset.json, as a program that writes no checksum would, by `edit`, a function of nlohmann::json&.
  template <class Edit>
  void edit_manifest(Edit edit) const {
    const std::filesystem::path file = path() / "dataset.json";
    nlohmann::json root = nlohmann::json::parse(read_bytes(file));
    edit(root);
    root.erase("checksum");  // of the text as it was
    write_bytes(file, root.dump(2));
  }

  /// Replaces one array, and what dataset.json says of its size and checksum.
  template <class T>
  void replace_array(const std::string& name, const std::string& dtype, std::vector<std::uint64_t> shape,
                     const std::vector<T>& values) const {
    std::filesystem::remove(path() / name);
    NpyWriter writer(path() / name, dtype, std::move(shape));
    writer.write(values);
    writer.close();
    accept(name);
  }

  /// Makes dataset.json agree with the bytes of `name`.
  void accept(const std::string& name) const {
    const FileDigest digest = digest_file(path() / name);
    edit_manifest([&](nlohmann::json& root) {
      root["files"][name] = {{"bytes", digest.bytes}, {"xxh3", to_hex(digest.xxh3)}};
    });
  }

 private:
  Scratch scratch_;
};

class SmallStore : public StoreFolder {
 public:
  explicit SmallStore(RawGraph graph = small_graph(), std::optional<FeatureLayout> layout = {}, bool in_fp8 = false) {
    write_store(std::move(graph), {.out = path(), .num_threads = 1, .feature_layout = layout, .in_fp8 = in_fp8});
  }
};

/// Opening `store` ends with `exit_code` and one line that has each of `parts` in it.
inline void expect_refused(const SmallStore& store, int exit_code, const std::vector<std::string>& parts) {
  const Complaint complaint = complaint_of([&] { open_dataset(store.path(), 1); });
  EXPECT_EQ(complaint.exit_code, exit_code) << complaint.text;
  for (const std::string& part : parts) EXPECT_TRUE(complaint.mentions(part)) << complaint.text << "\nlacks " << part;
}

/// The store opens, and verify refuses it with exit code 65.
inline void expect_not_verified(const SmallStore& store, const std::vector<std::string>& parts) {
  EXPECT_NO_THROW(open_dataset(store.path(), 1));
  const Complaint complaint = complaint_of([&] { verify_dataset(store.path(), 1); });
  EXPECT_EQ(complaint.exit_code, 65) << complaint.text;
  for (const std::string& part : parts) EXPECT_TRUE(complaint.mentions(part)) << complaint.text << "\nlacks " << part;
}

}  // namespace salient::test
