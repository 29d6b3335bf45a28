// workbench/backend/host_backend.cpp - candidates in C++, compiled by g++: all of the workbench without a GPU.
//
// The wrapper below the candidate's own file checks the type of every launched function and makes it callable with a
// list of
// addresses. Blocks run one after the other, in an order drawn anew for every run.
#include <algorithm>

#include "core/error.h"
#include "core/files/file_io.h"
#include "core/host/machine.h"
#include "workbench/backend/backend.h"
#include "workbench/backend/host_executor.h"
#include "workbench/backend/host_wrapper.h"
#include "workbench/ledger/sha256.h"
#include "workbench/referee/process.h"
#include "workbench/referee/static_gate.h"

namespace salient::workbench {
namespace {

constexpr double kCompileSeconds = 60;
const std::vector<std::string> kFlags = {
    "-std=c++20",        "-O3", "-march=x86-64-v3", "-fPIC", "-fno-exceptions", "-fno-rtti", "-fno-stack-protector",
    "-ffp-contract=off", "-w"};

/// Replaces what may be there already: another check of the same source.
void put(const std::filesystem::path& path, const std::string& text) {
  (void)std::filesystem::remove(path);
  (void)write_text_file(path, text);
}

/// Whether the compiler complains about the wrapper alone: the candidate compiles, but is not what the case asks for.
bool is_about_wrapper(const std::string& errors) {
  return errors.find("wrapper.cpp:") != std::string::npos && errors.find("candidate.cpp:") == std::string::npos;
}

class HostBackend final : public Backend {
 public:
  HostBackend(const std::filesystem::path& kernels, const std::filesystem::path& work)
      : kernels_(kernels), work_(work) {}

  BackendKind kind() const override { return BackendKind::kHost; }
  Machine machine() override {
    if (machine_.name.empty()) machine_ = measure_host();
    return machine_;
  }

  std::variant<Artifact, Finding> compile(const Candidate& candidate, const Case& given) override {
    if (auto reason = reject_text(candidate.source, kind())) return Finding{Verdict::kStaticReject, *reason, {}};
    const std::string wrapper = host_wrapper(candidate, given);
    std::string identity = candidate.source + '\0' + wrapper;
    for (const Parameter& p : candidate.parameters) identity += '\0' + p.name + '=' + std::to_string(p.value);
    const std::filesystem::path folder = work_ / sha256(identity).substr(0, 24), library = folder / "kernel.so";
    if (std::filesystem::exists(library)) return Artifact{library, {}};
    std::filesystem::create_directories(folder);
    put(folder / "candidate.cpp", candidate.source);
    put(folder / "wrapper.cpp", wrapper);

    std::vector<std::string> command = {"g++"};
    command.insert(command.end(), kFlags.begin(), kFlags.end());
    for (const Parameter& p : candidate.parameters) command.push_back("-D" + p.name + "=" + std::to_string(p.value));
    const std::string object = folder / "kernel.o";
    for (const std::string& word : {std::string("-I"), kernels_.string(), std::string("-c"),
                                    (folder / "wrapper.cpp").string(), std::string("-o"), object})
      command.push_back(word);
    const ProcessResult compiled = run_process(command, "", {.seconds = kCompileSeconds});
    if (compiled.timed_out) return Finding{Verdict::kCompileError, "the compiler took more than 60 seconds", {}};
    if (compiled.exit_code != 0) return complaint(without_folder(compiled.errors, folder.string()));
    if (auto reason = reject_object(object)) return Finding{Verdict::kStaticReject, *reason, {}};
    const std::filesystem::path partial = folder / "kernel.so.part";
    const ProcessResult linked =
        run_process({"g++", "-shared", "-Wl,-z,relro,-z,now", "-o", partial, object, "-lm"}, "", {});
    if (linked.exit_code != 0) return Finding{Verdict::kCompileError, "the linker refuses it", linked.errors};
    std::filesystem::rename(partial, library);
    return Artifact{library, {}};
  }

  std::unique_ptr<Executor> make_executor(const std::vector<Artifact>& artifacts, std::size_t) override {
    return make_host_executor(artifacts);
  }

  WorkerLimits limits() const override { return {.memory_bytes = std::size_t{256} << 20, .is_sealed = true}; }

  std::map<std::string, std::string> environment() override {
    std::string flags;
    for (const std::string& flag : kFlags) flags += flag + " ";
    const ProcessResult version = run_process({"g++", "-dumpfullversion"}, "", {});
    return {{"device", cpu_model()},
            {"compiler", "g++ " + version.output.substr(0, version.output.find('\n'))},
            {"flags", flags}};
  }

 private:
  Finding complaint(const std::string& errors) const {
    if (is_about_wrapper(errors))
      return {Verdict::kStaticReject, "a launched function is missing, or its parameters are not those of the case",
              errors};
    const std::size_t at = errors.find("error:");
    std::string first = at == std::string::npos ? "the compiler failed" : errors.substr(at, errors.find('\n', at) - at);
    return {Verdict::kCompileError, first.substr(0, 300), errors};
  }

  std::filesystem::path kernels_, work_;
  Machine machine_{};
};

}  // namespace

std::unique_ptr<Backend> make_host_backend(const std::filesystem::path& kernels, const std::filesystem::path& work) {
  return std::make_unique<HostBackend>(kernels, work);
}

}  // namespace salient::workbench
