// tests/engine/paths/path_trainer_test.cpp - training of path-based models: bits, checkpoints, what they learn.
#include "engine/paths/path_trainer.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/links/link_query.h"
#include "engine/paths/path_learner.h"
#include "engine/paths/path_ranks.h"
#include "prepare/importers/triples_importer.h"
#include "prepare/writing/write_typed_store.h"
#include "store/open_store.h"
#include "tests/support/real_data.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

namespace fs = std::filesystem;
using test::Scratch;

Dataset import(const TriplesOptions& options, const fs::path& store) {
  write_typed_store(import_triples(options).graph, {.out = store, .num_threads = 1, .force = true});
  return open_store(store, 1, FeatureFile::kNeeded, GraphKind::kAny).dataset;
}

/// Who is whose parent, and whose grandparent, in four trees of 31 people: a grandparent is a parent's parent. A third
/// of the grandparents of the last tree are validation, a third test.
Dataset families(const fs::path& folder, Reverses reverses = Reverses::kAdd) {
  std::mt19937 random(5);
  std::string splits[3];
  for (int tree = 0; tree < 4; ++tree) {
    const auto name = [&](int i) { return "t" + std::to_string(tree) + "n" + std::to_string(i); };
    for (int i = 1; i < 31; ++i) splits[0] += name(i) + "\tparent\t" + name((i - 1) / 2) + "\n";
    for (int i = 3; i < 31; ++i)
      splits[tree < 3 ? 0 : random() % 3] += name(i) + "\tgrandparent\t" + name(((i - 1) / 2 - 1) / 2) + "\n";
  }
  return import({.train = test::write_bytes(folder / "train.txt", splits[0]),
                 .valid = test::write_bytes(folder / "valid.txt", splits[1]),
                 .test = test::write_bytes(folder / "test.txt", splits[2]),
                 .reverses = reverses,
                 .name = "families"},
                folder / "store");
}

LinkOptions small_options(int negatives = 0) {
  return {.hidden = 16,
          .negatives = negatives,
          .batch_size = 16,
          .epochs = 3,
          .optimiser = RowRule::kAdam,
          .lr = 0.01,
          .checkpoint_every = 1,
          .threads = 1};
}

LinkResult train_in(const Dataset& dataset, const LinkOptions& link, const PathOptions& paths, const fs::path& folder) {
  fs::create_directories(folder);
  return train_paths(dataset, link, paths, folder);
}

constexpr const char* kFiles[] = {"checkpoints/latest/model.safetensors", "checkpoints/latest/optimizer.safetensors",
                                  "checkpoints/best/model.safetensors", "test_relations.csv"};

TEST(PathTrainer, ThreadsChangeNoBit) {
  const Scratch scratch;
  const Dataset dataset = families(scratch.path());
  for (const int negatives : {0, 5})
    for (const PathSum sum : {PathSum::kSum, PathSum::kMean}) {
      LinkOptions link = small_options(negatives);
      link.epochs = 1;
      const fs::path folder = scratch / (std::to_string(negatives) + name_of(sum));
      const PathOptions paths{.layers = 2, .sum = sum};
      const LinkResult one = train_in(dataset, link, paths, folder / "one");
      link.threads = 3;
      const LinkResult three = train_in(dataset, link, paths, folder / "three");
      EXPECT_EQ(one.test, three.test);
      for (const char* file : kFiles)
        EXPECT_EQ(test::read_bytes(folder / "one" / file), test::read_bytes(folder / "three" / file)) << file;
    }
}

TEST(PathTrainer, AResumedRunIsAnUndisturbedOne) {
  const Scratch scratch;
  const Dataset dataset = families(scratch / "data");
  LinkOptions link = small_options(5);
  const PathOptions paths{.layers = 2};
  const LinkResult whole = train_in(dataset, link, paths, scratch / "whole");
  link.epochs = 2;
  (void)train_in(dataset, link, paths, scratch / "part");
  link.epochs = 3;
  const LinkResult resumed = train_in(dataset, link, paths, scratch / "part");
  EXPECT_EQ(resumed.test, whole.test);
  for (const char* file : kFiles)
    EXPECT_EQ(test::read_bytes(scratch / "part" / file), test::read_bytes(scratch / "whole" / file)) << file;
  const test::Complaint complaint =
      test::complaint_of([&] { (void)train_in(dataset, link, {.layers = 3}, scratch / "part"); });
  EXPECT_EQ(complaint.exit_code, 65);
  EXPECT_TRUE(complaint.mentions("state.json: layers is 2, this run's is 3")) << complaint.text;
}

TEST(PathTrainer, FollowsPathsToWhatIsImplied) {
  const Scratch scratch;
  const Dataset dataset = families(scratch / "data");
  for (const int negatives : {0, 8}) {
    LinkOptions link = small_options(negatives);
    link.epochs = 12;
    const LinkResult result = train_in(dataset, link, {.layers = 3}, scratch / std::to_string(negatives));
    EXPECT_GT(*result.test[Metric::kMrr], 0.8) << "the family's other grandchildren compete; by chance .05";
  }
}

/// Rank by rank, from the scores of single passes.
TEST(PathRanks, AreThoseOfEachLinkAlone) {
  const Scratch scratch;
  const Dataset dataset = families(scratch / "data");
  const PathParameters parameters({.hidden = 8, .layers = 2, .num_relations = 4}, 3);
  const PathGraph graph = path_graph_of(dataset);
  const auto reverses = reverses_of(dataset.types);
  const KnownLinks known(dataset.links);
  const LinkTable& links = dataset.links[kTestLinks];
  RankTally wanted;
  for (const LinkSide side : kLinkSides)
    for (std::size_t i = 0; i < links.size(); ++i) {
      const LinkQuery query = link_query(links, i, side, reverses);
      const PathQuestion question{query.node, query.relation};
      RankCounts counts;
      score_questions(parameters, graph, std::span(&question, 1), [&](std::size_t, std::span<const float> scores) {
        const std::span<const NodeId> others = known.of(side, links.relations[i], query.node);
        for (NodeId v = 0; v < scores.size(); ++v) {
          if (v == query.target || std::ranges::count(others, v) > 0) continue;
          counts.greater += scores[v] > scores[query.target];
          counts.equal += scores[v] == scores[query.target];
        }
      });
      wanted.add(rank_of(counts));
    }
  const RankTally found =
      rank_paths(parameters, graph, dataset, kTestLinks, {.known = known, .reverses = reverses}).all();
  EXPECT_EQ(found.count(), 2 * links.size());
  EXPECT_DOUBLE_EQ(found.mrr(), wanted.mrr());
  EXPECT_DOUBLE_EQ(found.mean_rank(), wanted.mean_rank());
}

TEST(PathTrainer, WhatItCannotDoIsOneLine) {
  const Scratch scratch;
  const Dataset dataset = families(scratch / "data", Reverses::kNone);
  const test::Complaint complaint =
      test::complaint_of([&] { (void)train_in(dataset, small_options(), {}, scratch / "run"); });
  EXPECT_EQ(complaint.exit_code, 2);
  EXPECT_TRUE(complaint.mentions("has no reverse, which paths follow")) << complaint.text;
  const auto first = [](const LinkOptions& link, const PathOptions& paths) {
    const std::vector<FieldProblem> found = problems(link, paths);
    return found.empty() ? "" : found[0].field;
  };
  EXPECT_EQ(first({.hidden = 32}, {}), "");
  EXPECT_EQ(first({.hidden = 12}, {}), "hidden");
  EXPECT_EQ(first({.hidden = 32}, {.layers = 0}), "layers");
  EXPECT_EQ(first({.hidden = 32, .negatives = 20000}, {}), "negatives");
  EXPECT_EQ(first({.hidden = 32}, {.adversarial_temperature = -1}), "adversarial-temperature");
}

TEST(PathTrainer, UmlsIsRankedFromASingleEpoch) {
  const fs::path data = test::real_data_or_empty() / "kg-tiny" / "umls";
  if (!fs::exists(data)) GTEST_SKIP() << test::kNoRealData;
  const Scratch scratch;
  const Dataset dataset =
      import({.train = data / "train.txt", .valid = data / "valid.txt", .test = data / "test.txt", .name = "umls"},
             scratch / "store");
  LinkOptions link = small_options();
  link.epochs = 1;
  const LinkResult result = train_in(dataset, link, {.layers = 2}, scratch / "run");
  EXPECT_GT(*result.test[Metric::kMrr], 0.6);
}

}  // namespace
}  // namespace salient
