// engine/apps/open_named_dataset.cpp - see open_named_dataset.h.
#include "engine/apps/open_named_dataset.h"

#include <filesystem>
#include <system_error>

#include "loaders/synthetic.h"

namespace salient {

Dataset open_named_dataset(const std::string& dataset, const std::string& data_root) {
  if (is_synthetic_name(dataset)) return make_synthetic_dataset(parse_synthetic_name(dataset));
  const std::filesystem::path path = dataset;
  std::error_code error;
  const bool is_path = dataset.find('/') != std::string::npos || std::filesystem::exists(path / "dataset.json", error);
  return open_dataset(is_path ? path : std::filesystem::path(data_root) / path);
}

}  // namespace salient
