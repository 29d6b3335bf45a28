// engine/train/schedule.h - the learning rate of every step: a function of the step and of little that a run remembers.
#pragma once

#include <array>
#include <cstdint>

#include "core/enum_names.h"

namespace salient {

enum class ScheduleKind : std::uint8_t {
  kConstant,
  kCosine,   ///< half a cosine wave down to 0 at the last step
  kPlateau,  ///< smaller by a factor where results stop getting better
};

constexpr auto names_of(ScheduleKind) {
  return std::to_array<EnumName<ScheduleKind>>(
      {{ScheduleKind::kConstant, "constant"}, {ScheduleKind::kCosine, "cosine"}, {ScheduleKind::kPlateau, "plateau"}});
}

/// What a plateau schedule remembers from one epoch to the next; part of a checkpoint.
struct PlateauState {
  double best = 0;  ///< the best value so far, if has_best
  bool has_best = false;
  int bad_epochs = 0;  ///< since then, or since the last reduction
  int reductions = 0;
};

/// The learning rate rises linearly over the first `warmup_steps` steps and then follows `kind`:
/// constant; cosine: half a cosine wave from `lr` to 0 at `total_steps`; plateau: `lr` * factor^reductions.
struct Schedule {
  ScheduleKind kind = ScheduleKind::kConstant;
  double lr = 0.003;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 0;
  double factor = 0.5;  ///< of plateau
  int patience = 10;    ///< of plateau: bad epochs that are let pass

  /// Of step number `step` of the run, from 0, of the same size as those of `total_steps`.
  /// Algorithm: cosine: Loshchilov and Hutter, "SGDR" (ICLR 2017), one cycle.
  double rate(std::int64_t step, const PlateauState& state) const;

  enum class Better : std::uint8_t { kHigher, kLower };
  /// What is remembered after an epoch that reached `value`. As torch's ReduceLROnPlateau with its defaults: better
  /// means by more than 1e-4 of the best value; a reduction of less than 1e-8 is not made.
  PlateauState after_epoch(PlateauState state, double value, Better better) const;
};

}  // namespace salient
