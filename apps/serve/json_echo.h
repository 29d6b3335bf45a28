// apps/serve/json_echo.h - what a client wrote, for a message.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace salient::serve {

/// One line of ASCII, a long one cut.
inline std::string echo(const nlohmann::json& value) {
  constexpr std::size_t kLongest = 60;  // bytes
  const std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
  return text.size() > kLongest ? text.substr(0, kLongest) + "..." : text;
}

}  // namespace salient::serve
