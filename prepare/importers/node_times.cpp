// prepare/importers/node_times.cpp - see node_times.h.
#include "prepare/importers/node_times.h"

#include <span>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/files/npy.h"
#include "prepare/formats/text_fields.h"
#include "prepare/importers/edge_values.h"
#include "prepare/importers/open_node_table.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

/// Ids and times of a block of rows.
struct ParsedTimes {
  ParsedIds ids{};
  std::vector<std::int64_t> times{};
  TimeForms forms{};
};

}  // namespace

std::vector<std::int64_t> read_time_array(const fs::path& path, std::uint64_t num_nodes) {
  const NpyFile file(path);
  const NpyHeader& header = file.header();
  const bool is_whole = header.kind == 'i' || header.kind == 'u';
  if (!is_whole || header.shape != std::vector<std::uint64_t>{num_nodes})
    fail(ErrorKind::kBadData, file.name() + ": expected times of nodes, whole numbers (" + std::to_string(num_nodes) +
                                  ",), found " + header.dtype() + " " + header.shape_text());
  std::vector<std::int64_t> times(num_nodes);
  convert_to_int64(header, file.data().data(), times.size(), times.data());
  return times;
}

std::vector<std::int64_t> read_time_column(const fs::path& path, const NodeTableOptions& options, bool has_label,
                                           std::uint64_t num_nodes,
                                           const std::function<std::optional<NodeId>(std::string_view id)>& find_node) {
  NodeTable table = open_node_table(path, options, has_label ? Wanted::kLabels : Wanted::kFeatures);
  options.memory.check(num_nodes * sizeof(std::int64_t), path.string());
  std::vector<std::int64_t> times(num_nodes);
  std::vector<std::uint8_t> has_time(num_nodes, 0);
  std::uint64_t num_timed = 0;
  TimeForms forms;
  const auto parse = [&](std::span<const std::string_view> fields, std::uint64_t number, std::string_view line,
                         ParsedTimes& parsed) {
    parsed.ids.append(table, fields, number, line);
    parsed.times.push_back(parsed.forms.parse(fields[*table.time], path, number, line));
  };
  table.rows.label = "reading times";
  table.file.for_each_row<ParsedTimes>(table.rows, parse, [&](const ParsedTimes& parsed) {
    forms.add(parsed.forms, path);
    for (std::size_t row = 0; row < parsed.times.size(); ++row) {
      const std::optional<NodeId> node = find_node(parsed.ids.ids[row]);
      if (!node) fail_at_line(path, parsed.ids.lines[row], parsed.ids.ids[row], "no node has this id");
      times[*node] = parsed.times[row];
      if (std::exchange(has_time[*node], 1) == 0) ++num_timed;
    }
  });
  if (num_timed < num_nodes)
    fail(ErrorKind::kBadData, path.string() + ": has times of " + std::to_string(num_timed) + " nodes, the graph has " +
                                  std::to_string(num_nodes));
  forms.say(path);
  return times;
}

}  // namespace salient
