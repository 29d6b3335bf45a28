// engine/report/event_file.cpp - see event_file.h.
#include "engine/report/event_file.h"

#include <bit>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <system_error>

#include "core/error.h"
#include "core/host/machine.h"
#include "engine/report/crc32c.h"

namespace salient {
namespace {

// Field numbers of event.proto and summary.proto.
namespace event {
constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
}
namespace summary {
constexpr int kValue = 1, kTag = 1, kSimpleValue = 2;
}
namespace metadata {  // of a summary's value, and what TensorBoard's plugin for hyperparameters finds in it
constexpr int kOfValue = 9, kPluginData = 1, kPluginName = 1, kContent = 2;
constexpr int kSessionStart = 3, kOption = 1, kKey = 1, kKeysValue = 2, kNumber = 2, kText = 3;
}  // namespace metadata
namespace session_log {
constexpr int kStatus = 1, kStart = 1;
}

std::string little_endian(std::uint64_t value, int size) {
  std::string bytes;
  for (int byte = 0; byte < size; ++byte) bytes += static_cast<char>(value >> (8 * byte) & 0xFF);
  return bytes;
}

/// A protobuf message as it grows: fields in wire format, one after the other.
class Message {
 public:
  Message& varint(int field, std::uint64_t value) {
    key(field, 0);
    return put_varint(value), *this;
  }
  Message& fixed64(int field, double value) {
    key(field, 1);
    return bytes_ += little_endian(std::bit_cast<std::uint64_t>(value), 8), *this;
  }
  Message& bytes(int field, std::string_view value) {
    key(field, 2);
    put_varint(value.size());
    return bytes_.append(value), *this;
  }
  Message& fixed32(int field, float value) {
    key(field, 5);
    return bytes_ += little_endian(std::bit_cast<std::uint32_t>(value), 4), *this;
  }
  const std::string& text() const { return bytes_; }

 private:
  void key(int field, int wire_type) { put_varint(static_cast<std::uint64_t>(field << 3 | wire_type)); }
  void put_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

std::chrono::microseconds since_1970() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch());
}

Message new_event() {
  Message event;
  event.fixed64(event::kWallTime, static_cast<double>(since_1970().count()) * 1e-6);
  return event;
}

constexpr const char* kPrefix = "events.out.tfevents.";

bool holds_event_files(const std::filesystem::path& directory) {
  std::error_code error;  // a folder that cannot be listed cannot be written either, which is said then
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    if (entry.path().filename().string().starts_with(kPrefix)) return true;
  return false;
}

std::string file_name() {
  const auto now = since_1970().count();
  char time[48];
  (void)std::snprintf(time, sizeof time, "%010lld.%06lld.", static_cast<long long>(now / 1'000'000),
                      static_cast<long long>(now % 1'000'000));
  return kPrefix + (time + host_name());
}

}  // namespace

EventFile::EventFile(const std::filesystem::path& directory, std::int64_t first_step) : path_(directory / file_name()) {
  const bool is_resumed = holds_event_files(directory);
  file_.open(path_, std::ios::binary | std::ios::trunc);
  const auto step = static_cast<std::uint64_t>(first_step);
  write_record(new_event().varint(event::kStep, step).bytes(event::kFileVersion, "brain.Event:2").text());
  if (!is_resumed) return;
  const std::string start = Message().varint(session_log::kStatus, session_log::kStart).text();
  write_record(new_event().varint(event::kStep, step).bytes(event::kSessionLog, start).text());
}

void EventFile::add(std::int64_t step, std::span<const Scalar> scalars) {
  Message values;
  for (const Scalar& scalar : scalars)
    values.bytes(summary::kValue,
                 Message().bytes(summary::kTag, scalar.tag).fixed32(summary::kSimpleValue, scalar.value).text());
  write_record(
      new_event().varint(event::kStep, static_cast<std::uint64_t>(step)).bytes(event::kSummary, values.text()).text());
}

void EventFile::add_options(std::span<const std::pair<std::string, std::string>> options) {
  Message start;
  for (const auto& [name, text] : options) {
    Message value;
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    is_number ? value.fixed64(metadata::kNumber, number) : value.bytes(metadata::kText, text);
    start.bytes(metadata::kOption,
                Message().bytes(metadata::kKey, name).bytes(metadata::kKeysValue, value.text()).text());
  }
  const std::string content = Message().bytes(metadata::kSessionStart, start.text()).text();
  const std::string plugin =
      Message().bytes(metadata::kPluginName, "hparams").bytes(metadata::kContent, content).text();
  const std::string value = Message()
                                .bytes(summary::kTag, "_hparams_/session_start_info")
                                .bytes(metadata::kOfValue, Message().bytes(metadata::kPluginData, plugin).text())
                                .text();
  write_record(new_event().bytes(event::kSummary, Message().bytes(summary::kValue, value).text()).text());
}

void EventFile::write_record(const std::string& event) {
  const std::string length = little_endian(event.size(), 8);
  file_ << length << little_endian(masked_crc32c(length), 4) << event << little_endian(masked_crc32c(event), 4)
        << std::flush;
  if (!file_) fail(ErrorKind::kIo, path_.string() + ": cannot be written; is the disk full?");
}

}  // namespace salient
