// workbench/app/bench_setup.cpp - see bench_setup.h.
#include "workbench/app/bench_setup.h"
#include "workbench/method/answers.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <optional>

#include "apps/options/options.h"
#include "core/console/log.h"
#include "core/error.h"
#include "workbench/app/named_run.h"
#include "workbench/referee/candidate.h"

namespace salient::workbench {

WorkFolder::WorkFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "salient-kernels-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) fail(ErrorKind::kIo, "cannot make a folder in " + name);
  path_ = name;
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

namespace {

/// share/NAME of a bundle of programs, if this program lies in one.
std::optional<std::filesystem::path> bundled(const char* name) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path folder = program.parent_path().parent_path() / "share" / name;
  if (error || !std::filesystem::is_directory(folder, error)) return std::nullopt;
  return folder;
}

/// Where scripts/setup.sh puts what it fetches.
std::optional<std::filesystem::path> cache_folder() {
  const char *const cache = std::getenv("XDG_CACHE_HOME"), *const home = std::getenv("HOME");
  if (cache == nullptr && home == nullptr) return std::nullopt;
  return (cache != nullptr ? std::filesystem::path(cache) : std::filesystem::path(home) / ".cache") / "salient";
}

/// CuTe's headers: as asked, of the bundle, or where scripts/setup.sh puts them. Nothing is said if there are none.
std::optional<std::filesystem::path> cute_folder(const KernelOptions& options) {
  if (!options.cute.empty()) return options.cute;
  if (auto folder = bundled("cute")) return folder;
  const auto cache = cache_folder();
  if (!cache) return std::nullopt;
  const std::filesystem::path folder = *cache / "cute";
  std::error_code error;
  return std::filesystem::is_directory(folder, error) ? std::optional(folder) : std::nullopt;
}

/// `given`, but where that is the usual program, the bundle's or what scripts/setup.sh --languages made, if any
std::string program_of(const std::string& given, const char* usual) {
  if (given != usual) return given;
  std::vector<std::filesystem::path> folders;
  if (auto folder = bundled("kernel-languages")) folders.push_back(*folder);
  if (auto cache = cache_folder()) folders.push_back(*cache / "kernel-languages");
  std::error_code error;
  for (const std::filesystem::path& folder : folders)
    if (std::filesystem::exists(folder / "bin" / usual, error)) return folder / "bin" / usual;
  return given;
}

}  // namespace

std::filesystem::path workbench_folder(const KernelOptions& options) {
  if (!options.workbench_dir.empty()) return options.workbench_dir;
  return bundled("workbench").value_or(SALIENT_WORKBENCH_DIR);
}

CudaCompiler cuda_compiler(const KernelOptions& options) {
  CudaCompiler compiler{
      .nvcc = options.nvcc,
      .python = program_of(options.python, "python3"),
      .lowering = workbench_folder(options) / "python",
      .lowered = options.lowered.empty() ? bundled("lowered").value_or("") : std::filesystem::path(options.lowered),
      .keeps_lowered = !options.lowered.empty(),
      .disassembler = program_of(options.nvdisasm, "nvdisasm"),
      .architecture = options.architecture};
  compiler.runner = [workbench = workbench_folder(options).string()](
                        const std::string& of_case, const std::filesystem::path& source,
                        const std::filesystem::path& binary) -> std::vector<std::string> {
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
    return {program, "run", of_case, source, binary, "--public-shapes", "--workbench-dir", workbench};
  };
  if (const auto cute = cute_folder(options)) compiler.includes.push_back(*cute);
  return compiler;
}

namespace {

/// A GPU with a driver and a compiler, or why there is none.
std::unique_ptr<Backend> find_cuda(const KernelOptions& options, const WorkFolder& work) {
  std::unique_ptr<Backend> cuda = make_cuda_backend(cuda_compiler(options), work.path());
  (void)cuda->environment();  // asks the device and starts the compiler
  return cuda;
}

}  // namespace

std::unique_ptr<Backend> make_backend(const KernelOptions& options, const WorkFolder& work) {
  if (options.backend == "cuda") return find_cuda(options, work);
  if (options.backend == "auto") {
    try {
      return find_cuda(options, work);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kNoDevice && error.kind() != ErrorKind::kNoInput) throw;
      log_info(std::string("the host back end is used: ") + error.what());
    }
  }
  return make_host_backend(workbench_folder(options) / "cases" / "kernels", work.path());
}

RefereeOptions referee_options(const KernelOptions& options) {
  return {.run_seconds = options.run_s, .samples = options.samples, .seed = options.seed};
}

MethodOptions method_options(const KernelOptions& options, BackendKind backend) {
  const bool is_for_host = options.language == "host";
  require_option(options.language.empty() || is_for_host == (backend == BackendKind::kHost),
                 "--language: the back end " + std::string(word_of(backend)) + " does not compile " + options.language);
  return {.method = options.method,
          .rounds = options.rounds,
          .repairs = options.repairs,
          .profile = options.profile == "late"    ? ProfilePolicy::kLate
                     : options.profile == "never" ? ProfilePolicy::kNever
                                                  : ProfilePolicy::kFromStart,
          .language = options.language.empty() ? word_of(backend) : options.language,
          .roles = options.roles,
          .width = options.width,
          .stop_at = options.stop_at};
}

std::unique_ptr<Generator> make_generator(const KernelOptions& options, const std::filesystem::path& run) {
  if (options.generator == "command") {
    require_option(!options.command.empty(), "--command: is needed, the program that answers");
    return make_command_generator({"/bin/sh", "-c", options.command}, options.answer_s, options.author);
  }
  if (options.generator == "folder")
    return make_folder_generator(
        options.folder.empty() ? run / "answers" : std::filesystem::path(options.folder), options.author,
        [](const Request& request, const std::string& answer) { return problem_of(request.answer, answer); });
  if (options.generator == "replay") {
    require_option(!options.recorded.empty(), "--recorded: is needed, the folder of a recorded run");
    return make_replay_generator(NamedRun(options.recorded, options).folder());  // which it reads at once
  }
  if (options.generator == "openai") {
    require_option(!options.endpoint.empty() && !options.model.empty(), "--endpoint and --model: are needed");
    return make_openai_generator({.endpoint = options.endpoint,
                                  .model = options.model,
                                  .key_env = options.key_env,
                                  .seconds = options.answer_s,
                                  .tries = options.tries,
                                  .temperature = options.temperature,
                                  .max_tokens = options.max_tokens,
                                  .token_field = options.token_field});
  }
  fail(ErrorKind::kUsage, "--generator: command, folder, openai or replay");
}

namespace {

bool is_one_of(const std::string& text, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

}  // namespace

void check_options(const KernelOptions& options) {
  require_option(is_one_of(options.backend, {"auto", "host", "cuda"}), "--backend: auto, host or cuda");
  require_option(is_one_of(options.as, {"torch", "kernels", "tvm-ffi", "cpp"}), "--as: torch, kernels, tvm-ffi or cpp");
  require_option(is_one_of(options.profile, {"from-start", "late", "never"}), "--profile: from-start, late or never");
  require_option(is_one_of(options.language, {"", "host", "cuda", "cute"}) ||
                     (options.language != "cpp" && language_of(options.language).has_value()),
                 "--language: host, cuda, cute, ptx, triton, cute-dsl, tilelang or cutile");
  require_option(options.rounds >= 0 && options.rounds <= 1000, "--rounds: 0 to 1000");
  require_option(options.repairs >= 0 && options.repairs <= 100, "--repairs: 0 to 100");
  require_option(options.width >= 1 && options.width <= 100, "--width: 1 to 100");
  require_option(options.samples >= 4 && options.samples <= 1000 && options.samples % 2 == 0,
                 "--samples: even, 4 to 1000");
  require_option(options.run_s > 0 && options.run_s <= 3600, "--run-s: above 0, up to 3600");
  require_option(options.answer_s > 0 && options.answer_s <= 86400, "--answer-s: above 0, up to 86400");
  require_option(options.tries >= 1 && options.tries <= 20, "--tries: 1 to 20");
  require_option(options.max_tokens >= 0 && options.max_tokens <= 1000000, "--max-tokens: 0 to 1000000");
  require_option(is_one_of(options.token_field, {"max_tokens", "max_completion_tokens"}),
                 "--token-field: max_tokens or max_completion_tokens");
  require_option(options.temperature == -1 || (options.temperature >= 0 && options.temperature <= 2),
                 "--temperature: 0 to 2, or -1");
  require_option(options.budget_s >= 0, "--budget-s: 0 or above");
  require_option(options.budget_tokens >= 0, "--budget-tokens: 0 or above");
  require_option(options.budget_cost >= 0, "--budget-cost: 0 or above");
  require_option(options.price_asked >= 0, "--price-asked: 0 or above");
  require_option(options.price_answered >= 0, "--price-answered: 0 or above");
  require_option(options.stop_at >= 0 && options.stop_at <= 100, "--stop-at: 0 to 100");
}

}  // namespace salient::workbench
