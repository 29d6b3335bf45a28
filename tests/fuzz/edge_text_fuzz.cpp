// tests/fuzz/edge_text_fuzz.cpp - any bytes as an edge list in text: refused, or the same edges as compressed.
#include "prepare/importers/edge_file.h"
#include "prepare/importers/name_map.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/archives.h"

namespace salient::fuzz {

std::vector<std::string> seeds() {
  return {"# from to\n0 1\n2\t3\n",
          "source,target\r\n 4 , 5\r\n18446744073709551615,0\r\n",
          "% x\n\n7 8 0.5\n",
          "w;source;target\n1;\"a;b\";c\n2;c;\"d\"\"\"\n",
          "a #b\n#b %c\n\"NA\" d\n",
          "0 1 {'w': 1, 'k': {}}\n1 2 {}\n",
          ",source,target,w\n0,1.0,2e0,3\n# x\n\n1,007,2,3\n",
          "% c\n%%MatrixMarket matrix coordinate\n3 3 1\n1 2\n",
          "%%MatrixMarket matrix coordinate pattern general\n4 3 2\n4 1\n1 3\n"};
}

namespace {

struct Outcome {
  bool is_sound = false;
  EdgeList edges{};
  NodePairs named{};
};

Outcome read(std::string_view bytes, const std::vector<std::string>& columns) {
  const MemoryFile file(bytes);
  Outcome outcome;
  const EdgeFileOptions options{.columns = columns, .num_threads = 1};
  outcome.is_sound = succeeds([&] {
    if (ids_of_edge_file(file.path(), options) == IdKind::kNumbers) {
      outcome.edges = read_edge_file(file.path(), options);
      return;
    }
    NameMap names;
    outcome.named =
        read_edges_of_names(file.path(), options, [&](std::string_view id, std::size_t) { return names.add(id); });
    claim(names.size() <= 2 * outcome.named.sources.size(), "every name is of an edge");
  });
  claim(outcome.edges.sources.size() == outcome.edges.destinations.size(), "an edge has two ends");
  return outcome;
}

/// Of two kinds of nodes: ids that are read are below the number of their kind.
void read_of_two_kinds(std::string_view bytes) {
  const MemoryFile file(bytes);
  const EdgeFileOptions options{
      .ids = IdKind::kNumbers, .ends = std::array{EndNodes{4, "a"}, EndNodes{3, "b"}}, .num_threads = 1};
  (void)succeeds([&] {
    const EdgeList edges = read_edge_file(file.path(), options);
    for (const std::uint64_t id : edges.sources) claim(id < 4, "a source is one of its kind");
    for (const std::uint64_t id : edges.destinations) claim(id < 3, "a destination is one of its kind");
  });
}

}  // namespace
}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  fuzz::read_of_two_kinds(bytes);
  for (const std::vector<std::string>& columns : {std::vector<std::string>{}, {"2", "0"}, {"source", "target"}}) {
    const fuzz::Outcome plain = fuzz::read(bytes, columns);
    if (bytes.starts_with("\x1F\x8B")) continue;
    const fuzz::Outcome packed = fuzz::read(test::gzip(bytes), columns);
    fuzz::claim(plain.is_sound == packed.is_sound && plain.edges.sources == packed.edges.sources &&
                    plain.edges.destinations == packed.edges.destinations &&
                    plain.named.sources == packed.named.sources &&
                    plain.named.destinations == packed.named.destinations,
                "compression changes nothing");
  }
  return 0;
}
