// tests/fuzz/table_line_fuzz.cpp - any line as fields: refused, or the same fields when they are written as CSV again.
#include "prepare/formats/table_line.h"

#include <algorithm>
#include <string>

#include "core/csv_text.h"
#include "tests/fuzz/fuzz_target.h"

namespace salient::fuzz {

std::vector<std::string> seeds() {
  return {"a,\"b, \"\"c\"\"\",,d e",    "1\t 2 ;\"x\ty\"\t",       " 0 , 1 \"q\" 3.0",
          "\"\"\"\"; \"\" ;",           "0 1 {'a': {}, \"b\": 2}", "{a,b}",
          "1e3,9007199254740993.0,.5e1"};
}

}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient;
  const std::string_view text = std::string_view(reinterpret_cast<const char*>(data), size).substr(0, 4096);
  const std::string_view bytes = text.substr(0, text.find('\n'));
  (void)separator_of(bytes);
  for (const Separator separator :
       {Separator::kComma, Separator::kSemicolon, Separator::kTab, Separator::kBlanks, Separator::kAny}) {
    TableLine line, again;
    if (line.split(bytes, separator) != nullptr) continue;
    std::string written;
    for (const std::string_view& field : line.fields())
      written.append(&field == line.fields().data() ? "" : ",").append(csv_field(field));
    if (line.fields().empty()) continue;
    fuzz::claim(again.split(written, Separator::kComma) == nullptr, "what is written can be read");
    fuzz::claim(std::ranges::equal(line.fields(), again.fields()), "and has the same fields");
    std::uint64_t id = 0;
    for (const std::string_view field : line.fields())
      if (parse_id(field, id)) fuzz::claim(!unusual_id_text(field).empty(), "an id has words");
  }
  return 0;
}
