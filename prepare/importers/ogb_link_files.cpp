// prepare/importers/ogb_link_files.cpp - see ogb_link_files.h.
#include "prepare/importers/ogb_link_files.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

/// Folders are called as archives are, or as ogb renames them.
std::string name_of_folder(const std::string& folder) {
  constexpr std::array<std::pair<std::string_view, const char*>, 7> kArchives = {{{"collab", "ogbl-collab"},
                                                                                  {"citation-v2", "ogbl-citation2"},
                                                                                  {"wikikg-v2", "ogbl-wikikg2"},
                                                                                  {"biokg", "ogbl-biokg"},
                                                                                  {"ppassoc", "ogbl-ppa"},
                                                                                  {"ddi", "ogbl-ddi"},
                                                                                  {"vessel", "ogbl-vessel"}}};
  for (const auto& [archive, name] : kArchives)
    if (folder == archive) return name;
  std::string name = folder;
  if (name.starts_with("ogbl_")) name[4] = '-';
  return name;
}

/// The folders below split/ that hold links.
std::vector<fs::path> link_splits(const fs::path& root) {
  std::vector<fs::path> found;
  std::error_code error;
  for (auto entry = fs::directory_iterator(root / "split", error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    if (fs::exists(entry->path() / "train.pt") || fs::exists(entry->path() / "train.npz"))
      found.push_back(entry->path());
  return found;
}

}  // namespace

std::optional<OgbLinkLayout> find_ogb_links(const OgbOptions& options) {
  OgbLinkLayout layout{.root = options.raw};
  if (!fs::is_directory(layout.root / "raw") && options.raw.filename() == "raw")
    layout.root = options.raw.parent_path();
  const std::vector<fs::path> splits = link_splits(layout.root);
  if (splits.empty()) return std::nullopt;
  if (splits.size() > 1)
    fail(ErrorKind::kBadData,
         (layout.root / "split").string() + ": holds several splits of links; leave the one to use");
  layout.name = options.name.empty() ? name_of_folder(fs::canonical(layout.root).filename().string()) : options.name;
  constexpr std::array kParts = {"train", "valid", "test"};
  for (std::size_t s = 0; s < kParts.size(); ++s) {
    for (const char* extension : {".pt", ".npz"})
      if (layout.splits[s].empty() && fs::exists(splits[0] / (std::string(kParts[s]) + extension)))
        layout.splits[s] = splits[0] / (std::string(kParts[s]) + extension);
    if (layout.splits[s].empty())
      fail(ErrorKind::kNoInput, splits[0].string() + ": " + kParts[s] + ".pt is missing; is the download complete?");
  }
  return layout;
}

std::vector<std::uint32_t> read_numbers(const ArrayDict& split, const std::string& key, std::uint64_t limit,
                                        const char* what) {
  const NpyHeader& header = split.header(key);
  if (header.shape.size() != 1)
    fail(ErrorKind::kBadData, split.file() + ": '" + key + "' has shape " + header.shape_text() + ", expected (n,)");
  std::vector<std::uint32_t> numbers;
  numbers.reserve(header.num_items());
  split.read(key, [&](std::span<const std::int64_t> values, std::uint64_t first) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] < 0 || static_cast<std::uint64_t>(values[i]) >= limit)
        fail(ErrorKind::kBadData, split.file() + ": '" + key + "': record " + std::to_string(first + i) + " is " +
                                      what + " " + std::to_string(values[i]) + ", there are 0 to " +
                                      std::to_string(limit - 1));
      numbers.push_back(static_cast<std::uint32_t>(values[i]));
    }
  });
  return numbers;
}

NegativeSource negatives_in(const fs::path& file, const std::string& key,
                            std::shared_ptr<const std::vector<std::uint64_t>> kept,
                            const std::function<IdRange(std::uint64_t row)>& range_of) {
  const ArrayDict split(file);
  if (!split.has(key)) return {};
  const NpyHeader& header = split.header(key);
  if (header.shape.size() != 2 || header.shape[1] == 0)
    fail(ErrorKind::kBadData, file.string() + ": '" + key + "' has shape " + header.shape_text() + ", expected (n, K)");
  const std::uint64_t width = header.shape[1];
  const std::string name = file.string() + ": '" + key + "'";
  const auto read = [=](const std::function<void(std::span<const NodeId>)>& use) {
    std::vector<NodeId> ids;
    std::size_t next = 0;  // of kept
    ArrayDict(file).read(key, [&](std::span<const std::int64_t> values, std::uint64_t first) {
      ids.clear();
      for (std::size_t at = 0; at < values.size(); at += width) {
        const std::uint64_t row = (first + at) / width;
        if (kept && (next == kept->size() || (*kept)[next] != row)) continue;
        ++next;
        const IdRange range = range_of(row);
        for (const std::int64_t value : values.subspan(at, width)) {
          if (value < 0 || static_cast<std::uint64_t>(value) >= range.limit)
            fail(ErrorKind::kBadData, name + ": record " + std::to_string(row) + " has node " + std::to_string(value) +
                                          ", there are 0 to " + std::to_string(range.limit - 1));
          ids.push_back(static_cast<NodeId>(range.first + static_cast<std::uint64_t>(value)));
        }
      }
      use(ids);
    });
  };
  return {.rows = kept ? kept->size() : header.shape[0], .width = width, .file = name, .read = read};
}

}  // namespace salient
