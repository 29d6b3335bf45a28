// prepare/formats/array_dict.cpp - see array_dict.h.
#include "prepare/formats/array_dict.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/files/mapped_file.h"
#include "prepare/formats/npz_reader.h"
#include "prepare/formats/pickle.h"
#include "prepare/formats/zip_archive.h"

namespace salient {
namespace {

using Kind = PickleValue::Kind;
using Use = std::function<void(std::span<const std::int64_t>, std::uint64_t)>;

constexpr std::size_t kBlockItems = std::size_t{1} << 18;

/// An array in a pickle.
struct PickledArray {
  NpyHeader header{};
  std::string_view data{};
  bool is_escaped = false;
};

/// The bytes of a pickle's data, where those above 127 may be two.
class DataStream {
 public:
  explicit DataStream(const PickledArray& array) : data_(array.data), is_escaped_(array.is_escaped) {}

  /// @return how many were left, at most out.size()
  std::size_t read(std::span<std::byte> out) {
    if (!is_escaped_) {
      const std::size_t count = std::min(out.size(), data_.size());
      std::ranges::transform(data_.substr(0, count), out.begin(), [](char c) { return static_cast<std::byte>(c); });
      data_.remove_prefix(count);
      return count;
    }
    std::size_t count = 0;
    while (count < out.size() && !data_.empty()) {
      const auto first = static_cast<unsigned char>(data_[0]);
      const bool is_two = first >= 0x80;
      if (is_two && ((first & 0xFC) != 0xC0 || data_.size() < 2)) return count;  // no byte: the array is too short
      out[count++] =
          static_cast<std::byte>(is_two ? (first & 3) << 6 | (static_cast<unsigned char>(data_[1]) & 0x3F) : first);
      data_.remove_prefix(is_two ? 2 : 1);
    }
    return count;
  }
  bool is_at_end() const { return data_.empty(); }

 private:
  std::string_view data_;
  bool is_escaped_;
};

/// All items in the order of the file, block after block of whole rows.
void read_pickled(const PickledArray& array, const std::string& name, const Use& use) {
  const NpyHeader& header = array.header;
  const std::uint64_t width =
      header.shape.size() < 2
          ? 1
          : std::max<std::uint64_t>(1, header.num_items() / std::max<std::uint64_t>(1, header.shape[0]));
  const std::uint64_t block = std::max<std::uint64_t>(1, kBlockItems / width) * width;
  const auto item = static_cast<std::size_t>(header.item_bytes);
  DataStream stream(array);
  std::vector<std::byte> raw;
  std::vector<std::int64_t> values;
  for (std::uint64_t at = 0; at < header.num_items(); at += values.size()) {
    values.resize(static_cast<std::size_t>(std::min(block, header.num_items() - at)));
    raw.resize(values.size() * item);
    if (stream.read(raw) != raw.size()) fail(ErrorKind::kBadData, name + ": is shorter than its shape says");
    convert_to_int64(header, raw.data(), values.size(), values.data());
    use(values, at);
  }
  if (!stream.is_at_end()) fail(ErrorKind::kBadData, name + ": is longer than its shape says");
}

/// Columns, one behind the other, as rows.
void read_turned(const NpyHeader& header, const std::function<void(const Use&)>& read, const Use& use) {
  std::vector<std::int64_t> columns;
  columns.reserve(header.num_items());
  read([&](std::span<const std::int64_t> block, std::uint64_t) {
    columns.insert(columns.end(), block.begin(), block.end());
  });
  const std::uint64_t rows = header.shape[0], width = header.shape[1];
  const std::uint64_t block = std::max<std::uint64_t>(1, kBlockItems / std::max<std::uint64_t>(1, width));
  std::vector<std::int64_t> values;
  for (std::uint64_t first = 0; first < rows; first += block) {
    const std::uint64_t count = std::min(block, rows - first);
    values.resize(count * width);
    for (std::uint64_t i = 0; i < count; ++i)
      for (std::uint64_t j = 0; j < width; ++j) values[i * width + j] = columns[j * rows + first + i];
    use(values, first * width);
  }
}

/// What NumPy pickles an array as: _reconstruct(...), with the state (1, shape, dtype, is_fortran, data).
class PickledDict {
 public:
  PickledDict(std::span<const std::byte> bytes, const std::string& file) : file_(file) {
    std::size_t at = 0;
    // The form before zip: a magic number, a version and facts about the machine stand in front, as pickles.
    for (int i = 0; i < 4; ++i) {
      pickle_ = read_pickle(bytes.subspan(at), file_);
      at += pickle_.num_bytes;
      if (is_dict_of_arrays()) break;
    }
    const PickleValue& root = pickle_.values[pickle_.root];
    if (root.kind != Kind::kDict) refuse("is no dictionary");
    for (std::size_t i = 0; i + 1 < root.items.size(); i += 2) {
      const PickleValue& key = pickle_.values[root.items[i]];
      if (key.kind != Kind::kText) refuse("has a key that is no text");
      values_.emplace(std::string(key.text), root.items[i + 1]);
    }
  }

  const std::map<std::string, std::uint32_t, std::less<>>& values() const { return values_; }
  const PickleValue& at(std::uint32_t number) const { return pickle_.values[number]; }

  PickledArray array(std::string_view key) const {
    const PickleValue& object = at(values_.find(key)->second);
    if (!is_array(object)) refuse_key(key, "is no NumPy array");
    const std::vector<std::uint32_t>& state = at(object.items[2]).items;
    if (state.size() != 5) refuse_key(key, "is an array of another form");
    PickledArray array;
    for (const std::uint32_t axis : at(state[1]).items)
      array.header.shape.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(0, at(axis).integer)));
    set_type(key, at(state[2]), array.header);
    array.header.is_fortran_order = at(state[3]).integer != 0;
    const PickleValue& data = at(state[4]);
    if (data.kind != Kind::kBytes) refuse_key(key, "has values that are no bytes");
    array.data = data.text;
    array.is_escaped = data.is_escaped;
    std::uint64_t room = array.data.size() / static_cast<std::size_t>(array.header.item_bytes);
    for (const std::uint64_t axis : array.header.shape) {
      if (axis > room) refuse_key(key, "is shorter than its shape says");
      room /= std::max<std::uint64_t>(1, axis);
    }
    return array;
  }

 private:
  [[noreturn]] void refuse(const std::string& rule) const {
    fail(ErrorKind::kBadData, file_ + ": " + rule + "; one of NumPy arrays is expected, as torch.save writes it");
  }
  [[noreturn]] void refuse_key(std::string_view key, const std::string& rule) const {
    fail(ErrorKind::kBadData, file_ + ": '" + std::string(key) + "' " + rule);
  }

  bool is_dict_of_arrays() const {
    const PickleValue& root = at(pickle_.root);
    return root.kind == Kind::kDict &&
           std::ranges::any_of(root.items, [&](std::uint32_t item) { return is_array(at(item)); });
  }

  bool is_array(const PickleValue& value) const {
    if (value.kind != Kind::kObject || value.items.size() != 3) return false;
    const PickleValue& made_by = at(value.items[0]);
    return made_by.kind == Kind::kGlobal && made_by.text.ends_with("multiarray _reconstruct");
  }

  /// dtype('i8', ...) with the state (3, '<', ...).
  void set_type(std::string_view key, const PickleValue& dtype, NpyHeader& header) const {
    const auto text_of = [&](std::uint32_t number) { return at(number).text; };
    if (dtype.kind != Kind::kObject || dtype.items.size() != 3 || at(dtype.items[1]).items.empty() ||
        at(dtype.items[2]).items.size() < 2)
      refuse_key(key, "has a type of another form");
    const std::string_view name = text_of(at(dtype.items[1]).items[0]);
    header.is_big_endian = text_of(at(dtype.items[2]).items[1]) == ">";
    const bool is_number = name.size() == 2 && (name[0] == 'i' || name[0] == 'u' || name[0] == 'f') &&
                           (name[1] == '1' || name[1] == '2' || name[1] == '4' || name[1] == '8');
    if (!is_number) refuse_key(key, "is an array of '" + std::string(name) + "', no numbers");
    header.kind = name[0];
    header.item_bytes = name[1] - '0';
  }

  const std::string file_;
  Pickle pickle_{};
  std::map<std::string, std::uint32_t, std::less<>> values_{};
};

}  // namespace

struct ArrayDict::Impl {
  std::optional<MappedFile> mapping{};  // of .pt
  std::optional<PickledDict> pickled{};
  std::optional<ZipArchive> archive{};  // of .npz
  std::map<std::string, NpyHeader, std::less<>> headers{};
  std::map<std::string, std::uint32_t, std::less<>> lists{};
};

namespace {

/// Where the pickle is: in a zip file a member that is stored as it is.
std::span<const std::byte> pickle_in(const MappedFile& mapping, const std::filesystem::path& path) {
  if (!mapping.text().starts_with("PK")) return mapping.bytes();
  const ZipArchive archive(path);
  for (const ZipMember& member : archive.members())
    if (member.name.ends_with("/data.pkl") && member.method == 0)
      return mapping.bytes().subspan(archive.data_offset(member), member.size);
  fail(ErrorKind::kBadData, path.string() + ": a zip file without data.pkl, so none of torch.save");
}

}  // namespace

ArrayDict::ArrayDict(const std::filesystem::path& path) : file_(path.string()) {
  auto impl = std::make_unique<Impl>();
  if (path.extension() == ".npz") {
    impl->archive.emplace(path);
    for (const ZipMember& member : impl->archive->members()) {
      if (!member.name.ends_with(".npy")) continue;
      const std::string key = member.name.substr(0, member.name.size() - 4);
      impl->headers.emplace(key, NpzArray(*impl->archive, key).header());
    }
  } else {
    impl->mapping.emplace(path);
    impl->pickled.emplace(pickle_in(*impl->mapping, path), file_);
    for (const auto& [key, value] : impl->pickled->values()) {
      if (impl->pickled->at(value).kind == Kind::kList)
        impl->lists.emplace(key, value);
      else
        impl->headers.emplace(key, impl->pickled->array(key).header);
    }
  }
  impl_ = std::move(impl);
}

ArrayDict::~ArrayDict() = default;
ArrayDict::ArrayDict(ArrayDict&&) noexcept = default;

bool ArrayDict::has(std::string_view key) const {
  return impl_->headers.find(key) != impl_->headers.end() || impl_->lists.find(key) != impl_->lists.end();
}

std::string ArrayDict::keys() const {
  std::string text;
  for (const auto& [key, header] : impl_->headers) text.append(text.empty() ? "'" : ", '").append(key).append("'");
  for (const auto& [key, list] : impl_->lists) text.append(text.empty() ? "'" : ", '").append(key).append("'");
  return text;
}

const NpyHeader& ArrayDict::header(std::string_view key) const {
  const auto found = impl_->headers.find(key);
  if (found == impl_->headers.end())
    fail(ErrorKind::kBadData, file_ + ": has no array '" + std::string(key) + "'; it has " + keys());
  const NpyHeader& header = found->second;
  if (header.kind == 'f')
    fail(ErrorKind::kBadData, file_ + ": '" + std::string(key) + "' is of " + header.dtype() + ", no whole numbers");
  if (header.is_fortran_order && header.shape.size() > 2)
    fail(ErrorKind::kBadData, file_ + ": '" + std::string(key) + "' has " + std::to_string(header.shape.size()) +
                                  " axes, at most two are expected");
  return header;
}

void ArrayDict::read(std::string_view key, const Use& use) const {
  const NpyHeader& header = this->header(key);
  const std::string name = file_ + ": '" + std::string(key) + "'";
  const auto in_order = [&](const Use& take) {
    if (impl_->pickled) return read_pickled(impl_->pickled->array(key), name, take);
    NpzArray array(*impl_->archive, key);
    const std::uint64_t width = header.shape.size() == 2 ? std::max<std::uint64_t>(1, header.shape[1]) : 1;
    std::vector<std::int64_t> block(std::max<std::uint64_t>(1, kBlockItems / width) * width);
    std::uint64_t at = 0;
    while (const std::size_t count = array.read(std::span(block))) {
      take(std::span(block).first(count), at);
      at += count;
    }
  };
  if (header.is_fortran_order && header.shape.size() == 2) return read_turned(header, in_order, use);
  in_order(use);
}

ArrayDict::Words ArrayDict::words(std::string_view key) const {
  const auto found = impl_->lists.find(key);
  if (found == impl_->lists.end()) fail(ErrorKind::kBadData, file_ + ": has no list '" + std::string(key) + "'");
  Words words;
  std::unordered_map<std::uint32_t, std::uint32_t> of_value;  // a value that is mentioned again is the same one
  std::unordered_map<std::string_view, std::uint32_t> of_text;
  for (const std::uint32_t item : impl_->pickled->at(found->second).items) {
    const auto known = of_value.find(item);
    if (known != of_value.end()) {
      words.numbers.push_back(known->second);
      continue;
    }
    const PickleValue& value = impl_->pickled->at(item);
    if (value.kind != Kind::kText) fail(ErrorKind::kBadData, file_ + ": '" + std::string(key) + "' is no list of text");
    const auto [place, is_new] = of_text.emplace(value.text, static_cast<std::uint32_t>(words.names.size()));
    if (is_new) words.names.emplace_back(value.text);
    of_value.emplace(item, place->second);
    words.numbers.push_back(place->second);
  }
  return words;
}

}  // namespace salient
