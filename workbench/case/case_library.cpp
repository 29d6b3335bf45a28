// workbench/case/case_library.cpp - finds case files, and says what a case asks for; see case.h.
#include <algorithm>

#include "core/error.h"
#include "core/files/file_io.h"
#include "workbench/case/case.h"

namespace salient::workbench {
std::string type_name(ElementType type, BackendKind backend) {
  switch (type) {
    case ElementType::kF32: return "float";
    case ElementType::kF16: return backend == BackendKind::kHost ? "half" : "__half";
    case ElementType::kBF16: return backend == BackendKind::kHost ? "bfloat16" : "__nv_bfloat16";
    case ElementType::kI32: return "int";
    case ElementType::kU32: return "unsigned";
  }
  return "";
}

std::vector<Case> load_cases(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) fail(ErrorKind::kNoInput, folder.string() + ": no folder of cases");
  std::vector<Case> cases;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".case") continue;
    cases.push_back(parse_case(read_text_file(entry.path()), entry.path()));
    if (cases.back().name != entry.path().stem())
      fail(ErrorKind::kBadData, entry.path().string() + ": the case is named as its file");
  }
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.name < b.name; });
  return cases;
}

namespace {

bool is_file(const std::string& word) { return word.ends_with(".case"); }

}  // namespace

Case load_case(const std::filesystem::path& folder, const std::string& name) {
  if (is_file(name)) {
    const std::filesystem::path file = std::filesystem::absolute(name).lexically_normal();
    Case own = parse_case(read_text_file(file), file);
    if (own.name != file.stem()) fail(ErrorKind::kBadData, file.string() + ": the case is named as its file");
    return own;
  }
  std::string known;
  for (Case& found : load_cases(folder)) {
    if (found.name == name) return std::move(found);
    known.append(known.empty() ? "" : ", ").append(found.name);
  }
  fail(ErrorKind::kNoInput, "no case '" + name + "'; there are " + known + "; or name a file, as in my/sum.case");
}

std::string word_of(const Case& given, const std::filesystem::path& folder) {
  const bool is_of_folder = given.file.parent_path() == folder.lexically_normal() || given.file.parent_path() == folder;
  return is_of_folder || given.file.empty() ? given.name : given.file.string();
}

std::vector<std::string> sizes_of(const Case& given) {
  const auto is_of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto names = [&](const std::string& expression, const std::string& dim) {
    for (std::size_t at = 0; (at = expression.find(dim, at)) != std::string::npos; at += dim.size()) {
      const std::size_t end = at + dim.size();
      if ((at == 0 || !is_of_word(expression[at - 1])) && (end == expression.size() || !is_of_word(expression[end])))
        return true;
    }
    return false;
  };
  std::vector<std::string> sizes;
  for (const std::string& dim : given.dims)
    if (std::any_of(given.buffers.begin(), given.buffers.end(),
                    [&](const BufferSpec& buffer) { return names(buffer.count, dim); }))
      sizes.push_back(dim);
  return sizes;
}

std::string parameter_list(const Case& given, BackendKind backend, const std::vector<BufferSpec>& scratch) {
  std::string text = backend == BackendKind::kHost ? "WorkbenchBlock block" : "";
  const auto add = [&](const std::string& parameter) { text.append(text.empty() ? "" : ", ").append(parameter); };
  for (const BufferSpec& buffer : given.buffers)
    add((buffer.role == BufferRole::kIn ? "const " : "") + type_name(buffer.type, backend) + "* " + buffer.name);
  for (const std::string& dim : given.dims) add("long long " + dim);
  for (const BufferSpec& buffer : scratch) add(type_name(buffer.type, backend) + "* " + buffer.name);
  return text;
}

std::string describe(const Case& given, BackendKind backend) {
  std::string text = "case " + given.name + " (" + given.kind + ")\n" + given.task + "parameters: ";
  text += parameter_list(given, backend, {}) + "\nsizes:";
  for (const BufferSpec& buffer : given.buffers)
    text.append(" ").append(buffer.name).append("[").append(buffer.count).append("]");
  text += "\nleast bytes: " + given.bytes + "; least operations: " + given.flops + "\nerror bound: " + given.bound +
          " * eps * sum|terms| per element, against double precision\n";
  if (given.atomics) text += "additions may happen in any order\n";
  for (const ShapeSpec& shape : given.shapes) {
    if (shape.set != ShapeSet::kPublic || (!shape.backend.empty() && shape.backend != word_of(backend))) continue;
    text += "timed at";
    for (const DimRange& dim : shape.dims) text.append(" ").append(dim.name).append("=") += std::to_string(dim.low);
    text += "\n";
  }
  return text + "Other shapes are tested too: 0, 1, odd, and not multiples of anything.\n";
}

}  // namespace salient::workbench
