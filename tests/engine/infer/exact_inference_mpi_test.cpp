// tests/engine/infer/exact_inference_mpi_test.cpp - any number of ranks, on one host or on several, finds what one
// rank finds.
#include "engine/infer/exact_inference.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "engine/comm/mpi_communicator.h"
#include "loaders/part_rows.h"
#include "tests/support/inference.h"
#include "tests/support/ranks.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

TEST(ExactInferenceOnRanks, FindsTheSameBytesAsOneRank) {
  const auto comm = make_mpi_communicator(launch_of_test(), /*timeout_seconds=*/120);
  const ComputeDevice device = ComputeDevice::choose(DeviceKind::kCpu, 0, 1);
  const auto rank = static_cast<std::size_t>(comm->rank()), size = static_cast<std::size_t>(comm->size());
  for (const std::string& variant : test::model_variants()) {
    const Dataset dataset = test::dataset_for(variant, FeatureType::kF16);
    std::vector<NodeId> targets(150);
    std::iota(targets.begin(), targets.end(), dataset.first_target() + 100);
    for (const auto& [storage, type] : {std::pair(ActivationStorage::kMemory, ActivationDtype::kF32),
                                        std::pair(ActivationStorage::kFile, ActivationDtype::kF16)})
      for (const int ranks_on_host : {comm->size(), 2, 1}) {
        ExactOptions options;
        options.storage = storage;
        options.type = type;
        options.scratch = std::filesystem::temp_directory_path();
        options.block_bytes = 8000;
        const auto model = test::model_with_history(variant, dataset);
        const test::Found alone = test::exact(*model, dataset, targets, options);
        options.launch = on_hosts_of(ranks_on_host);
        const ModelOnRanks ranks{*model, device, *comm};
        const ExactPlan plan = plan_exact_inference(ranks, dataset, targets, options);
        const std::vector<RowBlock>& blocks = plan.layers.back().blocks;
        bool is_right = blocks.size() > 4;
        std::size_t next = rank;  // of this rank's blocks
        const InferenceCounts counts = exact_inference(ranks, dataset, plan, options, [&](const InferenceRound& round) {
          if (round.num_nodes == 0) return;
          const RowBlock& block = blocks.at(next);
          next += size;
          is_right = is_right && at::equal(round.logits, alone.logits.narrow(0, static_cast<std::int64_t>(block.begin),
                                                                             static_cast<std::int64_t>(block.count)));
        });
        is_right = is_right && next >= blocks.size() && counts.correct == alone.counts.correct &&
                   counts.nodes == alone.counts.nodes && counts.labelled == alone.counts.labelled;
        EXPECT_TRUE(on_all_ranks(*comm, is_right)) << variant << ", " << ranks_on_host << " ranks per host";
      }
  }
}

TEST(ExactInferenceOnRanks, GetsRowsOfPartsFromTheirOwners) {
  const auto comm = make_mpi_communicator(launch_of_test(), /*timeout_seconds=*/120);
  const ComputeDevice device = ComputeDevice::choose(DeviceKind::kCpu, 0, 1);
  const Dataset dataset = test::dataset_with_small_features(400, 6, 7, FeatureType::kF16);
  const auto num_ranks = static_cast<NodeId>(comm->size());
  auto owner = std::make_shared<std::vector<std::uint16_t>>();
  for (NodeId v = 0; v < 400; ++v) owner->push_back(static_cast<std::uint16_t>(v / 3 % num_ranks));
  const PartRows part(dataset, {.num_parts = comm->size(), .owner = *owner, .storage = owner}, comm->rank(), {});
  std::vector<NodeId> targets(150);
  std::iota(targets.begin(), targets.end(), NodeId{100});
  ExactOptions options{.block_bytes = 8000};
  options.storage = ActivationStorage::kMemory;
  for (const std::string variant : {"sage", "gcn", "gat"}) {
    const auto model = test::model_with_history(variant, dataset);
    const test::Found alone = test::exact(*model, dataset, targets, options);
    ExactOptions partitioned = options;
    partitioned.data = {.features = Residency::kPartitioned, .part = &part};
    partitioned.launch = launch_of_test();
    Dataset without_rows = dataset;
    without_rows.features.data = nullptr;
    const ModelOnRanks ranks{*model, device, *comm};
    const ExactPlan plan = plan_exact_inference(ranks, without_rows, targets, partitioned);
    const std::vector<RowBlock>& blocks = plan.layers.back().blocks;
    bool is_right = plan.layers.front().blocks.size() > 4;
    auto next = static_cast<std::size_t>(comm->rank());
    const auto compare = [&](const InferenceRound& round) {
      if (round.num_nodes == 0) return;
      const RowBlock& block = blocks.at(next);
      next += static_cast<std::size_t>(comm->size());
      is_right = is_right && at::equal(round.logits, alone.logits.narrow(0, static_cast<std::int64_t>(block.begin),
                                                                         static_cast<std::int64_t>(block.count)));
    };
    const InferenceCounts counts = exact_inference(ranks, without_rows, plan, partitioned, compare);
    EXPECT_TRUE(on_all_ranks(*comm, is_right && counts.correct == alone.counts.correct && counts.nodes == 150))
        << variant;
  }
}

}  // namespace
}  // namespace salient
