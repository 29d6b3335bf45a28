// loaders/dataset_name.cpp - see dataset_name.h.
#include "loaders/dataset_name.h"

#include <system_error>

#include "engine/core/error.h"
#include "engine/core/file_io.h"
#include "loaders/store_manifest.h"
#include "loaders/synthetic.h"

namespace salient {

std::filesystem::path dataset_folder(const std::string& dataset, const std::string& data_root) {
  const std::filesystem::path path = dataset;
  std::error_code error;
  const bool is_path = dataset.find('/') != std::string::npos || std::filesystem::exists(path / kManifestName, error);
  return is_path ? path : std::filesystem::path(data_root) / path;
}

std::string dataset_name(const std::string& dataset, const std::string& data_root) {
  try {
    if (is_synthetic_name(dataset)) return parse_synthetic_name(dataset).name;
    const std::filesystem::path manifest = dataset_folder(dataset, data_root) / kManifestName;
    return parse_manifest(read_text_file(manifest), manifest.string()).name;
  } catch (const Error&) {
    const std::filesystem::path path = dataset;
    return (path.has_filename() ? path : path.parent_path()).filename().string();
  }
}

}  // namespace salient
