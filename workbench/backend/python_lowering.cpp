// workbench/backend/python_lowering.cpp - see python_lowering.h.
#include "workbench/backend/python_lowering.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/file_io.h"
#include "workbench/ledger/sha256.h"

namespace salient::workbench {
namespace {

using Json = nlohmann::json;

constexpr int kNoPackage = 66;  // exit code of lowering.py

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

Finding complaint(Verdict verdict, const std::string& log) {
  const std::size_t end = log.find_last_not_of(" \n"), begin = end == std::string::npos ? 0 : log.rfind('\n', end);
  const std::string last = log.substr(begin == std::string::npos ? 0 : begin + 1).substr(0, 300);
  return {verdict, last.substr(0, last.find('\n')), log};
}

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

std::variant<Lowered, Finding> read_answer(const std::string& text, const std::string& word, const std::string& log) {
  try {
    const Json answer = Json::parse(text);
    return Lowered{answer.value("ptx", ""), bytes_of_base64(answer.value("cubin", "")),
                   answer.value("shared", std::map<std::string, std::int64_t>{})};
  } catch (const Json::exception& error) {
    return Finding{Verdict::kCompileError, "the answer of lower_" + word + ".py cannot be read: " + error.what(), log};
  }
}

/// Runs the language's script, whose answer is in the file `out`; or what speaks against the candidate.
std::optional<Finding> run_script(const Candidate& candidate, const PythonCompiler& compiler, Json question,
                                  const std::filesystem::path& out, std::string& log) {
  const LanguageTraits& language = traits_of(candidate.language);
  const std::filesystem::path source = compiler.folder / "candidate.py";
  for (const std::filesystem::path& file : {source, out}) (void)std::filesystem::remove(file);
  (void)write_text_file(source, candidate.source);
  question.update({{"source", source.string()}, {"out", out.string()}, {"nvcc", compiler.nvcc}});
  std::string script = std::string("lower_") + language.word + ".py";
  std::replace(script.begin(), script.end(), '-', '_');
  const ProcessResult made = run_process({compiler.python, "-I", "-B", (compiler.scripts / script).string()},
                                         question.dump(), compiler.limits);
  log = without_folder(made.errors, compiler.folder.string());
  if (made.exit_code == kNoPackage)
    fail(ErrorKind::kNoInput,
         compiler.python + " has no " + language.package + "; --python names a Python that has: " + log.substr(0, 200));
  if (auto limit = limit_met(made, compiler.limits))
    return Finding{Verdict::kCompileError, std::string("the compiler of ") + language.word + " needs " + *limit, log};
  if (made.exit_code == static_cast<int>(ErrorKind::kBadData)) return complaint(Verdict::kStaticReject, log);
  if (made.exit_code != 0 || !std::filesystem::exists(out)) return complaint(Verdict::kCompileError, log);
  return std::nullopt;
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
  const std::string word = traits_of(candidate.language).word;
  const std::string hash = sha256(word + '\0' + question.dump() + '\0' + candidate.source).substr(0, 32);
  const std::filesystem::path kept = compiler.kept / (word + "-" + hash + ".json");
  if (!compiler.kept.empty() && std::filesystem::exists(kept)) return read_answer(read_text_file(kept), word, {});
  const std::filesystem::path out = compiler.folder / "lowered.json";
  std::string log;
  if (auto found = run_script(candidate, compiler, std::move(question), out, log)) return std::move(*found);
  const std::string text = read_text_file(out);
  if (!compiler.kept.empty()) {
    std::filesystem::create_directories(compiler.kept);
    const std::filesystem::path partial = kept.native() + "." + std::to_string(getpid());
    (void)write_text_file(partial, text);
    std::filesystem::rename(partial, kept);
  }
  return read_answer(text, word, log);
}

}  // namespace salient::workbench
