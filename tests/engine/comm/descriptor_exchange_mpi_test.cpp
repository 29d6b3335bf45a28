// tests/engine/comm/descriptor_exchange_mpi_test.cpp - ranks have each other's files, and with them one table in parts.
#include "engine/comm/descriptor_exchange.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/comm/mpi_communicator.h"
#include "loaders/shards.h"
#include "tests/support/host_shard_memory.h"
#include "tests/support/ranks.h"

namespace salient {
namespace {

class DescriptorExchange : public ::testing::Test {
 protected:
  const Launch& launch = launch_of_test();
  std::unique_ptr<Communicator> comm = make_mpi_communicator(launch, 30);
};

TEST_F(DescriptorExchange, GivesTheFileOfEveryRankInRankOrder) {
  for (int round = 0; round < 20; ++round) {  // so that ranks overtake each other
    std::array<int, 2> pipe_ends{};
    ASSERT_EQ(::pipe(pipe_ends.data()), 0);
    const Descriptor to_read(pipe_ends[0]);
    {
      const Descriptor to_write(pipe_ends[1]);
      const std::string text(static_cast<std::size_t>(launch.size), static_cast<char>('a' + launch.rank));
      ASSERT_EQ(::write(to_write.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    const std::vector<Descriptor> all = exchange_descriptors(*comm, to_read);
    bool is_right = all.size() == static_cast<std::size_t>(launch.size);
    for (std::size_t rank = 0; is_right && rank < all.size(); ++rank) {  // every rank takes one letter of each
      char letter = 0;
      is_right = ::read(all[rank].get(), &letter, 1) == 1 && letter == static_cast<char>('a' + rank);
    }
    EXPECT_TRUE(on_all_ranks(*comm, is_right));
  }
}

TEST_F(DescriptorExchange, MakesOneTableOfThePartsOfAllRanks) {
  for (const std::size_t num_rows : {std::size_t{1}, std::size_t{70'001}}) {
    const RowTable table{nullptr, num_rows, 300};
    const auto byte_at = [](std::size_t i) { return static_cast<std::byte>(i * 2654435761U >> 13); };
    Shards shards(std::make_unique<test::HostShardMemory>(), table, launch.rank, launch.size);
    shards.join(exchange_descriptors(*comm, shards.descriptor()));
    auto* const bytes = const_cast<std::byte*>(shards.table().data);
    const auto [first, count] = shards.own_rows();
    for (std::size_t i = first * 300; i < (first + count) * 300; ++i) bytes[i] = byte_at(i);
    comm->barrier();
    bool is_right = true;
    for (std::size_t i = 0; i < num_rows * 300; ++i) is_right = is_right && bytes[i] == byte_at(i);
    EXPECT_TRUE(on_all_ranks(*comm, is_right));
  }
}

TEST_F(DescriptorExchange, AFileThatIsNoneIsARefusalOnAllRanks) {
  const Descriptor none;
  int kind = 0;
  try {
    (void)exchange_descriptors(*comm, none);
  } catch (const Error& error) {
    kind = static_cast<int>(error.kind());
  }
  EXPECT_TRUE(on_all_ranks(*comm, kind == static_cast<int>(ErrorKind::kComm)));
}

}  // namespace
}  // namespace salient
