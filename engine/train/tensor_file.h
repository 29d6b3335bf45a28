// engine/train/tensor_file.h - named tensors, such as a model's parameters and buffers, to a safetensors file and back.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/files/safetensors.h"

namespace salient {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// Parameters, then buffers, under the names that torch gives them. The tensors are the module's own, not copies.
NamedTensors state_of(const torch::nn::Module& module);

/// A new file, fsynced; tensors on a device are copied to the host first, which waits for their stream.
/// @throws Error{kIo}.
FileDigest save_tensors(const std::filesystem::path& path, const NamedTensors& tensors, const TensorMetadata& metadata);

/// A copy of one array, on the host.
at::Tensor tensor_of(const TensorInfo& info);

/// Overwrites the tensors in place, on their devices, with the file's values.
///
/// @return  the file's metadata
/// @throws Error{kNoInput}, Error{kIo}; Error{kBadData} naming the first tensor, in the order of `tensors`, that is
///         missing in the file or has another shape or dtype there, or else one that only the file has. Nothing is
///         changed then.
TensorMetadata load_tensors(const std::filesystem::path& path, const NamedTensors& tensors);

}  // namespace salient
