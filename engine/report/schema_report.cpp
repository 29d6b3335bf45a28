// engine/report/schema_report.cpp - see schema_report.h.
#include "engine/report/schema_report.h"

#include <nlohmann/json.hpp>

#include "core/files/replace_text_file.h"
#include "core/number_text.h"
#include "core/printable.h"

namespace salient {

void write_schema(const std::filesystem::path& directory, const SchemaReport& report) {
  nlohmann::ordered_json json;
  json["target"] = report.target;
  json["batches"] = report.batches;
  for (const auto& [name, nodes, features] : report.types)
    json["types"].push_back({{"name", name}, {"nodes", nodes}, {"features", features}});
  for (const auto& [src, name, dst, entries, edges] : report.relations)
    json["relations"].push_back({{"src", src}, {"name", name}, {"dst", dst}, {"entries", entries}, {"edges", edges}});
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;  // names in some other encoding
  replace_text_file(directory / "schema.json", json.dump(-1, ' ', false, replace) + "\n");
}

std::string to_text(const SchemaReport& report) {
  std::string text = "node types\n";
  for (const auto& [name, nodes, features] : report.types)
    text += "  " + printable(name) + ": " + std::to_string(nodes) + " nodes, " +
            (features > 0 ? std::to_string(features) + " features" : std::string("learned rows")) +
            (name == report.target ? "; target\n" : "\n");
  text += "relations: entries, and edges of a batch at each hop, mean of " + std::to_string(report.batches) + "\n";
  for (const auto& [src, name, dst, entries, edges] : report.relations) {
    text += "  " + printable(src + ":" + name + ":" + dst) + ": " + std::to_string(entries) + ";";
    for (std::size_t hop = 0; hop < edges.size(); ++hop) text += (hop == 0 ? " " : ", ") + fixed(edges[hop], 0);
    text += "\n";
  }
  return text;
}

}  // namespace salient
