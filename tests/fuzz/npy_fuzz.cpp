// tests/fuzz/npy_fuzz.cpp - any bytes as an array file: refused, or every value lies in the file and can be converted.
#include <algorithm>

#include "core/files/npy.h"
#include "core/files/value_rules.h"
#include "tests/fuzz/fuzz_target.h"

namespace salient::fuzz {

std::vector<std::string> seeds() {
  const auto file = [](char version, std::string text, std::size_t data_bytes) {
    text += '\n';
    std::string bytes("\x93NUMPY");
    bytes.append({version, '\0', static_cast<char>(text.size()), '\0'});
    if (version > 1) bytes.append(2, '\0');
    return bytes + text + std::string(data_bytes, '\x40');
  };
  return {file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24),
          file(2, "{'descr': '>i8', 'fortran_order': True, 'shape': (5L,)}", 40),
          file(3, "{\"shape\": (), \"fortran_order\": False, \"descr\": \"|b1\"}", 1)};
}

namespace {

void read_values(const NpyFile& file) {
  const NpyHeader& header = file.header();
  claim(file.data().size() == header.data_bytes(), "the file has exactly its values");
  std::vector<double> values(header.num_items());
  convert_to_double(header, file.data().data(), values.size(), values.data());
  (void)succeeds([&] {
    const std::vector<std::uint64_t> ids = ids_of(file);
    claim(ids.size() == values.size(), "every value is an id, or all are refused");
  });
  for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 100); ++i)
    claim(!item_text(header, file.data().data() + i * static_cast<std::size_t>(header.item_bytes)).empty(),
          "a value has a text");
  if (header.kind == 'f') return;
  std::vector<std::int64_t> integers(values.size());
  convert_to_int64(header, file.data().data(), integers.size(), integers.data());
}

}  // namespace
}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const bool has_header = fuzz::succeeds([&] {
    const NpyHeader header = parse_npy_header(bytes, "input");
    fuzz::claim(header.data_offset <= size, "the header lies in the file");
    fuzz::claim(header.data_bytes() <= INT64_MAX, "sizes do not overflow");
  });
  const fuzz::MemoryFile memory(bytes);
  const bool opens = fuzz::succeeds([&] { fuzz::read_values(NpyFile(memory.path())); });
  fuzz::claim(has_header || !opens, "a file opens only with a sound header");
  return 0;
}
