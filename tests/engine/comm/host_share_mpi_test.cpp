// tests/engine/comm/host_share_mpi_test.cpp - one copy of a generated data set per host: the same bytes, the same
// memory.
#include "engine/comm/host_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "core/error.h"
#include "engine/comm/mpi_communicator.h"
#include "store/dataset_sharing.h"
#include "store/graph_copy.h"
#include "store/synthetic.h"
#include "tests/support/dataset_digest.h"
#include "tests/support/ranks.h"

namespace salient {
namespace {

class HostShareTest : public ::testing::Test {
 protected:
  const Launch& launch = launch_of_test();
  std::unique_ptr<Communicator> comm = make_mpi_communicator(launch, 30);
};

TEST_F(HostShareTest, EveryRankHasTheBytesOfAll) {
  const std::string mine =
      std::string(static_cast<std::size_t>(launch.rank) * 1000, 'x') + "\n " + std::to_string(launch.rank);
  const std::vector<std::string> all = gather_on_all(*comm, mine);
  bool is_right = all.size() == static_cast<std::size_t>(launch.size);
  for (std::size_t rank = 0; is_right && rank < all.size(); ++rank)
    is_right = all[rank] == std::string(rank * 1000, 'x') + "\n " + std::to_string(rank);
  EXPECT_TRUE(on_all_ranks(*comm, is_right));
}

TEST_F(HostShareTest, OneRankOfAHostMakesAndAllHave) {
  int num_made = 0;
  const std::string made = made_once_per_host(*comm, launch, [&] {
    ++num_made;
    return "made by " + std::to_string(launch.rank);
  });
  EXPECT_TRUE(on_all_ranks(*comm, num_made == (launch.local_rank == 0 ? 1 : 0) &&
                                      made == "made by " + std::to_string(launch.first_on_host)));
}

TEST_F(HostShareTest, AFailureIsOneOnAllRanks) {
  int kind = 0;
  try {
    (void)made_once_per_host(*comm, launch, []() -> std::string { fail(ErrorKind::kHostMemory, "too big"); });
  } catch (const Error& error) {
    kind = static_cast<int>(error.kind());
  }
  EXPECT_TRUE(on_all_ranks(*comm, kind == static_cast<int>(ErrorKind::kHostMemory)));
}

std::string facts_and_digest(const Dataset& dataset) {
  return dataset.name + " " + dataset.source_kind + " " + dataset.fingerprint + " " +
         std::to_string(dataset.num_classes) + " " + std::to_string(dataset.feature_dim) + " " +
         std::to_string(static_cast<int>(dataset.feature_type)) + " " + std::to_string(dataset.is_symmetric) +
         test::digest_text(dataset);
}

/// Of all mappings of shared arrays in this process, by inode: kilobytes, each page divided by how many map it.
std::map<std::string, double> shared_kilobytes() {
  std::map<std::string, double> found;
  std::ifstream smaps("/proc/self/smaps");
  std::string inode;
  for (std::string line; std::getline(smaps, line);) {
    std::istringstream words(line);
    std::string word, offset, device, number, path;
    words >> word;
    if (word.find('-') != std::string::npos && word.back() != ':') {  // the head of a mapping
      words >> offset >> offset >> device >> number >> path;
      inode = path == "/memfd:salient" ? number : "";
    } else if (word == "Pss:" && !inode.empty()) {
      double kilobytes = 0;
      words >> kilobytes;
      found[inode] += kilobytes;
    }
  }
  return found;
}

TEST_F(HostShareTest, AGeneratedDataSetStandsInMemoryOncePerHost) {
  const SyntheticOptions options = synthetic_like("arxiv", 0.2);
  Dataset dataset;
  const std::string description = made_once_per_host(*comm, launch, [&] {
    const auto memory = std::make_shared<SharedMemory>();
    dataset = make_synthetic_dataset(options, /*num_threads=*/1, memory);
    return describe_shared(dataset, *memory);
  });
  if (launch.local_rank != 0) dataset = map_described(description);
  bool is_same = facts_and_digest(dataset) == facts_and_digest(make_synthetic_dataset(options, 1));
  EXPECT_TRUE(on_all_ranks(*comm, is_same));

  std::string inodes;
  std::vector<double> kilobytes{0};
  for (const auto& [inode, pss] : shared_kilobytes()) {
    inodes.append(inode).append(" ");
    kilobytes[0] += pss;
  }
  const std::vector<std::string> all = gather_on_all(*comm, inodes);
  is_same = !inodes.empty() && all[static_cast<std::size_t>(launch.first_on_host)] == inodes;
  EXPECT_TRUE(on_all_ranks(*comm, is_same));
  comm->all_reduce_sum(std::span<double>(kilobytes));
  const double bytes = static_cast<double>(synthetic_bytes(options)) * launch.num_hosts;
  if (launch.rank == 0)
    std::printf("%d ranks: %.1f MB shared, the data set has about %.1f MB\n", launch.size, kilobytes[0] / 1024,
                bytes / (1 << 20));
  EXPECT_LT(kilobytes[0] * 1024, 1.3 * bytes + (16 << 20));  // arrays round up to pages of 2 MiB
  EXPECT_GT(kilobytes[0] * 1024, 0.8 * bytes);
}

TEST_F(HostShareTest, ACopiedGraphIsTheSameOnEveryRank) {
  const Dataset made = make_synthetic_dataset(synthetic_like("arxiv", 0.2), /*num_threads=*/1);
  Dataset dataset;
  dataset.graph = made.graph;
  const auto memory = std::make_shared<SharedMemory>();
  std::shared_ptr<const CsrArrays> copy;
  const std::string description = made_once_per_host(*comm, launch, [&] {
    copy = copy_graph(made.graph, memory.get());
    return describe_graph(copy->view(), *memory);
  });
  map_graph(description, dataset);  // on the rank that made it, too
  const bool is_same = dataset.graph.indices.data() != made.graph.indices.data() &&
                       std::ranges::equal(dataset.graph.indptr, made.graph.indptr) &&
                       std::ranges::equal(dataset.graph.indices, made.graph.indices);
  EXPECT_TRUE(on_all_ranks(*comm, is_same));
}

}  // namespace
}  // namespace salient
