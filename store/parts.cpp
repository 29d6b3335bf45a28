// store/parts.cpp - see parts.h.
#include "store/parts.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/is_there.h"
#include "core/files/json_reader.h"
#include "core/files/npy.h"
#include "core/files/replace_text_file.h"
#include "core/files/sealed_json.h"
#include "core/number_text.h"
#include "core/printable.h"
#include "store/part_files.h"
#include "store/part_rows_file.h"
#include "store/store_arrays.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

constexpr char kFormat[] = "salient parts";

/// @throws Error{kBadData} naming the first node whose owner is no part
void check_owners(std::span<const std::uint16_t> owner, int num_parts, const std::string& file) {
  const auto bad = std::ranges::find_if(owner, [&](std::uint16_t part) { return part >= num_parts; });
  if (bad != owner.end())
    fail(ErrorKind::kBadData, file + ": node " + std::to_string(bad - owner.begin()) + " belongs to part " +
                                  std::to_string(*bad) + ", there are " + std::to_string(num_parts));
}

constexpr char kRowFiles[] = "row_files";

/// The checksums of the files of parts' rows; none where these were not written.
std::vector<std::string> row_files_of(const JsonObject& root, int num_parts) {
  const std::vector<std::string> keys = root.keys();
  if (std::ranges::find(keys, kRowFiles) == keys.end()) return {};
  const JsonObject files = root.object(kRowFiles);
  std::vector<std::string> checksums;
  for (int part = 0; part < num_parts; ++part) checksums.push_back(files.string(part_rows_file(part)));
  return checksums;
}

/// How many of `nodes` each part has.
std::vector<std::uint64_t> counts_of(const Parts& parts, std::span<const NodeId> nodes) {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(parts.num_parts));
  for (const NodeId node : nodes) ++counts[parts.owner[node]];
  return counts;
}

/// parts.json, without the owners. @param fingerprint  of the data set; empty: of any
Parts read_description(const fs::path& directory, const std::string& fingerprint) {
  const fs::path path = directory / kPartsName;
  const std::string file = path.string(), text = read_text_file(path);
  const JsonObject root = JsonObject::parse(text, file);
  if (root.string("format") != kFormat) root.refuse("format", std::string("is not '") + kFormat + "'");
  (void)root.integer("format_version", 1, 1);
  Parts parts;
  parts.num_parts = static_cast<int>(root.integer("num_parts", 1, kMaxParts));
  parts.method = root.string("method");
  parts.xxh3 = root.string("xxh3");
  parts.row_files = row_files_of(root, parts.num_parts);
  if (!fingerprint.empty() && root.string("dataset") != fingerprint)
    root.refuse("dataset", "is not " + fingerprint + ": the parts are those of another data set");
  (void)check_seal(text, file);
  return parts;
}

/// The files that parts.json names; none where it cannot be read: then no one has use for them.
Checksums files_of_parts(const fs::path& directory) {
  Checksums files;
  try {
    const Parts parts = read_description(directory, "");
    files[kOwnerArray.file] = parts.xxh3;
    for (std::size_t part = 0; part < parts.row_files.size(); ++part)
      files[part_rows_file(static_cast<int>(part))] = parts.row_files[part];
  } catch (const Error&) {
    return {};
  }
  return files;
}

/// @return  the checksum of the finished file
std::string write_owners(const fs::path& directory, std::span<const std::uint16_t> owner) {
  NpyWriter writer(unfinished_part_file(directory, kOwnerArray.file), kOwnerArray.dtype, {owner.size()});
  writer.write(owner);
  std::string checksum = to_hex(writer.close().xxh3);
  finish_part_file(directory, kOwnerArray.file, checksum);
  return checksum;
}

std::string range_of(const std::vector<std::uint64_t>& counts) {
  const auto [least, most] = std::ranges::minmax(counts);
  return std::to_string(least) + " to " + std::to_string(most);
}

/// Which files of parts' rows are in the folder; nothing where none were written.
std::string row_files_text(const Dataset& dataset, const Parts& parts) {
  if (parts.row_files.empty()) return "";
  return "files of rows   parts " + parts_here_text(dataset.directory, parts) +
         (dataset.features.data == nullptr ? "; no features.npy\n" : "; and features.npy\n");
}

}  // namespace

void settle_parts(const fs::path& directory) { settle_part_files(directory, files_of_parts(directory)); }

void settle_parts_after_failure(const fs::path& directory) noexcept {
  try {
    settle_parts(directory);
  } catch (...) {  // the error that ended the writing says more
  }
}

bool has_parts(const fs::path& directory) { return !directory.empty() && is_there(directory / kPartsName); }

Parts open_parts(const Dataset& dataset) {
  if (dataset.directory.empty())
    fail(ErrorKind::kNoInput, dataset.name + ": is generated in memory and has no parts", Topic::kParts);
  if (!has_parts(dataset.directory))
    fail(ErrorKind::kNoInput, dataset.directory.string() + ": has no parts", Topic::kParts);
  Parts parts = read_description(dataset.directory, dataset.fingerprint);
  const auto owner = std::make_shared<const NpyFile>(part_file(dataset.directory, kOwnerArray.file, parts.xxh3));
  expect_npy(owner->header(), kOwnerArray.dtype, std::array{std::uint64_t{dataset.num_nodes()}}, owner->name());
  parts.owner = owner->items<std::uint16_t>();
  parts.storage = owner;
  check_owners(parts.owner, parts.num_parts, owner->name());
  return parts;
}

void verify_owners(const Dataset& dataset, const Parts& parts) {
  const fs::path path = part_file(dataset.directory, kOwnerArray.file, parts.xxh3);
  const std::string found = to_hex(digest_file(path).xxh3);
  if (found != parts.xxh3)
    fail(ErrorKind::kBadData, path.string() + ": XXH3 checksum " + found + ", " + kPartsName + " says " + parts.xxh3);
}

void verify_parts(const Dataset& dataset) {
  const Parts parts = open_parts(dataset);
  verify_owners(dataset, parts);
  const std::vector<int> here = part_rows_here(dataset.directory, parts);
  if (here.empty() && dataset.features.num_rows > 0 && dataset.features.data == nullptr)
    fail(ErrorKind::kNoInput,
         dataset.directory.string() + ": features.npy is missing, and so are the feature rows of every part");
  for (const int part : here) (void)open_part_rows(dataset, parts, part);
}

void write_parts(const Dataset& dataset, std::span<const std::uint16_t> owner, int num_parts, const std::string& method,
                 std::span<const std::string> row_files) {
  require(owner.size() == dataset.num_nodes(), "an owner per node");
  require(row_files.empty() || row_files.size() == static_cast<std::size_t>(num_parts), "a file of rows for each part");
  require(num_parts >= 1 && num_parts <= kMaxParts, "parts that an owner can name");
  const fs::path& directory = dataset.directory;
  if (row_files.empty()) settle_parts(directory);
  try {
    const std::string checksum = write_owners(directory, owner);
    nlohmann::ordered_json root = {{"format", kFormat}, {"format_version", 1}, {"num_parts", num_parts},
                                   {"method", method},  {"xxh3", checksum},    {"dataset", dataset.fingerprint}};
    for (std::size_t part = 0; part < row_files.size(); ++part)
      root[kRowFiles][part_rows_file(static_cast<int>(part))] = row_files[part];
    constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;  // paths are bytes, not always UTF-8
    fsync_directory(directory);
    replace_text_file(directory / kPartsName, sealed_json(root.dump(2, ' ', false, kReplace)));
    fsync_directory(directory);  // before the old files go
  } catch (...) {
    settle_parts_after_failure(directory);
    throw;
  }
  settle_parts(directory);
}

std::string parts_text(const Dataset& dataset, const Parts& parts) {
  std::vector<std::uint64_t> nodes(static_cast<std::size_t>(parts.num_parts));
  for (const std::uint16_t part : parts.owner) ++nodes[part];
  std::uint64_t cut = 0;
  const SlotTable* const slots = dataset.graph.slots;
  std::size_t type = 0;
  for (std::size_t row = 0; row < dataset.graph.num_rows(); ++row) {
    while (slots != nullptr && row >= slots->slot_begin[type + 1]) ++type;
    const std::size_t v = slots == nullptr ? row : slots->node_of_row(type, row);
    cut += static_cast<std::uint64_t>(
        std::ranges::count_if(dataset.graph.row(row), [&](NodeId u) { return parts.owner[u] != parts.owner[v]; }));
  }
  const double share = static_cast<double>(cut) / static_cast<double>(std::max<EdgeOffset>(1, dataset.num_edges()));
  return "parts           " + std::to_string(parts.num_parts) + " by " + printable(parts.method) + ": " +
         range_of(nodes) + " nodes, of which " + range_of(counts_of(parts, dataset.train)) + " to train\n" +
         "cut             " + fixed(100 * share, 1) + " % of the entries join two parts\n" +
         row_files_text(dataset, parts);
}

}  // namespace salient
