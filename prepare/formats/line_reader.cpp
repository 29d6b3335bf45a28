// prepare/formats/line_reader.cpp - one buffer that lines are cut from
#include "prepare/formats/line_reader.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/error.h"
#include "core/files/npy.h"
#include "prepare/formats/text_fields.h"

namespace salient {

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// What no line may hold, and why. A carriage return may end a line.
struct Forbidden {
  std::string_view bytes;
  const char* rule;
};
constexpr Forbidden kForbidden[] = {
    {std::string_view("\0", 1), "holds a NUL byte: binary data, or text that is not in UTF-8"},
    {"\r", "holds a carriage return that ends no line; write line ends as '\\n' or '\\r\\n'"},
    {kByteOrderMark, "holds a byte order mark inside of the text; are these several files joined?"}};

std::size_t find_forbidden(std::string_view text, std::string_view bytes) {
  std::size_t at = text.find(bytes);
  if (bytes == "\r")
    while (at != std::string_view::npos && (at + 1 == text.size() || text[at + 1] == '\n'))
      at = text.find('\r', at + 1);
  return at;
}

/// Where the first of kForbidden is, or npos.
std::size_t find_forbidden(std::string_view text) {
  std::size_t first = std::string_view::npos;
  for (const Forbidden& forbidden : kForbidden)
    first = std::min(first, find_forbidden(text.substr(0, first), forbidden.bytes));
  return first;
}

Encoding encoding_of(const InputFile& file) {
  std::array<std::byte, 2> magic{};
  const bool is_gzip =
      file.read_at(0, magic) == magic.size() && magic[0] == std::byte{0x1F} && magic[1] == std::byte{0x8B};
  return is_gzip ? Encoding::kGzip : Encoding::kStored;
}

}  // namespace

bool take_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  const std::size_t end = text.find('\n');
  line = text.substr(0, end);
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

std::string line_name(const std::filesystem::path& path, std::uint64_t line_number) {
  return path.string() + ": line " + std::to_string(line_number);
}

LineReader::LineReader(const std::filesystem::path& path)
    : file_(path),
      stream_(file_, 0, file_.size(), encoding_of(file_)),
      buffer_(std::clamp<std::uint64_t>(file_.size(), 4096, kBlock)) {}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = 0;  // bytes after begin_ known to hold no '\n'
  for (;;) {
    const auto* from = buffer_.data() + begin_ + searched;
    const void* found = std::memchr(from, '\n', end_ - begin_ - searched);
    if (found != nullptr || stream_ended_) {
      const std::size_t stop =
          found ? static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data()) + 1 : end_;
      std::string_view rest(buffer_.data() + begin_, stop - begin_);
      begin_ = stop;
      if (rest.empty()) return false;
      (void)take_line(rest = allowed_part(rest), line);
      ++line_number_;
      return true;
    }
    searched = end_ - begin_;
    refill();
  }
}

bool LineReader::next_block(LineBlock& block) {
  for (;;) {
    const std::string_view held(buffer_.data() + begin_, end_ - begin_);
    const std::size_t last = held.rfind('\n');
    if (last != std::string_view::npos || stream_ended_) {
      block.text = allowed_part(last == std::string_view::npos ? held : held.substr(0, last + 1));
      block.first_line = line_number_ + 1;
      begin_ += block.text.size();
      const auto ends = std::count(block.text.begin(), block.text.end(), '\n');
      line_number_ += static_cast<std::uint64_t>(ends) + (!block.text.empty() && block.text.back() != '\n');
      return !block.text.empty();
    }
    refill();
  }
}

std::string_view LineReader::peek() {
  if (begin_ == end_ && !stream_ended_) refill();
  return {buffer_.data() + begin_, end_ - begin_};
}

/// Whole lines of `text` before the first that is not allowed, which has its turn when they are taken.
std::string_view LineReader::allowed_part(std::string_view text) const {
  const std::size_t bad = find_forbidden(text);
  if (bad == std::string_view::npos) return text;
  const std::size_t begin = text.substr(0, bad).rfind('\n') + 1;  // npos + 1 = 0
  if (begin > 0) return text.substr(0, begin);
  std::string_view line;
  (void)take_line(text, line);
  fail_forbidden(line, line_number_ + 1);
}

void LineReader::fail_forbidden(std::string_view line, std::uint64_t line_number) const {
  for (const auto& [bytes, rule] : kForbidden)
    if (find_forbidden(line, bytes) != std::string_view::npos) fail_at_line(path(), line_number, line, rule);
  fail_at_line(path(), line_number, line, kForbidden[1].rule);  // "\r\r\n"
}

void LineReader::refill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ > kMaxLine)
    fail(ErrorKind::kBadData, line_name(path(), line_number_ + 1) + ": is longer than " + std::to_string(kMaxLine) +
                                  " bytes; is this a text file?");
  if (end_ == buffer_.size()) buffer_.resize(std::min(2 * buffer_.size(), kMaxLine + 1));
  const bool is_first = line_number_ == 0 && end_ == 0;
  const std::size_t room = buffer_.size() - end_;
  try {
    const std::size_t got = stream_.read(std::as_writable_bytes(std::span(buffer_).last(room)));
    end_ += got;
    stream_ended_ = got < room;
  } catch (const Error& error) {
    fail(error.kind(), error.what() + (" (after line " + std::to_string(line_number_) + ")"));
  }
  if (is_first) begin();
}

/// An archive without a line break may pass for a line of words.
void LineReader::begin() {
  const std::string_view first(buffer_.data(), end_);
  if (const char* const format = known_format(first))
    fail(ErrorKind::kBadData, path().string() + ": not text, plain or gzip; it looks like " + format);
  if (first.starts_with(kByteOrderMark)) begin_ = kByteOrderMark.size();
}

}  // namespace salient
