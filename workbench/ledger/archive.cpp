// workbench/ledger/archive.cpp - see archive.h.
//
// The archive is read here, not by `tar`: what it may hold is a short list, and nothing is written before all of it was
// looked at.
#include "workbench/ledger/archive.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "core/error.h"
#include "core/files/file_io.h"
#include "core/printable.h"
#include "workbench/ledger/sha256.h"
#include "workbench/referee/process.h"

namespace salient::workbench {
namespace {

constexpr std::size_t kBlock = 512, kMostBytes = std::size_t{64} << 20, kHashLetters = 64;
constexpr ProcessLimits kUnpackLimits{
    .seconds = 60, .output_bytes = kMostBytes, .cpu_seconds = 60, .memory_bytes = std::size_t{1} << 30};

bool is_hash(std::string_view word) {
  return word.size() == kHashLetters && word.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_run_name(std::string_view word) {
  return !word.empty() && word.size() <= 100 && word.front() != '.' && word.front() != '-' &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) {
           return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.');
         });
}

bool is_file_of_a_run(std::string_view path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos || !is_run_name(path.substr(0, slash))) return false;
  const std::string_view file = path.substr(slash + 1);
  constexpr std::string_view kObjects = "objects/";
  return file == "ledger.jsonl" || file == "best.json" ||
         (file.starts_with(kObjects) && is_hash(file.substr(kObjects.size())));
}

/// A header of POSIX ustar: fields by offset and length.
class Header {
 public:
  explicit Header(std::string_view block) : block_(block) {}

  std::string path() const {
    const std::string prefix = text(345, 155), name = text(0, 100);
    return prefix.empty() ? name : prefix + "/" + name;
  }
  std::optional<std::size_t> size() const { return octal(124, 12); }
  bool is_file() const { return block_[156] == '0'; }
  bool is_whole() const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i)
      sum += i >= 148 && i < 156 ? std::size_t{' '} : static_cast<unsigned char>(block_[i]);
    return text(257, 6) == "ustar" && octal(148, 8) == sum;
  }

 private:
  std::string text(std::size_t at, std::size_t length) const {
    const std::string_view field = block_.substr(at, length);
    return std::string(field.substr(0, std::min(field.find('\0'), length)));
  }
  std::optional<std::size_t> octal(std::size_t at, std::size_t length) const {
    std::size_t value = 0, digits = 0;
    for (const char c : block_.substr(at, length)) {
      if (c == '\0' || c == ' ') break;
      if (c < '0' || c > '7') return std::nullopt;
      value = value * 8 + static_cast<std::size_t>(c - '0');
      ++digits;
    }
    return digits > 0 ? std::optional(value) : std::nullopt;
  }

  std::string_view block_;
};

/// What a foreign path looks like in a message.
std::string shown(const std::string& path) { return "'" + printable(path.substr(0, 200)) + "'"; }

std::string unpacked(const std::filesystem::path& path, const std::string& packed) {
  const ProcessResult result = [&] {
    try {
      return run_process({"xz", "--decompress", "--stdout"}, packed, kUnpackLimits);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kNoInput) throw;
      fail(ErrorKind::kNoInput, path.string() + ": reading it takes the program xz (package xz-utils)");
    }
  }();
  const auto refuse = [&](const char* why) { fail(ErrorKind::kBadData, path.string() + ": " + why); };
  if (result.cut) refuse("more than 64 MiB when it is unpacked");
  if (result.timed_out || result.exit_code != 0) refuse("xz cannot unpack it");
  return result.output;
}

}  // namespace

std::map<std::string, std::string, std::less<>> parse_run_archive(std::string_view tar, const std::string& name) {
  const auto refuse = [&](const std::string& why) { fail(ErrorKind::kBadData, name + ": " + why); };
  std::map<std::string, std::string, std::less<>> files;
  for (std::size_t at = 0;;) {
    if (tar.size() - at < kBlock) refuse("its end is missing");
    const std::string_view block = tar.substr(at, kBlock);
    if (block.find_first_not_of('\0') == std::string_view::npos) return files;
    at += kBlock;
    const Header header(block);
    if (!header.is_whole()) refuse("no header of a tar archive at byte " + std::to_string(at - kBlock));
    const std::string path = header.path();
    if (!header.is_file() || !is_file_of_a_run(path)) refuse(shown(path) + " is no file of a recorded run");
    const std::size_t size = header.size().value_or(kMostBytes + 1), room = tar.size() - at;
    if (size > kMostBytes || size > room) refuse(shown(path) + " is cut off");
    if (!files.emplace(path, tar.substr(at, size)).second) refuse(shown(path) + " comes twice");
    at += std::min(room, (size + kBlock - 1) / kBlock * kBlock);
  }
}

RunArchive::RunArchive(const std::filesystem::path& folder) : path_(folder / kArchiveName) {
  const std::string packed = read_text_file(path_);
  const std::filesystem::path said = path_.string() + ".sha256";
  if (read_text_file(said, kBlock).substr(0, kHashLetters) != sha256(packed))
    fail(ErrorKind::kBadData, path_.string() + ": its SHA-256 is not that of " + said.string());
  files_ = parse_run_archive(unpacked(path_, packed), path_.string());
}

std::vector<std::string> RunArchive::runs() const {
  std::vector<std::string> names;
  for (const auto& [path, text] : files_)
    if (const std::string run = path.substr(0, path.find('/')); names.empty() || names.back() != run)
      names.push_back(run);
  return names;
}

std::filesystem::path RunArchive::unpack(const std::string& run, const std::filesystem::path& folder) const {
  const std::vector<std::string> names = runs();
  if (std::find(names.begin(), names.end(), run) == names.end()) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    fail(ErrorKind::kNoInput, path_.string() + ": holds no run " + shown(run) + "; there are: " + list);
  }
  std::filesystem::create_directories(folder / run / "objects");
  for (auto file = files_.lower_bound(run + "/"); file != files_.end() && file->first.starts_with(run + "/"); ++file)
    (void)write_text_file(folder / file->first, file->second);
  return folder / run;
}

}  // namespace salient::workbench
