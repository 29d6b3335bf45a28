// core/files/json_text.h - JSON of unknown origin as nlohmann's value, with a limit on its depth. For .cpp files: slow.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace salient {

/// Objects and lists inside each other. Ours have at most five. Copying, writing and comparing a value recurses, so
/// that a file of 100,000 brackets would overflow the stack.
inline constexpr int kMaxJsonDepth = 64;

/// @return a discarded value (is_discarded()) for what is not JSON, or has more levels than kMaxJsonDepth
template <class Json = nlohmann::json>
Json parse_json(std::string_view text) {
  bool is_too_deep = false;
  const auto limit = [&](int depth, typename Json::parse_event_t, Json&) {
    is_too_deep |= depth > kMaxJsonDepth;
    return !is_too_deep;
  };
  Json value = Json::parse(text, limit, /*allow_exceptions=*/false);
  return is_too_deep ? Json(Json::value_t::discarded) : value;
}

}  // namespace salient
