// workbench/promotion/sanitize.cpp - see sanitize.h.
#include "workbench/promotion/sanitize.h"

#include <algorithm>

#include "core/error.h"
#include "core/files/file_io.h"
#include "workbench/backend/host_wrapper.h"
#include "workbench/referee/process.h"

namespace salient::workbench {
namespace {

constexpr double kRunSeconds = 60, kCompileSeconds = 120;
constexpr std::size_t kMaxProblemBytes = std::size_t{64} << 20;

/// Reads one problem from standard input, as words of 64 bits and bytes, and runs it.
constexpr const char* kMain = R"(
#include <cstdio>
#include <cstdlib>

static long long word() {
  long long value;
  if (std::fread(&value, sizeof value, 1, stdin) != 1) std::exit(3);
  return value;
}

int main() {
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
    if (bytes > 0 && std::fread(arguments[i], static_cast<unsigned long>(bytes), 1, stdin) != 1) std::exit(3);
  }
  for (long long launches = word(); launches > 0; --launches) {
    const long long entry = word(), x = word(), y = word(), z = word();
    const long long block_x = word(), block_y = word(), smem = word();
    void* const shared = std::malloc(static_cast<unsigned long>(smem));
    for (long long i = 0; i < x * y * z; ++i) {
      const WorkbenchBlock block{i % x, i / x % y, i / (x * y), x, y, z, block_x, block_y, shared};
      kEntries[entry](&block, arguments);
    }
    std::free(shared);
  }
  std::_Exit(0);
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

std::string input_of(const Problem& problem, const Candidate& candidate) {
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
  return text;
}

std::string first_report(const std::string& errors) {
  for (const char* mark : {"ERROR: ", "runtime error: "})
    if (const std::size_t at = errors.find(mark); at != std::string::npos)
      return errors.substr(at, errors.find('\n', at) - at);
  return "a sanitizer ended the program";
}

}  // namespace

std::optional<Finding> sanitize_on_host(const Candidate& candidate, const Case& given,
                                        const std::vector<ProblemSpec>& problems, const std::filesystem::path& kernels,
                                        const std::filesystem::path& work) {
  const std::filesystem::path folder = work / "sanitized", program = folder / "program";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  (void)write_text_file(folder / "candidate.cpp", candidate.source);
  std::string main =
      host_wrapper(candidate, given) + "static void (*const kEntries[])(const WorkbenchBlock*, void* const*) = {";
  for (const std::string& name : entries_of(candidate)) main += "salient_call_" + name + ", ";
  (void)write_text_file(folder / "main.cpp", main + "};\n" + kMain);
  std::vector<std::string> command = {"g++",
                                      "-std=c++20",
                                      "-O1",
                                      "-g",
                                      "-march=x86-64-v3",
                                      "-ffp-contract=off",
                                      "-w",
                                      "-fsanitize=address,undefined",
                                      "-fno-sanitize-recover=all",
                                      "-I" + kernels.string()};
  for (const Parameter& p : candidate.parameters) command.push_back("-D" + p.name + "=" + std::to_string(p.value));
  command.insert(command.end(), {(folder / "main.cpp").string(), "-o", program.string()});
  const ProcessResult compiled = run_process(command, "", {.seconds = kCompileSeconds});
  if (compiled.exit_code != 0 || compiled.timed_out)
    return Finding{Verdict::kCompileError, "it does not compile with sanitizers", compiled.errors};
  for (const ProblemSpec& spec : problems) {
    const Problem problem(given, spec);
    if (problem.total_bytes() > kMaxProblemBytes) continue;
    const ProcessResult run = run_process({program.string()}, input_of(problem, candidate), {.seconds = kRunSeconds});
    if (run.timed_out) return Finding{Verdict::kTimeout, "under sanitizers, on " + text_of(spec), {}};
    if (run.exit_code != 0)
      return Finding{Verdict::kRuntimeError, first_report(run.errors) + ", on " + text_of(spec), run.errors};
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
