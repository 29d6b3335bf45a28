// tests/engine/train/tensor_file_test.cpp - a model's state survives the file; a wrong file changes nothing.
#include "engine/train/tensor_file.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "models/model.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

std::shared_ptr<Model> small_model(std::uint32_t seed, int hidden_dim = 8) {
  ModelOptions options;
  options.in_dim = 5, options.hidden_dim = hidden_dim, options.num_classes = 3, options.num_layers = 2;
  options.seed = seed;
  return make_model(options);
}

TEST(State, OfAModelSurvivesTheFile) {
  const test::Scratch scratch;
  const auto written = small_model(1), read = small_model(2);
  save_tensors(scratch / "m", state_of(*written), {{"format", "pt"}});
  EXPECT_EQ(load_tensors(scratch / "m", state_of(*read)), (TensorMetadata{{"format", "pt"}}));
  for (const auto& item : written->named_parameters())
    EXPECT_TRUE(at::equal(item.value(), read->named_parameters()[item.key()])) << item.key();
}

TEST(State, OfEveryDtypeAndStrideSurvivesTheFile) {
  const test::Scratch scratch;
  NamedTensors written{{"transposed", at::randn({3, 4}).t()}, {"scalar", at::scalar_tensor(7, at::kLong)}};
  for (const at::ScalarType type : {at::kDouble, at::kHalf, at::kBFloat16, at::kInt, at::kByte, at::kBool})
    written.emplace_back(c10::toString(type), at::ones({2, 3}).to(type));
  NamedTensors read;
  for (const auto& [name, tensor] : written) read.emplace_back(name, at::zeros_like(tensor));
  save_tensors(scratch / "t", written, {});
  load_tensors(scratch / "t", read);
  for (std::size_t i = 0; i < read.size(); ++i)
    EXPECT_TRUE(at::equal(read[i].second, written[i].second)) << read[i].first;
}

TEST(State, AFileThatDoesNotFitIsNamedAndChangesNothing) {
  const test::Scratch scratch;
  const auto model = small_model(1);
  const at::Tensor first = model->parameters()[0].clone();
  save_tensors(scratch / "wide", state_of(*small_model(2, 9)), {});
  EXPECT_COMPLAINT(load_tensors(scratch / "wide", state_of(*model)), ErrorKind::kBadData,
                   "tensor 'convs.0.lin_l.weight' is F32 [9, 5], expected F32 [8, 5]");

  NamedTensors tensors = state_of(*small_model(2));
  tensors.pop_back();
  save_tensors(scratch / "missing", tensors, {});
  EXPECT_COMPLAINT(load_tensors(scratch / "missing", state_of(*model)), ErrorKind::kBadData,
                   "tensor 'convs.1.lin_r.weight' is missing");

  tensors = state_of(*small_model(2));
  tensors.emplace_back("bias", at::ones({1}));
  save_tensors(scratch / "more", tensors, {});
  EXPECT_COMPLAINT(load_tensors(scratch / "more", state_of(*model)), ErrorKind::kBadData,
                   "tensor 'bias' has no place here");
  EXPECT_TRUE(at::equal(model->parameters()[0], first));
}

}  // namespace
}  // namespace salient
