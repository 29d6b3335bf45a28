// tests/fuzz/safetensors_fuzz.cpp - any bytes either parse, with every array inside them, or are refused as bad data.
#include <cstdlib>

#include "engine/core/error.h"
#include "engine/core/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    std::size_t covered = 0;
    for (const auto& tensor : salient::parse_safetensors(bytes, "input").tensors) {
      if (!tensor.bytes.empty() && (tensor.bytes.data() < bytes.data() || &tensor.bytes.back() > &bytes.back())) abort();
      covered += tensor.bytes.size();
    }
    if (covered > size) abort();
  } catch (const salient::Error& error) {
    if (error.kind() != salient::ErrorKind::kBadData) abort();
  }
  return 0;
}
