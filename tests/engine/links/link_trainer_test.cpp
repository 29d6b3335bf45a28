// tests/engine/links/link_trainer_test.cpp - training of embedding models: bits, checkpoints, what they learn.
#include "engine/links/link_trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "engine/links/link_steps.h"
#include "prepare/importers/triples_importer.h"
#include "prepare/writing/write_typed_store.h"
#include "store/open_store.h"
#include "tests/support/real_data.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

namespace fs = std::filesystem;
using test::Scratch;

Dataset open_links(const fs::path& folder) {
  return open_store(folder, 1, FeatureFile::kNeeded, GraphKind::kAny).dataset;
}

/// Numbers 0 to 39 and what follows them by 1, 2, 3 and 5 modulo 40; a tenth of the links each in validation and test.
Dataset cyclic_links(const fs::path& folder, Reverses reverses = Reverses::kAdd) {
  std::mt19937 random(5);
  std::string splits[3];
  for (const int by : {1, 2, 3, 5})
    for (int v = 0; v < 40; ++v) {
      const auto draw = random() % 10;
      splits[draw < 8 ? 0 : draw - 7] +=
          std::to_string(v) + "\tplus" + std::to_string(by) + "\t" + std::to_string((v + by) % 40) + "\n";
    }
  TriplesOptions options{.reverses = reverses, .name = "cyclic"};
  options.train = test::write_bytes(folder / "train.txt", splits[0]);
  options.valid = test::write_bytes(folder / "valid.txt", splits[1]);
  options.test = test::write_bytes(folder / "test.txt", splits[2]);
  write_typed_store(import_triples(options).graph, {.out = folder / "store", .num_threads = 1, .force = true});
  return open_links(folder / "store");
}

LinkOptions small_options() {
  return {.hidden = 16, .batch_size = 32, .epochs = 3, .lr = 0.1, .checkpoint_every = 1, .threads = 1};
}

/// In a folder that is made.
LinkResult train_in(const Dataset& dataset, const LinkOptions& options, const fs::path& folder) {
  fs::create_directories(folder);
  return train_links(dataset, options, folder);
}

LinkState state_after(const Dataset& dataset, const LinkOptions& options, int threads) {
  const Scratch scratch;
  LinkOptions here = options;
  here.threads = threads;
  (void)train_in(dataset, here, scratch.path());
  EmbeddingLearner learner(dataset, here);
  (void)read_latest(scratch / "checkpoints", identity_of(dataset, here), learner);
  return learner.state();
}

TEST(LinkTrainer, ThreadsChangeNoBit) {
  const Scratch scratch;
  for (const Reverses reverses : {Reverses::kAdd, Reverses::kNone}) {
    const Dataset dataset = cyclic_links(scratch.path(), reverses);
    for (const DecoderKind decoder : {DecoderKind::kDistmult, DecoderKind::kComplex, DecoderKind::kRotate})
      for (const int negatives : {0, 7}) {
        LinkOptions options = small_options();
        options.decoder = decoder;
        options.negatives = negatives;
        options.dropout = 0.2;
        options.n3 = 0.01;
        options.label_smoothing = 0.1;
        options.optimiser = negatives == 0 ? RowRule::kAdagrad : RowRule::kAdam;
        options.epochs = 2;
        EXPECT_EQ(state_after(dataset, options, 1), state_after(dataset, options, 3)) << name_of(decoder);
      }
  }
}

TEST(LinkTrainer, AResumedRunIsAnUndisturbedOne) {
  const Scratch scratch;
  const Dataset dataset = cyclic_links(scratch / "data");
  LinkOptions options = small_options();
  options.dropout = 0.1;
  options.optimiser = RowRule::kAdam;
  const LinkResult whole = train_in(dataset, options, scratch / "whole");
  options.epochs = 2;
  (void)train_in(dataset, options, scratch / "part");
  options.epochs = 3;
  const LinkResult resumed = train_in(dataset, options, scratch / "part");
  EXPECT_EQ(resumed.valid, whole.valid);
  EXPECT_EQ(resumed.test, whole.test);
  for (const char* file : {"checkpoints/latest/model.safetensors", "checkpoints/latest/optimizer.safetensors",
                           "checkpoints/best/model.safetensors"})
    EXPECT_EQ(test::read_bytes(scratch / "part" / file), test::read_bytes(scratch / "whole" / file)) << file;
  options.hidden = 8;
  const test::Complaint complaint = test::complaint_of([&] { (void)train_in(dataset, options, scratch / "part"); });
  EXPECT_EQ(complaint.exit_code, 65);
  EXPECT_TRUE(complaint.mentions("state.json: hidden is 16, this run's is 8")) << complaint.text;
}

TEST(LinkTrainer, ADamagedCheckpointIsRefused) {
  const Scratch scratch;
  const Dataset dataset = cyclic_links(scratch / "data");
  const LinkOptions options = small_options();
  (void)train_in(dataset, options, scratch / "run");
  const LinkIdentity identity = identity_of(dataset, options);
  EmbeddingLearner learner(dataset, options);
  for (const char* file : {"model.safetensors", "optimizer.safetensors", "state.json"}) {
    const fs::path path = scratch / "run" / "checkpoints/latest" / file;
    const std::string bytes = test::read_bytes(path);
    std::string changed = bytes;
    changed[changed.size() - 20] ^= 1;
    test::write_bytes(path, changed);
    EXPECT_EQ(
        test::complaint_of([&] { (void)read_latest(scratch / "run" / "checkpoints", identity, learner); }).exit_code,
        65)
        << file;
    test::write_bytes(path, bytes);
  }
  EXPECT_EQ(read_latest(scratch / "run" / "checkpoints", identity, learner).epoch, 3);
}

TEST(LinkTrainer, LearnsWhatFollowsFromOtherLinks) {
  const Scratch scratch;
  const Dataset dataset = cyclic_links(scratch / "data");
  for (const DecoderKind decoder : {DecoderKind::kComplex, DecoderKind::kRotate}) {
    LinkOptions options = small_options();
    options.decoder = decoder;
    options.epochs = 60;
    options.hidden = 32;
    options.n3 = decoder == DecoderKind::kComplex ? 0.02 : 0;
    const LinkResult result = train_in(dataset, options, scratch / name_of(decoder));
    ASSERT_TRUE(result.test[Metric::kMrr]);
    EXPECT_GT(*result.test[Metric::kMrr], 0.5) << name_of(decoder) << "; by chance 0.1";
    EXPECT_GE(*result.test[Metric::kHitsAt10], *result.test[Metric::kHitsAt1]);
    EXPECT_TRUE(fs::exists(scratch / name_of(decoder) / "test_relations.csv"));
  }
}

TEST(LinkTrainer, NegativesDoNotDependOnThreadsOrOtherLinks) {
  const Scratch scratch;
  const Dataset dataset = cyclic_links(scratch / "data");
  LinkOptions options = small_options();
  options.negatives = 5;
  options.epochs = 30;
  options.lr = 0.2;
  const LinkResult result = train_in(dataset, options, scratch / "run");
  EXPECT_GT(*result.valid[Metric::kMrr], 0.2) << "by chance 0.1";
}

/// A step against the gradient of the mean loss by differences, all candidates, plain gradient descent by Adagrad's
/// first step: the sign of each number's change is the gradient's, its size the step size.
TEST(LinkSteps, AFirstStepOfAdagradGoesDownhill) {
  const Scratch scratch;
  const Dataset dataset = cyclic_links(scratch / "data");
  LinkOptions options = small_options();
  options.hidden = 4;
  options.lr = 1e-3;
  const auto reverses = reverses_of(dataset.types);
  std::vector<NodeId> batch(16);
  std::iota(batch.begin(), batch.end(), NodeId{0});
  for (const DecoderKind decoder : {DecoderKind::kDistmult, DecoderKind::kComplex, DecoderKind::kRotate}) {
    options.decoder = decoder;
    LinkState state = initial_state(shape_of(dataset, options), options);
    LinkSteps steps(dataset.links[kTrainLinks], reverses, options, state);
    const double before = steps.step({1, 0, 0}, batch);
    double after = before;
    for (int i = 0; i < 5; ++i) after = steps.step({1, 0, 0}, batch);
    EXPECT_LT(after, before) << name_of(decoder);
  }
}

TEST(LinkTrainer, OptionsHaveRules) {
  const auto first = [](const LinkOptions& options) {
    const std::vector<FieldProblem> found = problems(options);
    return found.empty() ? "" : found[0].field;
  };
  EXPECT_EQ(first({}), "");
  EXPECT_EQ(first({.decoder = DecoderKind::kMlp}), "decoder");
  EXPECT_EQ(first({.hidden = 0}), "hidden");
  EXPECT_EQ(first({.negatives = -1}), "negatives");
  EXPECT_EQ(first({.lr = 0}), "lr");
  EXPECT_EQ(first({.dropout = 1}), "dropout");
}

TEST(LinkTrainer, UmlsIsRankedAsPublished) {
  const fs::path data = test::real_data_or_empty() / "kg-tiny" / "umls";
  if (!fs::exists(data)) GTEST_SKIP() << test::kNoRealData;
  const Scratch scratch;
  const TriplesOptions triples{
      .train = data / "train.txt", .valid = data / "valid.txt", .test = data / "test.txt", .name = "umls"};
  write_typed_store(import_triples(triples).graph, {.out = scratch / "store", .num_threads = 1});
  const Dataset dataset = open_links(scratch / "store");
  const LinkOptions options{.hidden = 64, .epochs = 15, .n3 = 0.01};
  const LinkResult result = train_in(dataset, options, scratch / "run");
  EXPECT_GT(*result.test[Metric::kMrr], 0.85);
}

}  // namespace
}  // namespace salient
