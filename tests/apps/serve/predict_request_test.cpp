// tests/apps/serve/predict_request_test.cpp - what a request means; salient_serve_test.py has what is refused.
#include "apps/serve/predict_request.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "store/graph_schema.h"

namespace salient::serve {
namespace {

using Nodes = std::vector<NodeId>;

const NodeLookup kRows(NodeIds{}, 10), kTens(NodeIds::of_numbers({10, 20, 30, 40, 50, 60, 70, 80, 90, 100}), 10),
    kPermuted(NodeIds::of_numbers({9, 8, 7, 6, 5, 4, 3, 2, 1, 0}), 10),
    kNames(NodeIds::of_names({"a", "b", "c", "7", "ann", "e", "f", "g", "h", "row"}), 10);

RequestRules rules_of(const NodeLookup& lookup) {
  return {.lookup = lookup,
          .num_nodes = 10,
          .feature_dim = 2,
          .num_classes = 4,
          .max_nodes = 3,
          .has_names = true,
          .num_layers = 3,
          .last_hidden = 2};
}
const RequestRules kRules = rules_of(kNames);

std::string message_of(const std::string& body, const RequestRules& rules = kRules) {
  try {
    (void)parse_request(body, rules);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    return error.what();
  }
  return "accepted";
}

Nodes nodes_of(const std::string& body, const NodeLookup& lookup) {
  return parse_request(body, rules_of(lookup)).nodes;
}

TEST(PredictRequest, KeepsTheOrderOfNodesAndFindsIds) {
  const PredictRequest request = parse_request(R"({"nodes": ["row", "ann", "row"]})", kRules);
  EXPECT_EQ(request.nodes, (Nodes{9, 4, 9}));
  EXPECT_EQ(request.new_nodes.num_nodes(), 0U);
  EXPECT_EQ(request.probabilities, ProbabilityForm::kNone);
}

TEST(PredictRequest, ANumberAndTheSameNumberAsTextAreOneNode) {
  for (const char* body : {R"({"nodes": [20, 10]})", R"({"nodes": ["20", "10"]})", R"({"nodes": ["20.0", 10]})"})
    EXPECT_EQ(nodes_of(body, kTens), (Nodes{1, 0})) << body;
  for (const char* body :
       {R"({"nodes": [9, 0]})", R"({"nodes": ["9", "0"]})", R"({"nodes": [9, 0], "nodes_by": "id"})"})
    EXPECT_EQ(nodes_of(body, kPermuted), (Nodes{0, 9})) << body;
  for (const char* body :
       {R"({"nodes": [9, 0]})", R"({"nodes": ["9", "0"]})", R"({"nodes": [9, 0], "nodes_by": "id"})"})
    EXPECT_EQ(nodes_of(body, kRows), (Nodes{9, 0})) << body << ": without ids a node's number is its id";
  EXPECT_EQ(nodes_of(R"({"nodes": [7, "7"]})", kNames), (Nodes{3, 3})) << "ids are text";
}

TEST(PredictRequest, RowsAreTakenWhereTheyAreAskedFor) {
  for (const NodeLookup* lookup : {&kRows, &kTens, &kPermuted, &kNames})
    EXPECT_EQ(nodes_of(R"({"nodes_by": "row", "nodes": [7, "2"]})", *lookup), (Nodes{7, 2}));
  const PredictRequest request = parse_request(
      R"({"new_nodes": [{"features": [1, 2], "neighbors": [7, 0]}], "nodes_by": "row"})", rules_of(kPermuted));
  EXPECT_EQ(request.new_nodes.indices, (Nodes{0, 7}));
}

TEST(PredictRequest, ANumberThatIsNoIdIsRefusedEvenIfItIsARow) {
  EXPECT_EQ(message_of(R"({"nodes": [3]})", rules_of(kTens)),
            "nodes[0]: node 3: no node has this id; the first is '10'; \"nodes_by\": \"row\" takes row numbers");
  EXPECT_EQ(message_of(R"({"nodes": [30, 35]})", rules_of(kTens)),
            "nodes[1]: node 35: no node has this id; the first is '10'");
  EXPECT_EQ(message_of(R"({"new_nodes": [{"features": [1, 2], "neighbors": [5]}]})", rules_of(kTens)),
            "new_nodes[0]: neighbors: node 5: no node has this id; the first is '10'; \"nodes_by\": \"row\" takes row "
            "numbers");
  EXPECT_EQ(message_of(R"({"nodes": [10], "nodes_by": "row"})", rules_of(kTens)),
            "nodes[0]: node 10: the graph has nodes 0 to 9, which count from 0; do the ids count from 1?");
  for (const char* by : {"\"rows\"", "true", "null", "\"\""})
    EXPECT_EQ(message_of(R"({"nodes": [1], "nodes_by": )" + std::string(by) + "}"),
              "\"nodes_by\" must be \"id\" or \"row\"");
}

TEST(PredictRequest, ProbabilitiesAreAListOrAnObject) {
  const auto form_of = [](const std::string& value) {
    return parse_request(R"({"nodes": [7], "probabilities": )" + value + "}", kRules).probabilities;
  };
  EXPECT_EQ(form_of("true"), ProbabilityForm::kList);
  EXPECT_EQ(form_of("false"), ProbabilityForm::kNone);
  EXPECT_EQ(form_of("\"by_name\""), ProbabilityForm::kByName);
  EXPECT_EQ(message_of(R"({"nodes": [7], "probabilities": "list"})"),
            "\"probabilities\" must be true, false or \"by_name\"");
  RequestRules without_names = rules_of(kNames);
  without_names.has_names = false;
  EXPECT_EQ(message_of(R"({"nodes": [7], "probabilities": "by_name"})", without_names),
            "\"probabilities\": the classes have no names of their own; send true");
  EXPECT_EQ(parse_request(R"({"nodes": [7], "top_k": 4})", kRules).top_k, 4U);
  for (const char* count : {"0", "5", "-1", "1.5", "\"1\"", "99999999999999999999"})
    EXPECT_EQ(message_of(R"({"nodes": [7], "top_k": )" + std::string(count) + "}"), "\"top_k\" must be 1 to 4")
        << count;
}

TEST(PredictRequest, EmbeddingsAreThoseOfALayer) {
  const auto layer_of = [](const std::string& value) {
    return parse_request(R"({"nodes": [7], "embeddings": )" + value + "}", kRules).layer;
  };
  EXPECT_EQ(layer_of("true"), 2);
  EXPECT_EQ(layer_of("false"), 0);
  EXPECT_EQ(layer_of("3"), 3);
  for (const char* value : {"0", "4", "-1", "1.0", "null", "\"2\"", "18446744073709551615"})
    EXPECT_EQ(message_of(R"({"nodes": [7], "embeddings": )" + std::string(value) + "}"),
              "\"embeddings\" must be true, false or a layer, 1 to 3")
        << value;
  RequestRules of_one_layer = rules_of(kNames);
  of_one_layer.num_layers = 1, of_one_layer.last_hidden = 0;
  EXPECT_EQ(message_of(R"({"nodes": [7], "embeddings": true})", of_one_layer),
            "\"embeddings\": no layer is hidden, the only one gives the logits; send 1 for those");
}

TEST(PredictRequest, ATimeIsANumberOrADateWhereTheRunDrawsByTime) {
  RequestRules timed = rules_of(kNames);
  timed.draws_by_time = true;
  const auto time_of = [&](const std::string& value) {
    return parse_request(R"({"nodes": [7], "time": )" + value + "}", timed).time;
  };
  EXPECT_EQ(time_of("17"), 17);
  EXPECT_EQ(time_of("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(time_of("\"1970-01-02\""), 86400);
  EXPECT_EQ(parse_request(R"({"nodes": [7]})", timed).time, std::nullopt);
  for (const char* value : {"1.5", "null", "true", "[]", "\"soon\"", "9223372036854775808", "1e30"})
    EXPECT_EQ(message_of(R"({"nodes": [7], "time": )" + std::string(value) + "}", timed),
              "\"time\" must be a whole number, or a date such as \"2004-04-15T12:30:00\"")
        << value;
  EXPECT_EQ(message_of(R"({"nodes": [7], "time": 17})"),
            "\"time\": the run's neighbours are of all times, whatever is asked for");
}

TEST(PredictRequest, NewNodesAreNumberedBehindTheKnownOnesAndTheirRowsAscend) {
  const PredictRequest request = parse_request(
      R"({"new_nodes": [{"features": [1, 2.5], "neighbors": ["7", "ann", "a"], "new_neighbors": [1]},
                        {"features": [-1, 0]}]})",
      kRules);
  EXPECT_EQ(request.new_nodes.features, (std::vector<float>{1, 2.5F, -1, 0}));
  EXPECT_EQ(request.new_nodes.indptr, (std::vector<std::int64_t>{0, 4, 4}));
  EXPECT_EQ(request.new_nodes.indices, (Nodes{0, 3, 4, 11}));
}

TEST(PredictRequest, EveryMessageNamesThePlaceInOneShortLine) {
  EXPECT_EQ(message_of(R"({"nodes": [1, 12]})", rules_of(kRows)), "nodes[1]: node 12: the graph has nodes 0 to 9");
  EXPECT_EQ(message_of(R"({"nodes": ["bob"]})"), "nodes[0]: node \"bob\": no node has this id; the first is 'a'");
  EXPECT_EQ(message_of(R"({"nodes": ["bob"]})", rules_of(kRows)),
            "nodes[0]: node \"bob\": the data set has no ids of its own, and rows are numbers from 0 to 9");
  EXPECT_EQ(message_of(R"({"nodes": [1, 2, 3, 4]})"), "4 nodes; at most 3 a request");
  EXPECT_EQ(message_of("{\n\"nodes\": [1,]}"), "the body is no JSON at line 2, column 13");
  EXPECT_EQ(message_of(R"({"new_nodes": [{"features": [1, 2]}, {"features": [1, 2, 3]}]})"),
            "new_nodes[1]: 3 features; the data set has 2");
  EXPECT_EQ(message_of(std::string("{\"nodes\": [1]}\0", 15)), "the body is no JSON at line 1, column 15");
  EXPECT_EQ(message_of(R"({"nodes": [1], "nodes": [2]})"), "the body has the key \"nodes\" twice in one object");
  EXPECT_EQ(message_of(R"({"nodes": [-0]})"),
            "nodes[0]: node 0: a node is text, or a number without sign and fraction");
  const std::string long_id(10'000, 'x');
  EXPECT_LT(message_of("{\"nodes\": [\"" + long_id + "\"]}").size(), 120U);
  EXPECT_EQ(message_of("{\"nodes\": [\"a\\nb\"]}").find('\n'), std::string::npos);
}

/// age, scaled and marked where it is blank; newsletter; country. The features are in another order than the columns.
RequestRules rules_of_table() {
  const TableCoding coding{.columns = {{.name = "age", .mean = 40, .deviation = 10, .blank = 45, .marks_blanks = true},
                                       {.name = "newsletter", .kind = ColumnKind::kYesNo, .blank = 0.25},
                                       {.name = "country", .kind = ColumnKind::kCategory, .categories = {"DE", "FR"}}},
                           .blanks = {"withheld"}};
  RequestRules rules = rules_of(kNames);
  rules.feature_dim = 5;
  rules.raw_rows = raw_rows_of({.feature_dim = 5,
                                .column_names = {"country=DE", "country=FR", "newsletter", "age", "age is missing"},
                                .feature_origin = origin_of(coding)},
                               "FILE");
  EXPECT_TRUE(rules.raw_rows.has_value());
  return rules;
}

std::vector<float> features_of(const std::string& row) {
  return parse_request(R"({"new_nodes": [{"features": )" + row + "}]}", rules_of_table()).new_nodes.features;
}

TEST(PredictRequest, FeaturesMayBeARowOfTheTable) {
  using Features = std::vector<float>;
  EXPECT_EQ(features_of(R"({"age": 50, "newsletter": true, "country": "FR"})"), (Features{0, 1, 1, 1, 0}));
  EXPECT_EQ(features_of(R"({"country": "SE", "newsletter": "no", "age": null})"), (Features{0, 0, 0, 0.5, 1}))
      << "a blank age, and a country that was never seen";
  EXPECT_EQ(features_of(R"({"country": null, "newsletter": "", "age": "withheld"})"), (Features{0, 0, 0.25, 0.5, 1}));
  EXPECT_EQ(features_of(R"({"country": "DE", "newsletter": 0, "age": "35"})"), (Features{1, 0, 0, -0.5, 0}));
  EXPECT_EQ(features_of("[1, 0, 1, 0.5, 0]"), (Features{1, 0, 1, 0.5, 0})) << "or the features themselves";
}

TEST(PredictRequest, ARowThatFitsNoTableIsRefusedByItsColumn) {
  const auto refusal = [](const std::string& row) {
    return message_of(R"({"new_nodes": [{"features": )" + row + "}]}", rules_of_table());
  };
  EXPECT_EQ(refusal(R"({"age": 1, "newsletter": true})"),
            R"(new_nodes[0]: column "country" is not there; null is a missing value)");
  EXPECT_EQ(refusal(R"({"age": 1, "newsletter": true, "country": "DE", "shoe": 44})"),
            R"(new_nodes[0]: the table has no column "shoe")");
  EXPECT_EQ(refusal(R"({"age": "old", "newsletter": true, "country": "DE"})"),
            R"(new_nodes[0]: column "age" is no number: "old")");
  EXPECT_EQ(refusal(R"({"age": 1, "newsletter": "perhaps", "country": "DE"})"),
            R"(new_nodes[0]: column "newsletter" is neither yes nor no: "perhaps")");
  EXPECT_EQ(refusal(R"({"age": [1], "newsletter": true, "country": "DE"})"),
            R"(new_nodes[0]: column "age" takes one value of another kind: [1])");
  EXPECT_EQ(refusal(R"({"age": 1e300, "newsletter": true, "country": "DE"})"),
            R"(new_nodes[0]: column "age" is beyond the range of a float: 1e+300)");
  EXPECT_EQ(message_of(R"({"new_nodes": [{"features": {"age": 1}}]})"),
            "new_nodes[0]: features are numbers here: the data set was not made of a table with columns");
}

/// Papers 0 to 3 with 2 features, authors 4 to 6 with 1, subjects without.
struct TypedCase {
  GraphSchema schema{.node_types = {{.name = "paper", .count = 4, .features = {.dim = 2}},
                                    {.name = "author", .count = 3, .features = {.dim = 1}},
                                    {.name = "subject", .count = 2}},
                     .relations = {{.src = 0, .dst = 0, .name = "cites"},
                                   {.src = 1, .dst = 0, .name = "writes"},
                                   {.src = 0, .dst = 1, .name = "rev_writes", .reverse_of = 1},
                                   {.src = 2, .dst = 0, .name = "of"}}};
  SlotTable slots{};
  TypedRules typed{schema, slots};
  NodeLookup papers{NodeIds{}, 4};
  RequestRules rules{.lookup = papers, .num_nodes = 9, .feature_dim = 2, .num_classes = 2, .max_nodes = 5};

  TypedCase() {
    number_slots(schema);
    slots = slot_table_of(schema);
    for (const NodeType& type : schema.node_types) typed.lookups.emplace_back(NodeIds{}, type.count);
    typed.lookups[1] = NodeLookup(NodeIds::of_names({"ann", "bob", "7"}), 3);
    rules.typed = &typed;
  }
};

TEST(PredictRequest, RowsOfNewNodesOfTypedGraphsAreSlots) {
  const TypedCase graph;
  const NewNodes nodes = parse_request(R"({"new_nodes": [
      {"type": "author", "features": [3], "new_neighbors": {"paper:rev_writes:author": [1]}},
      {"features": [1, 2], "neighbors": {"author:writes:paper": [7, "ann"], "paper:cites:paper": [3]},
       "new_neighbors": {"author:writes:paper": [0]}},
      {"type": "subject"}]})",
                                       graph.rules)
                             .new_nodes;
  EXPECT_EQ(nodes.types, (std::vector<std::uint8_t>{1, 0, 2}));
  EXPECT_EQ(nodes.predicted, (Nodes{1}));
  EXPECT_EQ(nodes.features, (std::vector<float>{3, 1, 2}));
  EXPECT_EQ(nodes.indptr, (std::vector<std::int64_t>{0, 1, 2, 5, 5})) << "rev_writes; cites, writes, of";
  EXPECT_EQ(nodes.indices, (Nodes{10, 3, 4, 6, 9}));
}

TEST(PredictRequest, ANewNodeOfATypedGraphIsRefusedByItsRelation) {
  const TypedCase graph;
  const auto refusal = [&](const std::string& fields) {
    return message_of(R"({"new_nodes": [{"features": [1, 2], )" + fields + "}]}", graph.rules);
  };
  EXPECT_EQ(refusal(R"("neighbors": {"author:wrote:paper": []})"),
            "new_nodes[0]: neighbors: no relation \"author:wrote:paper\"; to type 'paper' lead paper:cites:paper, "
            "author:writes:paper, subject:of:paper");
  EXPECT_EQ(refusal(R"("neighbors": {"paper:rev_writes:author": ["ann"]})"),
            "new_nodes[0]: neighbors: \"paper:rev_writes:author\" leads to type 'author', and the node is of type "
            "'paper'; its reverse is author:writes:paper");
  EXPECT_EQ(refusal(R"("neighbors": {"paper:cites:paper": [4]})"),
            "new_nodes[0]: neighbors: paper:cites:paper: node 4: the graph has nodes 0 to 3, which count from 0; do "
            "the ids count from 1?");
}

}  // namespace
}  // namespace salient::serve
