// core/files/sealed_json.cpp - see sealed_json.h.
#include "core/files/sealed_json.h"

#include <cstddef>
#include <span>

#include "core/error.h"
#include "core/files/file_io.h"

namespace salient {
namespace {

constexpr std::string_view kStart = ",\n  \"checksum\": \"", kEnd = "\"\n}\n";

std::string seal_of(std::string_view body) {
  return std::string(kStart).append(to_hex(digest_of(std::as_bytes(std::span(body))).xxh3)).append(kEnd);
}

}  // namespace

std::string sealed_json(std::string_view object) {
  const std::string_view body = object.substr(0, object.rfind("\n}"));
  return std::string(body) + seal_of(body);
}

bool check_seal(std::string_view text, const std::string& file) {
  const std::size_t start = text.rfind(kStart);
  if (start == std::string_view::npos) return false;
  if (text.substr(start) != seal_of(text.substr(0, start)))
    fail(ErrorKind::kBadData, file + ": is damaged or was edited: its checksum is not that of its text");
  return true;
}

}  // namespace salient
