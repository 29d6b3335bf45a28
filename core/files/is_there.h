// core/files/is_there.h - whether a file or folder exists, without taking "may not look" for "no".
#pragma once

#include <filesystem>

namespace salient {

/// Whether something has this name, links followed.
/// @throws Error{kIo} when the system does not say, as of what is in a folder that may not be entered.
bool is_there(const std::filesystem::path& path);

}  // namespace salient
