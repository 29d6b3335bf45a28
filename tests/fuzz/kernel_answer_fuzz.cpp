// tests/fuzz/kernel_answer_fuzz.cpp - any bytes as a generator's answer: refused, or edits that can be made in order.
#include "tests/fuzz/fuzz_target.h"
#include "workbench/method/answers.h"

namespace salient::fuzz {

std::vector<std::string> seeds() {
  return {"Sure: {\"source\": \"// launch k\\n\"} done", "text\n```cpp\n// launch k grid=1\n```\nmore",
          "{\"edits\": [{\"from\": 1, \"to\": 2, \"lines\": [\"a\", \"b\"]}, {\"from\": 4, \"to\": 3, \"lines\": "
          "[\"c\"]}]}",
          "{\"shapes\": [{\"n\": 17, \"d\": 0}], \"seeds\": [3]}"};
}

}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient;
  using namespace salient::workbench;
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::succeeds([&] { fuzz::claim(source_in(text).size() <= text.size() * 4, "a source comes from its answer"); });
  fuzz::succeeds([&] {
    const MoreTests more = tests_in(text);
    fuzz::claim(more.shapes.size() <= 8 && more.seeds.size() <= 4, "tests are few");
    for (const Variables& dims : more.shapes)
      for (const auto& [name, value] : dims) fuzz::claim(value >= 0, "sizes are not negative");
  });
  fuzz::succeeds([&] {
    const std::vector<LineEdit> edits = edits_in(text);
    fuzz::succeeds([&] {
      const std::string edited = apply_edits("1\n2\n3\n4\n5\n", edits);
      fuzz::claim(edited.empty() || edited.back() == '\n', "an edited source ends its last line");
    });
  });
  return 0;
}
