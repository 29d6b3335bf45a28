// store/dataset_name.cpp - see dataset_name.h.
#include "store/dataset_name.h"

#include <system_error>

#include "core/error.h"
#include "core/files/file_io.h"
#include "store/store_manifest.h"
#include "store/synthetic.h"
#include "store/synthetic_typed.h"

namespace salient {

namespace {

bool is_path(const std::string& dataset) {
  std::error_code error;
  return dataset.find('/') != std::string::npos ||
         std::filesystem::exists(std::filesystem::path(dataset) / kManifestName, error);
}

}  // namespace

std::filesystem::path dataset_folder(const std::string& dataset, const std::string& data_root) {
  return is_path(dataset) ? std::filesystem::path(dataset) : std::filesystem::path(data_root) / dataset;
}

std::string whole_path(const std::string& dataset) {
  return is_path(dataset) ? std::filesystem::absolute(dataset).lexically_normal().string() : dataset;
}

std::string dataset_name(const std::string& dataset, const std::string& data_root) {
  try {
    if (is_synthetic_typed_name(dataset)) return parse_synthetic_typed_name(dataset).name;
    if (is_synthetic_name(dataset)) return parse_synthetic_name(dataset).name;
    const std::filesystem::path manifest = dataset_folder(dataset, data_root) / kManifestName;
    return parse_manifest(read_text_file(manifest), manifest.string()).name;
  } catch (const Error&) {
    const std::filesystem::path path = dataset;
    return (path.has_filename() ? path : path.parent_path()).filename().string();
  }
}

}  // namespace salient
