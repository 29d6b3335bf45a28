// prepare/formats/zip_archive.cpp - the zip directory, every number in it checked before it is used
#include "prepare/formats/zip_archive.h"

#include <algorithm>
#include <limits>
#include <set>

#include "core/error.h"
#include "prepare/formats/text_fields.h"

namespace salient {

namespace {

constexpr std::uint64_t kMaxRatio = 1100;  // deflate ends at 1032:1

constexpr std::uint32_t kEndMagic = 0x06054B50, kEnd64Magic = 0x06064B50, kLocator64Magic = 0x07064B50,
                        kEntryMagic = 0x02014B50, kLocalMagic = 0x04034B50;
constexpr std::size_t kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20, kEntryBytes = 46, kLocalBytes = 30;
constexpr std::uint64_t kMaxCommentBytes = 65535;

/// Little-endian number at `offset`, which the caller knows to be inside.
template <class T>
T number_at(std::string_view bytes, std::size_t offset) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value | static_cast<T>(static_cast<unsigned char>(bytes[offset + i])) << (8 * i));
  return value;
}
std::uint16_t u16_at(std::string_view bytes, std::size_t offset) { return number_at<std::uint16_t>(bytes, offset); }
std::uint32_t u32_at(std::string_view bytes, std::size_t offset) { return number_at<std::uint32_t>(bytes, offset); }
std::uint64_t u64_at(std::string_view bytes, std::size_t offset) { return number_at<std::uint64_t>(bytes, offset); }

std::string bytes_at(const InputFile& file, std::uint64_t offset, std::size_t count) {
  std::string bytes(count, '\0');
  bytes.resize(file.read_at(offset, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

/// The zip64 extra has the fields that are full in the entry, in a fixed order, and no others.
class Zip64Extra {
 public:
  explicit Zip64Extra(std::string_view extra) {
    while (extra.size() >= 4) {
      const std::size_t length = u16_at(extra, 2);
      if (length > extra.size() - 4) return;
      if (u16_at(extra, 0) == 1) fields_ = extra.substr(4, length);
      extra.remove_prefix(4 + length);
    }
  }
  /// False when the field is missing.
  bool resolve(std::uint64_t& value) {
    if (value != kFull32) return true;
    if (fields_.size() < 8) return false;
    value = u64_at(fields_, 0);
    fields_.remove_prefix(8);
    return true;
  }

 private:
  std::string_view fields_;
};

Encoding encoding_of(const ZipArchive& archive, const ZipMember& member) {
  const std::string name = archive.file().path().string() + ": " + in_quotes(member.name);
  if (member.is_encrypted) fail(ErrorKind::kBadData, name + " is encrypted");
  if (member.method == 0) return Encoding::kStored;
  if (member.method == 8) return Encoding::kDeflate;
  fail(ErrorKind::kBadData,
       name + " has compression method " + std::to_string(member.method) + "; 0 (stored) and 8 (deflated) can be read");
}

}  // namespace

ZipArchive::ZipArchive(const std::filesystem::path& path) : file_(path) { read_directory(find_directory()); }

const ZipMember* ZipArchive::find(std::string_view name) const {
  const auto found = std::ranges::find(members_, name, &ZipMember::name);
  return found == members_.end() ? nullptr : &*found;
}

ZipArchive::Directory ZipArchive::find_directory() const {
  const std::uint64_t tail_bytes = std::min<std::uint64_t>(file_.size(), kEndBytes + kMaxCommentBytes);
  const std::uint64_t tail_offset = file_.size() - tail_bytes;
  const std::string tail = bytes_at(file_, tail_offset, static_cast<std::size_t>(tail_bytes));
  for (std::size_t at = tail.size() < kEndBytes ? 0 : tail.size() - kEndBytes + 1; at-- > 0;) {
    if (u32_at(tail, at) != kEndMagic || at + kEndBytes + u16_at(tail, at + 20) != tail.size()) continue;
    const std::uint64_t end_offset = tail_offset + at;
    if (u16_at(tail, at + 10) != kFull16 && u32_at(tail, at + 12) != kFull32 && u32_at(tail, at + 16) != kFull32) {
      if (u16_at(tail, at + 4) != 0 || u16_at(tail, at + 6) != 0) fail_here("is one part of several");
      return {u32_at(tail, at + 16), u32_at(tail, at + 12), u16_at(tail, at + 10)};
    }
    const std::string locator =
        end_offset < kLocator64Bytes ? "" : bytes_at(file_, end_offset - kLocator64Bytes, kLocator64Bytes);
    if (locator.size() != kLocator64Bytes || u32_at(locator, 0) != kLocator64Magic)
      fail_here("the zip64 locator is missing");
    const std::uint64_t end64_offset = u64_at(locator, 8);
    if (end64_offset > file_.size()) fail_here("the zip64 end record lies behind the end of the file");
    const std::string end64 = bytes_at(file_, end64_offset, kEnd64Bytes);
    if (end64.size() != kEnd64Bytes || u32_at(end64, 0) != kEnd64Magic) fail_here("the zip64 end record is missing");
    if (u32_at(end64, 16) != 0 || u32_at(end64, 20) != 0) fail_here("is one part of several");
    return {u64_at(end64, 48), u64_at(end64, 40), u64_at(end64, 32)};
  }
  fail_here("is not a zip file (npz), or its end is missing; is the download complete?");
}

void ZipArchive::read_directory(const Directory& directory) {
  if (directory.offset > file_.size() || directory.bytes > file_.size() - directory.offset)
    fail_here("the zip directory lies behind the end of the file");
  if (directory.entries > directory.bytes / kEntryBytes) fail_here("the zip directory is too small for its entries");
  data_end_ = directory.offset;
  const std::string bytes = bytes_at(file_, directory.offset, static_cast<std::size_t>(directory.bytes));
  std::string_view rest = bytes;
  std::set<std::string_view> names;
  members_.reserve(static_cast<std::size_t>(directory.entries));  // views in `names` stay valid
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    members_.push_back(read_entry(rest));
    if (!names.insert(members_.back().name).second) fail_here("has two members " + in_quotes(members_.back().name));
  }
}

ZipMember ZipArchive::read_entry(std::string_view& entries) const {
  if (entries.size() < kEntryBytes || u32_at(entries, 0) != kEntryMagic)
    fail_here("entry " + std::to_string(members_.size()) + " of the zip directory is damaged");
  const std::size_t name_bytes = u16_at(entries, 28), extra_bytes = u16_at(entries, 30);
  const std::size_t entry_bytes = kEntryBytes + name_bytes + extra_bytes + u16_at(entries, 32);
  if (entry_bytes > entries.size())
    fail_here("entry " + std::to_string(members_.size()) + " of the zip directory is cut short");

  ZipMember member{.name = std::string(entries.substr(kEntryBytes, name_bytes)),
                   .size = u32_at(entries, 24),
                   .compressed_size = u32_at(entries, 20),
                   .header_offset = u32_at(entries, 42),
                   .crc32 = u32_at(entries, 16),
                   .method = u16_at(entries, 10),
                   .is_encrypted = (u16_at(entries, 8) & 1) != 0};
  Zip64Extra extra(entries.substr(kEntryBytes + name_bytes, extra_bytes));
  const std::string name = in_quotes(member.name);
  if (!extra.resolve(member.size) || !extra.resolve(member.compressed_size) || !extra.resolve(member.header_offset))
    fail_here("member " + name + ": a 64-bit size is missing");
  if (member.compressed_size > data_end_ || member.header_offset > data_end_ - member.compressed_size)
    fail_here("member " + name + " lies behind the end of the file");
  if (member.method == 0 ? member.size != member.compressed_size : member.size / kMaxRatio > member.compressed_size)
    fail_here("member " + name + " claims " + std::to_string(member.size) + " bytes, which cannot come out of " +
              std::to_string(member.compressed_size));
  entries.remove_prefix(entry_bytes);
  return member;
}

std::uint64_t ZipArchive::data_offset(const ZipMember& member) const {
  const std::string header = bytes_at(file_, member.header_offset, kLocalBytes);
  if (header.size() != kLocalBytes || u32_at(header, 0) != kLocalMagic)
    fail_here("member " + in_quotes(member.name) + " is not where the directory says");
  const std::uint64_t begin =
      member.header_offset + kLocalBytes + std::uint64_t{u16_at(header, 26)} + u16_at(header, 28);
  if (begin > data_end_ || member.compressed_size > data_end_ - begin)
    fail_here("member " + in_quotes(member.name) + " is cut short");
  return begin;
}

void ZipArchive::fail_here(const std::string& rule) const {
  fail(ErrorKind::kBadData, file_.path().string() + ": " + rule);
}

ZipMemberStream::ZipMemberStream(const ZipArchive& archive, const ZipMember& member)
    : archive_(archive),
      member_(member),
      stream_(archive.file(), archive.data_offset(member), member.compressed_size, encoding_of(archive, member)) {}

std::size_t ZipMemberStream::read(std::span<std::byte> out) {
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), bytes_left()));
  const std::size_t got = stream_.read(out.first(wanted));
  done_ += got;
  for (std::size_t at = 0; at < got;) {
    const std::size_t step = std::min<std::size_t>(got - at, std::numeric_limits<uInt>::max());
    crc32_ = static_cast<std::uint32_t>(
        ::crc32(crc32_, reinterpret_cast<const Bytef*>(out.data() + at), static_cast<uInt>(step)));
    at += step;
  }
  if (got < wanted)
    fail(ErrorKind::kBadData,
         name() + ": ends after " + std::to_string(done_) + " of " + std::to_string(member_.size) + " bytes");
  if (bytes_left() == 0) {
    std::byte extra{};
    if (stream_.read(std::span(&extra, 1)) != 0)
      fail(ErrorKind::kBadData, name() + ": holds more than the " + std::to_string(member_.size) + " bytes it claims");
    if (crc32_ != member_.crc32)
      fail(ErrorKind::kBadData, name() + ": the checksum (CRC-32) is wrong; the file is damaged");
  }
  return got;
}

std::string ZipMemberStream::name() const { return archive_.file().path().string() + ": " + in_quotes(member_.name); }

}  // namespace salient
