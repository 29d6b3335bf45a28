// core/files/npy.cpp - see npy.h.
#include "core/files/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "core/half.h"

namespace salient {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// Reads the header's dictionary: one Python literal with the keys descr, fortran_order and shape, and nothing else.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr" && !std::exchange(has_descr, true))
        read_descr(header);
      else if (key == "fortran_order" && !std::exchange(has_order, true))
        header.is_fortran_order = read_bool();
      else if (key == "shape" && !std::exchange(has_shape, true))
        read_shape(header);
      else
        refuse("unexpected key '" + printable(key) + "'");
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_blanks();
    if (at_ != text_.size()) refuse("text after the dictionary");
    if (!has_descr || !has_order || !has_shape) refuse("descr, fortran_order and shape are all needed");
    check_size(header);
    return header;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    fail(ErrorKind::kBadData, file_ + ": npy header, character " + std::to_string(at_) + ": " + why);
  }
  static std::string printable(std::string_view text) {
    std::string clean(text.substr(0, 40));
    std::replace_if(
        clean.begin(), clean.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return clean;
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool accept(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) refuse(std::string("expected '") + wanted + "'");
  }
  bool accept_word(std::string_view word) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::string_view quoted() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) refuse("a string without an end");
    const std::string_view content = text_.substr(at_, end - at_);
    at_ = end + 1;
    return content;
  }

  bool read_bool() {
    if (accept_word("True")) return true;
    if (!accept_word("False")) refuse("fortran_order is neither True nor False");
    return false;
  }

  void read_descr(NpyHeader& header) {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[') refuse("a structured dtype; only plain numbers can be read");
    std::string_view descr = quoted();
    const std::string found = printable(descr);
    char order = '=';
    if (!descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos) {
      order = descr[0];
      descr.remove_prefix(1);
    }
    if (descr.starts_with('O')) refuse("dtype '" + found + "' holds Python objects; only plain numbers can be read");
    if (descr.size() != 2) refuse("dtype '" + found + "' is not a number of 1 to 8 bytes");
    header.kind = descr[0];
    header.item_bytes = descr[1] - '0';
    const auto is_one_of = [&](std::string_view sizes) { return sizes.find(descr[1]) != std::string_view::npos; };
    const bool known = header.kind == 'b'   ? is_one_of("1")
                       : header.kind == 'f' ? is_one_of("248")
                                            : (header.kind == 'i' || header.kind == 'u') && is_one_of("1248");
    if (!known) refuse("dtype '" + found + "' is not a bool, integer or float of 1 to 8 bytes");
    if (order == '|' && header.item_bytes > 1) refuse("dtype '" + found + "' has no byte order");
    header.is_big_endian = order == '>' && header.item_bytes > 1;
  }

  std::uint64_t read_length() {
    skip_blanks();
    std::uint64_t length = 0;
    const std::size_t first = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (length > (UINT64_MAX - 9) / 10) refuse("a length beyond 64 bits");
      length = 10 * length + static_cast<std::uint64_t>(text_[at_] - '0');
    }
    if (at_ == first) refuse("shape is not a tuple of lengths");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers so
    return length;
  }

  void read_shape(NpyHeader& header) {
    expect('(');
    if (accept(')')) return;
    while (true) {
      header.shape.push_back(read_length());
      if (header.shape.size() > 32) refuse("more than 32 axes");
      const bool has_comma = accept(',');
      if (accept(')')) {
        if (!has_comma && header.shape.size() == 1) refuse("shape is a number, not a tuple");
        return;
      }
      if (!has_comma) refuse("expected ',' or ')' in shape");
    }
  }

  void check_size(const NpyHeader& header) const {
    std::uint64_t bytes = static_cast<std::uint64_t>(header.item_bytes);
    for (const std::uint64_t length : header.shape)
      if (__builtin_mul_overflow(bytes, std::max<std::uint64_t>(length, 1), &bytes) || bytes > INT64_MAX)
        refuse("shape " + header.shape_text() + " is larger than any file");
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
};

/// Calls use(value) for each item of type T at `raw`, swapping bytes when the file is big-endian.
template <class T, class Use>
void for_each_item(const NpyHeader& header, const std::byte* raw, std::size_t count, Use use) {
  for (std::size_t i = 0; i < count; ++i) {
    std::byte bytes[sizeof(T)];
    std::memcpy(bytes, raw + i * sizeof(T), sizeof(T));
    if (header.is_big_endian) std::reverse(bytes, bytes + sizeof(T));
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    use(i, value);
  }
}

template <class Out>
void convert(const NpyHeader& header, const std::byte* raw, std::size_t count, Out* out) {
  // NOLINTNEXTLINE(bugprone-signed-char-misuse): an i1 is a number here
  const auto store = [out](std::size_t i, auto value) { out[i] = static_cast<Out>(value); };
  switch (header.kind << 4 | header.item_bytes) {
    case 'b' << 4 | 1:
      return for_each_item<std::uint8_t>(header, raw, count, [&](auto i, auto v) { store(i, v != 0); });
    case 'i' << 4 | 1: return for_each_item<std::int8_t>(header, raw, count, store);
    case 'i' << 4 | 2: return for_each_item<std::int16_t>(header, raw, count, store);
    case 'i' << 4 | 4: return for_each_item<std::int32_t>(header, raw, count, store);
    case 'i' << 4 | 8: return for_each_item<std::int64_t>(header, raw, count, store);
    case 'u' << 4 | 1: return for_each_item<std::uint8_t>(header, raw, count, store);
    case 'u' << 4 | 2: return for_each_item<std::uint16_t>(header, raw, count, store);
    case 'u' << 4 | 4: return for_each_item<std::uint32_t>(header, raw, count, store);
    case 'u' << 4 | 8: return for_each_item<std::uint64_t>(header, raw, count, store);
    case 'f' << 4 | 2:
      return for_each_item<std::uint16_t>(header, raw, count, [&](auto i, auto v) { store(i, half_to_float(v)); });
    case 'f' << 4 | 4: return for_each_item<float>(header, raw, count, store);
    case 'f' << 4 | 8: return for_each_item<double>(header, raw, count, store);
    default: require(false, "a parsed npy header has a known dtype");
  }
}

std::string shape_to_text(std::span<const std::uint64_t> shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(shape[axis]);
  }
  return text += shape.size() == 1 ? ",)" : ")";
}

}  // namespace

std::uint64_t NpyHeader::num_items() const {
  std::uint64_t items = 1;
  for (const std::uint64_t length : shape) items *= length;
  return items;
}

std::string NpyHeader::dtype() const {
  std::string text(1, item_bytes == 1 ? '|' : is_big_endian ? '>' : '<');
  return text.append(1, kind).append(std::to_string(item_bytes));
}

std::string NpyHeader::shape_text() const { return shape_to_text(shape); }

std::size_t npy_header_bytes(std::string_view preamble, const std::string& file) {
  if (!preamble.starts_with(kMagic))
    fail(ErrorKind::kBadData, file + ": not an npy file, it looks like " + looks_like(preamble));
  if (preamble.size() < kNpyPreambleBytes) fail(ErrorKind::kBadData, file + ": ends inside the npy header");
  const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(preamble[at])); };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3)
    fail(ErrorKind::kBadData, file + ": npy version " + std::to_string(version) + "." + std::to_string(byte(7)) +
                                  ", only 1 to 3 can be read");
  const std::size_t start = version == 1 ? 10 : 12;
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (start + length > kMaxNpyHeaderBytes)
    fail(ErrorKind::kBadData,
         file + ": npy header of " + std::to_string(length) + " bytes, at most 64 KiB can be read");
  return start + length;
}

NpyHeader parse_npy_header(std::string_view bytes, const std::string& file) {
  const std::size_t end = npy_header_bytes(bytes.substr(0, 64), file);
  if (end > bytes.size())
    fail(ErrorKind::kBadData,
         file + ": ends inside the npy header, " + std::to_string(end - bytes.size()) + " bytes are missing");
  const std::size_t start = bytes[6] == 1 ? 10 : 12;
  NpyHeader header = HeaderParser(bytes.substr(start, end - start), file).parse();
  header.data_offset = end;
  return header;
}

void expect_npy(const NpyHeader& header, std::string_view dtype, std::span<const std::uint64_t> shape,
                const std::string& file) {
  const auto refuse = [&](std::string_view what, std::string_view found, std::string_view expected) {
    std::string text = file;
    text.append(": ").append(what).append(" ").append(found).append(", expected ").append(expected);
    fail(ErrorKind::kBadData, text);
  };
  if (header.dtype() != dtype) refuse("dtype", header.dtype(), dtype);
  if (!std::ranges::equal(header.shape, shape)) refuse("shape", header.shape_text(), shape_to_text(shape));
  if (header.is_fortran_order && shape.size() > 1) refuse("values in", "Fortran order", "C order");
}

NpyFile::NpyFile(const std::filesystem::path& path)
    : file_(path), header_(parse_npy_header(file_.text(), file_.name())) {
  const std::uint64_t expected = header_.data_offset + header_.data_bytes(), found = file_.bytes().size();
  if (found == expected) return;
  std::string text = name() + ": shape " + header_.shape_text() + " of " + header_.dtype() + " makes " +
                     std::to_string(expected) + " bytes, the file has " + std::to_string(found) + ": ";
  text += found < expected ? std::to_string(expected - found) + " bytes are missing"
                           : std::to_string(found - expected) + " bytes too many";
  fail(ErrorKind::kBadData, text);
}

void convert_to_int64(const NpyHeader& header, const std::byte* raw, std::size_t count, std::int64_t* out) {
  require(header.kind != 'f', "only integers are converted to int64");
  convert(header, raw, count, out);
}

void convert_to_double(const NpyHeader& header, const std::byte* raw, std::size_t count, double* out) {
  convert(header, raw, count, out);
}

void convert_to_float(const NpyHeader& header, const std::byte* raw, std::size_t count, float* out) {
  convert(header, raw, count, out);
}

std::string npy_header(std::string_view dtype, std::span<const std::uint64_t> shape) {
  constexpr std::size_t kTextBytes = NpyWriter::kDataOffset - 10;  // after magic, version and the 16-bit length
  std::string text = "{'descr': '";
  text.append(dtype).append("', 'fortran_order': False, 'shape': ").append(shape_to_text(shape)).append(", }");
  text.resize(kTextBytes - 1, ' ');
  std::string header(kMagic);
  header.append({'\1', '\0', static_cast<char>(kTextBytes & 0xFF), static_cast<char>(kTextBytes >> 8)});
  return header.append(text).append("\n");
}

NpyWriter::NpyWriter(const std::filesystem::path& path, std::string_view dtype, std::vector<std::uint64_t> shape)
    : file_(path) {
  const std::string header = npy_header(dtype, shape);
  promised_bytes_ = header.size() + parse_npy_header(header, path.string()).data_bytes();
  file_.write(header);
}

FileDigest NpyWriter::close() {
  require(file_.bytes_written() == promised_bytes_, "an array file gets exactly the values its shape promises");
  return file_.close();
}

NpyAppender::NpyAppender(std::filesystem::path path, std::string dtype, std::size_t item_bytes)
    : path_(std::move(path)), dtype_(std::move(dtype)), item_bytes_(item_bytes), file_(path_) {
  file_.write(npy_header(dtype_, std::array<std::uint64_t, 1>{0}));
}

FileDigest NpyAppender::close() {
  const std::uint64_t count = (file_.close().bytes - NpyWriter::kDataOffset) / item_bytes_;
  overwrite_start(path_, npy_header(dtype_, std::array{count}));
  return digest_file(path_);
}

}  // namespace salient
