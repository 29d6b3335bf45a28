// prepare/formats/line_reader.h - the lines of a text file, plain or gzip, of any size.
//
// By hand: libraries for CSV read plain text alone, or unpack the file first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "prepare/formats/inflate_stream.h"
#include "prepare/formats/input_file.h"

namespace salient {

/// Some whole lines, each with its '\n' (the last of a file may lack it).
struct LineBlock {
  std::uint64_t first_line = 0;  ///< number of the first one, from 1
  std::string text{};
};

/// Takes the first line off `text`: without its '\n' or "\r\n". False when there is none left.
bool take_line(std::string_view& text, std::string_view& line);

/// "FILE: line 17", the beginning of every complaint about a line.
std::string line_name(const std::filesystem::path& path, std::uint64_t line_number);

/// gzip is recognised by its first two bytes, not by the file's name. A byte order mark in front of the text is left
/// out. What every reader of text refuses is refused here: a NUL byte, a carriage return that ends no line, a byte
/// order mark inside.
///
/// @throws Error{kNoInput} when the file is missing; Error{kBadData} for gzip data that are damaged, end early or are
///         followed by something else, for a line above the limit, and for what is no text; Error{kIo}.
/// Cost:   streams; memory is a few blocks and the longest line.
class LineReader {
 public:
  static constexpr std::size_t kMaxLine = std::size_t{16} << 20;

  explicit LineReader(const std::filesystem::path& path);

  /// @param line  without its end, '\n' or "\r\n"; valid until the next call.
  /// @return      false after the last line. A file that ends without '\n' has its last line all the same.
  bool next(std::string_view& line);

  /// What was read and not handed out yet, up to a megabyte: at first the beginning of the text.
  std::string_view peek();

  /// The next lines together, about a megabyte of them, for parsers with several threads. May be mixed with next().
  ///
  /// @return  false after the last line
  bool next_block(LineBlock& block);

  /// Of the last line handed out; the first line is 1.
  std::uint64_t line_number() const { return line_number_; }
  std::string where() const { return line_name(file_.path(), line_number_); }
  const std::filesystem::path& path() const { return file_.path(); }

  /// For progress bars: bytes of the file, compressed if it is.
  std::uint64_t bytes_read() const { return stream_.bytes_consumed(); }
  std::uint64_t bytes_total() const { return file_.size(); }

 private:
  void refill();
  void begin();
  std::string_view allowed_part(std::string_view text) const;
  [[noreturn]] void fail_forbidden(std::string_view line, std::uint64_t line_number) const;

  InputFile file_;
  InflateStream stream_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< what of the buffer is not handed out yet
  bool stream_ended_ = false;
  std::uint64_t line_number_ = 0;
};

}  // namespace salient
