// tests/engine/report/event_file_test.cpp - known checksums, and event files read back by a reader of their own.
#include "engine/report/event_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/report/crc32c.h"
#include "engine/report/metrics.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::Scratch;

std::string sequence(int from, int step, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(from + step * i);
  return bytes;
}

TEST(Crc32c, EqualsTheVectorsOfRfc3720) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  EXPECT_EQ(crc32c(sequence(0, 1, 32)), 0x46DD794EU);
  EXPECT_EQ(crc32c(sequence(31, -1, 32)), 0x113FDB5CU);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(Crc32c, MaskingIsUndoneAsTensorFlowDoes) {
  for (const char* text : {"", "a", "123456789"}) {
    const std::uint32_t rotated = masked_crc32c(text) - 0xA282EAD8U;
    EXPECT_EQ((rotated >> 17) | (rotated << 15), crc32c(text));
  }
}

template <class T>
T take(std::string_view& bytes) {
  if (bytes.size() < sizeof(T)) throw std::runtime_error("cut off");
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  bytes.remove_prefix(sizeof(T));
  return value;
}

std::string_view take_bytes(std::string_view& bytes, std::size_t size) {
  if (bytes.size() < size) throw std::runtime_error("cut off");
  const std::string_view taken = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return taken;
}

std::uint64_t take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = take<unsigned char>(bytes);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
}

/// Calls field(number, wire type, its bytes or number) for each field of a message.
template <class Field>
void each_field(std::string_view message, Field field) {
  while (!message.empty()) {
    const std::uint64_t key = take_varint(message);
    const auto number = static_cast<int>(key >> 3), type = static_cast<int>(key & 7);
    if (type == 0) field(number, take_varint(message), std::string_view{});
    if (type == 1) field(number, take<std::uint64_t>(message), std::string_view{});
    if (type == 2) field(number, std::uint64_t{0}, take_bytes(message, take_varint(message)));
    if (type == 5) field(number, take<std::uint32_t>(message), std::string_view{});
  }
}

struct Event {
  double wall_time = 0;
  std::uint64_t step = 0;
  std::string version{};
  bool is_start = false;
  std::map<std::string, float> scalars{};
};

Event parse_event(std::string_view message) {
  Event event;
  each_field(message, [&](int field, std::uint64_t number, std::string_view bytes) {
    if (field == 1) event.wall_time = std::bit_cast<double>(number);
    if (field == 2) event.step = number;
    if (field == 3) event.version = bytes;
    if (field == 7) each_field(bytes, [&](int f, std::uint64_t n, auto) { event.is_start = f == 1 && n == 1; });
    if (field != 5) return;
    each_field(bytes, [&](int, std::uint64_t, std::string_view value) {
      std::string tag;
      each_field(value, [&](int f, std::uint64_t n, std::string_view text) {
        if (f == 1) tag = text;
        if (f == 2) event.scalars[tag] = std::bit_cast<float>(static_cast<std::uint32_t>(n));
      });
    });
  });
  return event;
}

/// The records of a file, every checksum of which must hold.
std::vector<std::string> read_records(const std::filesystem::path& path) {
  const std::string content = test::read_bytes(path);
  std::vector<std::string> records;
  for (std::string_view rest = content; !rest.empty();) {
    const std::string_view length = rest.substr(0, 8);
    const auto size = take<std::uint64_t>(rest);
    EXPECT_EQ(take<std::uint32_t>(rest), masked_crc32c(length));
    const std::string_view event = take_bytes(rest, size);
    EXPECT_EQ(take<std::uint32_t>(rest), masked_crc32c(event));
    records.emplace_back(event);
  }
  return records;
}

std::vector<Event> read_events(const std::filesystem::path& path) {
  std::vector<Event> events;
  for (const std::string& record : read_records(path)) events.push_back(parse_event(record));
  return events;
}

std::vector<std::filesystem::path> event_files(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

TEST(EventFile, BeginsWithTheVersionAndHoldsTheScalars) {
  const Scratch scratch;
  const std::vector<Scalar> scalars{{"loss", 0.5F}, {"accuracy/valid", -2.25F}};
  EventFile(scratch.path(), 0).add(1'000'000'000'000, scalars);
  const std::vector<Event> events = read_events(event_files(scratch.path()).at(0));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_FALSE(events[0].is_start);
  EXPECT_GT(events[1].wall_time, 1.7e9);
  EXPECT_EQ(events[1].step, 1'000'000'000'000U);
  EXPECT_EQ(events[1].scalars, (std::map<std::string, float>{{"loss", 0.5F}, {"accuracy/valid", -2.25F}}));
}

TEST(EventFile, TheFirstRecordHasTheseBytes) {
  const Scratch scratch;
  (void)EventFile(scratch.path(), 0);
  const std::string bytes = test::read_bytes(event_files(scratch.path()).at(0));
  // length 26 | its checksum | 09 wall time | 10 step | 1A 0D "brain.Event:2" | checksum
  ASSERT_EQ(bytes.size(), 8U + 4 + 26 + 4);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x1A\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(bytes[12], '\x09');
  EXPECT_EQ(bytes.substr(21, 17), std::string("\x10\0\x1A\x0D"
                                              "brain.Event:2",
                                              17));
}

TEST(EventFile, AResumedRunTellsTensorBoardWhatToForget) {
  const Scratch scratch;
  {
    MetricsFiles files(scratch.path(), 1);
    for (int epoch = 1; epoch <= 4; ++epoch) files.append({.epoch = epoch, .step = 10 * epoch, .loss = 1.0});
  }
  EpochMetrics third{.epoch = 3, .step = 30, .loss = 2.0};
  third.valid[Metric::kAccuracy] = 0.25;
  MetricsFiles(scratch.path(), 3).append(third);
  const auto files = event_files(scratch.path());
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(read_events(files[0]).size(), 5U);
  const std::vector<Event> resumed = read_events(files[1]);
  ASSERT_EQ(resumed.size(), 3U);
  EXPECT_TRUE(resumed[1].is_start);
  EXPECT_EQ(resumed[1].step, 21U);  // epochs 1 and 2 stay, as in metrics.jsonl
  EXPECT_EQ(resumed[2].step, 30U);
  EXPECT_EQ(resumed[2].scalars,
            (std::map<std::string, float>{{"epoch", 3.0F}, {"loss", 2.0F}, {"accuracy/valid", 0.25F}}));
}

/// The bytes of the last field of that number, at each step of the way.
std::string_view inner(std::string_view message, const std::vector<int>& way) {
  for (const int wanted : way) {
    std::string_view found;
    each_field(message, [&](int field, std::uint64_t, std::string_view bytes) {
      if (field == wanted) found = bytes;
    });
    message = found;
  }
  return message;
}

TEST(EventFile, OptionsOfARunAreHyperparameters) {
  const Scratch scratch;
  test::write_bytes(scratch / "config.toml", "dataset = \"/d\"\nhidden = 64\nlr = 0.003\nnorm = \"none\"\nseed = 3\n");
  MetricsFiles(scratch.path(), 1).append({.epoch = 1, .step = 10, .loss = 1.0});
  const std::vector<std::string> records = read_records(event_files(scratch.path()).at(0));
  ASSERT_EQ(records.size(), 3U);
  const std::string_view value = inner(records[1], {5, 1});
  EXPECT_EQ(inner(value, {1}), "_hparams_/session_start_info");
  EXPECT_EQ(inner(value, {9, 1, 1}), "hparams");
  std::map<std::string, std::string> options;
  each_field(inner(value, {9, 1, 2, 3}), [&](int, std::uint64_t, std::string_view option) {
    each_field(inner(option, {2}), [&](int field, std::uint64_t number, std::string_view text) {
      options[std::string(inner(option, {1}))] =
          field == 2 ? "number " + std::to_string(std::bit_cast<double>(number)) : "text " + std::string(text);
    });
  });
  EXPECT_EQ(options, (std::map<std::string, std::string>{{"hidden", "number 64.000000"},
                                                         {"lr", "number 0.003000"},
                                                         {"norm", "text none"},
                                                         {"seed", "number 3.000000"}}));
}

TEST(EventFile, ADirectoryThatIsGoneIsAnError) {
  const Scratch scratch;
  const auto gone = scratch / "gone";
  EXPECT_COMPLAINT(EventFile(gone, 0), ErrorKind::kIo, "events.out.tfevents.");
}

}  // namespace
}  // namespace salient
