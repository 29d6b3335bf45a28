// tests/apps/serve/predict_request_test.cpp - what a request means; salient_serve_test.py has what is refused.
#include "apps/serve/predict_request.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace salient::serve {
namespace {

const RequestRules kRules{.num_nodes = 10, .feature_dim = 2, .max_nodes = 3, .find_id = [](std::string_view id) {
                            return id == "ann" ? std::optional<NodeId>(4) : std::nullopt;
                          }};

TEST(PredictRequest, KeepsTheOrderOfNodesAndFindsIds) {
  const PredictRequest request = parse_request(R"({"nodes": [9, "ann", 9]})", kRules);
  EXPECT_EQ(request.nodes, (std::vector<NodeId>{9, 4, 9}));
  EXPECT_EQ(request.new_nodes.num_nodes(), 0U);
  EXPECT_FALSE(request.probabilities);
  EXPECT_TRUE(parse_request(R"({"nodes": [0], "probabilities": true})", kRules).probabilities);
}

TEST(PredictRequest, NewNodesAreNumberedBehindTheKnownOnesAndTheirRowsAscend) {
  const PredictRequest request = parse_request(
      R"({"new_nodes": [{"features": [1, 2.5], "neighbors": [7, "ann", 0], "new_neighbors": [1]},
                        {"features": [-1, 0]}]})",
      kRules);
  EXPECT_EQ(request.new_nodes.features, (std::vector<float>{1, 2.5F, -1, 0}));
  EXPECT_EQ(request.new_nodes.indptr, (std::vector<std::int64_t>{0, 4, 4}));
  EXPECT_EQ(request.new_nodes.indices, (std::vector<NodeId>{0, 4, 7, 11}));
}

TEST(PredictRequest, EveryMessageNamesThePlaceInOneShortLine) {
  const auto message_of = [](const std::string& body) -> std::string {
    try {
      (void)parse_request(body, kRules);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData);
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message_of(R"({"nodes": [1, 10]})"), "nodes[1]: node 10: 0 to 9");
  EXPECT_EQ(message_of(R"({"nodes": ["bob"]})"), "nodes[0]: node \"bob\" is not in the data set");
  EXPECT_EQ(message_of(R"({"nodes": [1, 2, 3, 4]})"), "4 nodes; at most 3 a request");
  EXPECT_EQ(message_of("{\n\"nodes\": [1,]}"), "the body is no JSON at line 2, column 13");
  EXPECT_EQ(message_of(R"({"new_nodes": [{"features": [1, 2]}, {"features": [1, 2, 3]}]})"),
            "new_nodes[1]: 3 features; the data set has 2");
  EXPECT_EQ(message_of(std::string("{\"nodes\": [1]}\0", 15)), "the body is no JSON at line 1, column 15");
  EXPECT_EQ(message_of(R"({"nodes": [1], "nodes": [2]})"), "the body has the key \"nodes\" twice in one object");
  EXPECT_EQ(message_of(R"({"nodes": [-0]})"), "nodes[0]: node 0: 0 to 9");
  const std::string long_id(10'000, 'x');
  EXPECT_LT(message_of("{\"nodes\": [\"" + long_id + "\"]}").size(), 120U);
  EXPECT_EQ(message_of("{\"nodes\": [\"a\\nb\"]}").find('\n'), std::string::npos);
}

}  // namespace
}  // namespace salient::serve
