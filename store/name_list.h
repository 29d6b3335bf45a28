// store/name_list.h - names of a store's classes or columns: text with a name a line.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace salient {

/// One name per line. @return empty if there is no such file, or not `count` lines.  @throws Error{kIo}
std::vector<std::string> read_names(const std::filesystem::path& path, std::size_t count);

}  // namespace salient
