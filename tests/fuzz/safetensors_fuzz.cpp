// tests/fuzz/safetensors_fuzz.cpp - any bytes either parse, with every array inside them, or are refused as bad data.
#include <span>

#include "core/files/safetensors.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/archives.h"

namespace salient::fuzz {

std::vector<std::string> seeds() {
  const auto file = [](const std::string& header, std::size_t data_bytes) {
    return test::u64(header.size()) + header + std::string(data_bytes, 'x');
  };
  return {file("{}", 0), file(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2),
          file(R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
               R"("b":{"dtype":"I64","shape":[],"data_offsets":[4,12]}})",
               12),
          file(R"({"a":{"dtype":)" + std::string(100, '[') + std::string(100, ']') + "}}", 0)};
}

}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient;
  const auto bytes = std::as_bytes(std::span(data, size));
  (void)fuzz::succeeds([&] {
    std::size_t covered = 0;
    for (const auto& tensor : parse_safetensors(bytes, "input").tensors) {
      const bool lies_inside =
          tensor.bytes.empty() || (tensor.bytes.data() >= bytes.data() && &tensor.bytes.back() <= &bytes.back());
      fuzz::claim(lies_inside, "arrays lie in the file");
      covered += tensor.bytes.size();
    }
    fuzz::claim(covered <= size, "arrays do not overlap");
  });
  return 0;
}
