// core/files/known_format.cpp - known_format() and looks_like() of npy.h: what a file is that is no array
#include <string>
#include <string_view>

#include "core/files/npy.h"

namespace salient {

namespace {

using namespace std::literals;

struct Format {
  std::string_view first;  ///< bytes of a file
  const char* name;
};

constexpr Format kFormats[] = {
    {"\x1F\x8B", "gzip"},
    {"PK\3\4", "zip (npz)"},
    {"PK\5\6", "zip (npz)"},
    {"\x93NUMPY", "an npy array"},
    {"version https://git-lfs", "a Git LFS pointer; fetch the real file with git lfs"},
    {"\x28\xB5\x2F\xFD", "zstd"},
    {"\xFD\x37zXZ", "xz"},
    {"\x04\x22M\x18", "lz4"},
    {"\x1F\x9D", "compress (.Z)"},
    {"7z\xBC\xAF", "a 7z archive"},
    {"Rar!\x1A", "a RAR archive"},
    {"\x80\x02", "a Python pickle"},
    {"\x80\x03", "a Python pickle"},
    {"\x80\x04", "a Python pickle"},
    {"\x80\x05", "a Python pickle"},
    {"PAR1", "Parquet, which prepare() of the Python package salient_gnn reads"},
    {"ARROW1\0"sv, "Arrow"},
    {"FEA1\0"sv, "Feather"},
    {"Obj\x01", "Avro"},
    {"\x89HDF", "HDF5"},
    {"MATLAB 5.0 MAT-file", "a MATLAB file"},
    {"SQLite format 3", "an SQLite database"},
    {"\xD0\xCF\x11\xE0", "an Excel or other Office file"},
    {"RDX2\n", "an R workspace"},
    {"RDX3\n", "an R workspace"},
    {"X\n\0\0\0"sv, "an R object (RDS)"},
    {"%PDF-", "PDF"},
    {"\xFF\xFE\0\0"sv, "text in UTF-32"},
    {"\xFF\xFE", "text in UTF-16"},
    {"\xFE\xFF", "text in UTF-16"},
    {"<!", "a web page"},
    {"<html", "a web page"},
};

/// By the name of a member, which is at the beginning.
constexpr Format kZips[] = {{"[Content_Types].xml", "an Excel workbook"},
                            {"_rels/", "an Excel workbook"},
                            {"mimetypeapplication/vnd.oasis", "an OpenDocument file"},
                            {"/data.pkl", "a file of PyTorch (torch.save)"}};

}  // namespace

const char* known_format(std::string_view first_bytes) {
  const auto has = [&](std::size_t at, std::string_view bytes) {
    return first_bytes.size() >= at && first_bytes.substr(at).starts_with(bytes);
  };
  if (has(0, "PK\3\4"))
    for (const auto& [member, name] : kZips)
      if (first_bytes.substr(0, 128).find(member) != std::string_view::npos) return name;
  if (has(0, "BZh") && has(4, "1AY&SY")) return "bzip2";  // between them the level
  if (has(257, "ustar")) return "a tar archive";
  for (const auto& [first, name] : kFormats)
    if (has(0, first)) return name;
  return nullptr;
}

std::string looks_like(std::string_view first_bytes) {
  if (first_bytes.empty()) return "an empty file";
  const char* const format = known_format(first_bytes);
  return format ? format : "raw data";
}

}  // namespace salient
