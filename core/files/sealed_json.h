// core/files/sealed_json.h - JSON that carries the checksum of its own text, so that a changed figure is noticed.
#pragma once

#include <string>
#include <string_view>

namespace salient {

/// Adds to an object, as nlohmann's dump(2) writes it, a last field "checksum": the XXH3-64 of all text before that
/// field.
std::string sealed_json(std::string_view object);

/// @return  whether `text` has such a field; false for other JSON, as of older versions
/// @throws Error{kBadData} naming `file` when the checksum is not that of the text.
bool check_seal(std::string_view text, const std::string& file);

}  // namespace salient
