// engine/links/link_checkpoint.h - what a run that learns links needs to go on, and its best parameters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/links/link_learner.h"
#include "engine/links/row_optimiser.h"
#include "engine/report/metric.h"

namespace salient {

/// How far a run has come: to the end of an epoch, as draws are functions of (seed, epoch, batch).
struct LinkProgress {
  int epoch = 0;  ///< finished
  std::int64_t step = 0;
  int best_epoch = 0;  ///< 0 = none validated yet
  int stale = 0;       ///< validations since then
  Figures best{};      ///< of that validation

  bool operator==(const LinkProgress&) const = default;
};

/// What must agree before a checkpoint is used.
struct LinkIdentity {
  std::string dataset{}, fingerprint{};
  std::vector<std::pair<std::string, std::variant<std::string, std::int64_t>>> shape{};  ///< of the model, by name
  RowRule optimiser = RowRule::kAdagrad;
  std::uint32_t seed = 0;

  bool operator==(const LinkIdentity&) const = default;
};

/// ROOT/latest: model.safetensors, optimizer.safetensors and state.json. Complete under its name, or what was there.
/// @throws Error{kIo}
void write_latest(const std::filesystem::path& root, const LinkLearner& learner, const LinkProgress& progress,
                  const LinkIdentity& identity);

/// ROOT/best: model.safetensors and state.json. @throws Error{kIo}
void write_best(const std::filesystem::path& root, const LinkLearner& learner, const LinkProgress& progress,
                const LinkIdentity& identity);

bool has_latest(const std::filesystem::path& root);

/// Into `learner`. @throws Error{kNoInput}; Error{kBadData} for a damaged one, or one that another identity wrote
LinkProgress read_latest(const std::filesystem::path& root, const LinkIdentity& identity, LinkLearner& learner);

/// The model's file in ROOT/best, or in ROOT/latest where no epoch was validated. @throws as read_latest()
std::filesystem::path best_model(const std::filesystem::path& root, const LinkIdentity& identity);

}  // namespace salient
