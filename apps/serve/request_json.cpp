// apps/serve/request_json.cpp - see request_json.h.
#include "apps/serve/request_json.h"

#include <algorithm>
#include <optional>

#include "apps/serve/json_echo.h"
#include "core/error.h"
#include "core/files/json_text.h"

namespace salient::serve {

using nlohmann::json;

void refuse_request(const std::string& what) { fail(ErrorKind::kBadData, what); }

namespace {

constexpr int kDeepest = 8;  // levels of JSON; a request has five

/// The place of byte `at`: 1 and 1 of the first.
std::string place_of(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  return "line " + std::to_string(1 + std::ranges::count(before, '\n')) + ", column " +
         std::to_string(before.size() - (before.rfind('\n') + 1) + 1);  // npos + 1 is 0
}

}  // namespace

json json_of(std::string_view body) {
  try {
    return read_json(body, kDeepest);
  } catch (const JsonFault& fault) {
    if (fault.is_json) refuse_request("the body has " + fault.what);
    refuse_request("the body is no JSON" + (fault.at ? " at " + place_of(body, *fault.at) : ""));
  }
}

void check_fields(const json& object, const std::string& where, std::initializer_list<std::string_view> known) {
  for (const auto& field : object.items())
    if (std::ranges::find(known, std::string_view(field.key())) == known.end())
      refuse_request(where + "unknown field " + echo(json(field.key())));
}

const json& list_of(const json& object, const char* name, const std::string& where) {
  static const json kNone = json::array();
  const auto found = object.find(name);
  if (found == object.end()) return kNone;
  if (!found->is_array()) refuse_request(where + "\"" + name + "\" must be a list");
  return *found;
}

std::uint64_t number_below(const json& value, std::uint64_t end, const std::string& where) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= end)
    refuse_request(where + echo(value) + (end == 0 ? ": there is none" : ": 0 to " + std::to_string(end - 1)));
  return value.get<std::uint64_t>();
}

namespace {

template <class Said>
NodeId found_node(const Said& said, const NodeLookup& lookup, NodesBy by, const std::string& what) {
  const std::optional<NodeId> node = lookup.find(said, by);
  if (node) return *node;
  const bool is_row = by == NodesBy::kId && lookup.find(said, NodesBy::kRow).has_value();
  refuse_request(what + ": " + lookup.rule_of(said, by) + (is_row ? R"(; "nodes_by": "row" takes row numbers)" : ""));
}

}  // namespace

NodeId known_node(const json& value, const NodeLookup& lookup, NodesBy by, const std::string& where) {
  const std::string what = where + "node " + echo(value);
  if (value.is_number_unsigned()) return found_node(value.get<std::uint64_t>(), lookup, by, what);
  if (value.is_string()) return found_node(std::string_view(value.get_ref<const std::string&>()), lookup, by, what);
  refuse_request(what + ": a node is text, or a number without sign and fraction");
}

}  // namespace salient::serve
