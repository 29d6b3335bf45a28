// workbench/promotion/export_package.cpp - see export_package.h.
#include "workbench/promotion/export_package.h"

#include <nlohmann/json.hpp>

#include "workbench/promotion/launch_header.h"

namespace salient::workbench {
namespace {

using Json = nlohmann::json;

bool is_host(const Exported& exported) { return exported.backend == BackendKind::kHost; }
const char* extension(const Exported& exported) { return is_host(exported) ? ".cpp" : ".cu"; }

const char* word_of(BufferRole role) {
  return role == BufferRole::kIn ? "in" : role == BufferRole::kOut ? "out" : "inout";
}

std::string prototype(const Exported& exported) {
  return "int salient_" + exported.given.name +
         "(void* const* buffers, const std::int64_t* sizes, void* stream, char* message)";
}

std::string library_header(const Exported& exported) {
  const Case& given = exported.given;
  std::string text = "// " + given.name + "_library.h - " + given.name +
                     " as a function, made by salient-kernels export.\n" +
                     "#pragma once\n\n#include <cstdint>\n\n/// buffers:";
  for (const BufferSpec& buffer : given.buffers)
    text += " " + buffer.name + " (" + workbench::word_of(buffer.type) + ", " + word_of(buffer.role) + ", " +
            buffer.count + "),";
  text.back() = ';';
  text += "\n/// sizes:";
  for (const std::string& dim : given.dims) text += " " + dim;
  text += is_host(exported) ? ". stream is not used." : ". stream is a cudaStream_t of the current device.";
  return text + "\n/// @return 0, or message (256 bytes) says why not\nextern \"C\" " + prototype(exported) + ";\n";
}

/// Everything that the candidate's text could make other text of comes before it, and its parameters end behind it.
std::string head_of_library(const Exported& exported) {
  const Case& given = exported.given;
  std::string text = "// " + given.name + "_library" + extension(exported) + " - see " + given.name +
                     "_library.h; made by salient-kernels export.\n#include \"" + given.name + "_library.h\"\n\n" +
                     "#include <array>\n#include <cstddef>\n#include <cstdio>\n#include <memory>\n#include "
                     "<stdexcept>\n#include <string>\n"
                     "#include <vector>\n\n";
  if (is_host(exported)) text += "#include \"workbench_kernel.h\"\n\n";
  for (const Parameter& parameter : exported.candidate.parameters)
    text += "#define " + parameter.name + " " + std::to_string(parameter.value) + "\n";
  text += "#include \"" + given.name + extension(exported) + "\"\n";
  for (const Parameter& parameter : exported.candidate.parameters) text += "#undef " + parameter.name + "\n";
  return text + "#include \"" + given.name + "_launch.h\"\n\n";
}

/// "static_cast<const float*>(buffers[0]), ..., n, scratch_part"
std::string arguments(const Exported& exported) {
  std::string text;
  const auto add = [&](const std::string& argument) { text.append(text.empty() ? "" : ", ").append(argument); };
  for (std::size_t b = 0; b < exported.given.buffers.size(); ++b) {
    const BufferSpec& buffer = exported.given.buffers[b];
    add("static_cast<" + std::string(buffer.role == BufferRole::kIn ? "const " : "") +
        type_name(buffer.type, exported.backend) + "*>(buffers[" + std::to_string(b) + "])");
  }
  for (const std::string& dim : exported.given.dims) add(dim);
  for (const BufferSpec& scratch : exported.candidate.scratch) add("scratch_" + scratch.name);
  return text;
}

/// "n, k, sm": what functions of sizes are called with.
std::string size_arguments(const Exported& exported) {
  std::string text;
  for (const std::string& dim : exported.given.dims) text += dim + ", ";
  return text + "sm";
}

/// How many elements every buffer and scratch has, in the namespace whose min, max and ceil they mean.
std::string count_functions(const Exported& exported) {
  std::string parameters, text = "namespace salient::kernels::" + exported.given.name + " {\n\n";
  for (const std::string& dim : exported.given.dims) parameters += "[[maybe_unused]] std::int64_t " + dim + ", ";
  const auto add = [&](const BufferSpec& buffer) {
    text += "inline std::int64_t count_" + buffer.name + "(" + parameters +
            "[[maybe_unused]] std::int64_t sm) {\n  return " + buffer.count + ";\n}\n";
  };
  for (const BufferSpec& buffer : exported.given.buffers) add(buffer);
  for (const BufferSpec& scratch : exported.candidate.scratch) add(scratch);
  return text + "\n}  // namespace salient::kernels::" + exported.given.name + "\n\n";
}

std::string scratch_text(const Exported& exported) {
  std::string text;
  for (const BufferSpec& scratch : exported.candidate.scratch) {
    const std::string type = type_name(scratch.type, exported.backend), name = scratch.name;
    text += "  const auto count_" + name + " = static_cast<std::size_t>(salient::kernels::" + exported.given.name +
            "::count_" + name + "(" + size_arguments(exported) + ")) + 1;\n";
    text += is_host(exported)
                ? "  const auto owned_" + name + " = std::make_unique<" + type + "[]>(count_" + name + ");\n  " + type +
                      "* const scratch_" + name + " = owned_" + name + ".get();\n"
                : "  const Scratch owned_" + name + "(count_" + name + " * sizeof(" + type + "), cuda_stream);\n  " +
                      type + "* const scratch_" + name + " = static_cast<" + type + "*>(owned_" + name + ".get());\n";
  }
  return text;
}

constexpr const char* kCudaHelpers = R"(void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code));
}

/// Memory in the order of a stream.
class Scratch {
 public:
  Scratch(std::size_t bytes, cudaStream_t stream) : stream_(stream) {
    check(cudaMallocAsync(&memory_, bytes, stream), "taking scratch memory");
  }
  ~Scratch() { (void)cudaFreeAsync(memory_, stream_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* get() const { return memory_; }

 private:
  cudaStream_t stream_;
  void* memory_ = nullptr;
};

)";

std::string host_launch(const std::string& kernel, const std::string& with) {
  return "      case " + with + ":\n        for (long long i = 0; i < x * y * z; ++i)\n          ::" + kernel +
         "(WorkbenchBlock{i % x, i / x % y, i / (x * y), x, y, z, launch.block[0], launch.block[1], shared.data()}, ";
}

std::string cuda_launch(const std::string& kernel, const std::string& with) {
  return "      case " + with +
         ":\n        if (launch.shared_bytes > 0)\n          check(cudaFuncSetAttribute(::" + kernel +
         ", cudaFuncAttributeMaxDynamicSharedMemorySize,\n                                     "
         "static_cast<int>(launch.shared_bytes)),\n                \"shared memory\");\n        ::" +
         kernel + "<<<grid, block, static_cast<std::size_t>(launch.shared_bytes), cuda_stream>>>(";
}

std::string run_text(const Exported& exported) {
  const bool host = is_host(exported);
  std::string text = "void run(void* const* buffers, const std::int64_t* sizes, [[maybe_unused]] void* stream) {\n";
  for (std::size_t d = 0; d < exported.given.dims.size(); ++d)
    text += "  [[maybe_unused]] const long long " + exported.given.dims[d] + " = sizes[" + std::to_string(d) + "];\n";
  text +=
      host ? "  [[maybe_unused]] const int sm = 1;\n"
           : "  const auto cuda_stream = static_cast<cudaStream_t>(stream);\n  int device = 0, sm = 1;\n"
             "  check(cudaGetDevice(&device), \"asking for the device\");\n"
             "  check(cudaDeviceGetAttribute(&sm, cudaDevAttrMultiProcessorCount, device), \"asking the device\");\n";
  text += "  const auto all = salient::kernels::" + exported.given.name + "::launches(" + size_arguments(exported) +
          ");\n" + scratch_text(exported) +
          "  for (std::size_t at = 0; at < all.size(); ++at) {\n    const auto& launch = all[at];\n";
  text += "    const auto [x, y, z] = launch.grid;\n    if (x <= 0 || y <= 0 || z <= 0) continue;\n";
  text +=
      host ? "    std::vector<std::max_align_t> shared(static_cast<std::size_t>(launch.shared_bytes) / "
             "sizeof(std::max_align_t) + 1);\n"
           : "    const dim3 grid(static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z));\n"
             "    const dim3 block(static_cast<unsigned>(launch.block[0]), static_cast<unsigned>(launch.block[1]));\n";
  text += "    switch (at) {\n";
  for (std::size_t i = 0; i < exported.candidate.launches.size(); ++i) {
    const std::string& kernel = exported.candidate.launches[i].kernel;
    text += (host ? host_launch(kernel, std::to_string(i)) : cuda_launch(kernel, std::to_string(i))) +
            arguments(exported) + ");\n        break;\n";
  }
  text += "    }\n";
  if (!host) text += "    check(cudaGetLastError(), \"launching\");\n";
  return text + "  }\n}\n";
}

std::string library_source(const Exported& exported) {
  return head_of_library(exported) + count_functions(exported) + "namespace salient::exported {\nnamespace {\n\n" +
         (is_host(exported) ? "" : kCudaHelpers) + run_text(exported) +
         "\n}  // namespace\n}  // namespace salient::exported\n\nextern \"C\" " + prototype(exported) +
         " {\n  try {\n    salient::exported::run(buffers, sizes, stream);\n    return 0;\n  } catch (const "
         "std::exception& error) {\n"
         "    (void)std::snprintf(message, 256, \"%s\", error.what());\n    return 1;\n  }\n}\n";
}

std::string facts(const Exported& exported) {
  Json buffers = Json::array();
  for (const BufferSpec& buffer : exported.given.buffers)
    buffers.push_back({{"name", buffer.name},
                       {"type", workbench::word_of(buffer.type)},
                       {"role", word_of(buffer.role)},
                       {"count", buffer.count}});
  const Json made = {{"name", exported.given.name}, {"backend", workbench::word_of(exported.backend)},
                     {"buffers", buffers},          {"dims", exported.given.dims},
                     {"tried", exported.tried},     {"build", build_command(exported, "nvcc")},
                     {"task", exported.given.task}};
  return made.dump(2) + "\n";
}

}  // namespace

std::map<std::string, std::string> library_files(const Exported& exported, const std::string& kernel_header) {
  const std::string& name = exported.given.name;
  std::map<std::string, std::string> files = {
      {name + extension(exported), exported.candidate.source},
      {name + "_launch.h", launch_header(exported.candidate, exported.given, exported.tried)},
      {name + "_library.h", library_header(exported)},
      {name + "_library" + extension(exported), library_source(exported)},
      {"case.json", facts(exported)}};
  if (is_host(exported)) files["workbench_kernel.h"] = kernel_header;
  return files;
}

std::string tvm_ffi_source(const Exported& exported) {
  const Case& given = exported.given;
  std::string parameters, pointers, sizes, checks;
  for (const BufferSpec& buffer : given.buffers) {
    parameters += (parameters.empty() ? "" : ", ") + ("tvm::ffi::TensorView " + buffer.name);
    pointers += (pointers.empty() ? "" : ", ") + ("static_cast<void*>(static_cast<char*>(" + buffer.name +
                                                  ".data_ptr()) + " + buffer.name + ".byte_offset())");
    const bool is_number = is_float(buffer.type);
    checks += "  check(" + buffer.name + ", \"" + buffer.name + "\", " +
              (buffer.type == ElementType::kBF16  ? "kDLBfloat"
               : is_number                        ? "kDLFloat"
               : buffer.type == ElementType::kI32 ? "kDLInt"
                                                  : "kDLUInt") +
              ", " + std::to_string(8 * bytes_of(buffer.type)) + ", salient::kernels::" + given.name + "::count_" +
              buffer.name + "(" + size_arguments(exported) + "));\n";
  }
  for (const std::string& dim : given.dims) {
    parameters += ", std::int64_t " + dim;
    sizes += (sizes.empty() ? "" : ", ") + dim;
  }
  const std::string first = given.buffers.front().name;
  return "// " + given.name + "_tvm_ffi" + extension(exported) + " - " + given.name +
         " as a function of TVM's interface; made by salient-kernels export.\n#include \"" + given.name + "_library" +
         extension(exported) +
         "\"\n\n#include <tvm/ffi/extra/c_env_api.h>\n#include <tvm/ffi/tvm_ffi.h>\n\nnamespace salient::exported "
         "{\nnamespace {\n\n"
         "void check(tvm::ffi::TensorView tensor, const char* name, int code, int bits, std::int64_t count) {\n"
         "  const DLDataType type = tensor.dtype();\n"
         "  if (type.code != code || type.bits != bits || type.lanes != 1)\n"
         "    TVM_FFI_THROW(TypeError) << name << \": another type of elements\";\n"
         "  if (tensor.device().device_type != " +
         std::string(is_host(exported) ? "kDLCPU" : "kDLCUDA") +
         ")\n"
         "    TVM_FFI_THROW(ValueError) << name << \": another device\";\n"
         "  if (tensor.numel() != count || !tensor.IsContiguous())\n"
         "    TVM_FFI_THROW(ValueError) << name << \": needs \" << count << \" elements side by side\";\n}\n\n"
         "void call(" +
         parameters + ") {\n  [[maybe_unused]] const int sm = 1;\n" + checks + "  void* const buffers[] = {" +
         pointers + "};\n  const std::int64_t sizes[] = {" + sizes +
         "};\n  char message[256];\n  void* stream = nullptr;\n" +
         (is_host(exported) ? ""
                            : "  stream = TVMFFIEnvGetStream(" + first + ".device().device_type, " + first +
                                  ".device().device_id);\n") +
         "  if (salient_" + given.name +
         "(buffers, sizes, stream, message) != 0) TVM_FFI_THROW(RuntimeError) << message;\n}\n\n"
         "}  // namespace\n}  // namespace salient::exported\n\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(" +
         given.name + ", salient::exported::call);\n";
}

std::vector<std::string> build_command(const Exported& exported, const std::string& nvcc) {
  const std::string& name = exported.given.name;
  if (is_host(exported))
    return {"g++", "-std=c++20",          "-O3", "-march=x86-64-v3", "-ffp-contract=off", "-fPIC", "-shared",
            "-w",  name + "_library.cpp", "-o",  name + ".so"};
  return {nvcc, "-std=c++20",         "-O3", "-arch=native", "-Xcompiler", "-fPIC", "-shared",
          "-w", name + "_library.cu", "-o",  name + ".so"};
}

}  // namespace salient::workbench
