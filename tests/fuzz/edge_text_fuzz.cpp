// tests/fuzz/edge_text_fuzz.cpp - any bytes as an edge list in text: refused, or the same edges as compressed.
#include "prepare/importers/edge_file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/archives.h"

namespace salient::fuzz {

std::vector<std::string> seeds() {
  return {"# from to\n0 1\n2\t3\n", "source,target\r\n 4 , 5\r\n18446744073709551615,0\r\n", "% x\n\n7 8 0.5\n"};
}

namespace {

struct Outcome {
  bool is_sound = false;
  EdgeList edges{};
};

Outcome read(std::string_view bytes, const std::vector<int>& columns) {
  const MemoryFile file(bytes);
  Outcome outcome;
  outcome.is_sound =
      succeeds([&] { outcome.edges = read_edge_file(file.path(), {.columns = columns, .num_threads = 1}); });
  claim(outcome.edges.sources.size() == outcome.edges.destinations.size(), "an edge has two ends");
  return outcome;
}

}  // namespace
}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const std::vector<int>& columns : {std::vector<int>{}, std::vector<int>{2, 0}}) {
    const fuzz::Outcome plain = fuzz::read(bytes, columns);
    if (bytes.starts_with("\x1F\x8B")) continue;
    const fuzz::Outcome packed = fuzz::read(test::gzip(bytes), columns);
    fuzz::claim(plain.is_sound == packed.is_sound && plain.edges.sources == packed.edges.sources &&
                    plain.edges.destinations == packed.edges.destinations,
                "compression changes nothing");
  }
  return 0;
}
