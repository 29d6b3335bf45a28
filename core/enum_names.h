// core/enum_names.h - the words of an enum, in one table beside it: what files, messages and options call its values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace salient {

template <class E>
struct EnumName {
  E value;
  const char* name;
};

/// An enum with a table of its words, in the order in which they are listed:
///   enum class Norm { kNone, kBatch };
///   constexpr auto names_of(Norm) { return std::to_array<EnumName<Norm>>({{Norm::kNone, "none"}, ...}); }
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires {
  names_of(E{});
};

template <NamedEnum E>
std::string name_of(E value) {
  for (const EnumName<E>& row : names_of(E{}))
    if (row.value == value) return row.name;
  return "?";
}

/// The value of a word; nullopt if the enum has no such word.
template <NamedEnum E>
std::optional<E> value_named(std::string_view name) {
  for (const EnumName<E>& row : names_of(E{}))
    if (row.name == name) return row.value;
  return std::nullopt;
}

}  // namespace salient
