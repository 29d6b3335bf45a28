// tests/loaders/gather_rows_gpu_test.cpp - kernel equals reference over sizes and alignments, on a non-default stream.
#include "loaders/gather_rows.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/cuda/cuda.h"
#include "loaders/node_set.h"
#include "tests/support/device_copy.h"

namespace salient {
namespace {

TEST(GatherRows, EqualsTheReference) {
  const CudaStream stream;
  std::mt19937 random(1);
  for (const std::size_t num_rows : {1u, 7u, 300u})
    for (const std::size_t row_bytes : {0u, 1u, 3u, 4u, 12u, 16u, 48u, 400u, 516u})
      for (const std::size_t num_out : {0u, 1u, 31u, 999u, 70'000u}) {
        std::vector<std::byte> table(num_rows * row_bytes), expected(num_out * row_bytes), actual(expected.size());
        for (std::byte& b : table) b = static_cast<std::byte>(random());
        std::vector<NodeId> row_of(num_out);
        for (NodeId& row : row_of) row = static_cast<NodeId>(random() % num_rows);
        gather_rows_reference({table.data(), num_rows, row_bytes}, row_of.data(), num_out, expected.data());

        const auto device_table = make_device_array<std::byte>(table.size());
        const auto device_row_of = make_device_array<NodeId>(num_out);
        const auto device_out = make_device_array<std::byte>(actual.size());
        // On the kernel's own stream: a plain cudaMemcpy from pageable memory may return before the data has arrived.
        cuda_check(cudaMemcpyAsync(device_table.get(), table.data(), table.size(), cudaMemcpyDefault, stream.get()));
        cuda_check(cudaMemcpyAsync(device_row_of.get(), row_of.data(), num_out * sizeof(NodeId), cudaMemcpyDefault,
                                   stream.get()));
        for (const std::size_t num_first : {num_rows, num_rows / 3, std::size_t{0}}) {
          const RowTable first{device_table.get(), num_first, row_bytes};
          const RowTable second{device_table.get() + num_first * row_bytes, num_rows - num_first, row_bytes};
          cuda_check(cudaMemsetAsync(device_out.get(), 0xEE, actual.size(), stream.get()));
          gather_rows(first, second, device_row_of.get(), num_out, device_out.get(), stream.get());
          stream.wait();
          cuda_check(cudaMemcpy(actual.data(), device_out.get(), actual.size(), cudaMemcpyDefault));
          ASSERT_EQ(actual, expected) << num_first << " of " << num_rows << " rows of " << row_bytes
                                      << " bytes in the first table, " << num_out << " gathered";
        }
      }
}

TEST(GatherFeatures, OfFp8EqualsTheReference) {
  const CudaStream stream;
  std::mt19937 random(1);
  constexpr std::size_t kRows = 300;
  for (const float scale : {1.0F, kLeastFp8Scale, kLargestFp8Scale})
    for (const std::size_t row_bytes : {0u, 1u, 3u, 4u, 8u, 12u, 45u, 100u, 128u, 1024u})
      for (const std::size_t num_out : {0u, 1u, 31u, 70'000u}) {
        std::vector<std::byte> table(kRows * row_bytes), expected(num_out * row_bytes * 2), actual(expected.size());
        for (std::byte& number : table) number = static_cast<std::byte>(random() % 127 + random() % 2 * 128);
        std::vector<NodeId> row_of(num_out);
        for (NodeId& row : row_of) row = static_cast<NodeId>(random() % kRows);
        gather_features_reference({table.data(), kRows, row_bytes, scale}, row_of.data(), num_out, expected.data());

        const auto device_table = make_device_array<std::byte>(table.size());
        const auto device_row_of = make_device_array<NodeId>(num_out);
        const auto device_out = make_device_array<std::byte>(actual.size());
        cuda_check(cudaMemcpyAsync(device_table.get(), table.data(), table.size(), cudaMemcpyDefault, stream.get()));
        cuda_check(cudaMemcpyAsync(device_row_of.get(), row_of.data(), num_out * sizeof(NodeId), cudaMemcpyDefault,
                                   stream.get()));
        for (const std::size_t num_first : {kRows, kRows / 3}) {
          const RowTable first{device_table.get(), num_first, row_bytes, scale};
          const RowTable second{device_table.get() + num_first * row_bytes, kRows - num_first, row_bytes};
          cuda_check(cudaMemsetAsync(device_out.get(), 0xEE, actual.size(), stream.get()));
          gather_features(first, second, device_row_of.get(), num_out, device_out.get(), stream.get());
          stream.wait();
          cuda_check(cudaMemcpy(actual.data(), device_out.get(), actual.size(), cudaMemcpyDefault));
          ASSERT_EQ(actual, expected) << "scale " << scale << ", " << num_first << " of " << kRows << " rows of "
                                      << row_bytes << " bytes in the first table, " << num_out << " gathered";
        }
      }
}

/// Of rows with copies: the kernels read what the reference reads, which is right only at the copies.
void expect_copies_are_read(std::size_t row_bytes, float fp8_scale) {
  const CudaStream stream;
  std::mt19937 random(1);
  constexpr std::size_t kRows = 300, kOut = 999;
  std::vector<NodeId> copied;
  for (NodeId v = 0; v < kRows; ++v)
    if (random() % 3 == 0) copied.push_back(v);
  const NodeSet set(kRows, copied);
  const NodeId first = kRows + 2;
  std::vector<std::byte> table((first + copied.size()) * row_bytes), expected(kOut * row_bytes * 2), actual;
  for (std::byte& number : table) number = static_cast<std::byte>(random() % 127 + random() % 2 * 128);
  std::vector<NodeId> row_of(kOut);
  for (NodeId& row : row_of) row = static_cast<NodeId>(random() % kRows);
  const RowTable on_host{table.data(), kRows, row_bytes, fp8_scale, {set.words().data(), first}};
  gather_features_reference(on_host, row_of.data(), kOut, expected.data());
  expected.resize(kOut * row_bytes * (fp8_scale == 0 ? 1 : 2));
  actual.resize(expected.size());

  const test::OnDevice<std::byte> device_table(table, stream);
  const test::OnDevice<NodeId> device_row_of(row_of, stream);
  const std::vector<NodeSetWord> words(set.words().begin(), set.words().end());
  const test::OnDevice<NodeSetWord> device_words(words, stream);
  const auto out = make_device_array<std::byte>(actual.size());
  const RowTable on_device{device_table.get(), kRows, row_bytes, fp8_scale, {device_words.get(), first}};
  gather_features(on_device, {nullptr, 0, row_bytes}, device_row_of.get(), kOut, out.get(), stream.get());
  stream.wait();
  cuda_check(cudaMemcpy(actual.data(), out.get(), actual.size(), cudaMemcpyDefault));
  EXPECT_EQ(actual, expected) << row_bytes << " bytes, scale " << fp8_scale;
}

TEST(GatherFeatures, ReadsCopiesInPlaceOfRows) {
  for (const std::size_t row_bytes : {1u, 4u, 8u, 12u, 45u, 100u, 256u, 1536u})
    for (const float fp8_scale : {0.0F, 1.0F}) expect_copies_are_read(row_bytes, fp8_scale);
}

}  // namespace
}  // namespace salient
