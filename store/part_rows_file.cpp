// store/part_rows_file.cpp - see part_rows_file.h.
#include "store/part_rows_file.h"

#include <algorithm>
#include <array>
#include <deque>
#include <string_view>
#include <utility>

#include "core/console/progress.h"
#include "core/error.h"
#include "core/files/is_there.h"
#include "core/host/interrupt.h"
#include "store/part_files.h"
#include "store/store_arrays.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "features-part-", kSuffix = ".npy";

/// Files that are written at a time; each has a buffer of a MiB and a descriptor, of which a process has a thousand.
constexpr int kMostOpen = 64;

/// Parts [first, last).
struct PartRange {
  int first, last;
  bool has(int part) const { return part >= first && part < last; }
  std::size_t index_of(int part) const { return static_cast<std::size_t>(part - first); }
};

/// The files of these parts, in one pass over all rows: each is read once, also where they do not fit into memory.
/// @return  the files' checksums
std::vector<std::string> write_files_of(PartRange parts, const Dataset& dataset, std::span<const std::uint16_t> owner,
                                        Progress& progress) {
  std::vector<std::uint64_t> sizes(parts.index_of(parts.last));
  for (const std::uint16_t part : owner)
    if (parts.has(part)) ++sizes[parts.index_of(part)];
  std::deque<NpyWriter> writers;  // which do not move
  for (int part = parts.first; part < parts.last; ++part)
    writers.emplace_back(unfinished_part_file(dataset.directory, part_rows_file(part)),
                         features_array(dataset.feature_type).dtype,
                         std::vector{sizes[parts.index_of(part)], static_cast<std::uint64_t>(dataset.feature_dim)});
  const RowTable& rows = dataset.features;
  constexpr std::size_t kBlock = 4096;  // nodes between two reports of progress
  for (std::size_t begin = 0; begin < owner.size(); begin += kBlock) {
    stop_if_interrupted();
    std::size_t written = 0;
    for (std::size_t v = begin; v < std::min(begin + kBlock, owner.size()); ++v) {
      if (!parts.has(owner[v])) continue;
      writers[parts.index_of(owner[v])].write(std::span(rows.data + v * rows.row_bytes, rows.row_bytes));
      ++written;
    }
    progress.add(written);
  }
  std::vector<std::string> checksums;
  for (int part = parts.first; part < parts.last; ++part) {
    checksums.push_back(to_hex(writers[parts.index_of(part)].close().xxh3));
    finish_part_file(dataset.directory, part_rows_file(part), checksums.back());
  }
  return checksums;
}

[[noreturn]] void fail_missing(const Dataset& dataset, const Parts& parts, int part) {
  std::string text = (dataset.directory / part_rows_file(part)).string() + " is missing, and so is features.npy";
  if (!parts.row_files.empty()) text += "; parts whose rows are here: " + parts_here_text(dataset.directory, parts);
  fail(ErrorKind::kNoInput, text, Topic::kParts);
}

}  // namespace

std::string part_rows_file(int part) { return std::string(kPrefix).append(std::to_string(part)).append(kSuffix); }

bool is_part_rows_file(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return false;
  const std::string_view part = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
}

std::vector<std::string> write_part_rows(const Dataset& dataset, std::span<const std::uint16_t> owner, int num_parts) {
  require(dataset.features.data != nullptr && owner.size() == dataset.num_nodes(), "dense rows, and an owner for each");
  std::vector<std::string> checksums;
  Progress progress("feature rows of parts", dataset.features.num_rows, "rows");
  settle_parts(dataset.directory);
  try {
    for (int first = 0; first < num_parts; first += kMostOpen)
      for (std::string& checksum :
           write_files_of({first, std::min(first + kMostOpen, num_parts)}, dataset, owner, progress))
        checksums.push_back(std::move(checksum));
    stop_if_interrupted();  // for the last time: write_parts() makes them valid
  } catch (...) {
    settle_parts_after_failure(dataset.directory);
    throw;
  }
  return checksums;
}

std::vector<int> part_rows_here(const fs::path& directory, const Parts& parts) {
  std::vector<int> here;
  for (std::size_t part = 0; part < parts.row_files.size(); ++part) {
    const std::string name = part_rows_file(static_cast<int>(part));
    if (is_there(part_file(directory, name, parts.row_files[part]))) here.push_back(static_cast<int>(part));
  }
  return here;
}

std::string parts_here_text(const fs::path& directory, const Parts& of) {
  constexpr std::size_t kMostNamed = 8;
  const std::vector<int> parts = part_rows_here(directory, of);
  if (parts.empty()) return "none";
  if (parts.size() == of.row_files.size()) return "all " + std::to_string(of.num_parts);
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostNamed, parts.size()); ++i)
    text.append(i == 0 ? "" : ", ").append(std::to_string(parts[i]));
  return text + (parts.size() > kMostNamed ? ", ..." : "") + " of " + std::to_string(of.num_parts);
}

NpyFile open_part_rows(const Dataset& dataset, const Parts& parts, int part) {
  if (parts.row_files.empty()) fail_missing(dataset, parts, part);
  const std::string& expected = parts.row_files[static_cast<std::size_t>(part)];
  const fs::path path = part_file(dataset.directory, part_rows_file(part), expected);
  if (!is_there(path)) fail_missing(dataset, parts, part);
  NpyFile file(path);
  const auto size = static_cast<std::uint64_t>(std::ranges::count(parts.owner, part));
  const std::string found = to_hex(digest_file(path).xxh3);
  const auto other = std::ranges::find(parts.row_files, found);
  if (found != expected && other != parts.row_files.end())
    fail(ErrorKind::kBadData,
         file.name() + ": has the rows of part " + std::to_string(other - parts.row_files.begin()));
  if (found != expected)
    fail(ErrorKind::kBadData, file.name() + ": XXH3 checksum " + found + ", " + kPartsName + " says " + expected);
  expect_npy(file.header(), features_array(dataset.feature_type).dtype,
             std::array{size, static_cast<std::uint64_t>(dataset.feature_dim)}, file.name());
  return file;
}

}  // namespace salient
