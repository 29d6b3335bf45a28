// workbench/backend/host_backend.cpp - candidates in C++, compiled by g++: all of the workbench without a GPU.
//
// The wrapper below the candidate's own text checks the type of every launched function and makes it callable with a
// list of addresses. Blocks run one after the other, in an order drawn anew for every run.
#include "core/error.h"
#include "core/host/machine.h"
#include "workbench/backend/backend.h"
#include "workbench/backend/host_compiler.h"
#include "workbench/backend/host_executor.h"
#include "workbench/backend/host_wrapper.h"
#include "workbench/ledger/sha256.h"
#include "workbench/referee/process.h"

namespace salient::workbench {
namespace {

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
    if (candidate.language != Language::kCpp)
      return Finding{Verdict::kStaticReject,
                     std::string("the back end host compiles C++, not ") + traits_of(candidate.language).word,
                     {}};
    std::string identity = candidate.source + '\0' + host_wrapper(candidate, given);
    for (const Parameter& p : candidate.parameters) identity += '\0' + p.name + '=' + std::to_string(p.value);
    const std::filesystem::path folder = work_ / sha256(identity).substr(0, 24), library = folder / "kernel.so";
    if (std::filesystem::exists(library)) return Artifact{library, {}};
    std::filesystem::create_directories(folder);
    if (auto rejected = compile_on_host(candidate, given, kernels_, library, LibraryKind::kPlain)) return *rejected;
    return Artifact{library, {}};
  }

  std::unique_ptr<Executor> make_executor(const std::vector<Artifact>& artifacts, std::size_t) override {
    return make_host_executor(artifacts);
  }

  WorkerLimits limits() const override { return {.memory_bytes = std::size_t{256} << 20, .is_sealed = true}; }

  std::map<std::string, std::string> environment() override {
    std::string flags;
    for (const std::string& flag : host_flags()) flags += flag + " ";
    const ProcessResult version = run_process({"g++", "-dumpfullversion"}, "", kHostCompilerLimits);
    return {{"device", cpu_model()},
            {"compiler", "g++ " + version.output.substr(0, version.output.find('\n'))},
            {"flags", flags}};
  }

 private:
  std::filesystem::path kernels_, work_;
  Machine machine_{};
};

}  // namespace

std::unique_ptr<Backend> make_host_backend(const std::filesystem::path& kernels, const std::filesystem::path& work) {
  return std::make_unique<HostBackend>(kernels, work);
}

}  // namespace salient::workbench
