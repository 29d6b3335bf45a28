// prepare/formats/pickle.h - the values of a pickle that is of numbers, text, lists, dictionaries and NumPy arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace salient {

/// A value. Text and bytes are where the pickle has them.
struct PickleValue {
  enum class Kind : std::uint8_t { kNone, kInteger, kText, kBytes, kList, kDict, kGlobal, kObject, kMark };
  Kind kind = Kind::kNone;
  bool is_escaped = false;             ///< of kBytes: bytes above 127 are two, as UTF-8 has them
  std::int64_t integer = 0;            ///< of kInteger; True is 1
  std::string_view text{};             ///< of kText and kBytes; of kGlobal "MODULE NAME"
  std::vector<std::uint32_t> items{};  ///< numbers of values: of kList (and tuples), keys and values of kDict in
                                       ///< turns; of kObject {what was called, its arguments, its state}
};

/// The values of one pickle, and where it ends.
struct Pickle {
  std::vector<PickleValue> values{};
  std::vector<std::unique_ptr<const std::string>> names{};  ///< what the text of kGlobal is in
  std::uint32_t root = 0;
  std::size_t num_bytes = 0;
};

/// @param bytes  from the pickle's start on; outlives the result    @param file  named in errors
/// @throws Error{kBadData} for a damaged pickle and for operations that no such pickle has. Nothing is called.
/// Memory: about 80 bytes a value; 4 for each further mention of one
Pickle read_pickle(std::span<const std::byte> bytes, const std::string& file);

}  // namespace salient
