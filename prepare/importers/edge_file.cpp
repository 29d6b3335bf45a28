// prepare/importers/edge_file.cpp - see edge_file.h.
#include "prepare/importers/edge_file.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/files/npy.h"
#include "prepare/formats/line_blocks.h"
#include "prepare/formats/line_reader.h"
#include "prepare/formats/text_fields.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBlanks = " \t";

/// The fields of a line, parted by blanks, tabs, or one comma among them. "1,,2" and "1,2," have an empty field.
class EdgeFields {
 public:
  explicit EdgeFields(std::string_view line) : rest_(line) {}

  bool next(std::string_view& field) {
    skip_blanks();
    if (rest_.empty() && !std::exchange(is_after_comma_, false)) return false;
    field = rest_.substr(0, rest_.find_first_of(" \t,"));
    rest_.remove_prefix(field.size());
    skip_blanks();
    is_after_comma_ = rest_.starts_with(',');
    if (is_after_comma_) rest_.remove_prefix(1);
    return true;
  }

 private:
  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size())); }

  std::string_view rest_;
  bool is_after_comma_ = false;
};

class EdgeLineParser {
 public:
  EdgeLineParser(const fs::path& path, const EdgeFileOptions& options) : path_(path), options_(options) {}

  static bool is_skipped(std::string_view line) {
    const std::size_t first = line.find_first_not_of(kBlanks);
    return first == std::string_view::npos || line[first] == '#' || line[first] == '%';
  }

  /// A header: no field of the line is a number, and "1.0,2.0" or "1;2" is a bad edge, not a header.
  static bool is_header(std::string_view line) {
    if (std::string_view("0123456789+-.").find(line[line.find_first_not_of(kBlanks)]) != std::string_view::npos)
      return false;
    EdgeFields fields(line);
    std::uint64_t number;
    for (std::string_view field; fields.next(field);)
      if (parse_number(field, number)) return false;
    return true;
  }

  void parse(std::string_view line, std::uint64_t line_number, EdgeList& edges) const {
    std::array<std::string_view, 2> ends;
    EdgeFields fields(line);
    int column = 0;
    for (std::string_view field; fields.next(field); ++column)
      for (std::size_t end = 0; end < 2; ++end)
        if (column == column_of(end)) ends[end] = field;
    if (options_.columns.empty() && column != 2)
      fail_at_line(path_, line_number, line, std::to_string(column) + " columns; an edge has two", Topic::kEdgeColumns);
    if (column <= std::max(column_of(0), column_of(1)))
      fail_at_line(path_, line_number, line,
                   "only " + std::to_string(column) + " columns; column " +
                       std::to_string(std::max(column_of(0), column_of(1))) + " was asked for",
                   Topic::kEdgeColumns);
    edges.sources.push_back(id_of(ends[0], line, line_number));
    edges.destinations.push_back(id_of(ends[1], line, line_number));
  }

 private:
  int column_of(std::size_t end) const {
    return options_.columns.empty() ? static_cast<int>(end) : options_.columns[end];
  }

  std::uint64_t id_of(std::string_view field, std::string_view line, std::uint64_t line_number) const {
    std::uint64_t id = 0;
    if (!parse_number(field, id)) refuse(line, line_number, in_quotes(field) + " is not a node id");
    if (options_.num_nodes && id >= *options_.num_nodes)
      refuse(line, line_number,
             "node " + std::to_string(id) + ", the graph has " + std::to_string(*options_.num_nodes));
    return id;
  }

  [[noreturn]] void refuse(std::string_view line, std::uint64_t line_number, const std::string& rule) const {
    fail_at_line(path_, line_number, line, rule);
  }

  const fs::path& path_;
  const EdgeFileOptions& options_;
};

void append(EdgeList& edges, const EdgeList& more) {
  edges.sources.insert(edges.sources.end(), more.sources.begin(), more.sources.end());
  edges.destinations.insert(edges.destinations.end(), more.destinations.begin(), more.destinations.end());
}

EdgeList read_text(const fs::path& path, const EdgeFileOptions& options) {
  LineReader reader(path);
  const EdgeLineParser parser(path, options);
  EdgeList edges;
  for (std::string_view line; reader.next(line);) {  // the first line that counts may be a header
    if (EdgeLineParser::is_skipped(line)) continue;
    if (!EdgeLineParser::is_header(line)) parser.parse(line, reader.line_number(), edges);
    break;
  }
  const auto parse = [&](const LineBlock& block) {
    EdgeList parsed;
    std::uint64_t line_number = block.first_line;
    std::string_view text = block.text;
    for (std::string_view line; take_line(text, line); ++line_number)
      if (!EdgeLineParser::is_skipped(line)) parser.parse(line, line_number, parsed);
    return parsed;
  };
  for_each_line_block<EdgeList>(reader, options.num_threads, "reading edges", parse,
                                [&](const EdgeList& parsed) { append(edges, parsed); });
  return edges;
}

/// Entry i of the flat file belongs to end i / E ([2, E] in C order, [E, 2] in Fortran order) or i % 2.
EdgeList read_npy(const fs::path& path, const EdgeFileOptions& options) {
  const NpyFile file(path);
  const NpyHeader& header = file.header();
  const bool is_pairs = header.shape.size() == 2 && (header.shape[0] == 2 || header.shape[1] == 2);
  if (header.kind == 'f' || header.kind == 'b' || !is_pairs)
    fail(ErrorKind::kBadData,
         file.name() + ": edges are integers [2, E] or [E, 2], found " + header.dtype() + " " + header.shape_text());
  std::vector<std::int64_t> flat(header.num_items());
  convert_to_int64(header, file.data().data(), flat.size(), flat.data());
  for (std::size_t i = 0; i < flat.size(); ++i)
    if (flat[i] < 0 || (options.num_nodes && static_cast<std::uint64_t>(flat[i]) >= *options.num_nodes))
      fail(ErrorKind::kBadData, file.name() + ": entry " + std::to_string(i) + " is " + std::to_string(flat[i]) +
                                    (flat[i] < 0 ? ", ids are not negative"
                                                 : ", the graph has " + std::to_string(*options.num_nodes) + " nodes"));
  const bool ends_apart = (header.shape[0] == 2) != header.is_fortran_order;
  const std::size_t num_edges = flat.size() / 2;
  EdgeList edges;
  edges.sources.resize(num_edges);
  edges.destinations.resize(num_edges);
  for (std::size_t m = 0; m < num_edges; ++m) {
    edges.sources[m] = static_cast<std::uint64_t>(flat[ends_apart ? m : 2 * m]);
    edges.destinations[m] = static_cast<std::uint64_t>(flat[ends_apart ? num_edges + m : 2 * m + 1]);
  }
  return edges;
}

}  // namespace

EdgeList read_edge_file(const fs::path& path, const EdgeFileOptions& options) {
  return path.extension() == ".npy" ? read_npy(path, options) : read_text(path, options);
}

}  // namespace salient
