// workbench/backend/host_compiler.cpp - see host_compiler.h.
#include "workbench/backend/host_compiler.h"

#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/replace_text_file.h"
#include "workbench/backend/host_wrapper.h"

namespace salient::workbench {
namespace {

const std::vector<std::string> kFlags = {
    "-std=c++20",        "-O3", "-march=x86-64-v3", "-fPIC", "-fno-exceptions", "-fno-rtti", "-fno-stack-protector",
    "-ffp-contract=off", "-w"};
const std::vector<std::string> kSanitizers = {"-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"};
/// All that a library writes to at load time is sealed then.
const std::vector<std::string> kLinkFlags = {"-shared",
                                             "-nostdlib",
                                             "-fno-lto",
                                             "-fno-use-linker-plugin",
                                             "-Wl,-z,relro",
                                             "-Wl,-z,now",
                                             "-Wl,-z,text",
                                             "-Wl,-z,noexecstack",
                                             "-Wl,-Bsymbolic",
                                             "-Wl,--as-needed",
                                             "-Wl,--hash-style=sysv",
                                             "-Wl,--build-id=none",
                                             "-Wl,--defsym=__dso_handle=0"};
const std::vector<std::string> kLibraries = {"-lm", "-lc", "-lgcc"};

/// What the preprocessor leaves, which this process reads: 3 MiB of headers at most, and a source of 1 MiB.
constexpr std::size_t kPreprocessedBytes = std::size_t{6} << 20;

/// Replaces what may be there already: another check of the same source.
/// Whether the compiler complains about the wrapper alone: the candidate compiles, but is not what the case asks for.
bool is_about_wrapper(const std::string& errors) {
  return errors.find("wrapper.cpp:") != std::string::npos && errors.find("candidate.cpp:") == std::string::npos;
}

Finding complaint(const ProcessResult& result, const ProcessLimits& limits) {
  const std::string errors = without_folder(result.errors, std::string(limits.scratch));
  if (auto limit = limit_met(result, limits)) return {Verdict::kCompileError, "the compiler needs " + *limit, errors};
  if (is_about_wrapper(errors))
    return {Verdict::kStaticReject, "a launched function is missing, or its parameters are not those of the case",
            errors};
  const std::size_t at = errors.find("error:");
  std::string first = at == std::string::npos ? "the compiler failed" : errors.substr(at, errors.find('\n', at) - at);
  return {Verdict::kCompileError, first.substr(0, 300), errors};
}

/// From where the candidate's own text begins on: all before it is of headers that no macro of its has reached.
std::string candidates_part(const std::string& text) {
  const std::size_t name = text.find("/candidate.cpp\" 1\n");
  const std::size_t begin = name == std::string::npos ? name : text.rfind('\n', name);
  require(begin != std::string::npos, "the preprocessor says where the candidate begins");
  return text.substr(begin + 1);
}

std::vector<std::string> command_of(std::initializer_list<std::vector<std::string>> parts) {
  std::vector<std::string> command = {"g++"};
  for (const std::vector<std::string>& part : parts) command.insert(command.end(), part.begin(), part.end());
  return command;
}

}  // namespace

const std::vector<std::string>& host_flags() { return kFlags; }

std::vector<std::string> link_command(const std::string& object, const std::string& library) {
  return command_of({kLinkFlags, {"-o", library, object}, kLibraries});
}

std::optional<Finding> compile_on_host(const Candidate& candidate, const Case& given,
                                       const std::filesystem::path& kernels, const std::filesystem::path& library,
                                       LibraryKind kind) {
  if (auto reason = reject_text(candidate.source, BackendKind::kHost))
    return Finding{Verdict::kStaticReject, *reason, {}};
  const std::filesystem::path folder = library.parent_path();
  const std::string preprocessed = folder / "kernel.ii", object = folder / "kernel.o", linked = folder / "linked.so";
  replace_text_file(folder / "candidate.cpp", candidate.source);
  replace_text_file(folder / "prologue.cpp", host_prologue(candidate));
  ProcessLimits limits = kHostCompilerLimits;
  limits.scratch = folder.native();

  ProcessLimits of_text = limits;
  of_text.file_bytes = kPreprocessedBytes;
  const ProcessResult expanded = run_process(
      command_of({kFlags, {"-E", "-I", kernels.string(), (folder / "prologue.cpp").string(), "-o", preprocessed}}), "",
      of_text);
  if (expanded.exit_code != 0) return complaint(expanded, of_text);
  const std::string text = read_text_file(preprocessed);
  if (auto reason = reject_preprocessed(candidates_part(text))) return Finding{Verdict::kStaticReject, *reason, {}};
  replace_text_file(preprocessed, text + host_wrapper(candidate, given));

  const std::vector<std::string> none, &more = kind == LibraryKind::kSanitized ? kSanitizers : none;
  const ProcessResult compiled =
      run_process(command_of({kFlags, more, {"-fpreprocessed", "-c", preprocessed, "-o", object}}), "", limits);
  if (compiled.exit_code != 0) return complaint(compiled, limits);
  const ProcessResult made = run_process(link_command(object, linked), "", limits);
  if (made.exit_code != 0)
    return Finding{Verdict::kCompileError, "the linker refuses it", without_folder(made.errors, folder.string())};
  if (auto reason = reject_library(linked, kind)) return Finding{Verdict::kStaticReject, *reason, {}};
  std::filesystem::rename(linked, library);
  return std::nullopt;
}

}  // namespace salient::workbench
