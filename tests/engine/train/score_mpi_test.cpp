// tests/engine/train/score_mpi_test.cpp - several ranks score a model exactly as one rank does, whatever the metric.
#include "engine/train/score.h"

#include <gtest/gtest.h>

#include "engine/comm/mpi_communicator.h"
#include "tests/support/ranks.h"
#include "tests/support/scored_dataset.h"

namespace salient {
namespace {

TEST(ScoreOnRanks, IsThatOfOneRank) {
  const auto comm = make_mpi_communicator(launch_of_test(), /*timeout_seconds=*/120);
  struct Case {
    Task task;
    int num_classes;
    Metric metric;
  };
  for (const Case& c :
       {Case{Task::kMultiClass, 5, Metric::kAccuracy}, Case{Task::kMultiClass, 2, Metric::kRocAuc},
        Case{Task::kMultiLabel, 3, Metric::kRocAuc}, Case{Task::kMultiLabel, 3, Metric::kF1},
        Case{Task::kMultiClass, 5, Metric::kMacroF1}, Case{Task::kMultiClass, 2, Metric::kAveragePrecision}}) {
    const Dataset dataset = test::scored_dataset(c.task, c.num_classes);
    const auto model = test::model_with_history("sage", dataset);
    const Score alone = test::score_test_nodes(c.metric, dataset, *model, *make_self_communicator());
    const Score together = test::score_test_nodes(c.metric, dataset, *model, *comm);
    EXPECT_TRUE(
        on_all_ranks(*comm, alone.value > 0 && together.value == alone.value && together.figures == alone.figures))
        << name_of(c.metric) << " " << together.value << ", alone " << alone.value;
  }
}

}  // namespace
}  // namespace salient
