// workbench/app/compile_again.cpp - see compile_again.h.
#include "workbench/app/compile_again.h"

#include "core/error.h"
#include "workbench/ledger/ledger.h"

namespace salient::workbench {
namespace {

/// "sm_90a" of the flags that the record's environment names.
std::string architecture_of(const RunRecipe& recipe) {
  const std::string option = "-arch=";
  for (const auto& [what, value] : recipe.machine)
    if (const std::size_t at = value.find(option); what == "flags" && at != std::string::npos)
      return value.substr(at + option.size(), value.find(' ', at) - at - option.size());
  fail(ErrorKind::kBadData, "the record names no architecture");
}

Verdict verdict_without_running(Backend& backend, const Case& given, const std::string& source) {
  std::variant<Candidate, Finding> read = read_candidate(source);
  if (const auto* rejected = std::get_if<Finding>(&read)) return rejected->verdict;
  std::variant<Artifact, Finding> compiled = backend.compile(std::get<Candidate>(read), given);
  if (const auto* rejected = std::get_if<Finding>(&compiled)) return rejected->verdict;
  return Verdict::kAccepted;
}

}  // namespace

std::unique_ptr<Backend> recorded_compiler(const RunRecipe& recipe, const KernelOptions& options,
                                           const WorkFolder& work) {
  if (recipe.backend == BackendKind::kCuda) {
    CudaCompiler compiler = cuda_compiler(options);
    compiler.architecture = architecture_of(recipe);
    return make_cuda_backend(compiler, work.path());
  }
  KernelOptions as_recorded = options;
  as_recorded.backend = "host";
  return make_backend(as_recorded, work);
}

CompiledAgain compile_again(const std::filesystem::path& run, const KernelOptions& options) {
  const WorkFolder work;
  const std::vector<Json> records = load_ledger(run);
  const RunRecipe recipe = read_recipe(run, records.front(), workbench_folder(options));
  const std::unique_ptr<Backend> backend = recorded_compiler(recipe, options, work);
  CompiledAgain counts;
  for (const Json& record : records) {
    if (text_of(record, "kind") != "assessment") continue;
    const std::optional<Verdict> then = verdict_of(text_of(record, "verdict"));
    const Verdict now = verdict_without_running(*backend, recipe.given, read_object(run, text_of(record, "source")));
    const bool was_rejected = then == Verdict::kStaticReject || then == Verdict::kCompileError;
    const bool is_alike = now == Verdict::kAccepted ? !was_rejected : then == now;
    if (!is_alike)
      fail(ErrorKind::kBadData, run.string() + ": record " + std::to_string(number_of(record, "n")) +
                                    ": the record says " + text_of(record, "verdict") + ", the compiler now " +
                                    word_of(now));
    ++(now == Verdict::kAccepted ? counts.compiled : counts.rejected);
  }
  return counts;
}

}  // namespace salient::workbench
