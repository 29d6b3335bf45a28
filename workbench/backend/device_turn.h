// workbench/backend/device_turn.h - whose turn it is on the GPU: many processes check at once, one at a time is timed.
#pragma once

namespace salient::workbench {

/// Held while work runs on the GPU. Blocks until no process holds an exclusive turn and, for an exclusive one, until
/// no process holds any. Between processes of this machine, by two lock files in the folder of temporary files.
///
/// Who asks for an exclusive turn keeps later ones of both kinds waiting, so that it gets it.
class DeviceTurn {
 public:
  enum class Kind { kShared, kExclusive };
  explicit DeviceTurn(Kind kind);  ///< @throws Error{kIo}, Interrupted
  ~DeviceTurn();
  DeviceTurn(const DeviceTurn&) = delete;
  DeviceTurn& operator=(const DeviceTurn&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace salient::workbench
