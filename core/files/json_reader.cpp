// core/files/json_reader.cpp - see json_reader.h.
#include "core/files/json_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"

namespace salient {

using nlohmann::json;

struct JsonObject::Document {
  std::string file;
  std::string text;
  json root;
};

struct JsonObject::Node {
  const json& value;
  std::vector<std::string> path;  ///< keys from the root to here
};

namespace {

std::string place(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  const std::string_view before = text.substr(0, at);
  const std::size_t line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t column = at - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// Where the key that `path` names stands in a text known to be JSON; the last brace when it is not there. Only for
/// messages, so that the document itself need not remember positions.
std::size_t find_key(std::string_view text, const std::vector<std::string>& path) {
  std::vector<std::string_view> keys;  // per open bracket, the latest key in it
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{' || text[at] == '[') keys.emplace_back();
    if ((text[at] == '}' || text[at] == ']') && !keys.empty()) keys.pop_back();
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

JsonObject::JsonObject(std::shared_ptr<const Document> document, std::shared_ptr<const Node> node)
    : document_(std::move(document)), node_(std::move(node)) {}

JsonObject JsonObject::parse(std::string text, const std::string& file) {
  auto document = std::make_shared<Document>(Document{file, std::move(text), {}});
  try {
    document->root = json::parse(document->text);
  } catch (const json::parse_error& error) {
    std::string why = error.what();  // "[json.exception...] parse error at line 1, column 5: syntax error ..."
    const std::size_t colon = why.find(": ");
    if (colon != std::string::npos) why.erase(0, colon + 2);
    const std::size_t at = error.byte == 0 ? 0 : error.byte - 1;
    fail(ErrorKind::kBadData, file + ": " + place(document->text, at) + ": not JSON: " + why);
  } catch (const json::exception& error) {
    fail(ErrorKind::kBadData, file + ": not JSON: " + error.what());
  }
  if (!document->root.is_object()) fail(ErrorKind::kBadData, file + ": line 1, column 1: not a JSON object");
  auto node = std::make_shared<Node>(Node{document->root, {}});
  return {std::move(document), std::move(node)};
}

void JsonObject::refuse(std::string_view key, std::string_view why) const {
  std::vector<std::string> path = node_->path;
  path.emplace_back(key);
  const std::size_t at = find_key(document_->text, path);
  std::string text = document_->file + ": " + place(document_->text, at) + ": field '";
  for (std::size_t i = 0; i < path.size(); ++i) text.append(i == 0 ? "" : " / ").append(path[i]);
  text.append("' ").append(why);
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c == 0x7F; }, '?');  // "\n" in a key or a value
  fail(ErrorKind::kBadData, text);
}

JsonObject JsonObject::object(std::string_view key) const {
  const auto found = node_->value.find(key);
  if (found == node_->value.end()) refuse(key, "is missing");
  if (!found->is_object()) refuse(key, "is not an object");
  std::vector<std::string> path = node_->path;
  path.emplace_back(key);
  return {document_, std::make_shared<Node>(Node{*found, std::move(path)})};
}

std::string JsonObject::string(std::string_view key) const {
  const auto found = node_->value.find(key);
  if (found == node_->value.end()) refuse(key, "is missing");
  if (!found->is_string()) refuse(key, "is not a string");
  return found->get<std::string>();
}

bool JsonObject::boolean(std::string_view key) const {
  const auto found = node_->value.find(key);
  if (found == node_->value.end()) refuse(key, "is missing");
  if (!found->is_boolean()) refuse(key, "is neither true nor false");
  return found->get<bool>();
}

std::uint64_t JsonObject::integer(std::string_view key, std::uint64_t low, std::uint64_t high) const {
  const auto found = node_->value.find(key);
  if (found == node_->value.end()) refuse(key, "is missing");
  if (!found->is_number_integer()) refuse(key, "is not a whole number");
  const bool fits =
      found->is_number_unsigned() && found->get<std::uint64_t>() >= low && found->get<std::uint64_t>() <= high;
  if (!fits) {
    std::string why = "is " + found->dump();
    refuse(key, why.append(", allowed are ").append(std::to_string(low)).append(" to ").append(std::to_string(high)));
  }
  return found->get<std::uint64_t>();
}

std::vector<std::string> JsonObject::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, value] : node_->value.items()) names.push_back(key);
  return names;
}

}  // namespace salient
