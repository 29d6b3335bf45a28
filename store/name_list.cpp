// store/name_list.cpp - see name_list.h.
#include "store/name_list.h"

#include <sstream>

#include "core/files/is_there.h"

namespace salient {

std::vector<std::string> read_names(const std::filesystem::path& path, std::size_t count) {
  std::istringstream file(text_if_there(path));
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) names.push_back(line);
  return names.size() == count ? names : std::vector<std::string>{};
}

}  // namespace salient
