// tests/fuzz/block_yaml_fuzz.cpp - any bytes as a description: refused, or read.
#include "prepare/formats/block_yaml.h"

#include "core/error.h"
#include "tests/fuzz/fuzz_target.h"

namespace salient::fuzz {

std::vector<std::string> seeds() {
  return {"graph:\n  nodes:\n  - num: 3\n    type: paper\n", "a: 'b'\nc:\n- - d\n  - \"e: f\"\n", "---\n- x # y\n...\n",
          "a: null\nb: ~\nc:\n"};
}

}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient;
  try {
    (void)parse_block_yaml({reinterpret_cast<const char*>(data), size}, "f");
  } catch (const Error& error) {
    fuzz::claim(error.kind() == ErrorKind::kBadData, "a bad description is kBadData");
  }
  return 0;
}
