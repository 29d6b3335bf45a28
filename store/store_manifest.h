// store/store_manifest.h - dataset.json: what a store says about itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/files/file_io.h"
#include "store/dataset_facts.h"

namespace salient {

inline constexpr char kManifestName[] = "dataset.json";
inline constexpr int kStoreVersion = 1;
inline constexpr int kLaterStoreVersion = 2;  ///< of typed graphs, and of edges with weights, times or features, alone
inline constexpr int kTimedLinksVersion = 3;  ///< of links with times alone, whose graph has the links of all splits

/// Names become parts of folders' names: 1 to 100 characters, no slash or control character, no dot in front.
bool is_dataset_name(std::string_view name);

/// Field for field what docs/DATASETS.md lists.
/// The field "task" is there for tasks but kMultiClass, and "link" for has_links; "feature_layout" and "fp8_scale" for
/// kCsr and kFp8 alone, "feature_origin" for features that were made. Of kLaterStoreVersion are "node_types",
/// "relations" and "target_type" of typed graphs, and "edge_weights", "edge_time", "node_times",
/// "edge_feature_dim" and "edge_feature_dtype" where there are such; of kTimedLinksVersion "link_times", too. Names of
/// classes and columns are in files of their own, empty here.
struct StoreManifest : DatasetFacts {
  std::uint64_t num_nodes = 0;
  std::uint64_t num_edges = 0;
  bool is_deduplicated = true;
  std::uint64_t self_loops = 0;
  std::uint64_t rng_seed = 0;
  std::string source_path{}, source_options{};
  std::string created_by{};
  std::map<std::string, FileDigest> files{};  ///< every file of the store but dataset.json itself

  bool operator==(const StoreManifest&) const = default;
};

/// @param file  named in errors.
/// @throws Error{kBadData} with field, line and column: not JSON, a field missing, of the wrong type or out of range,
///         or a format_version that this program cannot read. Unknown fields are ignored.
StoreManifest parse_manifest(std::string text, const std::string& file);

/// The inverse, ready to be written: two-space indent, keys in a fixed order, a final newline.
std::string manifest_text(const StoreManifest& manifest);

}  // namespace salient
