// engine/report/event_file.h - a run's scalars over its steps, in TensorBoard's file format.
//
// By hand: protobuf would be a code generator and a shared library for four fields.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>

namespace salient {

struct Scalar {
  std::string tag;  ///< "accuracy/valid": TensorBoard groups by the part before the slash
  float value = 0;
};

/// A new file DIR/events.out.tfevents.TIME.HOST; each write is flushed. It has TFRecords
///
///     uint64 length | uint32 masked_crc32c(length) | bytes | uint32 masked_crc32c(bytes)      little endian
///
/// of tensorflow.Event protobufs: event.proto, summary.proto of TensorFlow.
///
/// In a directory with event files of a run that is now resumed it begins with SessionLog START, which makes
/// TensorBoard drop the older files' values of `first_step` and later. No file is rewritten, so a TensorBoard that
/// watches the run continues. TIME is in microseconds: names sort by the time of creation.
class EventFile {
 public:
  /// @throws Error{kIo}, also from add().
  EventFile(const std::filesystem::path& directory, std::int64_t first_step);

  /// Adds one event with the present time.
  void add(std::int64_t step, std::span<const Scalar> scalars);

  /// Adds a run's options, by name, for TensorBoard's table of hyperparameters: numbers as numbers, others as text.
  void add_options(std::span<const std::pair<std::string, std::string>> options);

 private:
  void write_record(const std::string& event);

  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace salient
