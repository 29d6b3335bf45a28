// engine/train/tensor_file.cpp - named tensors and safetensors files.
#include "engine/train/tensor_file.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace salient {
namespace {

struct TypePair {
  at::ScalarType torch;
  TensorType file;
};
constexpr TypePair kTypes[] = {{at::kDouble, TensorType::kF64}, {at::kFloat, TensorType::kF32},
                               {at::kHalf, TensorType::kF16},   {at::kBFloat16, TensorType::kBF16},
                               {at::kLong, TensorType::kI64},   {at::kInt, TensorType::kI32},
                               {at::kByte, TensorType::kU8},    {at::kBool, TensorType::kBool}};

TensorType file_type(const at::Tensor& tensor) {
  for (const TypePair& pair : kTypes)
    if (pair.torch == tensor.scalar_type()) return pair.file;
  require(false, "tensors to be saved have a dtype of safetensors");
  return TensorType::kF32;
}

std::string text_of(TensorType type, at::IntArrayRef shape) {
  std::string text(name_of(type));
  text += " [";
  for (std::size_t i = 0; i < shape.size(); ++i) text.append(i == 0 ? "" : ", ").append(std::to_string(shape[i]));
  return text + "]";
}

/// The first rule of load_tensors() that is broken, or nothing.
std::string mismatch(const SafetensorsView& file, const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    const TensorInfo* found = file.find(name);
    if (found == nullptr) return "tensor '" + name + "' is missing";
    const std::string expected = text_of(file_type(tensor), tensor.sizes()),
                      actual = text_of(found->type, found->shape);
    if (actual != expected)
      return std::string("tensor '").append(name).append("' is ").append(actual).append(", expected ").append(expected);
  }
  for (const TensorInfo& found : file.tensors) {
    const auto is_it = [&](const auto& named) { return named.first == found.name; };
    if (std::none_of(tensors.begin(), tensors.end(), is_it)) return "tensor '" + found.name + "' has no place here";
  }
  return "";
}

}  // namespace

NamedTensors state_of(const torch::nn::Module& module) {
  NamedTensors tensors;
  for (const auto& item : module.named_parameters()) tensors.emplace_back(item.key(), item.value().detach());
  for (const auto& item : module.named_buffers()) tensors.emplace_back(item.key(), item.value());
  return tensors;
}

FileDigest save_tensors(const std::filesystem::path& path, const NamedTensors& tensors,
                        const TensorMetadata& metadata) {
  std::vector<at::Tensor> on_host;  // keeps the bytes alive
  std::vector<TensorInfo> infos;
  for (const auto& [name, tensor] : tensors) {
    on_host.push_back(tensor.detach().to(at::kCPU).contiguous());
    const auto* bytes = static_cast<const std::byte*>(on_host.back().const_data_ptr());
    infos.push_back({name, file_type(tensor), tensor.sizes().vec(), {bytes, on_host.back().nbytes()}});
  }
  return write_safetensors(path, infos, metadata);
}

at::Tensor tensor_of(const TensorInfo& info) {
  const auto is_it = [&](const TypePair& pair) { return pair.file == info.type; };
  const at::ScalarType type = std::find_if(std::begin(kTypes), std::end(kTypes), is_it)->torch;
  at::Tensor tensor = at::empty(info.shape, at::TensorOptions().dtype(type));
  if (!info.bytes.empty()) std::memcpy(tensor.mutable_data_ptr(), info.bytes.data(), info.bytes.size());
  return tensor;
}

TensorMetadata load_tensors(const std::filesystem::path& path, const NamedTensors& tensors) {
  const SafetensorsFile file(path);
  const std::string problem = mismatch(file.view(), tensors);
  if (!problem.empty()) fail(ErrorKind::kBadData, file.name() + ": " + problem);
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : tensors) {
    at::Tensor target = tensor;
    target.copy_(tensor_of(*file.view().find(name)));
  }
  return file.view().metadata;
}

}  // namespace salient
