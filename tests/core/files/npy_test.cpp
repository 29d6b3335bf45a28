// tests/core/files/npy_test.cpp - headers that NumPy writes are read, and whatever else is there is named.
#include "core/files/npy.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::Scratch, test::write_bytes, test::read_bytes;

std::string npy(const std::string& dictionary, char version = 1) {
  std::string bytes("\x93NUMPY");
  bytes.append({version, '\0', static_cast<char>(dictionary.size() & 0xFF), static_cast<char>(dictionary.size() >> 8)});
  if (version > 1) bytes.append(2, '\0');
  return bytes + dictionary;
}

NpyHeader parsed(const std::string& dictionary, char version = 1) {
  return parse_npy_header(npy(dictionary, version), "x.npy");
}

TEST(NpyHeader, ReadsWhatNumPyWrites) {
  const NpyHeader matrix = parsed("{'descr': '<f4', 'fortran_order': False, 'shape': (5, 3), }   \n");
  EXPECT_EQ(matrix.dtype(), "<f4");
  EXPECT_EQ(matrix.shape, (std::vector<std::uint64_t>{5, 3}));
  EXPECT_EQ(matrix.data_bytes(), 60u);
  EXPECT_FALSE(matrix.is_fortran_order);
  EXPECT_EQ(matrix.data_offset, 10u + 63u);

  EXPECT_EQ(parsed("{'descr': '|b1', 'fortran_order': True, 'shape': (5,)}").shape_text(), "(5,)");
  EXPECT_EQ(parsed("{'shape': (), 'fortran_order': False, 'descr': '>i8'}").num_items(), 1u);
  EXPECT_EQ(parsed("{'descr': '<i8', 'fortran_order': False, 'shape': (5L, 2L), }").num_items(), 10u) << "Python 2";
  EXPECT_EQ(parsed("{\"descr\": \"<u2\", \"fortran_order\": False, \"shape\": (0, 9)}").num_items(), 0u);
  for (const char version : {'\1', '\2', '\3'})
    EXPECT_EQ(parsed("{'descr': '>f8', 'fortran_order': False, 'shape': (7,)}", version).dtype(), ">f8");
}

TEST(NpyHeader, NamesWhatIsWrong) {
  const auto refused = [](const std::string& dictionary, const char* why) {
    EXPECT_COMPLAINT(parsed(dictionary), 65, why);
    EXPECT_COMPLAINT(parsed(dictionary), 65, "x.npy: ");
  };
  const std::string rest = ", 'fortran_order': False, 'shape': (2,)}";
  refused("{'descr': '|O'" + rest, "Python objects");
  refused("{'descr': [('a', '<f4')]" + rest, "structured");
  refused("{'descr': '<c8'" + rest, "'<c8'");
  refused("{'descr': '<f1'" + rest, "'<f1'");
  refused("{'descr': '|i4'" + rest, "no byte order");
  refused("{'descr': '<f4', 'extra': 1" + rest, "unexpected key 'extra'");
  refused("{'descr': '<f4', 'descr': '<f4'" + rest, "unexpected key 'descr'");
  refused("{'descr': '<f4', 'shape': (2,)}", "all needed");
  refused("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", "neither True nor False");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2)}", "not a tuple");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "not a tuple of lengths");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}", "expected ','");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "beyond 64 bits");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "larger than any file");
  refused("{'descr': '|u1', 'fortran_order': False, 'shape': (9223372036854775808,)}", "larger than any file");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} import os", "after the dictionary");
  refused("{'descr': '<f4", "without an end");
  refused("  ", "expected '{'");
}

TEST(NpyHeader, SaysWhatAnotherFileLooksLike) {
  const auto refused = [](const std::string& bytes, const char* why) {
    EXPECT_COMPLAINT((void)parse_npy_header(bytes, "x.npy"), 65, why);
  };
  refused("\x1F\x8B\x08 and more", "gzip");
  refused("PK\x03\x04", "zip");
  refused("version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer");
  refused("", "empty");
  refused("0.5 0.25 0.125 1", "raw data");
  refused("\x93NUMPY\x01", "ends inside");
  refused(npy("{}", 4), "npy version 4.0");
  refused(npy(std::string(100, ' ')).substr(0, 50), "60 bytes are missing");
  std::string huge = npy("{}", 2);
  huge[10] = '\1';  // 2 + 65536
  refused(huge, "at most 64 KiB");
}

TEST(NpyFile, WriterAndReaderAgreeAndDataStartsAt4096) {
  const Scratch scratch;
  const std::vector<std::uint32_t> values{1, 2, 3, 4, 5, 4294967295};
  NpyWriter writer(scratch / "a.npy", "<u4", {2, 3});
  writer.write(std::span(values).first(2));
  writer.write(std::span(values).subspan(2));
  const FileDigest digest = writer.close();
  const NpyFile file(scratch / "a.npy");
  EXPECT_EQ(file.header().data_offset, 4096u);
  EXPECT_EQ(file.header().shape_text(), "(2, 3)");
  EXPECT_TRUE(std::ranges::equal(file.items<std::uint32_t>(), values));
  EXPECT_EQ(digest, digest_file(scratch / "a.npy"));
  EXPECT_EQ(digest.bytes, 4096u + 24u);

  EXPECT_COMPLAINT(expect_npy(file.header(), "<i4", std::array<std::uint64_t, 2>{2, 3}, "a"), 65, "<u4, expected <i4");
  EXPECT_COMPLAINT(expect_npy(file.header(), "<u4", std::array<std::uint64_t, 1>{6}, "a"), 65, "(2, 3), expected (6,)");
}

TEST(NpyFile, CountsMissingAndSurplusBytes) {
  const Scratch scratch;
  const std::string good = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}") + std::string(8, '\0');
  EXPECT_COMPLAINT(NpyFile(write_bytes(scratch / "short.npy", good.substr(0, good.size() - 3))), 65,
                   "3 bytes are missing");
  EXPECT_COMPLAINT(NpyFile(write_bytes(scratch / "long.npy", good + "xy")), 65, "2 bytes too many");
  EXPECT_COMPLAINT(NpyFile(write_bytes(scratch / "odd.npy", good)).items<float>(), 65, "no multiple of 4");
  EXPECT_COMPLAINT(NpyFile(scratch / "none.npy"), 66, "none.npy: cannot open: No such file");
  EXPECT_COMPLAINT(NpyFile(scratch.path()), 65, "is a folder, not a file");
}

TEST(NpyFile, WriterKeepsItsPromise) {
  const Scratch scratch;
  NpyWriter writer(scratch / "a.npy", "<u4", {3});
  writer.write(std::array<std::uint32_t, 2>{});
  EXPECT_COMPLAINT(writer.close(), 70, "exactly the values");
  EXPECT_COMPLAINT(NpyWriter(scratch / "a.npy", "<u4", {3}), 74, "File exists");
}

TEST(NpyValues, ConvertFromEveryDtypeAndByteOrder) {
  const auto header = [](const char* dtype) {
    return parsed(std::string("{'descr': '") + dtype + "', 'fortran_order': False, 'shape': (2,)}");
  };
  const auto as_int = [&](const char* dtype, const std::string& bytes) {
    std::array<std::int64_t, 2> out{};
    convert_to_int64(header(dtype), reinterpret_cast<const std::byte*>(bytes.data()), 2, out.data());
    return out;
  };
  const auto as_float = [&](const char* dtype, const std::string& bytes) {
    std::array<float, 2> out{};
    convert_to_float(header(dtype), reinterpret_cast<const std::byte*>(bytes.data()), 2, out.data());
    return out;
  };
  using Ints = std::array<std::int64_t, 2>;
  using Floats = std::array<float, 2>;
  EXPECT_EQ(as_int("|i1", "\x01\xFF"), (Ints{1, -1}));
  EXPECT_EQ(as_int("|u1", "\x01\xFF"), (Ints{1, 255}));
  EXPECT_EQ(as_int("|b1", std::string("\x00\x07", 2)), (Ints{0, 1}));
  EXPECT_EQ(as_int("<i2", std::string("\x01\x00\xFE\xFF", 4)), (Ints{1, -2}));
  EXPECT_EQ(as_int(">u2", std::string("\x01\x00\x00\x02", 4)), (Ints{256, 2}));
  EXPECT_EQ(as_int(">i4", std::string("\xFF\xFF\xFF\xFD\x00\x01\x00\x00", 8)), (Ints{-3, 65536}));
  EXPECT_EQ(as_int("<u8", std::string(8, '\xFF') + std::string("\x05\0\0\0\0\0\0\0", 8)), (Ints{-1, 5}));
  EXPECT_EQ(as_float("<f2", std::string("\x00\x3C\x00\xC0", 4)), (Floats{1, -2}));
  EXPECT_EQ(as_float(">f4", std::string("\x3F\x80\x00\x00\x40\x49\x0F\xDB", 8)), (Floats{1, 3.14159274F}));
  EXPECT_EQ(as_float("<i4", std::string("\x07\0\0\0\xFF\xFF\xFF\xFF", 8)), (Floats{7, -1}));
  EXPECT_EQ(as_float(">f8", std::string("\x3F\xF8\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16)), (Floats{1.5, 0}));
}

}  // namespace
}  // namespace salient
