// store/part_files.h - the files of parts in a store's folder, and how new ones take the place of the old ones.
//
// parts.json names files with their checksums. A new file is FILE.tmp-HOST-PID while it is written and FILE.CHECKSUM
// when it is whole; readers take FILE.CHECKSUM where it is there, else FILE. So the rename of a new parts.json replaces
// all files of the old parts at one moment, and whatever interrupts the writer leaves the old parts or the new ones.
// Then the files get their plain names; what a kill left, the next writer finishes or removes.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace salient {

using Checksums = std::map<std::string, std::string>;  ///< of files, by their plain names

/// Where the file of these parts is, if it is there at all.
std::filesystem::path part_file(const std::filesystem::path& directory, const std::string& name,
                                const std::string& checksum);

/// Where this process writes it; and what gives it the name that readers look for. @throws Error{kIo}
std::filesystem::path unfinished_part_file(const std::filesystem::path& directory, const std::string& name);
void finish_part_file(const std::filesystem::path& directory, const std::string& name, const std::string& checksum);

/// Gives the files that parts.json names their plain names, and removes the others of parts. For the only writer.
/// @param named  what parts.json names; empty without one: then files with plain names stay
/// @throws Error{kIo}
void settle_part_files(const std::filesystem::path& directory, const Checksums& named);

}  // namespace salient
