// tests/fuzz/edge_pairs_fuzz.cpp - any bytes as papers100M's data.npz: streamed edges = edges read into memory.
#include "prepare/importers/edge_pairs.h"

#include "prepare/importers/npz_tables.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/archives.h"

namespace salient::fuzz {

namespace {

constexpr std::uint64_t kNodes = 5;

void read_both_ways(const ZipArchive& archive) {
  RawGraph expected, found;
  expected.num_nodes = kNodes;
  const bool is_sound = succeeds([&] {
    NpzArray array(archive, "edge_index");
    read_edges(array, EdgeLayout::kRows, expected);
  });
  std::uint64_t items = 0;
  const bool streams = succeeds([&] {
    for_each_edge_block(
        archive, kNodes, [&](std::uint64_t count) { items += count; },
        [&](std::span<const NodeId> sources, std::span<const NodeId> destinations) {
          found.sources.insert(found.sources.end(), sources.begin(), sources.end());
          found.destinations.insert(found.destinations.end(), destinations.begin(), destinations.end());
        });
  });
  claim(is_sound == streams, "soundness does not depend on the way of reading");
  if (!is_sound) return;
  claim(found.sources == expected.sources && found.destinations == expected.destinations, "the edges are the same");
  claim(items == num_edge_items(expected.sources.size()), "every number is reported");
}

}  // namespace

std::vector<std::string> seeds() {
  using test::npy;
  using test::ZipStyle;
  const std::string ids = test::bytes_of(std::vector<std::int64_t>{0, 1, 4, 2, 3, 3});
  return {test::zip({{"edge_index.npy", npy("<i8", "(2, 3)", ids)}}),
          test::zip({{"edge_index.npy", npy("<i8", "(2, 3)", ids, true)}}, {.method = 0}),
          test::zip({{"edge_index.npy", npy("<i4", "(2, 0)", "")}}, {.zip64_entries = true, .zip64_end = true})};
}

}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient;
  const fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  (void)fuzz::succeeds([&] { fuzz::read_both_ways(ZipArchive(file.path())); });
  return 0;
}
