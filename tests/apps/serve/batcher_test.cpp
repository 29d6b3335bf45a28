// tests/apps/serve/batcher_test.cpp - which requests are predicted together, and that each gets its own rows.
#include "apps/serve/batcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <latch>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>

namespace salient::serve {
namespace {

using namespace std::chrono_literals;

const std::vector<float> kFaulty = {666};
constexpr std::size_t kMostLists = 4;  // in one call

/// Two columns: the node, and its square; then the layer, if there is one. Holds the first call until open() is called.
class Predictor {
 public:
  PredictFunctions functions() {
    return {.known =
                [this](std::span<const NodeId> nodes, int layer, std::optional<std::int64_t> time) {
                  gate_.wait();
                  calls.push_back(nodes.size());
                  if (std::ranges::find(nodes, NodeId{666}) != nodes.end()) throw std::runtime_error("broken");
                  EXPECT_EQ(std::set<NodeId>(nodes.begin(), nodes.end()).size(), nodes.size());
                  std::vector<float> rows;
                  for (const NodeId node : nodes) {
                    rows.insert(rows.end(), {static_cast<float>(node), static_cast<float>(node * node)});
                    if (layer > 0) rows.push_back(static_cast<float>(layer));
                    if (time) rows.push_back(static_cast<float>(*time));
                  }
                  return rows;
                },
            .added =
                [this](std::span<const NewNodes> lists, int) {
                  gate_.wait();
                  if (lists.size() > kMostLists) throw std::runtime_error("too large");
                  std::vector<float> rows;
                  for (const NewNodes& list : lists) {
                    if (list.features == kFaulty) throw std::runtime_error("broken");
                    for (std::size_t i = 0; i < list.num_nodes(); ++i) rows.insert(rows.end(), {-list.features[0], -1});
                  }
                  calls.push_back(1000 * lists.size() + rows.size() / 2);
                  return rows;
                }};
  }
  void open() { gate_.count_down(); }
  std::vector<std::size_t> calls;

 private:
  std::latch gate_{1};
};

struct Asked {
  std::future<Prediction> answer;
  bool is_taken;
};

Asked ask(Batcher& batcher, std::vector<NodeId> nodes, NewNodes added = {}, int layer = 0,
          std::optional<std::int64_t> time = {}) {
  const auto promise = std::make_shared<std::promise<Prediction>>();
  Job job{.nodes = std::move(nodes),
          .new_nodes = std::move(added),
          .layer = layer,
          .time = time,
          .done = [promise](Prediction prediction) { promise->set_value(std::move(prediction)); }};
  auto answer = promise->get_future();
  return {std::move(answer), batcher.submit(job)};
}

/// A batcher that predicts its first request, of node 5, until predictor.open(); further ones wait.
struct BusyBatcher {
  explicit BusyBatcher(const BatchLimits& limits) : batcher(predictor.functions(), limits, metrics) {
    first = ask(batcher, {5});
    while (batcher.num_queued() > 0) std::this_thread::yield();
  }
  Predictor predictor;
  Metrics metrics;
  Batcher batcher;
  Asked first{};
};

TEST(Batcher, WhatComesMeanwhileIsOneBatchOfDistinctNodes) {
  BusyBatcher busy({.max_nodes = 10});
  Asked second = ask(busy.batcher, {1, 2, 1}), third = ask(busy.batcher, {2, 3});
  busy.predictor.open();
  EXPECT_EQ(busy.first.answer.get().rows, (std::vector<float>{5, 25}));
  EXPECT_EQ(second.answer.get().rows, (std::vector<float>{1, 1, 2, 4, 1, 1}));
  EXPECT_EQ(third.answer.get().rows, (std::vector<float>{2, 4, 3, 9}));
  EXPECT_EQ(busy.predictor.calls, (std::vector<std::size_t>{1, 3}));
}

TEST(Batcher, ABatchEndsAtItsLimitAndAtNewNodes) {
  BusyBatcher busy({.max_nodes = 3});
  const NewNodes two{.features = {8, 9}, .indptr = {0, 0, 0}, .indices = {}};
  std::vector<Asked> asked;
  asked.push_back(ask(busy.batcher, {1, 2}));
  asked.push_back(ask(busy.batcher, {3, 4}));
  asked.push_back(ask(busy.batcher, {}, two));
  asked.push_back(ask(busy.batcher, {5, 6, 7, 8}));  // alone, as it is longer than a batch
  busy.predictor.open();
  for (Asked& one : asked) EXPECT_FALSE(one.answer.get().error);
  EXPECT_EQ(busy.predictor.calls, (std::vector<std::size_t>{1, 2, 2, 1002, 4}));
}

TEST(Batcher, ABatchIsOfOneLayer) {
  BusyBatcher busy({.max_nodes = 9});
  Asked plain = ask(busy.batcher, {1}), first = ask(busy.batcher, {1}, {}, 1), more = ask(busy.batcher, {2}, {}, 1),
        second = ask(busy.batcher, {1}, {}, 2);
  busy.predictor.open();
  EXPECT_EQ(plain.answer.get().rows, (std::vector<float>{1, 1}));
  EXPECT_EQ(first.answer.get().rows, (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(more.answer.get().rows, (std::vector<float>{2, 4, 1}));
  EXPECT_EQ(second.answer.get().rows, (std::vector<float>{1, 1, 2}));
  EXPECT_EQ(busy.predictor.calls, (std::vector<std::size_t>{1, 1, 2, 1}));
}

TEST(Batcher, ABatchIsOfOneTime) {
  BusyBatcher busy({.max_nodes = 9});
  Asked own = ask(busy.batcher, {1}), early = ask(busy.batcher, {1}, {}, 0, 10),
        more = ask(busy.batcher, {2}, {}, 0, 10), late = ask(busy.batcher, {1}, {}, 0, 20);
  busy.predictor.open();
  EXPECT_EQ(own.answer.get().rows, (std::vector<float>{1, 1}));
  EXPECT_EQ(early.answer.get().rows, (std::vector<float>{1, 1, 10}));
  EXPECT_EQ(more.answer.get().rows, (std::vector<float>{2, 4, 10}));
  EXPECT_EQ(late.answer.get().rows, (std::vector<float>{1, 1, 20}));
  EXPECT_EQ(busy.predictor.calls, (std::vector<std::size_t>{1, 1, 2, 1}));
}

TEST(Batcher, NewNodesOfSeveralRequestsAreOneBatchAndAFaultIsOnesOwn) {
  BusyBatcher busy({.max_nodes = 4});
  const NewNodes one{.features = {7}, .indptr = {0, 0}, .indices = {}},
      two{.features = {8, 9}, .indptr = {0, 0, 0}, .indices = {}},
      faulty{.features = kFaulty, .indptr = {0, 0}, .indices = {}};
  std::vector<Asked> asked;
  for (const NewNodes* list : {&one, &two, &one, &faulty, &two}) asked.push_back(ask(busy.batcher, {}, *list));
  busy.predictor.open();
  EXPECT_EQ(asked[0].answer.get().rows, (std::vector<float>{-7, -1}));
  EXPECT_EQ(asked[1].answer.get().rows, (std::vector<float>{-8, -1, -8, -1}));
  EXPECT_EQ(asked[2].answer.get().rows, (std::vector<float>{-7, -1}));
  EXPECT_TRUE(asked[3].answer.get().error);
  EXPECT_EQ(asked[4].answer.get().rows, (std::vector<float>{-8, -1, -8, -1}));
  EXPECT_EQ(busy.predictor.calls, (std::vector<std::size_t>{1, 3004, 1002}));  // the faulty one has no call
}

TEST(Batcher, ABatchThatIsTooLargeIsPredictedInHalves) {
  BusyBatcher busy({.max_nodes = 100});
  std::vector<Asked> asked;
  for (int i = 0; i < 6; ++i)
    asked.push_back(ask(busy.batcher, {}, {.features = {static_cast<float>(i)}, .indptr = {0, 0}, .indices = {}}));
  busy.predictor.open();
  for (std::size_t i = 0; i < asked.size(); ++i)
    EXPECT_EQ(asked[i].answer.get().rows, (std::vector<float>{-static_cast<float>(i), -1}));
  EXPECT_EQ(busy.predictor.calls, (std::vector<std::size_t>{1, 3003, 3003}));
}

TEST(Batcher, WarmsUpOnItsThreadBeforeItTakesAnything) {
  Metrics metrics;
  std::thread::id warmed, predicted;
  {
    Batcher batcher({.warm_up = [&] { warmed = std::this_thread::get_id(); },
                     .known =
                         [&](std::span<const NodeId> nodes, int, std::optional<std::int64_t>) {
                           predicted = std::this_thread::get_id();
                           return std::vector<float>(nodes.size());
                         },
                     .added = {}},
                    {}, metrics);
    EXPECT_NE(warmed, std::thread::id());
    (void)ask(batcher, {1}).answer.get();
  }
  EXPECT_EQ(warmed, predicted);
  EXPECT_THROW(Batcher({.warm_up = [] { throw std::runtime_error("cold"); }, .known = {}, .added = {}}, {}, metrics),
               std::runtime_error);
}

TEST(Batcher, AnErrorReachesNoOtherRequestOfItsBatch) {
  BusyBatcher busy({.max_nodes = 2});
  Asked faulty = ask(busy.batcher, {666}), sound = ask(busy.batcher, {1});
  busy.predictor.open();
  EXPECT_TRUE(faulty.answer.get().error);
  EXPECT_EQ(sound.answer.get().rows, (std::vector<float>{1, 1}));
  EXPECT_EQ(busy.predictor.calls, (std::vector<std::size_t>{1, 2, 1, 1}));  // together, then each alone
}

TEST(Batcher, RefusesWhatIsTooMuchAndWhatComesAfterTheEnd) {
  BusyBatcher busy({.max_nodes = 1, .max_queued = 2});
  Asked second = ask(busy.batcher, {1}), third = ask(busy.batcher, {2});
  EXPECT_FALSE(ask(busy.batcher, {3}).is_taken);
  EXPECT_FALSE(busy.batcher.finish(10ms));  // the first holds it up
  busy.predictor.open();
  EXPECT_TRUE(busy.batcher.finish(100s));
  EXPECT_EQ(third.answer.get().rows, (std::vector<float>{2, 4}));
  EXPECT_FALSE(ask(busy.batcher, {4}).is_taken);
}

TEST(Batcher, AWindowEndsEarlyWhenTheBatchIsFull) {
  Predictor predictor;
  Metrics metrics;
  predictor.open();
  Batcher batcher(predictor.functions(), {.max_nodes = 2, .window = std::chrono::hours(1)}, metrics);
  Asked first = ask(batcher, {1}), second = ask(batcher, {2});
  EXPECT_EQ(first.answer.get().rows, (std::vector<float>{1, 1}));
  EXPECT_EQ(predictor.calls, (std::vector<std::size_t>{2}));
}

TEST(Metrics, BucketsAreCumulative) {
  Metrics metrics;
  metrics.count_answer(200, 0.0005);
  metrics.count_answer(200, 0.004);
  metrics.count_answer(503, 9);
  const std::string text = metrics.text({.queued_requests = 3, .connections = 4});
  for (const char* line :
       {"salient_requests_total{code=\"200\"} 2\n", "salient_requests_total{code=\"503\"} 1\n",
        "salient_request_seconds_bucket{le=\"0.001\"} 1\n", "salient_request_seconds_bucket{le=\"0.005\"} 2\n",
        "salient_request_seconds_bucket{le=\"5\"} 2\n", "salient_request_seconds_bucket{le=\"+Inf\"} 3\n",
        "salient_request_seconds_count 3\n", "salient_queued_requests 3\n", "salient_connections 4\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

}  // namespace
}  // namespace salient::serve
