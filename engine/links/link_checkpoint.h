// engine/links/link_checkpoint.h - what a run of an embedding model needs to go on, and its best rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/links/link_steps.h"
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
  EmbeddingShape shape{};
  RowRule optimiser = RowRule::kAdagrad;
  std::uint32_t seed = 0;

  bool operator==(const LinkIdentity&) const = default;
};

/// ROOT/latest: model.safetensors, optimizer.safetensors and state.json. Complete under its name, or what was there.
/// @throws Error{kIo}
void write_latest(const std::filesystem::path& root, const LinkState& state, const LinkProgress& progress,
                  const LinkIdentity& identity);

/// ROOT/best: model.safetensors and state.json. @throws Error{kIo}
void write_best(const std::filesystem::path& root, const Embeddings& embeddings, const LinkProgress& progress,
                const LinkIdentity& identity);

bool has_latest(const std::filesystem::path& root);

/// @throws Error{kNoInput}; Error{kBadData} for a damaged one, or one that another identity wrote
LinkProgress read_latest(const std::filesystem::path& root, const LinkIdentity& identity, LinkState& state);

/// The rows of ROOT/best, or of ROOT/latest where no epoch was validated. @throws as read_latest()
Embeddings read_best(const std::filesystem::path& root, const LinkIdentity& identity);

}  // namespace salient
