// store/parts.cpp - see parts.h.
//
// parts.json is removed first and written last, so that an owner.npy without it is none.
#include "store/parts.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
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

/// owner.npy as it is written; removed at the end, unless it got that name.
class StagedOwners {
 public:
  explicit StagedOwners(const fs::path& directory)
      : file_(directory / kOwnerArray.file), staged_(file_.string() + ".tmp") {
    fs::remove(staged_);
  }
  ~StagedOwners() {
    std::error_code ignored;
    fs::remove(staged_, ignored);
  }
  StagedOwners(const StagedOwners&) = delete;
  StagedOwners& operator=(const StagedOwners&) = delete;

  FileDigest write(std::span<const std::uint16_t> owner) const {
    NpyWriter writer(staged_, kOwnerArray.dtype, {owner.size()});
    writer.write(owner);
    return writer.close();
  }
  void take_its_name() const {
    if (std::rename(staged_.c_str(), file_.c_str()) != 0) fail_with_errno(file_, "rename a file to this name");
  }

 private:
  fs::path file_, staged_;
};

std::string range_of(const std::vector<std::uint64_t>& counts) {
  const auto [least, most] = std::ranges::minmax(counts);
  return std::to_string(least) + " to " + std::to_string(most);
}

/// Which files of parts' rows are in the folder; nothing where none were written.
std::string row_files_text(const Dataset& dataset, const Parts& parts) {
  if (parts.row_files.empty()) return "";
  return "files of rows   parts " + parts_here_text(dataset.directory, parts.num_parts) +
         (dataset.features.data == nullptr ? "; no features.npy\n" : "; and features.npy\n");
}

}  // namespace

bool has_parts(const fs::path& directory) { return !directory.empty() && is_there(directory / kPartsName); }

Parts open_parts(const Dataset& dataset) {
  if (dataset.directory.empty())
    fail(ErrorKind::kNoInput, dataset.name + ": is generated in memory and has no parts", Topic::kParts);
  const fs::path path = dataset.directory / kPartsName;
  if (!is_there(path)) fail(ErrorKind::kNoInput, dataset.directory.string() + ": has no parts", Topic::kParts);
  const std::string file = path.string();
  const std::string text = read_text_file(path);
  const JsonObject root = JsonObject::parse(text, file);
  if (root.string("format") != kFormat) root.refuse("format", std::string("is not '") + kFormat + "'");
  (void)root.integer("format_version", 1, 1);
  Parts parts;
  parts.num_parts = static_cast<int>(root.integer("num_parts", 1, kMaxParts));
  parts.method = root.string("method");
  parts.xxh3 = root.string("xxh3");
  parts.row_files = row_files_of(root, parts.num_parts);
  if (root.string("dataset") != dataset.fingerprint)
    root.refuse("dataset", "is not " + dataset.fingerprint + ": the parts are those of another data set");
  (void)check_seal(text, file);
  const auto owner = std::make_shared<const NpyFile>(dataset.directory / kOwnerArray.file);
  expect_npy(owner->header(), kOwnerArray.dtype, std::array{std::uint64_t{dataset.num_nodes()}}, owner->name());
  parts.owner = owner->items<std::uint16_t>();
  parts.storage = owner;
  check_owners(parts.owner, parts.num_parts, owner->name());
  return parts;
}

void verify_owners(const Dataset& dataset, const Parts& parts) {
  const fs::path path = dataset.directory / kOwnerArray.file;
  const std::string found = to_hex(digest_file(path).xxh3);
  if (found != parts.xxh3)
    fail(ErrorKind::kBadData, path.string() + ": XXH3 checksum " + found + ", " + kPartsName + " says " + parts.xxh3);
}

void verify_parts(const Dataset& dataset) {
  const Parts parts = open_parts(dataset);
  verify_owners(dataset, parts);
  const std::vector<int> here =
      parts.row_files.empty() ? std::vector<int>() : part_rows_here(dataset.directory, parts.num_parts);
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
  const StagedOwners staged(directory);
  const FileDigest digest = staged.write(owner);
  fs::remove(directory / kPartsName);
  row_files.empty() ? remove_part_rows(directory) : put_part_rows_in_place(directory, num_parts);
  staged.take_its_name();
  fsync_directory(directory);
  nlohmann::ordered_json root = {{"format", kFormat}, {"format_version", 1},         {"num_parts", num_parts},
                                 {"method", method},  {"xxh3", to_hex(digest.xxh3)}, {"dataset", dataset.fingerprint}};
  for (std::size_t part = 0; part < row_files.size(); ++part)
    root[kRowFiles][part_rows_file(static_cast<int>(part))] = row_files[part];
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;  // paths are bytes, not always UTF-8
  replace_text_file(directory / kPartsName, sealed_json(root.dump(2, ' ', false, kReplace)));
}

std::string parts_text(const Dataset& dataset, const Parts& parts) {
  std::vector<std::uint64_t> nodes(static_cast<std::size_t>(parts.num_parts));
  for (const std::uint16_t part : parts.owner) ++nodes[part];
  std::uint64_t cut = 0;
  for (std::size_t v = 0; v < dataset.num_nodes(); ++v)
    cut += static_cast<std::uint64_t>(
        std::ranges::count_if(dataset.graph.row(v), [&](NodeId u) { return parts.owner[u] != parts.owner[v]; }));
  const double share = static_cast<double>(cut) / static_cast<double>(std::max<EdgeOffset>(1, dataset.num_edges()));
  return "parts           " + std::to_string(parts.num_parts) + " by " + printable(parts.method) + ": " +
         range_of(nodes) + " nodes, of which " + range_of(counts_of(parts, dataset.train)) + " to train\n" +
         "cut             " + fixed(100 * share, 1) + " % of the entries join two parts\n" +
         row_files_text(dataset, parts);
}

}  // namespace salient
