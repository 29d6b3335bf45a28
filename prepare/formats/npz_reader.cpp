// prepare/formats/npz_reader.cpp - zip member -> npy header -> converted items
#include "prepare/formats/npz_reader.h"

#include <algorithm>

#include "core/error.h"
#include "core/files/value_rules.h"
#include "prepare/formats/text_fields.h"

namespace salient {

namespace {
constexpr std::uint64_t kBlockItems = std::uint64_t{64} << 10;
}

std::string names_in(const ZipArchive& archive) {
  std::string found;
  for (const ZipMember& member : archive.members())
    if (found.size() < 200) found.append(found.empty() ? "" : ", ").append(in_quotes(member.name));
  return found.empty() ? "nothing" : found;
}

const ZipMember& NpzArray::member_of(const ZipArchive& archive, std::string_view key) {
  const std::string wanted = std::string(key) + ".npy";
  if (const ZipMember* member = archive.find(wanted)) return *member;
  fail(ErrorKind::kBadData,
       archive.file().path().string() + ": has no array " + wanted + "; it has: " + names_in(archive));
}

NpzArray::NpzArray(const ZipArchive& archive, std::string_view key) : stream_(archive, member_of(archive, key)) {
  const std::uint64_t member_bytes = stream_.bytes_left();
  std::vector<std::byte> head(kNpyPreambleBytes);
  head.resize(stream_.read(head));
  const auto text = [&] { return std::string_view(reinterpret_cast<const char*>(head.data()), head.size()); };
  const std::size_t header_bytes = std::max(npy_header_bytes(text(), name()), kNpyPreambleBytes);
  head.resize(header_bytes);  // at most 64 KiB, whatever the file says
  const std::size_t got = stream_.read(std::span(head).subspan(kNpyPreambleBytes));
  head.resize(kNpyPreambleBytes + got);
  header_ = parse_npy_header(text(), name());

  const std::uint64_t expected = header_.data_offset + header_.data_bytes();
  if (member_bytes != expected)
    fail(ErrorKind::kBadData, name() + ": is " + std::to_string(member_bytes) + " bytes, " + header_.dtype() + " " +
                                  header_.shape_text() + " needs " + std::to_string(expected));
  items_left_ = header_.num_items();
}

void NpzArray::expect(NpzKind kind) const {
  const bool is_integer = header_.kind == 'i' || header_.kind == 'u' || header_.kind == 'b';
  if (kind == NpzKind::kInteger && !is_integer)
    fail(ErrorKind::kBadData, name() + ": has type " + header_.dtype() + ", integers are expected");
  if (kind == NpzKind::kFloat && header_.kind != 'f')
    fail(ErrorKind::kBadData, name() + ": has type " + header_.dtype() + ", floating-point numbers are expected");
}

void NpzArray::expect_shape(std::span<const std::uint64_t> shape) const {
  if (std::ranges::equal(header_.shape, shape)) return;
  NpyHeader wanted;
  wanted.shape.assign(shape.begin(), shape.end());
  fail(ErrorKind::kBadData, name() + ": has shape " + header_.shape_text() + ", expected " + wanted.shape_text());
}

template <class T, class Convert>
std::size_t NpzArray::read_converted(std::span<T> out, Convert convert) {
  std::size_t done = 0;
  while (done < out.size() && items_left_ > 0) {
    const auto raw = read_raw(out.size() - done);
    const std::size_t count = raw.size() / static_cast<std::size_t>(header_.item_bytes);
    convert(header_, raw.data(), count, out.data() + done);
    done += count;
  }
  return done;
}

std::size_t NpzArray::read(std::span<std::int64_t> out) {
  expect(NpzKind::kInteger);
  return read_converted(out, convert_to_int64);
}

std::size_t NpzArray::read(std::span<std::uint64_t> out) {
  const std::string array = name();
  return read_converted(out, [&](const NpyHeader& header, const std::byte* raw, std::size_t count, std::uint64_t* ids) {
    convert_to_ids(header, raw, count, header.num_items() - items_left_ - count, array, ids);
  });
}

std::size_t NpzArray::read(std::span<float> out) { return read_converted(out, convert_to_float); }
std::size_t NpzArray::read(std::span<double> out) { return read_converted(out, convert_to_double); }

void NpzArray::skip(std::uint64_t items) {
  for (items = std::min(items, items_left_); items > 0;)
    items -= read_raw(items).size() / static_cast<std::size_t>(header_.item_bytes);
}

std::span<const std::byte> NpzArray::read_raw(std::uint64_t items) {
  const std::uint64_t count = std::min({items, items_left_, kBlockItems});
  block_.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(header_.item_bytes));
  const std::size_t got = stream_.read(block_);
  require(got == block_.size(), "a member has the size that the constructor compared");
  items_left_ -= count;
  return block_;
}

}  // namespace salient
