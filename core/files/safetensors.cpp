// core/files/safetensors.cpp - the header, both ways, and the rules that tie it to the data.
#include "core/files/safetensors.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/files/json_text.h"

namespace salient {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);
constexpr const char* kMetadata = "__metadata__";

struct TypeRow {
  TensorType type;
  std::string_view name;
  std::size_t bytes;
};
constexpr TypeRow kTypes[] = {{TensorType::kF64, "F64", 8}, {TensorType::kF32, "F32", 4},
                              {TensorType::kF16, "F16", 2}, {TensorType::kBF16, "BF16", 2},
                              {TensorType::kI64, "I64", 8}, {TensorType::kI32, "I32", 4},
                              {TensorType::kU8, "U8", 1},   {TensorType::kBool, "BOOL", 1}};

const TypeRow& row_of(TensorType type) {
  return *std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeRow& row) { return row.type == type; });
}

/// A name from a file, safe to print on one line.
std::string quoted(const std::string& name) { return Json(name).dump(-1, ' ', true, Json::error_handler_t::replace); }

/// Bytes that the shape asks for; false on overflow.
bool bytes_of_shape(std::span<const std::int64_t> shape, TensorType type, std::uint64_t& bytes) {
  bytes = size_of(type);
  return std::all_of(shape.begin(), shape.end(), [&](std::int64_t extent) {
    return extent >= 0 && !__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes);
  });
}

/// Reads one file; holds what every error needs.
class Parser {
 public:
  Parser(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  SafetensorsView parse() {
    const Json header = read_header();
    SafetensorsView view;
    for (const auto& [name, fields] : header.items()) {
      if (name == kMetadata)
        view.metadata = read_metadata(fields);
      else
        view.tensors.push_back(read_tensor(name, fields));
    }
    check_coverage(view.tensors);
    return view;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { fail(ErrorKind::kBadData, file_ + ": " + why); }
  [[noreturn]] void refuse(const std::string& tensor, const std::string& why) const {
    refuse("tensor " + quoted(tensor) + ": " + why);
  }

  Json read_header() {
    std::uint64_t length = 0;
    if (bytes_.size() < kLengthBytes)
      refuse("not a safetensors file: " + std::to_string(bytes_.size()) + " bytes, the length alone takes 8");
    std::memcpy(&length, bytes_.data(), kLengthBytes);
    if (length > kMaxHeaderBytes)
      refuse("not a safetensors file: its header would have " + std::to_string(length) + " bytes");
    if (length > bytes_.size() - kLengthBytes)
      refuse("truncated: the header has " + std::to_string(length) + " bytes, the file " +
             std::to_string(bytes_.size()));
    const auto* text = reinterpret_cast<const char*>(bytes_.data()) + kLengthBytes;
    data_ = bytes_.subspan(kLengthBytes + length);

    Json header;
    try {
      header = read_json<Json>({text, length});
    } catch (const JsonFault& fault) {
      if (fault.is_json) refuse("the header has " + fault.what);
    }
    if (!header.is_object()) refuse("the header is not a JSON object");
    return header;
  }

  TensorMetadata read_metadata(const Json& fields) const {
    TensorMetadata metadata;
    if (!fields.is_object()) refuse("__metadata__ is not an object");
    for (const auto& [key, value] : fields.items()) {
      if (!value.is_string()) refuse("__metadata__: " + quoted(key) + " is not a string");
      metadata[key] = value.get<std::string>();
    }
    return metadata;
  }

  TensorInfo read_tensor(const std::string& name, const Json& fields) const {
    if (!fields.is_object() || fields.size() != 3 || !fields.contains("dtype") || !fields.contains("shape") ||
        !fields.contains("data_offsets"))
      refuse(name, "must have dtype, shape and data_offsets, and nothing else");
    TensorInfo tensor{name, read_type(name, fields["dtype"]), {}, {}};
    for (const std::uint64_t extent : read_numbers(name, "shape", fields["shape"]))
      tensor.shape.push_back(static_cast<std::int64_t>(extent));
    const auto offsets = read_numbers(name, "data_offsets", fields["data_offsets"]);
    if (offsets.size() != 2 || offsets[0] > offsets[1]) refuse(name, "data_offsets must be [begin, end], ascending");
    if (offsets[1] > data_.size())
      refuse(name,
             "ends at byte " + std::to_string(offsets[1]) + " of the data, which has " + std::to_string(data_.size()));
    std::uint64_t bytes = 0;
    if (!bytes_of_shape(tensor.shape, tensor.type, bytes) || bytes != offsets[1] - offsets[0])
      refuse(name, "its " + std::to_string(offsets[1] - offsets[0]) + " bytes do not match its shape and dtype");
    tensor.bytes = data_.subspan(offsets[0], bytes);
    return tensor;
  }

  TensorType read_type(const std::string& tensor, const Json& value) const {
    if (value.is_string())
      for (const TypeRow& row : kTypes)
        if (value.get_ref<const std::string&>() == row.name) return row.type;
    refuse(tensor, "dtype " + value.dump(-1, ' ', true, Json::error_handler_t::replace) +
                       " is not one of F64 F32 F16 BF16 I64 I32 U8 BOOL");
  }

  std::vector<std::uint64_t> read_numbers(const std::string& tensor, const char* field, const Json& value) const {
    constexpr std::uint64_t kMax = std::uint64_t{1} << 62;
    std::vector<std::uint64_t> numbers;
    const auto is_number = [](const Json& n) { return n.is_number_unsigned() && n.get<std::uint64_t>() < kMax; };
    if (!value.is_array() || !std::all_of(value.begin(), value.end(), is_number))
      refuse(tensor, std::string(field) + " is not a list of whole numbers from 0");
    for (const Json& number : value) numbers.push_back(number.get<std::uint64_t>());
    return numbers;
  }

  /// Sorts by place, and checks that the arrays follow one another without hole, overlap or rest.
  void check_coverage(std::vector<TensorInfo>& tensors) const {
    const auto begin = [&](const TensorInfo& t) { return static_cast<std::size_t>(t.bytes.data() - data_.data()); };
    std::stable_sort(tensors.begin(), tensors.end(), [&](const TensorInfo& a, const TensorInfo& b) {
      return std::pair(begin(a), a.bytes.size()) < std::pair(begin(b), b.bytes.size());
    });
    std::size_t end = 0;
    for (const TensorInfo& tensor : tensors) {
      if (begin(tensor) > end)
        refuse(tensor.name, "a hole of " + std::to_string(begin(tensor) - end) + " bytes before it");
      if (begin(tensor) < end) refuse(tensor.name, "overlaps the tensor before it");
      end += tensor.bytes.size();
    }
    if (end != data_.size()) refuse(std::to_string(data_.size() - end) + " bytes after the last tensor belong to none");
  }

  std::span<const std::byte> bytes_;
  std::span<const std::byte> data_{};
  const std::string& file_;
};

}  // namespace

std::string_view name_of(TensorType type) { return row_of(type).name; }
std::size_t size_of(TensorType type) { return row_of(type).bytes; }

FileDigest write_safetensors(const std::filesystem::path& path, std::span<const TensorInfo> tensors,
                             const TensorMetadata& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  std::uint64_t offset = 0;
  for (const TensorInfo& tensor : tensors) {
    std::uint64_t bytes = 0;
    require(bytes_of_shape(tensor.shape, tensor.type, bytes) && bytes == tensor.bytes.size(), "bytes fit the shape");
    require(tensor.name != kMetadata && !header.contains(tensor.name), "tensors have distinct names");
    header[tensor.name] = {
        {"dtype", name_of(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data starts at a multiple of 8

  OutputFile file(path);
  const std::uint64_t length = text.size();
  file.write(&length, sizeof(length));
  file.write(text);
  for (const TensorInfo& tensor : tensors) file.write(tensor.bytes.data(), tensor.bytes.size());
  return file.close();
}

const TensorInfo* SafetensorsView::find(std::string_view name) const {
  const auto at = std::find_if(tensors.begin(), tensors.end(), [&](const TensorInfo& t) { return t.name == name; });
  return at == tensors.end() ? nullptr : &*at;
}

SafetensorsView parse_safetensors(std::span<const std::byte> bytes, const std::string& file) {
  return Parser(bytes, file).parse();
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : file_(path), view_(parse_safetensors(file_.bytes(), file_.name())) {}

}  // namespace salient
