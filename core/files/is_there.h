// core/files/is_there.h - files that may be missing, without taking "may not look" for "no".
#pragma once

#include <filesystem>
#include <string>

namespace salient {

/// Whether something has this name, links followed.
/// @throws Error{kIo} when the system does not say, as of what is in a folder that may not be entered.
bool is_there(const std::filesystem::path& path);

/// The whole file, or nothing where nothing has this name.
/// @throws as open_to_read(); Error{kBadData} beyond 4 GiB
std::string text_if_there(const std::filesystem::path& path);

}  // namespace salient
