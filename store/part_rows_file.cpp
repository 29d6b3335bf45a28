// store/part_rows_file.cpp - see part_rows_file.h.
#include "store/part_rows_file.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "core/console/progress.h"
#include "core/error.h"
#include "core/files/is_there.h"
#include "core/host/interrupt.h"
#include "store/store_arrays.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "features-part-", kSuffix[] = ".npy", kStagedSuffix[] = ".npy.tmp";

fs::path staged_rows_file(const fs::path& directory, int part) {
  return directory / (kPrefix + std::to_string(part) + kStagedSuffix);
}

void remove_files(const fs::path& directory, const char* suffix) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(suffix)) found.push_back(entry.path());
  }
  for (const fs::path& path : found)
    if (std::error_code error; !fs::remove(path, error) && error)
      fail(ErrorKind::kIo, path.string() + ": cannot remove: " + error.message());
}

/// Removes what was staged at the end, unless it was kept.
class UnfinishedFiles {
 public:
  explicit UnfinishedFiles(const fs::path& directory) : directory_(directory) {
    remove_files(directory_, kStagedSuffix);
  }
  ~UnfinishedFiles() {
    try {
      if (!is_kept_) remove_files(directory_, kStagedSuffix);
    } catch (...) {  // the error that ended the writing says more
    }
  }
  UnfinishedFiles(const UnfinishedFiles&) = delete;
  UnfinishedFiles& operator=(const UnfinishedFiles&) = delete;
  void keep() { is_kept_ = true; }

 private:
  const fs::path& directory_;
  bool is_kept_ = false;
};

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
    writers.emplace_back(staged_rows_file(dataset.directory, part), features_array(dataset.feature_type).dtype,
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
  for (NpyWriter& writer : writers) checksums.push_back(to_hex(writer.close().xxh3));
  return checksums;
}

[[noreturn]] void fail_missing(const Dataset& dataset, const Parts& parts, int part) {
  std::string text = (dataset.directory / part_rows_file(part)).string() + " is missing, and so is features.npy";
  if (!parts.row_files.empty())
    text += "; parts whose rows are here: " + parts_here_text(dataset.directory, parts.num_parts);
  fail(ErrorKind::kNoInput, text, Topic::kParts);
}

}  // namespace

std::string part_rows_file(int part) { return kPrefix + std::to_string(part) + kSuffix; }

std::vector<std::string> write_part_rows(const Dataset& dataset, std::span<const std::uint16_t> owner, int num_parts) {
  require(dataset.features.data != nullptr && owner.size() == dataset.num_nodes(), "dense rows, and an owner for each");
  UnfinishedFiles files(dataset.directory);
  std::vector<std::string> checksums;
  Progress progress("feature rows of parts", dataset.features.num_rows, "rows");
  for (int first = 0; first < num_parts; first += kMostOpen)
    for (std::string& checksum :
         write_files_of({first, std::min(first + kMostOpen, num_parts)}, dataset, owner, progress))
      checksums.push_back(std::move(checksum));
  stop_if_interrupted();  // for the last time: write_parts() makes them valid
  files.keep();
  return checksums;
}

std::vector<int> part_rows_here(const fs::path& directory, int num_parts) {
  std::vector<int> parts;
  for (int part = 0; part < num_parts; ++part)
    if (is_there(directory / part_rows_file(part))) parts.push_back(part);
  return parts;
}

std::string parts_here_text(const fs::path& directory, int num_parts) {
  constexpr std::size_t kMostNamed = 8;
  const std::vector<int> parts = part_rows_here(directory, num_parts);
  if (parts.empty()) return "none";
  if (parts.size() == static_cast<std::size_t>(num_parts)) return "all " + std::to_string(num_parts);
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostNamed, parts.size()); ++i)
    text.append(i == 0 ? "" : ", ").append(std::to_string(parts[i]));
  return text + (parts.size() > kMostNamed ? ", ..." : "") + " of " + std::to_string(num_parts);
}

NpyFile open_part_rows(const Dataset& dataset, const Parts& parts, int part) {
  const fs::path path = dataset.directory / part_rows_file(part);
  if (parts.row_files.empty() || !is_there(path)) fail_missing(dataset, parts, part);
  NpyFile file(path);
  const auto size = static_cast<std::uint64_t>(std::ranges::count(parts.owner, part));
  const std::string found = to_hex(digest_file(path).xxh3), &expected = parts.row_files[static_cast<std::size_t>(part)];
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

void remove_part_rows(const fs::path& directory) { remove_files(directory, kSuffix); }

void put_part_rows_in_place(const fs::path& directory, int num_parts) {
  remove_part_rows(directory);
  for (int part = 0; part < num_parts; ++part) {
    const fs::path file = directory / part_rows_file(part);
    if (std::rename(staged_rows_file(directory, part).c_str(), file.c_str()) != 0)
      fail_with_errno(file, "rename a file to this name");
  }
}

}  // namespace salient
