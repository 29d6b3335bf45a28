// store/part_rows_file.h - the feature rows of one part in a file of their own, for hosts that have no others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/npy.h"
#include "store/parts.h"

namespace salient {

/// "features-part-1.npy": rows of the nodes of part 1, ascending by node, in the type of features.npy.
std::string part_rows_file(int part);
bool is_part_rows_file(std::string_view name);

/// Writes a file for each part, under another name until write_parts() puts it in place: earlier parts and their rows
/// are as they were until then, and need room beside them. What ends this early leaves none of the new files, a kill
/// some that the next call removes. For the only writer. Shows progress.
/// @param dataset  with dense features, all of them
/// @return         the files' checksums, for write_parts()
/// @throws Error{kIo}; Interrupted
std::vector<std::string> write_part_rows(const Dataset& dataset, std::span<const std::uint16_t> owner, int num_parts);

/// Those of the parts whose files are in the folder, ascending.
std::vector<int> part_rows_here(const std::filesystem::path& directory, const Parts& parts);

/// The same for messages: "none", "all 4", "1, 2 of 4".
std::string parts_here_text(const std::filesystem::path& directory, const Parts& parts);

/// The rows of one part, [nodes of the part, feature_dim]; reads them all for the checksum.
/// @throws Error{kNoInput} saying whose rows are here; Error{kBadData} for another part's rows or changed ones
NpyFile open_part_rows(const Dataset& dataset, const Parts& parts, int part);

}  // namespace salient
