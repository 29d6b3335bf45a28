// workbench/backend/triton_lowering.cpp - see triton_lowering.h.
#include "workbench/backend/triton_lowering.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/file_io.h"

namespace salient::workbench {
namespace {

using Json = nlohmann::json;

constexpr int kNoTriton = 66;  // lower_triton.py's exit code

/// Triton's words for elements.
const char* triton_word(ElementType type) {
  switch (type) {
    case ElementType::kF32: return "*fp32";
    case ElementType::kF16: return "*fp16";
    case ElementType::kBF16: return "*bf16";
    case ElementType::kI32: return "*i32";
    case ElementType::kU32: return "*u32";
  }
  return "";
}

/// What lower_triton.py reads. @throws Error{kBadData} where warps or stages are no numbers from 1 to 32
Json question_of(const Candidate& candidate, const Case& given, const TritonCompiler& compiler) {
  Variables parameters;
  Json constants = Json::object();
  for (const Parameter& one : candidate.parameters) {
    parameters[one.name] = one.value;
    constants[one.name] = one.value;
  }
  Json types = Json::array();
  for (const BufferSpec& buffer : given.buffers) types.push_back(triton_word(buffer.type));
  for (std::size_t i = 0; i < given.dims.size(); ++i) types.push_back("i64");
  for (const BufferSpec& scratch : candidate.scratch) types.push_back(triton_word(scratch.type));
  Json launches = Json::array();
  for (const LaunchLine& launch : candidate.launches) {
    const std::int64_t warps = evaluate(launch.warps, parameters), stages = evaluate(launch.stages, parameters);
    if (warps < 1 || warps > 32 || (warps & (warps - 1)) != 0)
      fail(ErrorKind::kBadData, "launch " + launch.kernel + ": warps are a power of two up to 32");
    if (stages < 1 || stages > 32) fail(ErrorKind::kBadData, "launch " + launch.kernel + ": stages are 1 to 32");
    launches.push_back({{"kernel", launch.kernel}, {"warps", warps}, {"stages", stages}});
  }
  return {{"source", (compiler.folder / "candidate.py").string()},
          {"cache", (compiler.folder / "triton").string()},
          {"out", (compiler.folder / "lowered.json").string()},
          {"architecture", compiler.architecture},
          {"types", types},
          {"constants", constants},
          {"launches", launches}};
}

Finding complaint(Verdict verdict, const std::string& log) {
  const std::size_t end = log.find_last_not_of(" \n"), begin = end == std::string::npos ? 0 : log.rfind('\n', end);
  const std::string last = log.substr(begin == std::string::npos ? 0 : begin + 1).substr(0, 300);
  return {verdict, last.substr(0, last.find('\n')), log};
}

}  // namespace

std::variant<Lowered, Finding> lower_triton(const Candidate& candidate, const Case& given,
                                            const TritonCompiler& compiler) {
  Json question;
  try {
    question = question_of(candidate, given, compiler);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadData) throw;
    return Finding{Verdict::kLaunchError, error.what(), {}};
  }
  const std::filesystem::path source = compiler.folder / "candidate.py", out = compiler.folder / "lowered.json";
  for (const std::filesystem::path& file : {source, out}) (void)std::filesystem::remove(file);
  (void)write_text_file(source, candidate.source);
  const std::vector<std::string> command = {compiler.python, "-I", "-B",
                                            (compiler.scripts / "lower_triton.py").string()};
  const ProcessResult made = run_process(command, question.dump(), compiler.limits);
  if (made.exit_code == kNoTriton)
    fail(ErrorKind::kNoInput, compiler.python + " has no Triton; --python names a Python that has: " +
                                  without_folder(made.errors, compiler.folder.string()).substr(0, 200));
  const std::string log = without_folder(made.errors, compiler.folder.string());
  if (auto limit = limit_met(made, compiler.limits))
    return Finding{Verdict::kCompileError, "Triton needs " + *limit, log};
  if (made.exit_code == static_cast<int>(ErrorKind::kBadData)) return complaint(Verdict::kStaticReject, log);
  if (made.exit_code != 0 || !std::filesystem::exists(out)) return complaint(Verdict::kCompileError, log);
  try {
    const Json answer = Json::parse(read_text_file(out));
    return Lowered{answer.at("ptx").get<std::string>(), answer.at("shared").get<std::map<std::string, std::int64_t>>()};
  } catch (const Json::exception& error) {
    return Finding{Verdict::kCompileError, std::string("Triton's answer cannot be read: ") + error.what(), log};
  }
}

}  // namespace salient::workbench
