// store/dataset_name.h - what people name a data set by: a name below the data root, a path, or a generated graph.
#pragma once

#include <filesystem>
#include <string>

namespace salient {

/// Where the store is: `dataset` itself if it has a slash or holds a dataset.json, else DATA_ROOT/dataset.
std::filesystem::path dataset_folder(const std::string& dataset, const std::string& data_root);

/// `dataset` as it reads from any working directory: a relative path becomes a whole one, a name stays.
std::string whole_path(const std::string& dataset);

/// The data set's own name, which is in its dataset.json whatever its folder is called; without a readable one, the
/// last component of `dataset`. Never throws: opening the data set reports what is wrong with it.
std::string dataset_name(const std::string& dataset, const std::string& data_root);

}  // namespace salient
