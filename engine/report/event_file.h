// engine/report/event_file.h - a run's scalars over its steps, in TensorBoard's file format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

namespace salient {

struct Scalar {
  std::string tag;  ///< "accuracy/valid": TensorBoard groups by the part before the slash
  float value = 0;
};

/// A new file DIR/events.out.tfevents.TIME.HOST, each write of which is flushed. It holds TFRecords
///
///     uint64 length | uint32 masked_crc32c(length) | bytes | uint32 masked_crc32c(bytes)      little endian
///
/// of tensorflow.Event protobufs, encoded by hand: event.proto, summary.proto of TensorFlow.
///
/// In a directory that holds event files already, from a run that is now resumed, it begins with SessionLog START, at
/// which TensorBoard forgets what the older files say of `first_step` and later. Nothing is rewritten, so a TensorBoard
/// that watches the run keeps its place. TIME is in microseconds: files sort as they were made.
class EventFile {
 public:
  /// @throws Error{kIo}, also from add().
  EventFile(const std::filesystem::path& directory, std::int64_t first_step);

  /// One event with the time of now.
  void add(std::int64_t step, std::span<const Scalar> scalars);

 private:
  void write_record(const std::string& event);

  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace salient
