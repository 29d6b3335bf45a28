// workbench/backend/cuda_backend.cpp - candidates for a GPU: to PTX by the compiler of their language, the gate on it,
// ptxas to a cubin, the gate on that.
#include <algorithm>
#include <sstream>

#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/replace_text_file.h"
#include "workbench/backend/backend.h"
#include "workbench/backend/cuda_executor.h"
#include "workbench/backend/ncu_profile.h"
#include "workbench/backend/python_lowering.h"
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

constexpr const char *kNotes = "notes.txt", *kChosen = "chosen.txt";  // beside a cubin

/// The headers that nvcc includes by itself come before the parameters, which are macros.
std::string source_with_parameters(const Candidate& candidate) {
  std::string text;
  for (const Parameter& p : candidate.parameters) text += "#define " + p.name + " " + std::to_string(p.value) + "\n";
  return text + "#include \"candidate.cu\"\n";
}

Finding complaint(const ProcessResult& result, const std::filesystem::path& folder) {
  const std::string all = without_folder(result.errors + result.output, folder.string());
  if (auto limit = limit_met(result, kCompilerLimits))
    return {Verdict::kCompileError, "the compiler needs " + *limit, all};
  const std::size_t at = all.find("error");
  const std::string first = at == std::string::npos ? "the compiler failed" : all.substr(at, all.find('\n', at) - at);
  return {Verdict::kCompileError, first.substr(0, 300), all};
}

/// A cubin of another compiler, judged by its instructions. @throws Error{kNoInput} without a disassembler
std::optional<Finding> take(const std::string& contents, const Candidate& candidate, const std::string& disassembler,
                            const std::filesystem::path& cubin, ProcessLimits limits) {
  replace_text_file(cubin, contents);
  limits.output_bytes = std::size_t{256} << 20;
  const ProcessResult made = run_process({disassembler, "-c", cubin.string()}, "", limits);
  if (made.exit_code != 0 || made.cut)
    return Finding{Verdict::kStaticReject, "the cubin cannot be disassembled", made.errors};
  if (auto reason = reject_sass(made.output, candidate)) return Finding{Verdict::kStaticReject, *reason, {}};
  return std::nullopt;
}

class CudaBackend final : public Backend {
 public:
  CudaBackend(CudaCompiler compiler, std::filesystem::path work)
      : compiler_(std::move(compiler)), work_(std::move(work)) {}

  BackendKind kind() const override { return BackendKind::kCuda; }
  Machine machine() override {
    return {.name = facts().name, .sm = facts().sm, .cache_bytes = static_cast<std::size_t>(facts().cache_bytes)};
  }

  bool counts_energy() override { return facts().counts_energy; }
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
    replace_text_file(folder / "candidate.cu", candidate.source);
    ProcessLimits limits = kCompilerLimits;
    limits.scratch = folder.native();

    std::variant<Lowered, Finding> lowered = lower(candidate, given, folder, limits);
    if (auto* rejected = std::get_if<Finding>(&lowered)) return std::move(*rejected);
    const Lowered& made = std::get<Lowered>(lowered);
    const std::size_t parameters = num_parameters(candidate, given);
    const std::filesystem::path partial = folder / "kernel.part.cubin";
    if (auto found = traits_of(candidate.language).has_ptx
                         ? assemble(made.ptx, candidate, parameters, partial, limits)
                         : take(made.cubin, candidate, compiler_.disassembler, partial, limits))
      return std::move(*found);
    if (auto reason = reject_size(partial)) return Finding{Verdict::kStaticReject, *reason, {}};
    const std::string compiled = read_text_file(partial);
    if (auto reason = reject_cubin(compiled, candidate, parameters))
      return Finding{Verdict::kStaticReject, *reason, {}};
    std::string lines;
    for (const auto& [kernel, bytes] : made.shared) lines += "shared " + kernel + " " + std::to_string(bytes) + "\n";
    if (has_threads_of_compiler(candidate.language))
      for (const auto& [kernel, count] : threads_of_cubin(compiled))
        lines += "threads " + kernel + " " + std::to_string(count) + "\n";
    replace_text_file(folder / kChosen, lines);
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
    if (traits_of(candidate.language).package != nullptr)
      return lower_by_python(candidate, given,
                             {.python = compiler_.python,
                              .scripts = compiler_.lowering,
                              .nvcc = compiler_.nvcc,
                              .architecture = architecture(),
                              .folder = folder,
                              .kept = compiler_.lowered,
                              .keeps = compiler_.keeps_lowered,
                              .limits = limits});
    if (candidate.language == Language::kPtx) return Lowered{.ptx = candidate.source};
    const std::filesystem::path ptx = folder / "kernel.ptx";
    replace_text_file(folder / "main.cu", source_with_parameters(candidate));
    const ProcessResult to_ptx = run_process(ptx_command(folder), "", limits);
    if (to_ptx.exit_code != 0) return complaint(to_ptx, folder);
    if (auto reason = reject_size(ptx)) return Finding{Verdict::kStaticReject, *reason, {}};
    return Lowered{.ptx = read_text_file(ptx)};
  }

  /// The gate on PTX, then `cubin` by ptxas, with its notes beside it.
  std::optional<Finding> assemble(const std::string& ptx, const Candidate& candidate, std::size_t parameters,
                                  const std::filesystem::path& cubin, const ProcessLimits& limits) {
    if (auto reason = reject_ptx(ptx, candidate, parameters)) return Finding{Verdict::kStaticReject, *reason, {}};
    const std::filesystem::path folder = cubin.parent_path();
    replace_text_file(folder / "kernel.ptx", ptx);
    const ProcessResult made = run_process({compiler_.nvcc, "-cubin", "-arch=" + architecture(), "-Xptxas", "-v",
                                            (folder / "kernel.ptx").string(), "-o", cubin.string()},
                                           "", limits);
    if (made.exit_code != 0) return complaint(made, folder);
    replace_text_file(folder / kNotes, made.errors);
    return std::nullopt;
  }

  std::vector<std::string> ptx_command(const std::filesystem::path& folder) {
    std::vector<std::string> command = {
        compiler_.nvcc,           "-ptx", "-std=c++20", "-O3", "-w", "-DNDEBUG", "--expt-relaxed-constexpr",
        "-arch=" + architecture()};
    for (const std::filesystem::path& include : compiler_.includes) command.push_back("-I" + include.string());
    command.insert(command.end(), {(folder / "main.cu").string(), "-o", (folder / "kernel.ptx").string()});
    return command;
  }

  CudaCompiler compiler_;
  std::filesystem::path work_;
  CudaFacts facts_{};
};

}  // namespace

Artifact read_artifact(const std::filesystem::path& cubin) {
  Artifact made{.file = cubin};
  const std::filesystem::path notes = cubin.parent_path() / kNotes, chosen = cubin.parent_path() / kChosen;
  if (std::filesystem::exists(notes)) made.notes = read_text_file(notes);
  if (!std::filesystem::exists(chosen)) return made;
  std::istringstream lines(read_text_file(chosen));
  std::string what, kernel;
  for (std::int64_t number = 0; lines >> what >> kernel >> number;)
    (what == "shared" ? made.shared : made.threads)[kernel] = number;
  return made;
}

std::unique_ptr<Backend> make_cuda_backend(const CudaCompiler& compiler, const std::filesystem::path& work) {
  return std::make_unique<CudaBackend>(compiler, work);
}

}  // namespace salient::workbench
