// store/parts.h - which part of a data set each node belongs to, for runs in which a rank holds the rows of one part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "store/dataset.h"

namespace salient {

inline constexpr char kPartsName[] = "parts.json";
inline constexpr int kMaxParts = 1 << 16;  ///< as many as an owner can name

/// Nodes keep their ids; owner.npy says whose they are. Moves, never copies.
struct Parts {
  int num_parts = 0;                       ///< some may own no node
  std::span<const std::uint16_t> owner{};  ///< [V] the part of each node, below num_parts
  std::string method{};                    ///< how the parts were made, for people
  std::string xxh3{};                      ///< that owner.npy should have, see verify_owners()
  std::vector<std::string> row_files{};    ///< [num_parts] checksums, of part_rows_file.h; empty: none were written
  std::shared_ptr<const void> storage{};   ///< of `owner`
};

/// Whether the data set in this folder has been partitioned.
bool has_parts(const std::filesystem::path& directory);

/// Maps owner.npy and checks every owner.
/// @throws Error{kNoInput} if the data set has no parts; Error{kBadData} naming file and rule; Error{kIo}.
Parts open_parts(const Dataset& dataset);

/// That owner.npy is the one that parts.json was written for: reads it for its checksum.
/// @throws Error{kBadData}; Error{kIo}
void verify_owners(const Dataset& dataset, const Parts& parts);

/// As open_parts(), and the checksums of owner.npy and of the files of parts' rows that are in the folder.
void verify_parts(const Dataset& dataset);

/// Adds owner.npy and parts.json to the data set's folder, in place of earlier ones. Whatever interrupts it leaves the
/// old parts or the new ones (store/part_files.h). For the only writer: whoever calls it holds try_lock_folder().
/// @param owner      [V] each below num_parts
/// @param row_files  those of write_part_rows(); empty: files of earlier parts' rows are removed
/// @throws Error{kIo}
void write_parts(const Dataset& dataset, std::span<const std::uint16_t> owner, int num_parts, const std::string& method,
                 std::span<const std::string> row_files = {});

/// Finishes or removes what an interrupted writer left. For the only writer. @throws Error{kIo}
void settle_parts(const std::filesystem::path& directory);
void settle_parts_after_failure(const std::filesystem::path& directory) noexcept;

/// Lines of "what   value" as in summary_text(): sizes of the parts, and the entries that lead from one to another.
std::string parts_text(const Dataset& dataset, const Parts& parts);

}  // namespace salient
