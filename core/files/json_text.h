// core/files/json_text.h - JSON of unknown origin as nlohmann's value, with limits. For .cpp files: slow to compile.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace salient {

/// Objects and lists inside each other. Ours have at most five. Copying, writing and comparing a value recurses, so
/// that a file of 100,000 brackets would overflow the stack.
inline constexpr int kMaxJsonDepth = 64;

/// Why a text is refused. Thrown by read_json().
struct JsonFault {
  bool is_json;                     ///< it is, but has what is not taken here
  std::string what;                 ///< "not JSON: syntax error ..."; "more than 64 levels of brackets"
  std::optional<std::size_t> at{};  ///< its byte, from 0, if that is known
};

namespace detail {

/// Called by nlohmann's parser for each part of a text.
template <class Json>
class JsonLimits {
 public:
  explicit JsonLimits(int max_depth) : max_depth_(max_depth) {}

  bool operator()(int depth, typename Json::parse_event_t event, const Json& part) {
    using Event = typename Json::parse_event_t;
    if (depth > max_depth_) throw JsonFault{true, "more than " + std::to_string(max_depth_) + " levels of brackets"};
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key && !keys_.back().insert(part.template get<std::string>()).second)
      throw JsonFault{true, "the key " + shown(part) + " twice in one object"};
    return true;
  }

 private:
  static std::string shown(const Json& key) {
    constexpr std::size_t kLongest = 60;
    const std::string text = key.dump(-1, ' ', /*ensure_ascii=*/true);
    return text.size() > kLongest ? text.substr(0, kLongest) + "..." : text;
  }

  int max_depth_;
  std::vector<std::set<std::string>> keys_{};  // of the objects that are open
};

}  // namespace detail

/// The parser takes NUL for the end of a text and the last of two equal keys, in silence: both are refused here.
/// @throws JsonFault for what is not JSON, too deep, or has a key twice
template <class Json = nlohmann::json>
Json read_json(std::string_view text, int max_depth = kMaxJsonDepth) {
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    throw JsonFault{false, "not JSON: a NUL", nul};
  try {
    detail::JsonLimits<Json> limits(max_depth);
    const typename Json::parser_callback_t check = [&](int depth, typename Json::parse_event_t event, Json& part) {
      return limits(depth, event, part);
    };
    return Json::parse(text, check);
  } catch (const typename Json::parse_error& error) {
    std::string why = error.what();  // "[json.exception...] parse error at line 1, column 5: syntax error ..."
    if (const std::size_t colon = why.find(": "); colon != std::string::npos) why.erase(0, colon + 2);
    throw JsonFault{false, "not JSON: " + why, error.byte == 0 ? 0 : error.byte - 1};
  } catch (const typename Json::exception& error) {  // a number that no double holds
    throw JsonFault{false, "not JSON: " + std::string(error.what())};
  }
}

/// The same without the reason: a discarded value (is_discarded()) for what is refused.
template <class Json = nlohmann::json>
Json parse_json(std::string_view text) {
  try {
    return read_json<Json>(text);
  } catch (const JsonFault&) {
    return Json(Json::value_t::discarded);
  }
}

}  // namespace salient
