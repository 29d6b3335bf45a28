// tests/fuzz/parts_fuzz.cpp - any bytes as parts.json, up to the first 0, and as owner.npy: refused, or each node
// belongs to a part.
#include "store/parts.h"
#include "tests/fuzz/fuzz_target.h"

namespace salient::fuzz {
namespace {

constexpr std::uint64_t kNodes = 3;

/// A file in memory that gets new bytes for each input. A disk would be too slow.
class Slot {
 public:
  Slot() : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) { claim(descriptor_ >= 0, "memory files can be made"); }
  ~Slot() { ::close(descriptor_); }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  void write(std::string_view bytes) const {
    claim(::ftruncate(descriptor_, 0) == 0, "the file can be emptied");
    claim(::pwrite(descriptor_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()), "and written");
  }

 private:
  int descriptor_;
};

/// Of a process: a data set of three nodes without edges, and the folder of its parts.
struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "salient-fuzz-XXXXXX").string();
    claim(::mkdtemp(name.data()) != nullptr, "a folder can be made");
    dataset.directory = name;
    dataset.fingerprint = "0123456789abcdef";
    dataset.graph.indptr = indptr;
    std::filesystem::create_symlink(json.path(), dataset.directory / kPartsName);
    std::filesystem::create_symlink(owners.path(), dataset.directory / "owner.npy");
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(dataset.directory, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  EdgeOffset indptr[kNodes + 1] = {};
  Dataset dataset{};
  Slot json{}, owners{};
};

std::string parts_json(const std::string& end) {
  return R"({"format": "salient parts", "format_version": 1, "num_parts": 3, "method": "hand", "xxh3": "0", )" + end;
}

std::string owner_npy(std::string text, const std::string& values) {
  text = "{'descr': '<u2', 'fortran_order': False, 'shape': " + text + ", }";
  text.resize(128 - 11, ' ');
  std::string bytes("\x93NUMPY\1");
  bytes.append({'\0', static_cast<char>(text.size() + 1), '\0'});
  return bytes + text + "\n" + values;
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string zero(1, '\0');
  const std::string json = parts_json(R"("dataset": "0123456789abcdef"})");
  const std::string some("\2\0\0\0\1\0", 6);
  return {json + zero + owner_npy("(3,)", some), json + zero + owner_npy("(3,)", std::string(6, '\xFF')),
          parts_json(R"("dataset": "another"})") + zero};
}

}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient;
  static const fuzz::Folder folder;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t end = bytes.find('\0');
  folder.json.write(bytes.substr(0, end));
  folder.owners.write(end == std::string_view::npos ? "" : bytes.substr(end + 1));
  (void)fuzz::succeeds([&] {
    const Parts parts = open_parts(folder.dataset);
    fuzz::claim(parts.owner.size() == fuzz::kNodes, "each node has an owner");
    for (const std::uint16_t part : parts.owner) fuzz::claim(part < parts.num_parts, "owners are parts");
  });
  return 0;
}
