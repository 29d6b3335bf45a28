// prepare/importers/ogb_link_files.h - the files of split/ of OGB's link sets, and what all such sets have in raw/.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "prepare/formats/array_dict.h"
#include "prepare/importers/negative_sources.h"
#include "prepare/importers/ogb_importer.h"

namespace salient {

struct OgbLinkLayout {
  std::filesystem::path root{};
  std::string name{};                             ///< "ogbl-collab" of collab, ogbl_collab
  std::array<std::filesystem::path, 3> splits{};  ///< train, valid, test

  std::filesystem::path raw(const char* file) const { return root / "raw" / file; }
};

/// None where split/ has neither train.pt nor train.npz.
/// @throws Error{kNoInput} naming a folder or file that is missing; Error{kBadData} for several splits
std::optional<OgbLinkLayout> find_ogb_links(const OgbOptions& options);

/// [n] numbers of nodes, or of relations. @param limit  they are below it    @param what  "node", for messages
/// @throws Error{kBadData} naming array and record
std::vector<std::uint32_t> read_numbers(const ArrayDict& split, const std::string& key, std::uint64_t limit,
                                        const char* what);

/// An array of ids [m, 2] or [n, K], whose rows are read when the store is written. Not there: the split lacks it.
/// @param kept      the rows that are taken, ascending; null = all
/// @param limit_of  below which the ids of a row are, and what is added to each; by the row's number
struct IdRange {
  std::uint64_t limit = 0, first = 0;
};
NegativeSource negatives_in(const std::filesystem::path& file, const std::string& key,
                            std::shared_ptr<const std::vector<std::uint64_t>> kept,
                            const std::function<IdRange(std::uint64_t row)>& range_of);

}  // namespace salient
