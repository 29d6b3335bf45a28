// prepare/formats/graph_formats.h - files of graphs in text that are no tables, told by how they begin.
#pragma once

#include <string_view>

namespace salient {

/// A format, and what to do with a file of it. Both go into a message.
struct GraphFormat {
  const char* name;
  const char* remedy;
};

/// The format of a text that begins so: GraphML, GEXF, GML, Pajek, DOT, JSON, TGF, KONECT's bipartite lists, ...; null
/// for what may be a table.
///
/// @param text  the first lines, the last of which may be cut
const GraphFormat* known_graph_format(std::string_view text);

}  // namespace salient
