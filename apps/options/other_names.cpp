// apps/options/other_names.cpp - see other_names.h.
#include "apps/options/other_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace salient::options {

std::span<const OtherName> other_names() {
  static constexpr auto kNames = std::to_array<OtherName>({
      {"num-neighbors", "fanout"},
      {"fanouts", "fanout"},
      {"num-layers", "layers"},
      {"hidden-channels", "hidden"},
      {"hidden-dim", "hidden"},
      {"num-hidden", "hidden"},
      {"num-heads", "heads"},
      {"learning-rate", "lr"},
      {"wd", "weight-decay"},
      {"num-epochs", "epochs"},
      {"num-train-epochs", "epochs"},
      {"n-epochs", "epochs"},
      {"per-device-train-batch-size", "batch-size"},
      {"per-device-eval-batch-size", "eval-batch-size"},
      {"train-batch-size", "batch-size"},
      {"lr-scheduler-type", "schedule"},
      {"num-workers", "workers"},
      {"output-dir", "out"},
      {"resume-from-checkpoint", "resume"},
      {"early-stopping-patience", "patience"},
      {"metric-for-best-model", "metric"},
      {"optimizer", "lr", "it is Adam, with --lr and --weight-decay"},
      {"optim", "lr", "it is Adam, with --lr and --weight-decay"},
      {"gpu", "device", "--device cuda, and CUDA_VISIBLE_DEVICES for one of several"},
      {"replace", "with-replacement"},
  });
  return kNames;
}

std::string_view our_word(std::string_view theirs) {
  static constexpr auto kWords = std::to_array<std::pair<std::string_view, std::string_view>>({
      {"graphsage", "sage"},
      {"sageconv", "sage"},
      {"gatconv", "gat"},
      {"gatv2conv", "gatv2"},
      {"gcnconv", "gcn"},
      {"ginconv", "gin"},
      {"transformerconv", "transformer"},
      {"gpu", "cuda"},
  });
  const auto* const found = std::ranges::find(kWords, theirs, &std::pair<std::string_view, std::string_view>::first);
  return found == kWords.end() ? std::string_view() : found->second;
}

}  // namespace salient::options
