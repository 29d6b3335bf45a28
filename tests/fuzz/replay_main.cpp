// tests/fuzz/replay_main.cpp - runs a fuzz target's seeds and their neighbours; with a folder, writes the seeds there.
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/fuzz/fuzz_target.h"

namespace {

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::size_t run_neighbours(const std::string& seed) {
  for (std::size_t length = 0; length <= seed.size(); ++length) run(seed.substr(0, length));
  constexpr unsigned char kFlips[] = {0x01, 0x10, 0x80, 0xFF};
  for (std::size_t at = 0; at < seed.size(); ++at)
    for (const unsigned char flip : kFlips) {
      std::string changed = seed;
      changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ flip);
      run(changed);
    }
  return 1 + seed.size() * (1 + std::size(kFlips));
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t num_inputs = 0, number = 0;
  for (const std::string& seed : salient::fuzz::seeds()) {
    if (argc > 1)
      std::ofstream(std::string(argv[1]) + "/seed-" + std::to_string(number++), std::ios::binary) << seed;
    else
      num_inputs += run_neighbours(seed);
  }
  std::printf("%zu inputs run, %zu seeds written\n", num_inputs, number);
  return 0;
}
