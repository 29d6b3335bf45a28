// tests/models/ops/relations_gpu_test.cpp - rows by relation and by type on the device equal the host's, and products
// of groups those in f64.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/ops/adam.h"
#include "models/ops/relations.h"
#include "tests/support/typed_batches.h"

namespace salient {
namespace {

class RelationsOnDevice : public testing::Test {
 protected:
  const c10::cuda::CUDAStreamGuard guard_{c10::cuda::getStreamFromPool()};
};

BatchView some_batch(std::uint32_t seed) {
  return test::random_typed_batch(test::small_types(/*scale=*/100), {3000, 900, 40}, /*num_classes=*/3, seed);
}

TEST_F(RelationsOnDevice, FilledRowsAreTheHosts) {
  for (const std::uint32_t seed : {1U, 2U}) {
    const BatchView batch = some_batch(seed), on_device = test::to(batch, at::kCUDA);
    for (std::size_t h = 0; h < batch.hops.size(); ++h) {
      const FilledRows expected(batch.hops[h]), actual(on_device.hops[h]);
      const HopView ordered = in_relation_order(batch.hops[h]), found = in_relation_order(on_device.hops[h]);
      const auto expect_equal = [&](const at::Tensor& a, const at::Tensor& b, const char* what) {
        EXPECT_TRUE(at::equal(a.cpu(), b)) << what << ", hop " << h;
      };
      expect_equal(actual.entries.indptr, expected.entries.indptr, "indptr");
      expect_equal(actual.of_destination.indptr, expected.of_destination.indptr, "indptr of destinations");
      expect_equal(actual.of_destination.indices, expected.of_destination.indices, "rows of destinations");
      expect_equal(actual.dst, expected.dst, "dst");
      expect_equal(actual.dst_by_relation, expected.dst_by_relation, "dst by relation");
      expect_equal(actual.in_hop, expected.in_hop, "in hop");
      expect_equal(actual.by_relation, expected.by_relation, "by relation");
      expect_equal(found.indptr, ordered.indptr, "indptr by relation");
      expect_equal(found.indices, ordered.indices, "indices by relation");
    }
  }
}

TEST_F(RelationsOnDevice, RowsOfTypesAreTheHosts) {
  const BatchView batch = some_batch(3), on_device = test::to(batch, at::kCUDA);
  for (const std::int64_t width : {1, 7, 64, 260}) {
    const auto run = [&](const TypedHop& hop, const at::Tensor& values) {
      const at::Tensor x = values.clone().requires_grad_();
      const RowsByType types = RowsByType::destinations_of(hop);
      std::vector<at::Tensor> rows = types.split(x);
      rows[1] = rows[1] * 2;
      rows[2] = at::Tensor();
      const at::Tensor y = types.join(rows, width);
      (y * y).sum().backward();
      return std::vector<at::Tensor>{y.detach().cpu(), x.grad().cpu()};
    };
    const at::Tensor x = at::randn({batch.hops[0].num_src, width});
    const auto expected = run(*batch.hops[0].typed, x), actual = run(*on_device.hops[0].typed, x.to(at::kCUDA));
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(at::equal(actual[i], expected[i])) << width;
  }
  const auto places = [](const BatchView& of) { return places_in_table(of.nodes, of.types[1].rows, 9000).cpu(); };
  EXPECT_TRUE(at::equal(places(on_device), places(batch)));
}

struct GroupedCase {
  std::vector<std::int64_t> begin;
  std::int64_t blocks, in, out;  ///< of a block
  bool has_columns;              ///< of the weight: they are contiguous, not its rows
};

/// A group without rows, one of a row, one of several tiles.
std::vector<std::int64_t> some_groups(std::int64_t scale) { return {0, 0, 1, 130 * scale, 130 * scale, 200 * scale}; }

std::vector<std::int64_t> many_groups() {
  std::vector<std::int64_t> begin{0};
  for (int g = 0; g < 450; ++g) begin.push_back(begin.back() + g % 4);
  return begin;
}

std::vector<at::Tensor> products_of(const at::Tensor& given_x, const at::Tensor& given_weight, const at::Tensor& grad,
                                    const GroupedCase& c, Precision precision) {
  const at::Tensor x = given_x.detach().clone().requires_grad_(), weight = given_weight.detach().requires_grad_();
  const at::Tensor y = grouped_product(x, c.begin, c.has_columns ? weight.transpose(2, 3) : weight, precision);
  y.backward(grad);
  return {y.detach(), x.grad(), weight.grad()};
}

/// The same in f64, group by group.
std::vector<at::Tensor> exact_products(const at::Tensor& given_x, const at::Tensor& given_weight,
                                       const at::Tensor& grad, const GroupedCase& c) {
  const at::Tensor x = given_x.detach().to(at::kDouble).requires_grad_(),
                   weight = given_weight.detach().to(at::kDouble).requires_grad_();
  const at::Tensor matrices = c.has_columns ? weight.transpose(2, 3) : weight;
  std::vector<at::Tensor> rows;
  for (std::size_t g = 0; g + 1 < c.begin.size(); ++g)
    rows.push_back(x.narrow(0, c.begin[g], c.begin[g + 1] - c.begin[g])
                       .mm(at::block_diag(matrices[static_cast<std::int64_t>(g)].unbind(0))));
  const at::Tensor y = at::cat(rows);
  y.backward(grad.to(at::kDouble));
  return {y.detach(), x.grad(), weight.grad()};
}

TEST_F(RelationsOnDevice, GroupedProductsAndTheirGradientsAreThoseInF64) {
  at::manual_seed(11);
  const std::vector<GroupedCase> cases{
      {some_groups(1), 1, 64, 64, false},   {some_groups(1), 1, 64, 64, true},  {some_groups(40), 1, 72, 136, false},
      {some_groups(40), 1, 136, 72, true},  {some_groups(3), 4, 16, 24, false}, {some_groups(3), 4, 32, 32, true},
      {some_groups(1), 1, 64, 349, false},  {some_groups(1), 1, 30, 5, true},   {many_groups(), 1, 64, 64, false},
      {many_groups(), 1, 8, 200, true},     {{0, 0, 0}, 1, 64, 64, false},      {some_groups(2), 3, 5, 7, false},
      {some_groups(300), 1, 512, 64, false}};
  const char* const names[] = {"product", "gradient of rows", "gradient of matrices"};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const GroupedCase& c = cases[i];
    const std::int64_t rows = c.begin.back(), num_groups = static_cast<std::int64_t>(c.begin.size()) - 1;
    const auto values = [](at::IntArrayRef shape) { return at::randn(shape, at::kCUDA); };
    const at::Tensor x = values({rows, c.blocks * c.in}), grad = values({rows, c.blocks * c.out});
    const at::Tensor weight =
        c.has_columns ? values({num_groups, c.blocks, c.out, c.in}) : values({num_groups, c.blocks, c.in, c.out});
    const auto expected = exact_products(x, weight, grad, c);
    for (const auto& [precision, bound] :
         {std::pair{Precision::kFp32, 1e-6}, {Precision::kTf32, 2e-3}, {Precision::kBf16, 1e-2}}) {
      const auto actual = products_of(x, weight, grad, c, precision),
                 again = products_of(x, weight, grad, c, precision);
      for (std::size_t k = 0; k < actual.size(); ++k) {
        const std::string name = std::string(names[k]) + ", case " + std::to_string(i);
        const double norm = expected[k].norm().item<double>();
        const double error = (actual[k].to(at::kDouble) - expected[k]).norm().item<double>();
        EXPECT_TRUE(error <= bound * norm) << name << ": " << error / norm << " with bound " << bound;
        EXPECT_TRUE(at::equal(actual[k], again[k])) << name << " has the same bits again";
      }
    }
  }
}

// Those of flat buffers are compared with the host's in models_gpu_test.cpp.
TEST_F(RelationsOnDevice, StepsOfListedRowsAreThoseOfTheRowsAlone) {
  at::manual_seed(12);
  const at::TensorOptions f32 = at::TensorOptions(at::kCUDA).dtype(at::kFloat);
  for (const std::int64_t width : {1, 64, 129}) {
    const at::Tensor start = at::randn({500, width}, f32),
                     rows = at::randperm(500, f32.dtype(at::kLong)).narrow(0, 0, 170);
    const auto zeros = [&](std::int64_t count) { return at::zeros({count, width}, f32); };
    AdamRowTensors listed{start.clone(), zeros(500), zeros(500), rows, zeros(170), at::zeros({}, f32)};
    const AdamTensors alone{
        start.index_select(0, rows),       listed.gradients, zeros(170), zeros(170), at::zeros({}, f32),
        at::zeros({}, f32.dtype(at::kInt))};
    for (int step = 0; step < 5; ++step) {
      listed.gradients.normal_();
      const double weight_decay = step % 2 == 0 ? 0.0 : 0.05;
      adam_rows_step(listed, 0.01, weight_decay);
      adam_step(alone, 0.01, weight_decay);
      listed.step.add_(1);
    }
    const auto moved = [&](const at::Tensor& table) { return table.index_select(0, rows); };
    EXPECT_TRUE(at::allclose(moved(listed.table), alone.parameters, 1e-6, 1e-7)) << width;
    EXPECT_TRUE(at::allclose(moved(listed.exp_avg), alone.exp_avg, 1e-6, 1e-7)) << width;
    EXPECT_TRUE(at::allclose(moved(listed.exp_avg_sq), alone.exp_avg_sq, 1e-6, 1e-12)) << width;
    EXPECT_FALSE(at::equal(alone.parameters, start.index_select(0, rows)));
    EXPECT_TRUE(at::equal(listed.table.index_fill(0, rows, 0), start.index_fill(0, rows, 0))) << "other rows stay";
  }
}

}  // namespace
}  // namespace salient
