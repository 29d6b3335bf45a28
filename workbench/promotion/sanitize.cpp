// workbench/promotion/sanitize.cpp - see sanitize.h.
#include "workbench/promotion/sanitize.h"

#include <unistd.h>

#include <algorithm>

#include "core/error.h"
#include "core/files/file_io.h"
#include "workbench/backend/host_compiler.h"
#include "workbench/referee/process.h"
#include "workbench/referee/system_calls.h"

namespace salient::workbench {
namespace {

constexpr double kRunSeconds = 60;
constexpr std::size_t kMaxProblemBytes = std::size_t{64} << 20;
/// No file of its own, and no environment; AddressSanitizer's memory is larger than any limit.
constexpr ProcessLimits kRunLimits{
    .seconds = kRunSeconds, .cpu_seconds = 60, .file_bytes = 1, .environment = Environment::kNone};

/// Loads a sanitized library, its first argument, reads one problem from standard input, as words of 64 bits and bytes,
/// and runs it. Its filters are as a worker's. At the end it repeats the last word.
constexpr const char* kMain = R"(
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>

#include "workbench_kernel.h"

extern "C" const char* __asan_default_options() { return "detect_leaks=0:allocator_release_to_os_interval_ms=-1"; }
extern "C" void __sanitizer_symbolize_pc(void* at, const char* format, char* text, unsigned long size);

static void take(void* to, unsigned long size) {
  for (char* at = static_cast<char*>(to); size > 0;) {
    const long got = read(0, at, size);
    if (got <= 0) _exit(3);
    at += got;
    size -= static_cast<unsigned long>(got);
  }
}

static long long word() {
  long long value;
  take(&value, sizeof value);
  return value;
}

template <unsigned long count>
static void keep_to(sock_filter (&filter)[count]) {
  const sock_fprog program{count, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(4);
}

/// UBSan's runtime opens files at its first report, which is this one, and none later.
static void report_once_to_nowhere() {
  const int errors = dup(2), nowhere = open("/dev/null", O_WRONLY);
  if (dup2(nowhere, 2) != 2) _exit(3);
  volatile int large = 0x7FFFFFFF;
  large = large + 1;
  if (dup2(errors, 2) != 2) _exit(3);
}

int main(int, char** argv) {
  report_once_to_nowhere();
  keep_to(kLoading);
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) _exit(5);
  void (*entries[16])(const WorkbenchBlock*, void* const*);
  for (int i = 0; kNames[i] != nullptr; ++i) {
    *reinterpret_cast<void**>(&entries[i]) = dlsym(library, kNames[i]);
    if (entries[i] == nullptr) _exit(5);
  }
  char text[256];
  __sanitizer_symbolize_pc(reinterpret_cast<void*>(entries[0]), "%f", text, sizeof text);  // reads what it needs now
  long long numbers[64];
  void* arguments[64];
  const long long count = word();
  for (long long i = 0; i < count; ++i) {
    const long long bytes = word();
    numbers[i] = bytes;
    arguments[i] = &numbers[i];
    if (bytes < 0) {
      numbers[i] = word();
      continue;
    }
    arguments[i] = std::malloc(static_cast<unsigned long>(bytes));
    take(arguments[i], static_cast<unsigned long>(bytes));
  }
  long long launches[16][7];
  const long long num_launches = word();
  take(launches, static_cast<unsigned long>(num_launches) * sizeof launches[0]);
  keep_to(kRunning);
  for (long long launch = 0; launch < num_launches; ++launch) {
    const auto& [entry, x, y, z, block_x, block_y, smem] = launches[launch];
    void* const shared = smem > 0 ? std::malloc(static_cast<unsigned long>(smem)) : nullptr;
    for (long long i = 0; i < x * y * z; ++i) {
      const WorkbenchBlock block{i % x, i / x % y, i / (x * y), x, y, z, block_x, block_y, shared};
      entries[entry](&block, arguments);
    }
    std::free(shared);
  }
  const long long last = word();
  if (write(1, &last, sizeof last) != sizeof last) _exit(3);
  _exit(0);
}
)";

void put_word(std::string& to, std::int64_t value) { to.append(reinterpret_cast<const char*>(&value), sizeof value); }

void put_bytes(std::string& to, const std::vector<std::byte>& data, std::size_t size) {
  put_word(to, static_cast<std::int64_t>(size));
  if (data.empty())
    to.append(size, '\xFF');
  else
    to.append(reinterpret_cast<const char*>(data.data()), size);
}

std::vector<std::string> entries_of(const Candidate& candidate) {
  std::vector<std::string> names;
  for (const LaunchLine& launch : candidate.launches)
    if (std::find(names.begin(), names.end(), launch.kernel) == names.end()) names.push_back(launch.kernel);
  return names;
}

/// @param last  what the program repeats when it came to its end
std::string input_of(const Problem& problem, const Candidate& candidate, std::int64_t last) {
  const Case& given = problem.definition();
  std::string text;
  put_word(text, static_cast<std::int64_t>(given.buffers.size() + given.dims.size() + candidate.scratch.size()));
  for (std::size_t b = 0; b < problem.num_buffers(); ++b) put_bytes(text, problem.data(b), problem.bytes(b));
  for (const std::string& dim : given.dims) {
    put_word(text, -1);
    put_word(text, problem.dim(dim));
  }
  for (const BufferSpec& scratch : candidate.scratch)
    put_bytes(text, {}, scratch_elements(scratch, candidate, problem.spec().dims, 1) * bytes_of(scratch.type));
  const std::vector<Launch> launches = resolve_launches(candidate, problem.spec().dims, 1);
  const std::vector<std::string> entries = entries_of(candidate);
  put_word(text, static_cast<std::int64_t>(launches.size()));
  for (const Launch& launch : launches) {
    put_word(text, std::find(entries.begin(), entries.end(), launch.kernel) - entries.begin());
    for (const std::int64_t value :
         {launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0], launch.block[1], launch.smem})
      put_word(text, value);
  }
  put_word(text, last);
  return text;
}

std::string first_report(const std::string& errors) {
  for (const char* mark : {"ERROR: ", "runtime error: "})
    if (const std::size_t at = errors.find(mark); at != std::string::npos)
      return errors.substr(at, errors.find('\n', at) - at);
  return "a sanitizer ended the program";
}

std::string source_of_program(const Candidate& candidate) {
  std::string text = "#include <linux/filter.h>\nstatic sock_filter kLoading[] = " + text_of(loading_filter()) +
                     ";\nstatic sock_filter kRunning[] = " + text_of(sanitized_filter(STDIN_FILENO, STDOUT_FILENO)) +
                     ";\nstatic const char* const kNames[] = {";
  for (const std::string& name : entries_of(candidate)) text += "\"salient_call_" + name + "\", ";
  return text + "nullptr};\n" + kMain;
}

std::optional<Finding> sanitize_on_problem(const Candidate& candidate, const Problem& problem,
                                           const std::vector<std::string>& command) {
  const std::string where = "on " + text_of(problem.spec());
  const auto last = static_cast<std::int64_t>(seed_from_system());
  std::string end;
  put_word(end, last);
  const ProcessResult run = run_process(command, input_of(problem, candidate, last), kRunLimits);
  if (run.timed_out) return Finding{Verdict::kTimeout, "under sanitizers, " + where, {}};
  if (run.exit_code != 0) return Finding{Verdict::kRuntimeError, first_report(run.errors) + ", " + where, run.errors};
  if (run.output != end) return Finding{Verdict::kRuntimeError, "it ended before its end, " + where, {}};
  return std::nullopt;
}

}  // namespace

std::optional<Finding> sanitize_on_host(const Candidate& candidate, const Case& given,
                                        const std::vector<ProblemSpec>& problems, const std::filesystem::path& kernels,
                                        const std::filesystem::path& work) {
  const std::filesystem::path folder = work / "sanitized";
  const std::string library = folder / "kernel.so", program = folder / "program", source = folder / "program.cpp";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  if (auto rejected = compile_on_host(candidate, given, kernels, library, LibraryKind::kSanitized)) return rejected;
  (void)write_text_file(source, source_of_program(candidate));
  const ProcessResult compiled = run_process({"g++", "-std=c++20", "-O1", "-w", "-fsanitize=address,undefined",
                                              "-I" + kernels.string(), source, "-o", program},
                                             "", kHostCompilerLimits);
  if (compiled.exit_code != 0)
    fail(ErrorKind::kNoInput,
         "g++ makes no program with sanitizers: " + compiled.errors.substr(0, compiled.errors.find('\n')));
  for (const ProblemSpec& spec : problems) {
    const Problem problem(given, spec);
    if (problem.total_bytes() > kMaxProblemBytes) continue;
    if (auto found = sanitize_on_problem(candidate, problem, {program, library})) return found;
  }
  return std::nullopt;
}

std::optional<Finding> sanitize_on_cuda(const std::vector<std::string>& command) {
  for (const char* tool : {"memcheck", "racecheck", "initcheck", "synccheck"}) {
    std::vector<std::string> words = {"compute-sanitizer", "--tool", tool, "--error-exitcode", "99"};
    words.insert(words.end(), command.begin(), command.end());
    const ProcessResult run = run_process(words, "", {.seconds = 3600});
    if (run.timed_out) return Finding{Verdict::kTimeout, std::string("under ") + tool, {}};
    if (run.exit_code != 0)
      return Finding{Verdict::kRuntimeError, std::string(tool) + " found an error", run.output + run.errors};
    if (run.output.find("ERROR SUMMARY: 0 errors") == std::string::npos &&
        run.output.find("RACECHECK SUMMARY: 0 hazards") == std::string::npos)
      fail(ErrorKind::kInternal, std::string(tool) + " gave no summary: it did not see the GPU");
  }
  return std::nullopt;
}

}  // namespace salient::workbench
