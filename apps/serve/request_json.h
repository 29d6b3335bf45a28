// apps/serve/request_json.h - the parts of a request that its readers share: fields, lists, numbers and nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/types.h"
#include "store/node_lookup.h"

namespace salient::serve {

/// @throws Error{kBadData}, as all of these do for what breaks a rule
[[noreturn]] void refuse_request(const std::string& what);

/// A body, of a few levels. @throws as the above, with the place of what is no JSON
nlohmann::json json_of(std::string_view body);

/// @param where  in front of messages
void check_fields(const nlohmann::json& object, const std::string& where,
                  std::initializer_list<std::string_view> known);

/// The list `name` of `object`; empty if there is none.
const nlohmann::json& list_of(const nlohmann::json& object, const char* name, const std::string& where);

std::uint64_t number_below(const nlohmann::json& value, std::uint64_t end, const std::string& where);

/// The node that text, or a number, names.
NodeId known_node(const nlohmann::json& value, const NodeLookup& lookup, NodesBy by, const std::string& where);

}  // namespace salient::serve
