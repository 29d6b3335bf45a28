// core/id_text.h - a node id that is a number, as people and programs write it.
#pragma once

#include <cstdint>
#include <string_view>

namespace salient {

/// A node id: digits, or a whole number from 0 to 2^53 with a point or an exponent, such as "3.0" or "1e3". What is no
/// whole number is refused, however near it is to one.
bool parse_id(std::string_view text, std::uint64_t& id);

/// How a field is an id. Unusual are codes with zeros in front, such as "007", and exponents, such as "1.23457e+09", as
/// programs round numbers to: other ids than they were meant to be, perhaps.
enum class IdForm { kNone, kPlain, kUnusual };

/// parse_id(), and the form.
IdForm id_form(std::string_view text, std::uint64_t& id);

}  // namespace salient
