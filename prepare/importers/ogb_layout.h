// prepare/importers/ogb_layout.h - where things are in a folder that OGB's download makes, and what its set is called.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace salient {

/// What OGB publishes about a set; of several types of nodes about the one with labels. Folders of other names are
/// read all the same.
struct OgbKnownSet {
  const char* name;
  std::uint64_t num_nodes;
  int num_classes;
  const char* split_type;
};

/// A file in a set's root that says that the set is generated, and its name.
inline constexpr char kSyntheticMarker[] = "synthetic.txt";

struct OgbLayout {
  std::filesystem::path root{};  ///< holds raw/, split/ and perhaps mapping/
  std::string name{};
  const OgbKnownSet* known = nullptr;
  bool is_typed = false;          ///< several types of nodes, as ogbn-mag: see ogb_typed.h
  bool is_binary = false;         ///< raw/data.npz instead of raw/edge.csv.gz and its like; of a typed set likewise
  bool is_synthetic = false;      ///< the files say that they are generated: synthetic.txt
  bool has_node_features = true;  ///< CSV: else raw/edge-feat.csv.gz is there instead
  std::filesystem::path split{};  ///< holds train.csv.gz, valid.csv.gz, test.csv.gz

  std::filesystem::path raw(const char* file) const { return root / "raw" / file; }
  std::filesystem::path features() const { return raw(has_node_features ? "node-feat.csv.gz" : "edge-feat.csv.gz"); }
};

/// "ogbn_arxiv", "arxiv", "ogbn_arxiv_pyg" -> "ogbn-arxiv"; names that OGB does not use stay as they are.
std::string ogb_name_of_folder(const std::string& folder);

/// @param raw   the data set's folder, or raw/ in it
/// @param name  "" = by the folder's name
/// @throws Error{kNoInput} naming every file that is missing; Error{kBadData} when there are several splits to choose
///         from and the set is unknown, and for OGB's sets of other tasks, which are laid out in another way.
OgbLayout find_ogb_layout(const std::filesystem::path& raw, const std::string& name);

}  // namespace salient
