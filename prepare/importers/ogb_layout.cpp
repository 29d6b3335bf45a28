// prepare/importers/ogb_layout.cpp - folder names, known sets, missing files
#include "prepare/importers/ogb_layout.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace salient {

namespace {

namespace fs = std::filesystem;

constexpr std::array<OgbKnownSet, 5> kKnownSets = {{{"ogbn-arxiv", 169'343, 40, "time"},
                                                    {"ogbn-products", 2'449'029, 47, "sales_ranking"},
                                                    {"ogbn-proteins", 132'534, 112, "species"},
                                                    {"ogbn-papers100M", 111'059'956, 172, "time"},
                                                    {"ogbn-mag", 736'389, 349, "time"}}};

const OgbKnownSet* known_set(const std::string& name) {
  const auto found = std::ranges::find(kKnownSets, std::string_view(name), &OgbKnownSet::name);
  return found == kKnownSets.end() ? nullptr : &*found;
}

fs::path root_of(const fs::path& raw) {
  if (!fs::is_directory(raw)) fail(ErrorKind::kNoInput, raw.string() + " is not a folder", Topic::kSourceFolder);
  if (fs::is_directory(raw / "raw")) return raw;
  const fs::path real = fs::canonical(raw);
  if (real.filename() == "raw") return real.parent_path();
  fail(ErrorKind::kNoInput, raw.string() + ": holds no folder raw/, as the folder that OGB's zip unpacks to does",
       Topic::kSourceFolder);
}

/// The split of a known set has a known name; the single folder will do for every set.
fs::path split_of(const OgbLayout& layout) {
  const fs::path splits = layout.root / "split";
  if (!fs::is_directory(splits)) fail(ErrorKind::kNoInput, splits.string() + ": is missing; is the download complete?");
  std::vector<std::string> types;
  for (const auto& entry : fs::directory_iterator(splits))
    if (entry.is_directory()) types.push_back(entry.path().filename().string());
  std::ranges::sort(types);
  if (types.empty()) fail(ErrorKind::kNoInput, splits.string() + ": holds no split; is the download complete?");
  if (types.size() == 1) return splits / types.front();
  if (layout.known && std::ranges::find(types, layout.known->split_type) != types.end())
    return splits / layout.known->split_type;
  std::string list;
  for (const std::string& type : types) list.append(list.empty() ? "" : ", ").append(type);
  fail(ErrorKind::kBadData, splits.string() + ": holds several splits (" + list + "); leave the one to use");
}

bool has_file_ending_with(const fs::path& folder, std::string_view end) {
  std::error_code error;  // a folder that is not there has none
  for (auto entry = fs::recursive_directory_iterator(folder, error); !error && entry != fs::end(entry);
       entry.increment(error))
    if (entry->path().filename().string().ends_with(end)) return true;
  return false;
}

/// OGB's sets of other tasks, and its own writer's, have layouts of their own.
void refuse_other_layouts(const OgbLayout& layout) {
  struct Other {
    std::string_view what;
    std::array<const char*, 4> files;  // in raw/
  };
  constexpr std::array<Other, 1> kOthers = {
      {{"a set of several graphs with a label each, as ogbg-molhiv, and the nodes of one graph are trained on here",
        {"graph-label.csv.gz", "graph-label.npz", "graph-feat.csv.gz", "graph-feat.npz"}}}};
  for (const auto& [what, files] : kOthers)
    for (const char* file : files)
      if (fs::exists(layout.raw(file)))
        fail(ErrorKind::kBadData, layout.root.string() + ": has raw/" + file + ": it is " + std::string(what));
  const fs::path split = layout.root / "split";
  if (has_file_ending_with(split, "train.csv.gz")) return;
  if (has_file_ending_with(split, "split_dict.pt"))
    fail(ErrorKind::kBadData, layout.root.string() +
                                  ": its split is split_dict.pt, a Python pickle of ogb's DatasetSaver, which is not "
                                  "read: write its ids to train.csv.gz, valid.csv.gz and test.csv.gz beside it");
  if (has_file_ending_with(split, ".pt"))
    fail(ErrorKind::kBadData, layout.root.string() +
                                  ": its split is of .pt files, as those of link prediction sets (ogbl-...): edges are "
                                  "to be predicted there, the labels of nodes here");
}

void check_files(const OgbLayout& layout) {
  std::vector<fs::path> files;
  if (layout.is_typed)
    files = layout.is_binary ? std::vector{layout.raw("num_nodes_dict.npz"), layout.raw("edge_index_dict.npz"),
                                           layout.raw("node-label.npz")}
                             : std::vector{layout.raw("num-node-dict.csv.gz"), layout.raw("triplet-type-list.csv.gz")};
  else if (layout.is_binary)
    files = {layout.raw("data.npz"), layout.raw("node-label.npz")};
  else
    files = {layout.raw("edge.csv.gz"), layout.features(), layout.raw("node-label.csv.gz"),
             layout.raw("num-node-list.csv.gz"), layout.raw("num-edge-list.csv.gz")};
  for (const char* file : {"train.csv.gz", "valid.csv.gz", "test.csv.gz"})
    if (!layout.is_typed) files.push_back(layout.split / file);  // else of its type
  std::string missing;
  for (const fs::path& file : files)
    if (!fs::exists(file))
      missing.append(missing.empty() ? "" : ", ").append(file.lexically_relative(layout.root).string());
  if (!missing.empty())
    fail(ErrorKind::kNoInput, layout.root.string() + ": missing: " + missing + "; is the download complete?");
}

}  // namespace

std::string ogb_name_of_folder(const std::string& folder) {
  std::string name = folder;
  for (const std::string_view suffix : {"_pyg", "-bin"})
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  if (name.starts_with("ogbn_")) name[4] = '-';
  for (const std::string& candidate : {name, "ogbn-" + name})
    if (known_set(candidate)) return candidate;
  return folder;
}

OgbLayout find_ogb_layout(const std::filesystem::path& raw, const std::string& name) {
  OgbLayout layout{.root = root_of(raw)};
  layout.name = name.empty() ? ogb_name_of_folder(fs::canonical(layout.root).filename().string()) : name;
  layout.known = known_set(layout.name);
  layout.is_synthetic = fs::exists(layout.root / kSyntheticMarker);
  const bool has_typed_arrays =
      fs::exists(layout.raw("num_nodes_dict.npz")) || fs::exists(layout.raw("edge_index_dict.npz"));
  layout.is_typed = has_typed_arrays || fs::exists(layout.raw("num-node-dict.csv.gz")) ||
                    fs::exists(layout.raw("triplet-type-list.csv.gz"));
  layout.is_binary = has_typed_arrays || fs::exists(layout.raw("data.npz"));
  layout.has_node_features = fs::exists(layout.raw("node-feat.csv.gz")) || !fs::exists(layout.raw("edge-feat.csv.gz"));
  refuse_other_layouts(layout);
  layout.split = split_of(layout);
  check_files(layout);
  return layout;
}

}  // namespace salient
