// tests/core/files/safetensors_test.cpp - what is written is read back; every way to break a file has its line.
#include "core/files/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/scratch.h"

namespace salient {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// A file with this header and this much data.
std::string file_with(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string text(sizeof(length), '\0');
  std::memcpy(text.data(), &length, sizeof(length));
  return text + header + std::string(data_bytes, 'x');
}

SafetensorsView parse(const std::string& text) { return parse_safetensors(bytes_of(text), "F"); }

void expect_refused(const std::string& header, std::size_t data_bytes, const std::string& why) {
  EXPECT_COMPLAINT(parse(file_with(header, data_bytes)), ErrorKind::kBadData, why);
}

std::string tensor(const std::string& name, const std::string& type, const std::string& shape, const std::string& at) {
  return "\"" + name + R"(":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + at + "}";
}

TEST(Safetensors, ReadsWhatItWrote) {
  const test::Scratch scratch;
  const std::vector<float> weights{1, 2, 3, 4, 5, 6};
  const std::vector<std::int64_t> step{7};
  const std::vector<TensorInfo> tensors{{"convs.0.weight", TensorType::kF32, {2, 3}, std::as_bytes(std::span(weights))},
                                        {"empty", TensorType::kBF16, {0, 4}, {}},
                                        {"step", TensorType::kI64, {}, std::as_bytes(std::span(step))}};
  write_safetensors(scratch / "a", tensors, {{"format", "pt"}, {"note", "a\n\"b\""}});

  const SafetensorsFile file(scratch / "a");
  ASSERT_EQ(file.view().tensors.size(), 3u);
  for (const TensorInfo& written : tensors) {
    const TensorInfo* read = file.view().find(written.name);
    ASSERT_NE(read, nullptr) << written.name;
    EXPECT_EQ(read->type, written.type);
    EXPECT_EQ(read->shape, written.shape);
    EXPECT_TRUE(std::equal(read->bytes.begin(), read->bytes.end(), written.bytes.begin(), written.bytes.end()));
  }
  EXPECT_EQ(file.view().metadata, (TensorMetadata{{"format", "pt"}, {"note", "a\n\"b\""}}));
  EXPECT_EQ(file.view().find("conv"), nullptr);
}

// Written by Python: safetensors.numpy.save({"b": arange(3, i4), "a": ones((1, 2), f2)}, {"format": "pt"}).
TEST(Safetensors, WritesAndReadsTheBytesThatPythonWrites) {
  const std::string header = R"({"__metadata__":{"format":"pt"},"b":{"dtype":"I32","shape":[3],"data_offsets":[0,12]},)"
                             R"("a":{"dtype":"F16","shape":[1,2],"data_offsets":[12,16]}})";
  std::string expected = file_with(header + std::string((8 - header.size() % 8) % 8, ' '), 0);
  expected.append("\0\0\0\0\1\0\0\0\2\0\0\0\0\x3c\0\x3c", 16);

  const std::int32_t b[] = {0, 1, 2};
  const std::uint16_t a[] = {0x3c00, 0x3c00};
  const std::vector<TensorInfo> tensors{{"b", TensorType::kI32, {3}, std::as_bytes(std::span(b))},
                                        {"a", TensorType::kF16, {1, 2}, std::as_bytes(std::span(a))}};
  const test::Scratch scratch;
  write_safetensors(scratch / "a", tensors, {{"format", "pt"}});
  EXPECT_EQ(test::read_bytes(scratch / "a"), expected);
  EXPECT_EQ(parse(expected).find("a")->shape, (std::vector<std::int64_t>{1, 2}));
}

TEST(Safetensors, TensorsComeInTheOrderOfTheirData) {
  const auto view =
      parse(file_with("{" + tensor("b", "U8", "[2]", "[1,3]") + "," + tensor("a", "U8", "[1]", "[0,1]") + "}", 3));
  EXPECT_EQ(view.tensors[0].name, "a");
  EXPECT_EQ(view.tensors[1].name, "b");
  EXPECT_TRUE(parse(file_with("{}", 0)).tensors.empty());
}

TEST(Safetensors, RefusesADamagedFile) {
  EXPECT_COMPLAINT(parse("abc"), ErrorKind::kBadData, "3 bytes, the length alone takes 8");
  EXPECT_COMPLAINT(parse(std::string(8, '\xff')), ErrorKind::kBadData, "header would have 18446744073709551615 bytes");
  EXPECT_COMPLAINT(parse(file_with("{}", 0).substr(0, 9)), ErrorKind::kBadData, "truncated");
  EXPECT_COMPLAINT(SafetensorsFile("/nowhere/a"), ErrorKind::kNoInput, "/nowhere/a");
  expect_refused("", 0, "not a JSON object");
  expect_refused("[]", 0, "not a JSON object");
  expect_refused("{\"a\"", 0, "not a JSON object");
  expect_refused("{\"\xff\":1}", 0, "not a JSON object");
}

TEST(Safetensors, RefusesAWrongHeader) {
  const std::string good = tensor("a", "U8", "[2]", "[0,2]");
  expect_refused(R"({"__metadata__":[]})", 0, "__metadata__ is not an object");
  expect_refused(R"({"__metadata__":{"x":1}})", 0, "\"x\" is not a string");
  expect_refused("{" + good + "," + good + "}", 2, "the header has the key \"a\" twice in one object");
  expect_refused("{" + good + std::string(1, '\0') + "}", 2, "not a JSON object");
  expect_refused(R"({"a":{"dtype":"U8","shape":[2]}})", 2, "must have dtype, shape and data_offsets");
  expect_refused(R"({"a\nb":3})", 2, R"(tensor "a\nb": must have)");
  expect_refused("{" + tensor("a", "F8", "[2]", "[0,2]") + "}", 2, "dtype \"F8\" is not one of");
  expect_refused("{" + tensor("a", "U8", "2", "[0,2]") + "}", 2, "shape is not a list");
  expect_refused("{" + tensor("a", "U8", "[-2]", "[0,2]") + "}", 2, "shape is not a list");
  expect_refused("{" + tensor("a", "U8", "[2.0]", "[0,2]") + "}", 2, "shape is not a list");
  expect_refused("{" + tensor("a", "U8", "[2]", "[0,2,3]") + "}", 2, "must be [begin, end]");
  expect_refused("{" + tensor("a", "U8", "[2]", "[2,0]") + "}", 2, "must be [begin, end]");
}

TEST(Safetensors, RefusesHundredThousandBrackets) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  expect_refused(R"({"a":{"dtype":)" + deep + R"(,"shape":[],"data_offsets":[0,0]}})", 0, "more than 64 levels");
  expect_refused(deep, 0, "more than 64 levels");
}

TEST(Safetensors, RefusesSizesThatDoNotFit) {
  expect_refused("{" + tensor("a", "U8", "[3]", "[0,3]") + "}", 2, "ends at byte 3 of the data, which has 2");
  expect_refused("{" + tensor("a", "F32", "[2]", "[0,2]") + "}", 2, "do not match its shape");
  expect_refused("{" + tensor("a", "U8", "[4294967296,4294967296]", "[0,0]") + "}", 0, "do not match its shape");
  expect_refused("{" + tensor("a", "U8", "[2]", "[1,3]") + "}", 3, "a hole of 1 bytes before it");
  expect_refused("{" + tensor("a", "U8", "[2]", "[0,2]") + "," + tensor("b", "U8", "[2]", "[1,3]") + "}", 3,
                 "tensor \"b\": overlaps");
  expect_refused("{" + tensor("a", "U8", "[2]", "[0,2]") + "}", 3, "1 bytes after the last tensor");
}

}  // namespace
}  // namespace salient
