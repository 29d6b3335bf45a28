// tests/prepare/formats/graph_formats_test.cpp - graphs in text that are no tables, and tables that are.
#include "prepare/formats/graph_formats.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace salient {
namespace {

TEST(GraphFormats, AreToldByTheirBeginning) {
  const std::pair<const char*, const char*> cases[] = {
      {"<?xml version='1.0'?>\n<!-- x -->\n<graphml xmlns='x'>\n", "GraphML"},
      {"<gexf version='1.2'>", "GEXF"},
      {"Creator \"Gephi\"\nVersion 1\ngraph\n[\n  node\n", "GML"},
      {"# made by x\ngraph [\n", "GML"},
      {"% pajek\n*Vertices 3\r\n1 \"a\"\r\n", "Pajek"},
      {"*Network x\n*vertices 3\n", "Pajek"},
      {"strict digraph \"\" {\na -> b;\n}\n", "DOT (Graphviz)"},
      {"// x\ngraph G {\n0 -- 1;\n}\n", "DOT (Graphviz)"},
      {"graph{a--b}", "DOT (Graphviz)"},
      {"1 Ann\n2 Bob\n#\n1 2 knows\n", "TGF (Trivial Graph Format)"},
      {"{\"nodes\": []}", "JSON"},
      {"[\n  [0, 1],\n", "JSON"},
      {"[0, 1]\n[1, 2]\n", "JSON"},
      {"nodedef>name VARCHAR\na\n", "GDF"},
      {"c a comment\np edge 3 2\ne 1 2\n", "DIMACS"},
      {"DL n = 3\ndata:\n", "UCINET's DL"},
      {">>graph6<<A_", "graph6"},
      {"<http://a> <http://b> <http://c> .\n", "N-Triples (RDF)"},
      {"% bip weighted\n1 1 2\n", "a bipartite graph of KONECT"}};
  for (const auto& [text, name] : cases) {
    const GraphFormat* const found = known_graph_format(text);
    ASSERT_NE(found, nullptr) << text;
    EXPECT_STREQ(found->name, name) << text;
  }
}

TEST(GraphFormats, TablesAreNone) {
  for (const char* text :
       {"", "\n", "0 1\n", "graph node\nnode graph\n", "# x\n#\n0 1\n", "% sym unweighted\n1 2\n", "a\n#\nb\n",
        "[deleted]\tann\n", "{a} {b}\n", "c d\nd c\n", "version,id\n", "<anonymous> ann\n", "*star ann\n", "biped 1\n"})
    EXPECT_EQ(known_graph_format(text), nullptr) << text;
}

}  // namespace
}  // namespace salient
