// workbench/backend/host_wrapper.cpp - see host_wrapper.h.
#include "workbench/backend/host_wrapper.h"

#include <set>

namespace salient::workbench {

std::string host_wrapper(const Candidate& candidate, const Case& given) {
  std::string text = "#include \"candidate.cpp\"\n#include <type_traits>\n#include \"workbench_kernel.h\"\n";
  const std::string parameters = parameter_list(given, BackendKind::kHost, candidate.scratch);
  std::set<std::string> done;
  for (const LaunchLine& launch : candidate.launches) {
    const std::string& name = launch.kernel;
    if (!done.insert(name).second) continue;
    text += "static_assert(std::is_same_v<decltype(" + name + "), void(" + parameters + ")>, \"entry\");\n";
    text += "extern \"C\" void salient_call_" + name + "(const WorkbenchBlock* block, void* const* a) {\n  " + name +
            "(*block";
    std::size_t at = 0;
    const auto pass = [&](const std::string& what) { text += ", " + what; };
    const auto pass_address = [&] { pass("SalientAddress{a[" + std::to_string(at++) + "]}"); };
    for (std::size_t b = 0; b < given.buffers.size(); ++b) pass_address();
    for (std::size_t d = 0; d < given.dims.size(); ++d)
      pass("*static_cast<long long*>(a[" + std::to_string(at++) + "])");
    for (std::size_t b = 0; b < candidate.scratch.size(); ++b) pass_address();
    text += ");\n}\n";
  }
  const std::string address =
      "struct SalientAddress {\n  void* at;\n  template <class T>\n  operator T*() const { return static_cast<T*>(at); "
      "}\n};\n";
  return text.insert(text.find("static_assert"), address);
}

}  // namespace salient::workbench
