// tests/fuzz/triples_fuzz.cpp - any bytes as triples, or as names of numbers: refused, or links among what was named.
#include "prepare/importers/id_table.h"
#include "prepare/importers/triples_importer.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/archives.h"

namespace salient::fuzz {

std::vector<std::string> seeds() {
  return {"a\tr\tb\nb\tr\tc\n", "a r b\na r b\n\nb s a", "a,r,b\r\nc,r,a\r\n", "2\n0 1 0\n1 2 0\n", "r\tx\t0\nq\t1\n"};
}

namespace {

struct Outcome {
  bool is_sound = false;
  TypedGraph graph{};
};

Outcome read(std::string_view bytes, const std::vector<std::string>& columns) {
  const MemoryFile file(bytes);
  Outcome outcome;
  outcome.is_sound = succeeds(
      [&] { outcome.graph = import_triples({.train = file.path(), .columns = columns, .name = "any"}).graph; });
  if (!outcome.is_sound) return outcome;
  const TypedGraph& graph = outcome.graph;
  const std::uint64_t num_entities = graph.schema.node_types[0].count;
  claim(graph.node_names.size() == num_entities, "every entity has a name");
  claim(graph.links[0].ends.size() == 2 * graph.links[0].relations.size(), "a link has two ends");
  for (const NodeId node : graph.links[0].ends) claim(node < num_entities, "an end is an entity");
  for (const std::uint16_t relation : graph.links[0].relations)
    claim(2 * relation < graph.schema.relations.size(), "a relation has a name");
  return outcome;
}

}  // namespace
}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const fuzz::MemoryFile table(bytes);
  (void)fuzz::succeeds([&] { (void)read_id_table(table.path(), {}); });
  for (const std::vector<std::string>& columns : {std::vector<std::string>{}, {"t", "-", "h", "r"}}) {
    const fuzz::Outcome plain = fuzz::read(bytes, columns);
    if (bytes.starts_with("\x1F\x8B")) continue;
    const fuzz::Outcome packed = fuzz::read(test::gzip(bytes), columns);
    fuzz::claim(plain.is_sound == packed.is_sound && plain.graph.links[0].ends == packed.graph.links[0].ends &&
                    plain.graph.links[0].relations == packed.graph.links[0].relations,
                "compression changes nothing");
  }
  return 0;
}
