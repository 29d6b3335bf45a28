// tests/fuzz/predict_request_fuzz.cpp - any bytes as the body of POST /predict: refused, or nodes that keep the rules.
#include "apps/serve/predict_request.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

namespace salient::fuzz {

std::vector<std::string> seeds() {
  return {R"({"nodes": [0, 99, "ann"], "probabilities": true})",
          R"({"nodes": ["7", 9, "1e1"], "nodes_by": "row", "probabilities": "by_name", "top_k": 3})",
          R"({"nodes_by": "id", "top_k": 18446744073709551615, "nodes": ["n5"]})",
          R"({"new_nodes": [{"features": [0.5, -1e3], "neighbors": [7, "ann"], "new_neighbors": [0, 1]},
                            {"features": [1, 2]}]})",
          R"({"new_nodes": [{"features": {"age": 31.5, "member": true}}, {"features": {"member": "n", "age": null}}]})",
          R"({"new_nodes": [{"features": {"age": "1e999", "member": 2, "shoe": []}}]})",
          R"({"new_nodes": [{"features": [1, 2], "neighbors": {"author:writes:paper": [7]}, "type": "paper",
                             "new_neighbors": {"paper:cites:paper": [0], "author:writes:paper": [1]}},
                            {"type": "author"}]})",
          R"({"nodes": [1.5], "x": {"a": [[[]]]}})",
          "{\"nodes\": " + std::string(50, '['),
          R"({"nodes": [1], "nodes": [2]})",
          std::string("{\"nodes\": [1]}\0{}", 18)};
}

/// The same bytes as a request of a graph with papers, which the rules are of, and authors without features.
void fuzz_typed(std::string_view body, serve::RequestRules rules) {
  static const GraphSchema schema = [] {
    GraphSchema types{
        .node_types = {{.name = "paper", .count = 100, .features = {.dim = 2}}, {.name = "author", .count = 50}},
        .relations = {{.src = 0, .dst = 0, .name = "cites"},
                      {.src = 1, .dst = 0, .name = "writes"},
                      {.src = 0, .dst = 1, .name = "rev_writes", .reverse_of = 1}}};
    number_slots(types);
    return types;
  }();
  static const SlotTable slots = slot_table_of(schema);
  static const serve::TypedRules typed{schema, slots, {NodeLookup(NodeIds{}, 100), NodeLookup(NodeIds{}, 50)}};
  rules.num_nodes = 150;
  rules.typed = &typed;
  (void)succeeds([&] {
    const NewNodes added = serve::parse_request(body, rules).new_nodes;
    std::size_t num_rows = 0, num_features = 0, num_papers = 0;
    for (const std::uint8_t type : added.types) {
      claim(type < 2, "types are those of the graph");
      num_rows += slots.num_slots[type];
      num_features += type == 0 ? 2 : 0;
      num_papers += type == 0 ? 1 : 0;
    }
    claim(added.features.size() == num_features && added.num_predicted() == num_papers, "features are of papers");
    claim(added.indptr.size() == num_rows + 1, "a row a slot");
    for (const NodeId node : added.indices) claim(node < 150 + added.num_nodes(), "nodes are there");
  });
}

}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient;
  constexpr std::size_t kNumNodes = 100, kWidth = 2, kMaxNodes = 5, kNumClasses = 4;
  static const NodeLookup names = [] {
    std::vector<std::string> ids = {"ann", "0", "99", "7"};
    while (ids.size() < kNumNodes) ids.push_back("n" + std::to_string(ids.size()));
    return NodeLookup(NodeIds::of_names(ids), kNumNodes);
  }();
  static const std::optional<RawRows> table = raw_rows_of(
      {.feature_dim = kWidth,
       .column_names = {"member", "age"},
       .feature_origin = origin_of(TableCoding{.columns = {{.name = "age", .mean = 40, .deviation = 10, .blank = 40},
                                                           {.name = "member", .kind = ColumnKind::kYesNo}}})},
      "fuzz");
  const serve::RequestRules rules{.lookup = names,
                                  .num_nodes = kNumNodes,
                                  .feature_dim = kWidth,
                                  .num_classes = kNumClasses,
                                  .max_nodes = kMaxNodes,
                                  .has_names = true,
                                  .raw_rows = table};
  (void)fuzz::succeeds([&] {
    const serve::PredictRequest request = serve::parse_request({reinterpret_cast<const char*>(data), size}, rules);
    fuzz::claim(std::find(data, data + size, 0) == data + size, "a body with a NUL is refused");
    const NewNodes& added = request.new_nodes;
    const std::size_t num_new = added.num_nodes();
    fuzz::claim(request.nodes.empty() != (num_new == 0), "either known nodes or new ones");
    fuzz::claim(request.num_nodes() <= kMaxNodes, "no more nodes than allowed");
    fuzz::claim(request.top_k <= kNumClasses, "no more classes than there are");
    for (const NodeId node : request.nodes) fuzz::claim(node < kNumNodes, "nodes are in the data set");
    fuzz::claim(added.features.size() == num_new * kWidth, "every new node has its features");
    for (std::size_t i = 0; i < num_new; ++i)
      for (const NodeId node : added.row(i))
        fuzz::claim(node < kNumNodes + num_new, "rows are of nodes that are there");
  });
  fuzz::fuzz_typed({reinterpret_cast<const char*>(data), size}, rules);
  return 0;
}
