// workbench/backend/python_lowering.cpp - see python_lowering.h.
#include "workbench/backend/python_lowering.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/replace_text_file.h"
#include "workbench/ledger/sha256.h"

namespace salient::workbench {
namespace {

using Json = nlohmann::json;

constexpr int kNoPackage = 66, kNoProgram = 72;  // exit codes of lowering.py

/// What lowering.py reads, but for files and programs of this machine. @throws Error{kBadData} for a launch that cannot
/// be
Json question_of(const Candidate& candidate, const Case& given, const std::string& architecture) {
  Variables parameters;
  Json constants = Json::object();
  for (const Parameter& one : candidate.parameters) {
    parameters[one.name] = one.value;
    constants[one.name] = one.value;
  }
  Json names = Json::array(), types = Json::array(), extents = Json::array();
  for (const auto& [name, declared] : candidate.arrays) {
    const auto is_it = [&wanted = name](const BufferSpec& buffer) { return buffer.name == wanted; };
    if (std::none_of(given.buffers.begin(), given.buffers.end(), is_it) &&
        std::none_of(candidate.scratch.begin(), candidate.scratch.end(), is_it))
      fail(ErrorKind::kBadData, "array " + name + ": there is no such buffer");
  }
  const auto add = [&](const std::string& name, const char* type, std::size_t rank) {
    names.push_back(name);
    types.push_back(type);
    extents.push_back(rank);
  };
  for (const BufferSpec& b : given.buffers) add(b.name, word_of(b.type), extents_of(candidate, b).size());
  for (const std::string& dim : given.dims) add(dim, "i64", 0);
  for (const BufferSpec& b : candidate.scratch) add(b.name, word_of(b.type), extents_of(candidate, b).size());
  Json launches = Json::array();
  for (const LaunchLine& launch : candidate.launches) {
    const auto value = [&](const std::string& text) { return evaluate(text, parameters); };
    const std::int64_t warps = value(launch.warps), stages = value(launch.stages);
    if (warps < 1 || warps > 32 || (warps & (warps - 1)) != 0)
      fail(ErrorKind::kBadData, "launch " + launch.kernel + ": warps are a power of two up to 32");
    if (stages < 1 || stages > 32) fail(ErrorKind::kBadData, "launch " + launch.kernel + ": stages are 1 to 32");
    launches.push_back({{"kernel", launch.kernel}, {"warps", warps}, {"stages", stages}});
    if (traits_of(candidate.language).has_blocks)
      launches.back().update(
          {{"block", value(launch.block)}, {"block_y", value(launch.block_y)}, {"smem", value(launch.smem)}});
  }
  return {{"architecture", architecture}, {"names", names},      {"types", types}, {"ranks", extents},
          {"constants", constants},       {"launches", launches}};
}

std::string last_line(const std::string& log) {
  const std::size_t end = log.find_last_not_of(" \n"), begin = end == std::string::npos ? 0 : log.rfind('\n', end);
  const std::string last = log.substr(begin == std::string::npos ? 0 : begin + 1).substr(0, 300);
  return last.substr(0, last.find('\n'));
}

Finding complaint(Verdict verdict, const std::string& log) { return {verdict, last_line(log), log}; }

/// Bytes of base64's text. @throws Error{kBadData}
std::string bytes_of_base64(const std::string& text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text.substr(0, text.find('='))) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) fail(ErrorKind::kBadData, "a cubin that is no base64");
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if ((count += 6) < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  return bytes;
}

/// PTX or a cubin, whichever the language's compiler gives. @throws Error{kBadData} without
Lowered read_answer(const std::string& text, const LanguageTraits& language) {
  try {
    const Json answer = Json::parse(text);
    Lowered made{answer.value("ptx", ""), bytes_of_base64(answer.value("cubin", "")),
                 answer.value("shared", std::map<std::string, std::int64_t>{})};
    if (made.ptx.empty() == language.has_ptx || made.cubin.empty() != language.has_ptx)
      fail(ErrorKind::kBadData, language.has_ptx ? "there is no PTX alone" : "there is no cubin alone");
    return made;
  } catch (const Json::exception& error) {
    fail(ErrorKind::kBadData, error.what());
  }
}

/// Runs the language's script on the source. @param out  gets its answer
ProcessResult run_script(const Candidate& candidate, const PythonCompiler& compiler, Json question,
                         const std::filesystem::path& out) {
  const std::filesystem::path source = compiler.folder / "candidate.py";
  for (const std::filesystem::path& file : {source, out}) (void)std::filesystem::remove(file);
  (void)write_text_file(source, candidate.source);
  question.update({{"source", source.string()}, {"out", out.string()}, {"nvcc", compiler.nvcc}});
  std::string script = std::string("lower_") + traits_of(candidate.language).word + ".py";
  std::replace(script.begin(), script.end(), '-', '_');
  return run_process({compiler.python, "-I", "-B", (compiler.scripts / script).string()}, question.dump(),
                     compiler.limits);
}

/// What speaks against the candidate, or nothing.
std::optional<Finding> finding_of(const ProcessResult& made, const LanguageTraits& language,
                                  const PythonCompiler& compiler, const std::filesystem::path& out) {
  const std::string log = without_folder(made.errors, compiler.folder.string());
  if (made.exit_code == kNoPackage)
    fail(ErrorKind::kNoInput,
         compiler.python + " has no " + language.package + "; --python names a Python that has: " + last_line(log));
  if (made.exit_code == kNoProgram)
    fail(ErrorKind::kNoInput,
         std::string("the compiler of ") + language.word + " starts a program that is missing: " + last_line(log));
  if (auto limit = limit_met(made, compiler.limits))
    return Finding{Verdict::kCompileError, std::string("the compiler of ") + language.word + " needs " + *limit, log};
  if (made.exit_code == static_cast<int>(ErrorKind::kBadData)) return complaint(Verdict::kStaticReject, log);
  if (made.exit_code != 0 || !std::filesystem::exists(out)) return complaint(Verdict::kCompileError, log);
  return std::nullopt;
}

/// A hash of the scripts: another version of them may judge and lower otherwise.
std::string version_of(const std::filesystem::path& scripts) {
  std::vector<std::filesystem::path> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(scripts, none))
    if (entry.path().extension() == ".py") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::string text;
  for (const std::filesystem::path& file : files)
    text += file.filename().string() + '\0' + sha256(read_text_file(file)) + '\0';
  return sha256(text);
}

/// What is kept, if it is as it was written. A file has a line with the hash of the others.
std::optional<Lowered> read_kept(const std::filesystem::path& file, const LanguageTraits& language) {
  try {
    if (!std::filesystem::exists(file)) return std::nullopt;
    const std::string text = read_text_file(file);
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string answer = text.substr(std::min(end + 1, text.size()));
    if (text.substr(0, end) != sha256(answer)) fail(ErrorKind::kBadData, "it is damaged");
    return read_answer(answer, language);
  } catch (const std::exception& error) {
    log_warning(file.string() + " is not used: " + error.what());
    return std::nullopt;
  }
}

void keep(const std::filesystem::path& file, const std::string& answer) {
  try {
    std::filesystem::create_directories(file.parent_path());
    replace_text_file(file, sha256(answer) + "\n" + answer);
  } catch (const std::exception& error) {
    log_warning(file.string() + " is not kept: " + error.what());
  }
}

enum class Gate : std::uint8_t { kPassed, kUnknown };

/// The gate on the source alone, which needs no package. kUnknown where it cannot judge: Python is too old.
std::variant<Gate, Finding> judge_source(const Candidate& candidate, const PythonCompiler& compiler, Json question,
                                         const std::filesystem::path& out) {
  question["judge_only"] = true;
  try {
    const ProcessResult made = run_script(candidate, compiler, std::move(question), out);
    if (made.exit_code == 0) return Gate::kPassed;
    if (made.exit_code == static_cast<int>(ErrorKind::kBadData))
      return complaint(Verdict::kStaticReject, without_folder(made.errors, compiler.folder.string()));
    return Gate::kUnknown;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kNoInput) throw;
    return Gate::kPassed;  // there is no Python that a source could do harm in
  }
}

}  // namespace

std::variant<Lowered, Finding> lower_by_python(const Candidate& candidate, const Case& given,
                                               const PythonCompiler& compiler) {
  Json question;
  try {
    question = question_of(candidate, given, compiler.architecture);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadData) throw;
    return Finding{Verdict::kLaunchError, error.what(), {}};
  }
  const LanguageTraits& language = traits_of(candidate.language);
  const std::string hash =
      sha256(version_of(compiler.scripts) + language.word + '\0' + question.dump() + '\0' + candidate.source)
          .substr(0, 32);
  const std::filesystem::path kept = compiler.kept / (std::string(language.word) + "-" + hash + ".json");
  const std::filesystem::path out = compiler.folder / "lowered.json";
  if (auto made = compiler.kept.empty() ? std::nullopt : read_kept(kept, language)) {
    std::variant<Gate, Finding> judged = judge_source(candidate, compiler, question, out);
    if (auto* rejected = std::get_if<Finding>(&judged)) return std::move(*rejected);
    if (std::get<Gate>(judged) == Gate::kPassed) return std::move(*made);
  }
  const ProcessResult ran = run_script(candidate, compiler, std::move(question), out);
  if (auto found = finding_of(ran, language, compiler, out)) return std::move(*found);
  const std::string text = read_text_file(out);
  try {
    Lowered made = read_answer(text, language);
    if (compiler.keeps && !compiler.kept.empty()) keep(kept, text);
    return made;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadData) throw;
    return Finding{Verdict::kCompileError,
                   std::string("the answer of the compiler of ") + language.word + " cannot be read: " + error.what(),
                   without_folder(ran.errors, compiler.folder.string())};
  }
}

}  // namespace salient::workbench
