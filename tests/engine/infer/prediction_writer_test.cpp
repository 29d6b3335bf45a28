// tests/engine/infer/prediction_writer_test.cpp - the files that predictions become, for one class a node and for
// several labels.
#include "engine/infer/prediction_writer.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/files/npy.h"
#include "engine/comm/communicator.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

std::vector<std::int32_t> best_of(const std::vector<float>& logits, std::size_t k) {
  std::vector<std::int32_t> classes(k);
  top_classes(logits, classes);
  return classes;
}

TEST(TopClasses, AreOrderedByValueThenByNumber) {
  EXPECT_EQ(best_of({1, 3, 2}, 3), (std::vector<std::int32_t>{1, 2, 0}));
  EXPECT_EQ(best_of({2, 5, 5, 1}, 2), (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(best_of({-1}, 1), (std::vector<std::int32_t>{0}));
  EXPECT_EQ(best_of({1, NAN, 2}, 2), (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(best_of({2, 5, 5, 1}, 1), (std::vector<std::int32_t>{1}));
  EXPECT_EQ(best_of({7, 1, NAN, INFINITY}, 1), (std::vector<std::int32_t>{2}));
}

class PredictionWriterTest : public ::testing::Test {
 protected:
  /// Nodes 3, 0, 2, written in two rounds.
  void write(const LabelTable& labels, const PredictionOutput& output, const std::vector<float>& logits,
             int num_classes) {
    const std::vector<NodeId> nodes{3, 0, 2};
    for (const char* earlier : {"ids.npy", "predictions.npy", "logits.npy", "source_ids.npy", "predictions.csv"})
      std::filesystem::remove(scratch_ / earlier);
    PredictionWriter writer(scratch_.path(), nodes, labels, num_classes, output, *comm_);
    const at::Tensor rows = at::tensor(logits).view({3, num_classes});
    for (const auto& [first, count] : {std::pair(0, 2), std::pair(2, 1)})
      writer.add({.num_nodes = count,
                  .layers = {{}, rows.narrow(0, first, count).mul(10)},
                  .logits = rows.narrow(0, first, count)});
    writer.add({});  // a round without nodes
    writer.finish();
    writer.close();
  }
  template <class T>
  std::vector<T> values(const std::string& name, const std::string& dtype, const std::string& shape) {
    const NpyFile file(scratch_ / name);
    EXPECT_EQ(file.header().dtype(), dtype);
    EXPECT_EQ(file.header().shape_text(), shape);
    std::vector<T> all(file.header().num_items());
    std::memcpy(all.data(), file.data().data(), all.size() * sizeof(T));
    return all;
  }
  const std::unique_ptr<Communicator> comm_ = make_self_communicator();
  const test::Scratch scratch_;
  const std::vector<std::int32_t> classes_{1, 0, -1, 2};
  const std::vector<std::int8_t> flags_{1, 0, -1, -1, 0, 1, 0, 1};  // two labels of each of four nodes
};

/// `salient-infer --format csv` of a store with ids that are text is tested in tests/apps/user_data_test.py.
TEST_F(PredictionWriterTest, TheTableHasNamesOfClasses) {
  write({.classes = classes_},
        {.format = PredictionFormat::kCsv, .top_k = 2, .class_names = {"ash", "oak, red", "say \"elm\""}},
        {0, 2, 1, 5, 5, 4, -1, -3, -2}, 3);
  const std::string text = test::read_bytes(scratch_ / "predictions.csv");
  EXPECT_TRUE(
      text.starts_with("node,label,class_1,probability_1,class_2,probability_2,label_name,class_name_1,"
                       "class_name_2\n3,2,1,"))
      << text;
  EXPECT_NE(text.find(",\"say \"\"elm\"\"\",\"oak, red\",\"say \"\"elm\"\"\"\n0,1,"), std::string::npos) << text;
  EXPECT_NE(text.find(",\"oak, red\",ash,\"oak, red\"\n2,,"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(",,ash,\"say \"\"elm\"\"\"\n")) << text;
}

TEST_F(PredictionWriterTest, WritesArraysInTheOrderOfTheNodes) {
  const std::vector<float> logits{0, 2, 1, 5, 5, 4, -1, -3, -2};
  std::vector<float> seen;
  write({.classes = classes_},
        {.embedding_layer = 1, .on_rows = [&](auto rows, auto) { seen.insert(seen.end(), rows.begin(), rows.end()); }},
        logits, 3);
  EXPECT_EQ(values<std::int64_t>("ids.npy", "<i8", "(3,)"), (std::vector<std::int64_t>{3, 0, 2}));
  EXPECT_EQ(values<std::int32_t>("predictions.npy", "<i4", "(3,)"), (std::vector<std::int32_t>{1, 0, 0}));
  EXPECT_EQ(values<float>("logits.npy", "<f4", "(3, 3)"), logits);
  EXPECT_EQ(values<float>("embeddings.npy", "<f4", "(3, 3)")[3], 50);
  EXPECT_EQ(seen, logits);
}

TEST_F(PredictionWriterTest, IdsOfTheSourceLieBesideArrays) {
  const std::vector<float> logits{0, 2, 1, 5, 5, 4, -1, -3, -2};
  write({.classes = classes_}, {.ids = NodeIds::of_numbers({10, 20, 30, ~std::uint64_t{0}})}, logits, 3);
  EXPECT_EQ(values<std::uint64_t>("source_ids.npy", "<u8", "(3,)"),
            (std::vector<std::uint64_t>{~std::uint64_t{0}, 10, 30}));
  write({.classes = classes_}, {.ids = NodeIds::of_names({"ann", "b", "new \"york\"", "NA"})}, logits, 3);
  EXPECT_EQ(test::read_bytes(scratch_ / "source_ids.csv"), "id\n\"NA\"\n\"ann\"\n\"new \"\"york\"\"\"\n");
}

TEST_F(PredictionWriterTest, ATableHasIdsBesideItsEmbeddings) {
  write({.classes = classes_},
        {.format = PredictionFormat::kCsv, .embedding_layer = 1, .ids = NodeIds::of_numbers({10, 20, 30, 40})},
        {0, 2, 1, 5, 5, 4, -1, -3, -2}, 3);
  EXPECT_EQ(values<std::int64_t>("ids.npy", "<i8", "(3,)"), (std::vector<std::int64_t>{3, 0, 2}));
  EXPECT_EQ(values<std::uint64_t>("source_ids.npy", "<u8", "(3,)"), (std::vector<std::uint64_t>{40, 10, 30}));
  EXPECT_EQ(values<float>("embeddings.npy", "<f4", "(3, 3)")[3], 50);
}

TEST_F(PredictionWriterTest, WritesAProbabilityOfEveryClassByItsName) {
  const std::vector<float> logits{0, std::log(3.0F), 9, 0, 0, 0};
  write({.classes = classes_},
        {.format = PredictionFormat::kCsv, .probabilities = true, .class_names = {"oak, red", "elm", "unknown"}},
        logits, 2);
  EXPECT_EQ(test::read_bytes(scratch_ / "predictions.csv"),
            "node,label,class,probability,label_name,class_name,\"prob_oak, red\",prob_elm\n"
            "3,2,1,0.7500,unknown,elm,0.250000,0.750000\n"
            "0,1,0,0.9999,elm,\"oak, red\",0.999877,0.000123\n"
            "2,,0,0.5000,,\"oak, red\",0.500000,0.500000\n");
  write({.classes = classes_}, {.probabilities = true}, logits, 2);
  const std::vector<float> probabilities = values<float>("probabilities.npy", "<f4", "(3, 2)");
  EXPECT_FLOAT_EQ(probabilities[0], 0.25F);
  EXPECT_FLOAT_EQ(probabilities[5], 0.5F);
  const LabelTable labels{.type = {.task = Task::kMultiLabel, .width = 2}, .flags = flags_};
  write(labels, {.format = PredictionFormat::kCsv, .probabilities = true}, {0, 1, -1, 2, 3, 4}, 2);
  EXPECT_TRUE(
      test::read_bytes(scratch_ / "predictions.csv")
          .starts_with("node,labels,predicted,label,probability,prob_0,prob_1\n3,1,1,1,0.7311,0.500000,0.731059\n"));
}

TEST_F(PredictionWriterTest, WritesRoundsThatChangedAfterwards) {
  const std::vector<NodeId> nodes{3, 0, 2};
  for (const int rounds_kept : {1, 2, 5}) {
    const std::string folder = std::to_string(rounds_kept);
    std::filesystem::create_directory(scratch_ / folder);
    PredictionWriter writer(scratch_ / folder, nodes, {.classes = classes_}, 2, {.rounds_kept = rounds_kept}, *comm_);
    at::Tensor logits = at::empty({1, 2});  // the memory of every round
    for (const float first : {0.0F, 1.0F, 2.0F}) {
      logits.copy_(at::tensor({first, 1.5F}).view({1, 2}));
      writer.add({.num_nodes = 1, .logits = logits});
    }
    logits.fill_(NAN);
    writer.finish();
    writer.close();
    EXPECT_EQ(values<float>(folder + "/logits.npy", "<f4", "(3, 2)"), (std::vector<float>{0, 1.5F, 1, 1.5F, 2, 1.5F}));
    EXPECT_EQ(values<std::int32_t>(folder + "/predictions.npy", "<i4", "(3,)"), (std::vector<std::int32_t>{1, 1, 0}));
  }
}

TEST_F(PredictionWriterTest, WritesATableWithProbabilities) {
  write({.classes = classes_}, {.format = PredictionFormat::kCsv, .top_k = 2}, {0, std::log(3.0F), 9, 0, 0, 0}, 2);
  EXPECT_EQ(test::read_bytes(scratch_ / "predictions.csv"),
            "node,label,class_1,probability_1,class_2,probability_2\n"
            "3,2,1,0.7500,0,0.2500\n"
            "0,1,0,0.9999,1,0.0001\n"
            "2,,0,0.5000,1,0.5000\n");
}

TEST_F(PredictionWriterTest, WritesEveryLabelWhereANodeHasSeveral) {
  const LabelTable labels{.type = {.task = Task::kMultiLabel, .width = 2}, .flags = flags_};
  const std::vector<float> logits{0, 1, -1, 2, 3, 4};
  write(labels, {}, logits, 2);
  EXPECT_EQ(values<std::int8_t>("predictions.npy", "|i1", "(3, 2)"), (std::vector<std::int8_t>{0, 1, 0, 1, 1, 1}));
  write(labels, {.format = PredictionFormat::kCsv}, logits, 2);
  EXPECT_EQ(test::read_bytes(scratch_ / "predictions.csv"),
            "node,labels,predicted,label,probability\n"
            "3,1,1,1,0.7311\n"
            "0,0,1,1,0.8808\n"
            "2,1,0 1,1,0.9820\n");
}

TEST_F(PredictionWriterTest, RefusesLogitsThatAreNotNumbers) {
  EXPECT_COMPLAINT(write({.classes = classes_}, {}, {0, 1, 2, NAN, 4, 5}, 2), ErrorKind::kBadData, "node 0");
}

TEST_F(PredictionWriterTest, ValuesAreWrittenAsTheyAre) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> known{1.5F, -2, kNone, kNone, 7, 0.1F, 1e6F, 4};  // two of each of four nodes
  const LabelTable table{.type = {Task::kRegression, 2}, .values = known};
  const std::vector<float> predicted{1e6F, 3.5F, 0.1F, -2, 7, 0};
  write(table, {.format = PredictionFormat::kCsv, .class_names = {"price", "weight, kg"}}, predicted, 2);
  EXPECT_EQ(test::read_bytes(scratch_ / "predictions.csv"),
            "node,price,price_predicted,\"weight, kg\",\"weight, kg_predicted\"\n"
            "3,1e+06,1e+06,4,3.5\n0,1.5,0.1,-2,-2\n2,7,7,0.1,0\n");
  write(table, {}, predicted, 2);
  EXPECT_EQ(values<float>("predictions.npy", "<f4", "(3, 2)"), predicted);
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "logits.npy"));
  const LabelTable one{.type = {Task::kRegression, 1}, .values = std::span(known).first(4)};
  write(one, {}, {5, 6, 7}, 1);
  EXPECT_EQ(values<float>("predictions.npy", "<f4", "(3,)"), (std::vector<float>{5, 6, 7}));
  write(one, {.format = PredictionFormat::kCsv}, {5, 6, 7}, 1);
  EXPECT_EQ(test::read_bytes(scratch_ / "predictions.csv"), "node,target,target_predicted\n3,,5\n0,1.5,6\n2,,7\n");
}

}  // namespace
}  // namespace salient
