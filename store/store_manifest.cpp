// store/store_manifest.cpp - see store_manifest.h.
#include "store/store_manifest.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/files/json_reader.h"
#include "core/files/sealed_json.h"
#include "store/dataset_arrays.h"
#include "store/schema_fields.h"

namespace salient {
namespace {

constexpr std::uint64_t kMaxNodes = 0xFFFFFFFE;  // 0xFFFFFFFF is never an id

constexpr char kLinkTask[] = "link";  // of a store with links, whose nodes have classes or no labels

bool has_field(const JsonObject& root, std::string_view name) { return std::ranges::count(root.keys(), name) > 0; }

Task task_of(const JsonObject& root) {
  if (!has_field(root, "task")) return Task::kMultiClass;
  const std::string text = root.string("task");
  if (text == kLinkTask) return Task::kMultiClass;
  const std::optional<Task> task = value_named<Task>(text);
  if (!task || *task == Task::kMultiClass)
    root.refuse("task", "is '" + text + "', this program knows '" + name_of(Task::kMultiLabel) + "' and '" +
                            name_of(Task::kRegression) + "', or no such field for classes");
  return *task;
}

/// Stores of older versions say it in the options that they were made with alone.
FeatureOrigin origin_in_options(const StoreManifest& manifest) {
  constexpr std::string_view kOption = "make-features ";
  const std::size_t at = manifest.source_options.rfind(kOption);
  if (at == std::string::npos) return {};
  const std::string recipe = manifest.source_options.substr(at + kOption.size());
  const std::size_t colon = recipe.find(':');
  if (colon == std::string::npos) return {{"kind", recipe}};
  return {{"kind", recipe.substr(0, colon)},
          {"seed", std::to_string(manifest.rng_seed)},
          {"width", recipe.substr(colon + 1)}};
}

FeatureOrigin feature_origin_of(const JsonObject& root, const StoreManifest& manifest) {
  if (!has_field(root, "feature_origin")) return origin_in_options(manifest);
  const JsonObject object = root.object("feature_origin");
  FeatureOrigin origin;
  for (const std::string& name : object.keys()) origin[name] = object.string(name);
  return origin;
}

/// Of a typed graph: the arrays of each type's features, and no others.
void check_type_feature_files(const JsonObject& files, const StoreManifest& manifest, const Dataset& described) {
  std::set<std::string, std::less<>> needed;
  visit_arrays(described, {}, [&](const DatasetArray& array, const auto&) {
    if (array.part == ArrayPart::kFeatures) needed.insert(array.stored.file);
  });
  for (const std::string& name : needed)
    if (!manifest.files.contains(name)) files.refuse(name, "is missing, though a node type has such features");
  const FeatureNames plain;
  for (const auto& [name, digest] : manifest.files)
    for (const std::string* begin : {&plain.rows, &plain.begin, &plain.columns, &plain.values})
      if (name.starts_with(*begin + ".") && name.ends_with(".npy") && !needed.contains(name))
        files.refuse(name, "is there, though no node type has such features");
}

/// A store has the arrays of its layout, and no others.
void check_feature_files(const JsonObject& files, const StoreManifest& manifest) {
  const auto check = [&](const char* name, bool is_needed) {
    if (manifest.files.contains(name) == is_needed) return;
    const std::string layout = " and feature_layout is " + name_of(manifest.feature_layout);
    files.refuse(name, is_needed ? "is missing, though feature_dim is above 0" + layout
                                 : "is there, though feature_dim is " + std::to_string(manifest.feature_dim) + layout);
  };
  const bool is_sparse = manifest.has_sparse_features();
  check(features_array(manifest.feature_type).file, manifest.feature_dim > 0 && !is_sparse);
  for (const StoreArray array : {kFeatureBeginArray, kFeatureColumnsArray, feature_values_array(manifest.feature_type)})
    check(array.file, is_sparse);
}

/// The schema of a typed graph, of which the fields beside it give the sums.
void read_types(const JsonObject& root, StoreManifest& manifest) {
  manifest.types = read_schema(root);
  const std::uint64_t num_nodes = slot_table_of(manifest.types).num_nodes();
  if (num_nodes != manifest.num_nodes)
    root.refuse("num_nodes", "is " + std::to_string(manifest.num_nodes) + ", the node types have " +
                                 std::to_string(num_nodes) + " together");
  std::uint64_t num_entries = 0;
  for (const Relation& relation : manifest.types.relations) num_entries += relation.num_entries;
  if (num_entries != manifest.num_edges)
    root.refuse("num_edges", "is " + std::to_string(manifest.num_edges) + ", the relations have " +
                                 std::to_string(num_entries) + " entries together");
  if (manifest.types.target().features != manifest.feature_shape())
    root.refuse("feature_dim", "and the fields of features beside it are not those of the target type");
}

void read_edge_features(const JsonObject& root, StoreManifest& manifest) {
  manifest.edge_feature_dim = static_cast<int>(root.integer("edge_feature_dim", 1, kMaxInt));
  const std::string text = root.string("edge_feature_dtype");
  const std::optional<FeatureType> type = value_named<FeatureType>(text);
  if (!type || *type == FeatureType::kFp8)
    root.refuse("edge_feature_dtype", "is '" + text + "', allowed are f16 and f32");
  manifest.edge_feature_type = *type;
  if (manifest.types.is_typed()) root.refuse("edge_feature_dim", "is of a plain graph alone, and this one is typed");
}

/// Of kLaterStoreVersion and kTimedLinksVersion.
void read_later_fields(const JsonObject& root, std::uint64_t version, StoreManifest& manifest) {
  const auto is_there = [&](const char* name) { return has_field(root, name) && root.boolean(name); };
  if (has_field(root, "node_types")) read_types(root, manifest);
  manifest.has_edge_weights = is_there("edge_weights");
  manifest.has_edge_times = is_there("edge_time");
  manifest.has_node_times = is_there("node_times");
  if (has_field(root, "edge_feature_dim")) read_edge_features(root, manifest);
  manifest.has_link_times = is_there("link_times");
  if (manifest.has_link_times && (!manifest.has_links || !manifest.has_edge_times || manifest.types.is_typed()))
    root.refuse("link_times", "is of links of a plain graph whose edges have times");
  if (manifest.has_link_times != (version == kTimedLinksVersion))
    root.refuse("format_version", "is " + std::to_string(version) + ", and of links with times, and of them alone, " +
                                      std::to_string(kTimedLinksVersion));
}

std::uint64_t hash_of(const JsonObject& entry) {
  const std::string text = entry.string("xxh3");
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.size() != 16 || error != std::errc{} || end != text.data() + text.size())
    entry.refuse("xxh3", "is not 16 hexadecimal digits");
  return value;
}

/// Names come from a file, so they must not become paths that lead out of the store.
void check_file_name(const JsonObject& files, const std::string& name) {
  const bool is_printable = std::ranges::all_of(name, [](unsigned char c) { return c > ' ' && c != 0x7F; });
  if (name.empty() || name.starts_with('.') || name.find_first_of("/\\") != std::string::npos || !is_printable ||
      name == kManifestName)
    files.refuse(name, "is not a plain file name");
}

}  // namespace

bool is_dataset_name(std::string_view name) {
  return !name.empty() && name.size() <= 100 && !name.starts_with('.') &&
         std::ranges::none_of(name, [](unsigned char c) { return c < ' ' || c == 0x7F || c == '/'; });
}

StoreManifest parse_manifest(std::string text, const std::string& file) {
  const JsonObject root = JsonObject::parse(text, file);
  const std::string format = root.string("format");
  if (format != "salient dataset") root.refuse("format", "is '" + format + "', expected 'salient dataset'");
  StoreManifest manifest;
  manifest.created_by = root.string("created_by");
  const std::uint64_t version = root.integer("format_version", 1, kMaxInt);
  if (version > kTimedLinksVersion)
    root.refuse("format_version", "is " + std::to_string(version) + ", this program reads " +
                                      std::to_string(kStoreVersion) + " to " + std::to_string(kTimedLinksVersion) +
                                      "; it was written by " + manifest.created_by + ", which is newer");
  manifest.name = root.string("name");
  if (!is_dataset_name(manifest.name)) root.refuse("name", "is not a plain name of up to 100 characters");
  manifest.num_nodes = root.integer("num_nodes", 1, kMaxNodes);
  manifest.num_edges = root.integer("num_edges", 0, kMaxOffset);
  manifest.task = task_of(root);
  manifest.has_links = has_field(root, "task") && root.string("task") == kLinkTask;
  const std::uint64_t least_classes = manifest.task == Task::kMultiClass ? 0 : 1;
  manifest.num_classes = static_cast<int>(root.integer("num_classes", least_classes, kMaxClasses));
  manifest.set_feature_shape(read_feature_shape(root));
  if (version >= kLaterStoreVersion) read_later_fields(root, version, manifest);
  manifest.is_symmetric = root.boolean("symmetric");
  manifest.is_deduplicated = root.boolean("deduplicated");
  manifest.self_loops = root.integer("self_loops", 0, manifest.num_edges);
  manifest.rng_seed = root.integer("rng_seed", 0, std::numeric_limits<std::uint64_t>::max());
  const JsonObject source = root.object("source");
  manifest.source_kind = source.string("kind");
  manifest.source_path = source.string("path");
  manifest.source_options = source.string("options");
  manifest.feature_origin = feature_origin_of(root, manifest);
  const JsonObject files = root.object("files");
  for (const std::string& name : files.keys()) {
    check_file_name(files, name);
    const JsonObject entry = files.object(name);
    manifest.files[name] = {entry.integer("bytes", 0, kMaxOffset), hash_of(entry)};
  }
  Dataset described;
  described.facts() = manifest.facts();
  visit_arrays(std::as_const(described), {}, [&](const DatasetArray& array, const auto&) {
    if (array.part != ArrayPart::kFeatures && !manifest.files.contains(array.stored.file))
      files.refuse(array.stored.file, "is missing");
  });
  if (manifest.types.is_typed())
    check_type_feature_files(files, manifest, described);
  else
    check_feature_files(files, manifest);
  if (manifest.files.contains(kNodeNamesArray.file) != manifest.files.contains(kNodeNamesBeginArray.file))
    files.refuse(kNodeNamesArray.file, std::string("is there only together with ") + kNodeNamesBeginArray.file);
  (void)check_seal(text,
                   file);  // last: other errors say more. Stores of older versions, and of other programs, have none
  return manifest;
}

std::string manifest_text(const StoreManifest& manifest) {
  nlohmann::ordered_json root;
  root["format"] = "salient dataset";
  const bool is_of_first = !manifest.types.is_typed() && !manifest.has_edge_weights && !manifest.has_edge_times &&
                           !manifest.has_node_times && !manifest.has_links && manifest.edge_feature_dim == 0;
  root["format_version"] = is_of_first               ? kStoreVersion
                           : manifest.has_link_times ? kTimedLinksVersion
                                                     : kLaterStoreVersion;
  root["name"] = manifest.name;
  root["num_nodes"] = manifest.num_nodes;
  root["num_edges"] = manifest.num_edges;
  if (manifest.task != Task::kMultiClass) root["task"] = name_of(manifest.task);
  if (manifest.has_links) root["task"] = kLinkTask;
  root["num_classes"] = manifest.num_classes;
  root["feature_dim"] = manifest.feature_dim;
  root["feature_dtype"] = name_of(manifest.feature_type);
  if (manifest.feature_type == FeatureType::kFp8) root["fp8_scale"] = manifest.fp8_scale;
  if (manifest.has_sparse_features()) root["feature_layout"] = name_of(manifest.feature_layout);
  if (!manifest.feature_origin.empty()) root["feature_origin"] = manifest.feature_origin;
  write_schema(manifest.types, root);
  if (manifest.has_edge_weights) root["edge_weights"] = true;
  if (manifest.has_edge_times) root["edge_time"] = true;
  if (manifest.has_node_times) root["node_times"] = true;
  if (manifest.has_link_times) root["link_times"] = true;
  if (manifest.edge_feature_dim > 0) {
    root["edge_feature_dim"] = manifest.edge_feature_dim;
    root["edge_feature_dtype"] = name_of(manifest.edge_feature_type);
  }
  root["symmetric"] = manifest.is_symmetric;
  root["deduplicated"] = manifest.is_deduplicated;
  root["self_loops"] = manifest.self_loops;
  root["rng_seed"] = manifest.rng_seed;
  root["source"]["kind"] = manifest.source_kind;
  root["source"]["path"] = manifest.source_path;
  root["source"]["options"] = manifest.source_options;
  root["created_by"] = manifest.created_by;
  for (const auto& [name, digest] : manifest.files) {
    root["files"][name]["bytes"] = digest.bytes;
    root["files"][name]["xxh3"] = to_hex(digest.xxh3);
  }
  // Paths are bytes, not always UTF-8: replace what JSON cannot hold instead of failing at the very end.
  return sealed_json(root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace salient
