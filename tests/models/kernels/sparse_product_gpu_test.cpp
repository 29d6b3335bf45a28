// tests/models/kernels/sparse_product_gpu_test.cpp - products of sparse rows on the device are the host's, over sizes.
#include <gtest/gtest.h>

#include <cmath>

#include "models/kernels/sparse_dropout.h"
#include "models/kernels/sparse_product.h"
#include "tests/support/device_hop.h"
#include "tests/support/sparse_matrix.h"

namespace salient {
namespace {

using test::OnDevice, test::OwnedSparseRows, test::poison, test::random_sparse_rows, test::random_values;

template <class T>
struct DeviceRows {
  DeviceRows(const OwnedSparseRows<T>& rows, const CudaStream& stream)
      : begin(rows.begin, stream),
        columns(rows.columns, stream),
        values(rows.values, stream),
        hop{rows.num_rows, rows.num_columns, rows.begin, rows.columns},
        on_device(hop, stream),
        by_column(hop, on_device, stream) {}
  SparseRowsOf<T> first(std::int64_t num_rows) const {
    return {begin.get(), columns.get(), values.get(), num_rows, hop.num_src};
  }

  OnDevice<LocalId> begin, columns;
  OnDevice<T> values;
  test::OwnedHop hop;
  test::DeviceHop on_device;
  test::DeviceSourceEdges by_column;
};

/// The terms of a column are added in eight shares: the same sum, rounded otherwise. Rounding errors of n terms grow
/// with sqrt(n) and with the sum of the terms' magnitudes.
void expect_close(const std::vector<float>& found, const std::vector<float>& expected,
                  const std::vector<float>& magnitude, std::int64_t most_terms) {
  ASSERT_EQ(found.size(), expected.size());
  const double unit = std::ldexp(2 * std::sqrt(static_cast<double>(most_terms)), -24);
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], unit * magnitude[i]) << i;
}

/// The same rows with the magnitudes of their values.
template <class T>
OwnedSparseRows<T> magnitudes(OwnedSparseRows<T> rows) {
  for (T& value : rows.values) {
    if constexpr (std::is_same_v<T, float>)
      value = std::abs(value);
    else
      value.bits &= 0x7FFF;
  }
  return rows;
}

std::vector<float> magnitudes(std::vector<float> values) {
  for (float& value : values) value = std::abs(value);
  return values;
}

template <class T>
void expect_host_results(std::int64_t num_rows, std::int64_t num_columns, std::int64_t width, std::size_t offset) {
  const CudaStream stream;
  const OwnedSparseRows<T> rows = random_sparse_rows<T>(num_rows, num_columns, 5, 1);
  const DeviceRows<T> device(rows, stream);
  const std::vector<float> matrix = random_values(num_columns * width, 2), grad = random_values(num_rows * width, 3);
  const OnDevice<float> device_matrix(matrix, stream, offset), device_grad(grad, stream, offset),
      out(poison(num_rows * width), stream, offset);
  sparse_product(device.first(num_rows), device_matrix.get(), width, out.get(), stream.get());
  std::vector<float> expected(out.read(stream).size());
  sparse_product_reference(rows.view(), matrix.data(), width, expected.data());
  ASSERT_EQ(out.read(stream), expected) << num_rows << " x " << num_columns << " x " << width;
  for (const std::int64_t part : {num_rows, num_rows / 2, std::int64_t{0}}) {
    const OnDevice<float> made(poison(num_columns * width), stream, offset);
    sparse_product_backward(device.first(part), device.by_column.edges(), device_grad.get(), width, made.get(),
                            stream.get());
    const std::vector<float> found = made.read(stream);
    const auto reference = [&](const OwnedSparseRows<T>& of, const std::vector<float>& grad_of) {
      SparseRowsOf<T> first = of.view();
      first.num_rows = part;
      std::vector<float> sums(found.size());
      sparse_product_backward_reference(first, grad_of.data(), width, sums.data());
      return sums;
    };
    expect_close(found, reference(rows, grad), reference(magnitudes(rows), magnitudes(grad)), part);
    sparse_product_backward(device.first(part), device.by_column.edges(), device_grad.get(), width, made.get(),
                            stream.get());
    ASSERT_EQ(made.read(stream), found) << "the same bits each time";
  }
}

TEST(SparseProductOnDevice, EqualsTheHostsOverSizes) {
  for (const auto& [num_rows, num_columns] : {std::pair{0, 5}, {1, 1}, {7, 3}, {200, 90}, {3000, 40}, {50, 1000}})
    for (const std::int64_t width : {1, 7, 8, 128, 130, 256})
      for (const std::size_t offset : {0u, 1u}) {
        expect_host_results<float>(num_rows, num_columns, width, offset);
        expect_host_results<Half>(num_rows, num_columns, width, offset);
        if (HasFatalFailure()) return;
      }
}

TEST(SparseDropoutOnDevice, EqualsTheHosts) {
  const CudaStream stream;
  for (const double p : {0.0, 0.3, 1.0}) {
    const OwnedSparseRows<Half> rows = random_sparse_rows<Half>(900, 300, 4, 1);
    const DeviceRows<Half> device(rows, stream);
    std::vector<std::uint32_t> nodes(900);
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<std::uint32_t>(i * 2654435761u);
    const OnDevice<std::uint32_t> device_nodes(nodes, stream);
    const DropoutMask mask = DropoutMask::make(p, 3, 17, 2);
    std::vector<float> expected(rows.values.size());
    sparse_dropout(mask, rows.view(), nodes.data(), expected.data());
    const OnDevice<float> out(poison(static_cast<std::int64_t>(expected.size())), stream);
    sparse_dropout(mask, device.first(900), device_nodes.get(), out.get(), stream.get());
    ASSERT_EQ(out.read(stream), expected) << p;
  }
}

}  // namespace
}  // namespace salient
