// prepare/formats/graph_formats.cpp - one row for each format: a pattern of its first words, and a remedy
#include "prepare/formats/graph_formats.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "core/lower_case.h"
#include "prepare/formats/line_reader.h"

namespace salient {
namespace {

constexpr const char* kWriteEdges =
    "write its edges as two ids a line, as networkx.write_edgelist(graph, file, data=False) does";
constexpr const char* kApart =
    "ids on the left and on the right count apart, and here equal ids are one node: add an offset or a letter to those "
    "on the right, and leave out the line '% bip'";

constexpr const char* kLoneSign = "\n#\n";  ///< below a line of two words

struct Row {
  const char* begin;   ///< in lower case; a blank stands for any blanks and line ends, or none, 0 for any digit
  const char* within;  ///< must also be in the first bytes, or ""
  GraphFormat format;
};

/// The first that fits counts.
constexpr Row kRows[] = {
    {"% bip ", "", {"a bipartite graph of KONECT", kApart}},
    {"<", "<graphml", {"GraphML", kWriteEdges}},
    {"<", "<gexf", {"GEXF", kWriteEdges}},
    {"<?xml", "", {"XML", kWriteEdges}},
    {"*vertices ", "", {"Pajek", kWriteEdges}},
    {"*network ", "", {"Pajek", kWriteEdges}},
    {"*arcs", "", {"Pajek", kWriteEdges}},
    {"*edges", "", {"Pajek", kWriteEdges}},
    {"*node data", "", {"VNA", kWriteEdges}},
    {"graph [", "", {"GML", kWriteEdges}},
    {"creator ", " graph [", {"GML", kWriteEdges}},
    {"version ", " graph [", {"GML", kWriteEdges}},
    {"strict graph ", "{", {"DOT (Graphviz)", kWriteEdges}},
    {"strict digraph ", "{", {"DOT (Graphviz)", kWriteEdges}},
    {"digraph ", "{", {"DOT (Graphviz)", kWriteEdges}},
    {"graph ", " {\n", {"DOT (Graphviz)", kWriteEdges}},
    {"graph {", "", {"DOT (Graphviz)", kWriteEdges}},
    {"nodedef>", "", {"GDF", kWriteEdges}},
    {"leda.graph", "", {"LEDA", kWriteEdges}},
    {">>graph6<<", "", {"graph6", kWriteEdges}},
    {">>sparse6<<", "", {"sparse6", kWriteEdges}},
    {">>digraph6<<", "", {"digraph6", kWriteEdges}},
    {"dl n =", "", {"UCINET's DL", kWriteEdges}},
    {"dl nr =", "", {"UCINET's DL", kWriteEdges}},
    {"p edge ", "\ne ", {"DIMACS", "keep the lines of edges alone, without the letter in front"}},
    {"p col ", "\ne ", {"DIMACS", "keep the lines of edges alone, without the letter in front"}},
    {"p sp ", "\na ", {"DIMACS", "keep the lines of arcs alone, without the letter in front"}},
    {"p max ", "\na ", {"DIMACS", "keep the lines of arcs alone, without the letter in front"}},
    {"c ", "\np edge ", {"DIMACS", "keep the lines of edges alone, without the letter in front"}},
    {"c ", "\np col ", {"DIMACS", "keep the lines of edges alone, without the letter in front"}},
    {"c ", "\np sp ", {"DIMACS", "keep the lines of arcs alone, without the letter in front"}},
    {"<http", "> .", {"N-Triples (RDF)", "write the edges as two ids a line"}},
    {"@prefix ", "", {"Turtle (RDF)", "write the edges as two ids a line"}},
    {"{ \"", "", {"JSON", kWriteEdges}},
    {"{ }", "", {"JSON", kWriteEdges}},
    {"[ {", "", {"JSON", kWriteEdges}},
    {"[ [", "", {"JSON", kWriteEdges}},
    {"[ \"", "", {"JSON", kWriteEdges}},
    {"[ 0", "]", {"JSON", kWriteEdges}},
    {"", kLoneSign, {"TGF (Trivial Graph Format)", "keep the lines of edges alone, those below the line '#'"}},
};

/// Lower case, without comments in front; blanks and line ends as they are.
std::string beginning_of(std::string_view text) {
  constexpr std::size_t kBytes = 16 << 10;
  std::string_view rest = text.substr(0, kBytes);
  for (std::string_view after = rest, line; take_line(after, line); rest = after) {
    const std::size_t first = line.find_first_not_of(" \t");
    const bool is_comment =
        first != std::string_view::npos && (line[first] == '#' || line.substr(first).starts_with("//") ||
                                            (line[first] == '%' && !line.substr(first).starts_with("% bip")));
    if (first != std::string_view::npos && !is_comment) break;
  }
  std::string begin(rest);
  std::erase(begin, '\r');
  return lower(begin);
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

/// Whether `text` begins so. A blank of the pattern stands for any number of them; behind a word it needs one.
bool begins_with(std::string_view text, std::string_view pattern) {
  while (!text.empty() && is_blank(text[0])) text.remove_prefix(1);
  char last = ' ';
  for (const char wanted : pattern) {
    if (wanted == ' ') {
      const bool needs_one = std::isalnum(static_cast<unsigned char>(last)) != 0;
      if (needs_one && (text.empty() || (!is_blank(text[0]) && std::isalnum(static_cast<unsigned char>(text[0])) != 0)))
        return false;
      while (!text.empty() && is_blank(text[0])) text.remove_prefix(1);
    } else {
      if (!text.starts_with(wanted) && !(wanted == '0' && !text.empty() && text[0] >= '0' && text[0] <= '9'))
        return false;
      text.remove_prefix(1);
    }
    last = wanted;
  }
  return true;
}

/// Whether it begins so anywhere.
bool has_within(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) return true;
  if (pattern == kLoneSign && text.substr(0, text.find('\n')).find_first_of(" \t") == std::string_view::npos)
    return false;
  if (!pattern.starts_with(' ')) return text.find(pattern) != std::string_view::npos;
  for (std::size_t at = 0; at < text.size(); ++at)
    if (is_blank(text[at]) && begins_with(text.substr(at), pattern.substr(1))) return true;
  return false;
}

}  // namespace

const GraphFormat* known_graph_format(std::string_view text) {
  const std::string begin = beginning_of(text);
  for (const Row& row : kRows)
    if (begins_with(begin, row.begin) && has_within(begin, row.within)) return &row.format;
  return nullptr;
}

}  // namespace salient
