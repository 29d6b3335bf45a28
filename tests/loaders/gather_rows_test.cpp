// tests/loaders/gather_rows_test.cpp - the host's gather equals the reference over sizes and alignments.
#include "loaders/gather_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace salient {
namespace {

TEST(GatherRowsOnHost, EqualsTheReferenceAndTouchesNothingElse) {
  std::mt19937 random(1);
  for (const std::size_t num_rows : {1u, 7u, 300u})
    for (const std::size_t row_bytes : {0u, 1u, 2u, 31u, 32u, 33u, 63u, 200u, 256u, 1534u, 5001u})
      for (const std::size_t num_out : {0u, 1u, 2u, 31u, 400u})
        for (const std::size_t table_shift : {0u, 1u, 16u})
          for (const std::size_t out_shift : {0u, 1u, 32u}) {
            std::vector<std::byte> storage(num_rows * row_bytes + table_shift);
            for (std::size_t i = 0; i < storage.size(); ++i) storage[i] = static_cast<std::byte>(i * 31 + i / 251);
            const RowTable table{storage.data() + table_shift, num_rows, row_bytes};
            std::vector<NodeId> row_of(num_out);
            for (NodeId& row : row_of) row = static_cast<NodeId>(random() % num_rows);

            constexpr std::size_t kGuard = 64;
            const std::size_t size = num_out * row_bytes + out_shift + kGuard;
            std::vector<std::byte> expected(size + kGuard, std::byte{0xA5}), actual(expected);
            const auto aligned = [&](std::vector<std::byte>& bytes) {
              return bytes.data() + (64 - reinterpret_cast<std::uintptr_t>(bytes.data()) % 64) % 64;
            };
            gather_rows_reference(table, row_of.data(), num_out, aligned(expected) + out_shift);
            gather_rows(table, row_of.data(), num_out, aligned(actual) + out_shift);
            ASSERT_TRUE(std::equal(aligned(actual), aligned(actual) + size, aligned(expected)))
                << num_rows << " rows of " << row_bytes << " bytes, " << num_out << " gathered, shifts " << table_shift
                << ' ' << out_shift;
          }
}

TEST(GatherFeaturesOnHost, EqualsTheReferenceAndTouchesNothingElse) {
  std::mt19937 random(1);
  for (const float scale : {0.0F, 1.0F, kLeastFp8Scale, kLargestFp8Scale})
    for (const std::size_t row_bytes : {0u, 1u, 2u, 15u, 16u, 17u, 32u, 100u, 128u, 767u, 1024u})
      for (const std::size_t num_out : {0u, 1u, 31u, 400u})
        for (const std::size_t table_shift : {0u, 1u, 16u})
          for (const std::size_t out_shift : {0u, 2u, 32u}) {
            constexpr std::size_t kRows = 300, kGuard = 64;
            std::vector<std::byte> storage(kRows * row_bytes + table_shift);
            for (std::byte& number : storage) number = static_cast<std::byte>(random() % 127 + random() % 2 * 128);
            const RowTable table{storage.data() + table_shift, kRows, row_bytes, scale};
            std::vector<NodeId> row_of(num_out);
            for (NodeId& row : row_of) row = static_cast<NodeId>(random() % kRows);
            const std::size_t size = num_out * row_bytes * 2 + out_shift + kGuard;
            std::vector<std::byte> expected(size + kGuard, std::byte{0xA5}), actual(expected);
            const auto aligned = [&](std::vector<std::byte>& bytes) {
              return bytes.data() + (64 - reinterpret_cast<std::uintptr_t>(bytes.data()) % 64) % 64;
            };
            gather_features_reference(table, row_of.data(), num_out, aligned(expected) + out_shift);
            gather_features(table, row_of.data(), num_out, aligned(actual) + out_shift);
            ASSERT_TRUE(std::equal(aligned(actual), aligned(actual) + size, aligned(expected)))
                << "scale " << scale << ", rows of " << row_bytes << " bytes, " << num_out << " gathered, shifts "
                << table_shift << ' ' << out_shift;
          }
}

}  // namespace
}  // namespace salient
