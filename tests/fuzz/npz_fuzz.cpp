// tests/fuzz/npz_fuzz.cpp - any bytes as an .npz file; its arrays are the same whatever the piece size.
#include <array>
#include <bit>
#include <cstring>

#include "prepare/formats/npz_reader.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/archives.h"

namespace salient::fuzz {

namespace {

/// Items of an array as floats, bit for bit, in pieces of `step`.
std::vector<std::uint32_t> items_of(const ZipArchive& archive, std::string_view key, std::size_t step) {
  NpzArray array(archive, key);
  std::vector<std::uint32_t> items;
  std::vector<float> piece(step);
  while (const std::size_t count = array.read(std::span(piece)))
    for (std::size_t i = 0; i < count; ++i) items.push_back(std::bit_cast<std::uint32_t>(piece[i]));
  claim(items.size() == array.header().num_items(), "an array has the items that its shape says");
  return items;
}

void read_everything(const ZipArchive& archive) {
  for (const ZipMember& member : archive.members()) {
    if (!member.name.ends_with(".npy")) continue;
    const std::string key = member.name.substr(0, member.name.size() - 4);
    std::vector<std::uint32_t> whole, pieces;
    const bool is_sound = succeeds([&] { whole = items_of(archive, key, 1 << 16); });
    claim(is_sound == succeeds([&] { pieces = items_of(archive, key, 7); }), "soundness does not depend on pieces");
    claim(whole == pieces, "items do not depend on pieces");
    (void)succeeds([&] {
      NpzArray array(archive, key);
      array.expect(NpzKind::kInteger);
      std::array<std::int64_t, 5> some{};
      array.skip(3);
      array.read(std::span<std::int64_t>(some));
    });
    std::vector<std::uint64_t> ids;
    const auto ids_by = [&](std::size_t step) {
      ids.clear();
      NpzArray array(archive, key);
      std::vector<std::uint64_t> piece(step);
      while (const std::size_t count = array.read(std::span(piece)))
        ids.insert(ids.end(), piece.begin(), piece.begin() + std::ptrdiff_t(count));
    };
    const bool are_ids = succeeds([&] { ids_by(1 << 16); });
    const std::vector<std::uint64_t> all = ids;
    claim(are_ids == succeeds([&] { ids_by(7); }), "whether all are ids does not depend on pieces");
    claim(!are_ids || ids == all, "ids do not depend on pieces");
  }
}

}  // namespace

std::vector<std::string> seeds() {
  using test::npy;
  using test::ZipStyle;
  const std::vector<test::ZipEntry> entries = {{"a.npy", npy("<i8", "(2, 1)", std::string(16, '\1'))},
                                               {"b.npy", npy(">f4", "(3,)", std::string(12, '\2'), true)}};
  return {
      test::zip(entries), test::zip(entries, {.method = 0, .local = ZipStyle::kNumpy}),
      test::zip(entries, {.local = ZipStyle::kDescriptor, .zip64_entries = true, .zip64_end = true, .comment = "PK"})};
}

}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient;
  const fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  (void)fuzz::succeeds([&] { fuzz::read_everything(ZipArchive(file.path())); });
  return 0;
}
