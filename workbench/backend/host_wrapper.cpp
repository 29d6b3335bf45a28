// workbench/backend/host_wrapper.cpp - see host_wrapper.h.
#include "workbench/backend/host_wrapper.h"

#include <set>

#include "workbench/referee/static_gate.h"

namespace salient::workbench {
namespace {

/// Types of the parameters behind the block, in their order.
std::vector<std::string> types_of(const Candidate& candidate, const Case& given) {
  std::vector<std::string> types;
  for (const BufferSpec& buffer : given.buffers)
    types.push_back((buffer.role == BufferRole::kIn ? "const " : "") + type_name(buffer.type, BackendKind::kHost) +
                    "*");
  types.insert(types.end(), given.dims.size(), "long long");
  for (const BufferSpec& buffer : candidate.scratch) types.push_back(type_name(buffer.type, BackendKind::kHost) + "*");
  return types;
}

}  // namespace

std::string host_prologue(const Candidate& candidate) {
  std::string text = "#include \"workbench_kernel.h\"\n";
  for (const std::string& header : included_headers(candidate.source)) text += "#include " + header + "\n";
  for (const Parameter& p : candidate.parameters) text += "#define " + p.name + " " + std::to_string(p.value) + "\n";
  return text + "#include \"candidate.cpp\"\n";
}

std::string host_wrapper(const Candidate& candidate, const Case& given) {
  const std::vector<std::string> types = types_of(candidate, given);
  std::string parameters = "WorkbenchBlock", arguments = "*block";
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string at = "a[" + std::to_string(i) + "]";
    parameters += ", " + types[i];
    arguments += types[i].back() == '*' ? ", static_cast<" + types[i] + ">(" + at + ")"
                                        : ", *static_cast<" + types[i] + "*>(" + at + ")";
  }
  std::string text = "\n# 1 \"wrapper.cpp\"\n";
  std::set<std::string> done;
  for (const LaunchLine& launch : candidate.launches) {
    if (!done.insert(launch.kernel).second) continue;
    text += "extern \"C\" void salient_call_" + launch.kernel + "(const WorkbenchBlock* block, void* const* a) {\n" +
            "  void (*const entry)(" + parameters + ") = ::" + launch.kernel + ";\n  entry(" + arguments + ");\n}\n";
  }
  return text;
}

}  // namespace salient::workbench
