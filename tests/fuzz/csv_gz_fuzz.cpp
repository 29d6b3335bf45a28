// tests/fuzz/csv_gz_fuzz.cpp - any bytes as a text file, as they are and compressed: lines are lines, and rows of
// numbers read back.
#include <cmath>
#include <utility>

#include "prepare/formats/line_reader.h"
#include "prepare/formats/text_fields.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/archives.h"

namespace salient::fuzz {

namespace {

struct Lines {
  bool is_sound = false;
  std::vector<std::string> lines{};
  bool operator==(const Lines&) const = default;
};

Lines lines_of(std::string_view bytes) {
  const MemoryFile file(bytes);
  Lines result;
  result.is_sound = succeeds([&] {
    LineReader reader(file.path());
    for (std::string_view line; reader.next(line);) {
      result.lines.emplace_back(line);
      claim(reader.line_number() == result.lines.size(), "lines are counted");
    }
  });
  return result;
}

Lines lines_by_block(std::string_view bytes) {
  const MemoryFile file(bytes);
  Lines result;
  result.is_sound = succeeds([&] {
    LineReader reader(file.path());
    for (LineBlock block; reader.next_block(block);) {
      claim(block.first_line == result.lines.size() + 1, "blocks know their first line");
      std::string_view rest = block.text;
      for (std::string_view line; take_line(rest, line);) result.lines.emplace_back(line);
    }
  });
  return result;
}

void parse_row(std::string_view line) {
  FieldSplitter splitter(line, ',');
  std::string joined;
  bool is_first = true;
  for (std::string_view field; splitter.next(field); is_first = false) {
    joined.append(is_first ? "" : ",").append(field);
    std::uint32_t id = 0;
    double value = 0;
    const bool is_id = parse_number(field, id), is_number = parse_number(field, value);
    claim(!is_id || (is_number && value == id), "an id is a number of the same value");
    for (const char c : in_quotes(field)) claim(c >= ' ' && c <= '~', "quoted text is printable");
  }
  claim(joined == line, "fields make up the line");
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string rows = "0,1\n17,4294967295\r\n-0.5,1e-3,nan\n\n,x\n\"a b\",2";
  return {rows, test::gzip(rows), test::gzip("1,2\n3,") + test::gzip("4\n")};
}

}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const fuzz::Lines lines = fuzz::lines_of(bytes), blocks = fuzz::lines_by_block(bytes);
  fuzz::claim(lines.is_sound == blocks.is_sound, "lines and blocks agree on soundness");
  if (lines.is_sound) fuzz::claim(lines == blocks, "lines and blocks agree");
  if (lines.is_sound && !bytes.starts_with("\x1F\x8B"))
    fuzz::claim(fuzz::lines_of(test::gzip(bytes)) == lines, "compression changes nothing");
  for (const std::string& line : lines.lines) fuzz::parse_row(line);
  return 0;
}
