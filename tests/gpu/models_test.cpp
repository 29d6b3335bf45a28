// tests/gpu/models_test.cpp - a training step of every model on the device equals the host's, on a non-default stream.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <gtest/gtest.h>

#include "models/model.h"
#include "tests/support/batch_views.h"

namespace salient {
namespace {

std::shared_ptr<Model> model_on(const std::string& name, at::Device device) {
  ModelOptions options;
  options.model = name, options.in_dim = 24, options.hidden_dim = 32, options.num_classes = 5;
  const auto model = make_model(options);
  model->to(device);
  return model;
}

at::Tensor step(Model& model, const BatchView& batch) {
  const at::Tensor logits = model.forward(batch, {1, 2, batch.nodes});
  at::nll_loss(at::log_softmax(logits, -1), batch.y.to(at::kLong)).backward();
  return logits.detach();
}

TEST(ModelsOnDevice, TrainAsOnTheHost) {
  const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
  for (const std::string& name : model_names())
    for (const at::ScalarType type : {at::kFloat, at::kHalf}) {
      BatchView batch = test::random_batch({900, 300, 90, 20}, 24, 5, 1);
      batch.x = batch.x.to(type);
      const auto on_host = model_on(name, at::kCPU), on_device = model_on(name, at::kCUDA);
      const at::Tensor expected = step(*on_host, batch), actual = step(*on_device, test::to(batch, at::kCUDA));
      EXPECT_TRUE(at::allclose(actual.cpu(), expected, 1e-4, 1e-4)) << name;
      for (const auto& item : on_host->named_parameters())
        EXPECT_TRUE(
            at::allclose(on_device->named_parameters()[item.key()].grad().cpu(), item.value().grad(), 1e-3, 1e-4))
            << name << " " << item.key();
    }
}

}  // namespace
}  // namespace salient
