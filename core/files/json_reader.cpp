// core/files/json_reader.cpp - see json_reader.h.
#include "core/files/json_reader.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/files/json_text.h"
#include "core/printable.h"

namespace salient {

using nlohmann::json;

struct JsonObject::Document {
  std::string file;
  std::string text;
  json root;

  static const json& value_of(const JsonObject& object) {
    const json* value = &object.document_->root;
    for (const std::string& key : object.path_) value = value->is_array() ? &(*value)[std::stoul(key)] : &(*value)[key];
    return *value;
  }

  /// The value of the object's field `key`, for which `is_type` holds.
  static const json& field(const JsonObject& object, std::string_view key, bool (json::*is_type)() const noexcept,
                           std::string_view complaint) {
    const json& fields = value_of(object);
    const auto found = fields.find(key);
    if (found == fields.end()) object.refuse(key, "is missing");
    if (!((*found).*is_type)()) object.refuse(key, complaint);
    return *found;
  }
};

namespace {

std::string place(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const std::size_t line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// Where the key at the end of `path` is in a text known to be JSON; the last brace when it is not there. Only for
/// messages, so that the document itself need not remember positions.
std::size_t find_key(std::string_view text, const std::vector<std::string>& path) {
  std::vector<std::string> keys;     // per open bracket, the latest key in it, of an array the number of the item
  std::vector<std::size_t> numbers;  // per open bracket, commas in it
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{' || text[at] == '[') {
      keys.emplace_back(text[at] == '[' ? "0" : "");
      numbers.push_back(0);
    }
    if (keys.empty()) continue;
    if (text[at] == '}' || text[at] == ']') {
      keys.pop_back();
      numbers.pop_back();
    }
    if (text[at] == ',' && !keys.empty()) keys.back() = std::to_string(++numbers.back());
    if (text[at] != '"') continue;
    const std::size_t start = at++;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2U : 1U;
    const std::size_t next = text.find_first_not_of(" \t\r\n", std::min(at + 1, text.size()));
    if (next == std::string_view::npos || text[next] != ':' || keys.empty()) continue;
    keys.back() = text.substr(start + 1, at - start - 1);
    if (std::ranges::equal(keys, path)) return start;
  }
  return text.empty() ? 0 : std::min(text.rfind('}'), text.size() - 1);
}

}  // namespace

JsonObject JsonObject::parse(std::string text, const std::string& file) {
  auto document = std::make_shared<Document>(Document{file, std::move(text), {}});
  try {
    document->root = read_json(document->text);
  } catch (const JsonFault& fault) {
    const std::string where = fault.at ? place(document->text, *fault.at) + ": " : "";
    fail(ErrorKind::kBadData, file + ": " + where + fault.what);
  }
  if (!document->root.is_object()) fail(ErrorKind::kBadData, file + ": line 1, column 1: not a JSON object");
  return JsonObject(std::move(document));
}

void JsonObject::refuse(std::string_view key, std::string_view why) const {
  std::vector<std::string> path = path_;
  path.emplace_back(key);
  const std::size_t at = find_key(document_->text, path);
  std::string text = document_->file + ": " + place(document_->text, at) + ": field '";
  for (std::size_t i = 0; i < path.size(); ++i) text.append(i == 0 ? "" : " / ").append(path[i]);
  text.append("' ").append(why);
  fail(ErrorKind::kBadData, printable(text));
}

JsonObject JsonObject::object(std::string_view key) const {
  (void)Document::field(*this, key, &json::is_object, "is not an object");
  JsonObject inner = *this;
  inner.path_.emplace_back(key);
  return inner;
}

std::vector<JsonObject> JsonObject::objects(std::string_view key) const {
  const json& items = Document::field(*this, key, &json::is_array, "is not an array");
  std::vector<JsonObject> found;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_object()) refuse(key, "has an item that is not an object, number " + std::to_string(i));
    JsonObject& inner = found.emplace_back(*this);
    inner.path_.emplace_back(key);
    inner.path_.push_back(std::to_string(i));
  }
  return found;
}

std::string JsonObject::string(std::string_view key) const {
  return Document::field(*this, key, &json::is_string, "is not a string").get<std::string>();
}

bool JsonObject::boolean(std::string_view key) const {
  return Document::field(*this, key, &json::is_boolean, "is neither true nor false").get<bool>();
}

std::uint64_t JsonObject::integer(std::string_view key, std::uint64_t low, std::uint64_t high) const {
  const json& found = Document::field(*this, key, &json::is_number_integer, "is not a whole number");
  const auto value = found.get<std::uint64_t>();
  if (found.is_number_unsigned() && value >= low && value <= high) return value;
  refuse(key, "is " + found.dump() + ", allowed are " + std::to_string(low) + " to " + std::to_string(high));
}

double JsonObject::number(std::string_view key) const {
  return Document::field(*this, key, &json::is_number, "is not a number").get<double>();
}

std::vector<std::string> JsonObject::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, value] : Document::value_of(*this).items()) names.push_back(key);
  return names;
}

}  // namespace salient
