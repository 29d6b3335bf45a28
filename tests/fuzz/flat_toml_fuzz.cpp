// tests/fuzz/flat_toml_fuzz.cpp - any bytes as a configuration: refused, or values that come back when written.
#include "core/files/flat_toml.h"

#include "core/error.h"
#include "tests/fuzz/fuzz_target.h"

namespace salient::fuzz {

std::vector<std::string> seeds() {
  return {"dataset = \"a # b\"\nlr = 0.003  # step\n",
          "fanout = [15, 10,\n 5]\n",
          "out = 'C:\\x'\r\nx = \"\\\"\\\\\\n\"\n",
          "a = [\"b\", 'c']",
          "a.b = {c = [{d = 1}]}\n",
          "[nodes]\npaper = { features = 'p.npy', n = 3 }\n[edges]\n\"a:b:c\" = {file = 'e'}\n",
          "x = 1e3\ny = 0x1F\nz = 2026-11-22\n",
          "dataset = \u00e9\n\u0345 = 1 \u0434\n"};
}

}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient;
  std::vector<TomlItem> items;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    (void)parse_toml_tables(text, "f");
  } catch (const Error& error) {
    fuzz::claim(error.kind() == ErrorKind::kUsage, "a bad file is kUsage");
  }
  try {
    items = parse_flat_toml(text, "f");
  } catch (const Error& error) {
    fuzz::claim(error.kind() == ErrorKind::kUsage, "a bad configuration is kUsage");
    return 0;
  }
  std::string written;
  for (const TomlItem& item : items) written += item.key + " = " + toml_string(item.value) + "\n";
  const std::vector<TomlItem> again = parse_flat_toml(written, "f");
  fuzz::claim(again.size() == items.size(), "as many items");
  for (std::size_t i = 0; i < items.size(); ++i)
    fuzz::claim(again[i].key == items[i].key && again[i].value == items[i].value, "the same items");
  return 0;
}
