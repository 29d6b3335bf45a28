// core/files/json_reader.h - fields of a JSON file, with errors that name the field, its line and its column.
//
// nlohmann's parser does the reading; what is here are the places in the text, which it forgets, and the limits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace salient {

/// One JSON object of a parsed file. Cheap to copy; all copies share the document.
class JsonObject {
 public:
  /// @param file  named in errors.
  /// @throws Error{kBadData} "FILE: line 3, column 14: ..." if `text` is not JSON, not an object, or too deep.
  static JsonObject parse(std::string text, const std::string& file);

  /// Each @throws Error{kBadData} naming field, line and column, if the field is missing or not of this type.
  JsonObject object(std::string_view key) const;
  /// Of an array of objects, in its order.
  std::vector<JsonObject> objects(std::string_view key) const;
  std::string string(std::string_view key) const;
  bool boolean(std::string_view key) const;
  /// A whole number in [low, high].
  std::uint64_t integer(std::string_view key, std::uint64_t low, std::uint64_t high) const;

  /// Any number.
  double number(std::string_view key) const;

  std::vector<std::string> keys() const;

  /// For a rule that the value of `key` breaks. @throws Error{kBadData}, always.
  [[noreturn]] void refuse(std::string_view key, std::string_view why) const;

 private:
  struct Document;
  explicit JsonObject(std::shared_ptr<const Document> document) : document_(std::move(document)) {}

  std::shared_ptr<const Document> document_;
  std::vector<std::string> path_;  ///< keys, and numbers in arrays, from the document's root to this object
};

}  // namespace salient
