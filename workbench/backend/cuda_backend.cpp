// workbench/backend/cuda_backend.cpp - candidates for a GPU: to PTX by the compiler of their language, the gate on it,
// ptxas to a cubin, the gate on that.
#include <algorithm>
#include <sstream>

#include "core/error.h"
#include "core/files/file_io.h"
#include "workbench/backend/backend.h"
#include "workbench/backend/cuda_executor.h"
#include "workbench/backend/ncu_profile.h"
#include "workbench/backend/triton_lowering.h"
#include "workbench/case/problem.h"
#include "workbench/ledger/sha256.h"
#include "workbench/referee/process.h"
#include "workbench/referee/static_gate.h"

namespace salient::workbench {
namespace {

/// Of every run of nvcc, which starts compilers of its own. CuTe takes 20 s on an idle machine.
constexpr ProcessLimits kCompilerLimits{.seconds = 900,
                                        .cpu_seconds = 300,
                                        .memory_bytes = std::size_t{16} << 30,
                                        .file_bytes = std::size_t{1} << 30,
                                        .environment = Environment::kTools};

constexpr const char *kNotes = "notes.txt", *kShared = "shared.txt";  // beside a cubin

void put(const std::filesystem::path& path, const std::string& text) {
  (void)std::filesystem::remove(path);
  (void)write_text_file(path, text);
}

class CudaBackend final : public Backend {
 public:
  CudaBackend(CudaCompiler compiler, std::filesystem::path work)
      : compiler_(std::move(compiler)), work_(std::move(work)) {}

  BackendKind kind() const override { return BackendKind::kCuda; }
  Machine machine() override {
    return {.name = facts().name, .sm = facts().sm, .cache_bytes = static_cast<std::size_t>(facts().cache_bytes)};
  }

  std::variant<Artifact, Finding> compile(const Candidate& candidate, const Case& given) override {
    const bool is_cpp = candidate.language == Language::kCpp;
    if (auto reason = is_cpp ? reject_text(candidate.source, kind()) : reject_characters(candidate.source))
      return Finding{Verdict::kStaticReject, *reason, {}};
    std::string identity = candidate.source + '\0' + given.name;
    for (const Parameter& p : candidate.parameters) identity += '\0' + p.name + '=' + std::to_string(p.value);
    const std::filesystem::path folder = work_ / sha256(identity).substr(0, 24);
    const std::filesystem::path cubin = folder / "kernel.cubin";
    if (std::filesystem::exists(cubin)) return read_artifact(cubin);
    std::filesystem::create_directories(folder);
    put(folder / "candidate.cu", candidate.source);
    ProcessLimits limits = kCompilerLimits;
    limits.scratch = folder.native();

    std::variant<Lowered, Finding> lowered = lower(candidate, given, folder, limits);
    if (auto* rejected = std::get_if<Finding>(&lowered)) return std::move(*rejected);
    const auto& [ptx, shared] = std::get<Lowered>(lowered);
    const std::size_t parameters =
        given.buffers.size() + given.dims.size() + candidate.scratch.size() + num_hidden_parameters(candidate.language);
    if (auto reason = reject_ptx(ptx, candidate, parameters)) return Finding{Verdict::kStaticReject, *reason, {}};

    const std::filesystem::path partial = folder / "kernel.part.cubin";
    const ProcessResult to_cubin = run_process({compiler_.nvcc, "-cubin", "-arch=" + architecture(), "-Xptxas", "-v",
                                                (folder / "kernel.ptx").string(), "-o", partial.string()},
                                               "", limits);
    if (to_cubin.exit_code != 0) return complaint(to_cubin, folder);
    if (auto reason = reject_size(partial)) return Finding{Verdict::kStaticReject, *reason, {}};
    if (auto reason = reject_cubin(read_text_file(partial), candidate, parameters))
      return Finding{Verdict::kStaticReject, *reason, {}};
    put(folder / kNotes, to_cubin.errors);
    std::string lines;
    for (const auto& [kernel, bytes] : shared) lines += kernel + " " + std::to_string(bytes) + "\n";
    put(folder / kShared, lines);
    std::filesystem::rename(partial, cubin);
    return read_artifact(cubin);
  }

  std::unique_ptr<Executor> make_executor(const std::vector<Artifact>& artifacts, std::size_t arena_bytes) override {
    return make_cuda_executor(artifacts, arena_bytes);
  }

  std::string profile(const Candidate& candidate, const Case& given, const Artifact& artifact) override {
    if (!compiler_.runner) return {};
    std::vector<std::string> launches;
    for (const Variables& dims : public_shapes(given, kind()))
      for (const Launch& launch : resolve_launches(candidate, dims, facts().sm))
        launches.push_back(text_of(dims) + ", " + launch.kernel);
    const DeviceTurn turn(DeviceTurn::Kind::kExclusive);
    const std::filesystem::path source = artifact.file.parent_path() / "candidate.cu";
    return ncu_profile(compiler_.runner(given.file.string(), source, artifact.file), launches);
  }

  std::unique_ptr<DeviceTurn> turn(DeviceTurn::Kind kind) override { return std::make_unique<DeviceTurn>(kind); }
  WorkerLimits limits() const override { return {}; }  // the driver maps terabytes of addresses and opens devices

  std::map<std::string, std::string> environment() override {
    const ProcessResult version = run_process({compiler_.nvcc, "--version"}, "", kCompilerLimits);
    const std::size_t release = version.output.find("release ");
    const std::string text = release == std::string::npos
                                 ? "?"
                                 : version.output.substr(release, version.output.find('\n', release) - release);
    return {{"device", facts().name},
            {"driver", std::to_string(facts().driver)},
            {"compiler", "nvcc " + text},
            {"flags", "-std=c++20 -O3 -arch=" + architecture()},
            {"multiprocessors", std::to_string(facts().sm)},
            {"L2 MiB", std::to_string(facts().cache_bytes >> 20)},
            {"clock MHz", std::to_string(facts().clock_kilohertz / 1000)}};
  }

 private:
  /// Asked in a process of its own: a process that forks workers must not have used the driver.
  const CudaFacts& facts() {
    if (facts_.sm > 0) return facts_;
    Arena shared(sizeof(CudaFacts));
    Worker worker([&] { *reinterpret_cast<CudaFacts*>(shared.data()) = query_cuda(); }, [](std::size_t) {}, {});
    const Reply reply = worker.wait_until_ready(60);
    if (reply.kind != Reply::Kind::kOk)
      fail(reply.kind == Reply::Kind::kError ? reply.error : ErrorKind::kNoDevice, reply.text);
    facts_ = *reinterpret_cast<const CudaFacts*>(shared.data());
    return facts_;
  }

  /// With the features of this very chip, such as wgmma, where it has a list of its own.
  std::string architecture() {
    if (!compiler_.architecture.empty()) return compiler_.architecture;
    const int number = facts().major * 10 + facts().minor;
    return "sm_" + std::to_string(number) + (number >= 90 ? "a" : "");
  }

  /// The candidate as PTX, by the compiler of its language; kernel.ptx in `folder` has it, too.
  std::variant<Lowered, Finding> lower(const Candidate& candidate, const Case& given,
                                       const std::filesystem::path& folder, const ProcessLimits& limits) {
    const std::filesystem::path ptx = folder / "kernel.ptx";
    if (candidate.language == Language::kTriton) {
      std::variant<Lowered, Finding> lowered =
          lower_triton(candidate, given, {compiler_.python, compiler_.lowering, architecture(), folder, limits});
      if (const auto* made = std::get_if<Lowered>(&lowered)) put(ptx, made->ptx);
      return lowered;
    }
    if (candidate.language == Language::kPtx) {
      put(ptx, candidate.source);
      return Lowered{candidate.source, {}};
    }
    put(folder / "main.cu", source_with_parameters(candidate));
    const ProcessResult to_ptx = run_process(ptx_command(folder), "", limits);
    if (to_ptx.exit_code != 0) return complaint(to_ptx, folder);
    if (auto reason = reject_size(ptx)) return Finding{Verdict::kStaticReject, *reason, {}};
    return Lowered{read_text_file(ptx), {}};
  }

  /// The headers that nvcc includes by itself come before the parameters, which are macros.
  static std::string source_with_parameters(const Candidate& candidate) {
    std::string text;
    for (const Parameter& p : candidate.parameters) text += "#define " + p.name + " " + std::to_string(p.value) + "\n";
    return text + "#include \"candidate.cu\"\n";
  }

  std::vector<std::string> ptx_command(const std::filesystem::path& folder) {
    std::vector<std::string> command = {
        compiler_.nvcc,           "-ptx", "-std=c++20", "-O3", "-w", "-DNDEBUG", "--expt-relaxed-constexpr",
        "-arch=" + architecture()};
    for (const std::filesystem::path& include : compiler_.includes) command.push_back("-I" + include.string());
    command.insert(command.end(), {(folder / "main.cu").string(), "-o", (folder / "kernel.ptx").string()});
    return command;
  }

  static Finding complaint(const ProcessResult& result, const std::filesystem::path& folder) {
    const std::string all = without_folder(result.errors + result.output, folder.string());
    if (auto limit = limit_met(result, kCompilerLimits))
      return {Verdict::kCompileError, "the compiler needs " + *limit, all};
    const std::size_t at = all.find("error");
    const std::string first = at == std::string::npos ? "the compiler failed" : all.substr(at, all.find('\n', at) - at);
    return {Verdict::kCompileError, first.substr(0, 300), all};
  }

  CudaCompiler compiler_;
  std::filesystem::path work_;
  CudaFacts facts_{};
};

}  // namespace

Artifact read_artifact(const std::filesystem::path& cubin) {
  Artifact made{.file = cubin};
  const std::filesystem::path notes = cubin.parent_path() / kNotes, shared = cubin.parent_path() / kShared;
  if (std::filesystem::exists(notes)) made.notes = read_text_file(notes);
  if (!std::filesystem::exists(shared)) return made;
  std::istringstream lines(read_text_file(shared));
  std::string kernel;
  for (std::int64_t bytes = 0; lines >> kernel >> bytes;) made.shared[kernel] = bytes;
  return made;
}

std::unique_ptr<Backend> make_cuda_backend(const CudaCompiler& compiler, const std::filesystem::path& work) {
  return std::make_unique<CudaBackend>(compiler, work);
}

}  // namespace salient::workbench
