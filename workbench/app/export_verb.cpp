// workbench/app/export_verb.cpp - export: a kernel for PyTorch, Hugging Face's kernels, TVM's interface, or C++.
#include <nlohmann/json.hpp>

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/replace_text_file.h"
#include "workbench/app/bench_setup.h"
#include "workbench/app/named_run.h"
#include "workbench/app/verbs.h"
#include "workbench/ledger/ledger.h"
#include "workbench/ledger/records.h"
#include "workbench/ledger/sha256.h"
#include "workbench/method/run_record.h"
#include "workbench/promotion/export_package.h"
#include "workbench/referee/process.h"
#include "workbench/referee/referee.h"

namespace salient::workbench {
namespace {

/// The best kernel of a run, or its start kernel where none was faster; with the sizes that the record says.
Exported of_run(const std::string& word, const KernelOptions& options) {
  const NamedRun named(word, options);
  const std::vector<Json> records = load_ledger(named.folder());
  const RunRecipe recipe = read_recipe(named.folder(), records.front(), workbench_folder(options));
  Exported made{parse_candidate(recipe.start), recipe.given, recipe.backend, {}};
  std::string source;
  for (const Json& record : records) {
    if (record["kind"] == "best") source = text_of(record, "source");
    if (record["kind"] == "assessment" && text_of(record, "verdict") == word_of(Verdict::kAccepted))
      made.tried = assessment_of(record).tried;
  }
  if (source.empty()) {
    log_warning("no candidate of the run was faster: its start kernel is exported");
    return made;
  }
  made.candidate = parse_candidate(read_object(named.folder(), source));
  return made;
}

/// A file that is judged first. @throws Error{kBadData} if it is rejected
Exported of_file(const std::string& word, const std::string& file, const KernelOptions& options, Backend& backend) {
  const Case given = load_case(workbench_folder(options) / "cases", word);
  const Candidate candidate = parse_candidate(read_text_file(file));
  const Assessment made = Referee(backend, given, referee_options(options)).check(candidate);
  if (!is_correct(made.finding.verdict))
    fail(ErrorKind::kBadData,
         file + ": is not exported: " + word_of(made.finding.verdict) + ", " + made.finding.reason);
  return {candidate, given, backend.kind(), made.tried};
}

using Files = std::map<std::string, std::string>;

void add_files(Files& files, const std::string& folder, const Files& more) {
  for (const auto& [name, text] : more) files[folder + name] = text;
}

/// Whether the twin reads what there is when gradients are asked for, and gives gradients of inputs.
bool is_twin(const Case& given, const Case& twin) {
  const auto has = [&](const std::string& name, bool is_output) {
    return std::any_of(given.buffers.begin(), given.buffers.end(), [&](const BufferSpec& buffer) {
      return buffer.name == name && (buffer.role == BufferRole::kOut) == is_output;
    });
  };
  for (const BufferSpec& buffer : twin.buffers) {
    const bool is_gradient = buffer.name.starts_with("grad_");
    const std::string of = is_gradient ? buffer.name.substr(5) : buffer.name;
    if (!has(of, is_gradient && buffer.role == BufferRole::kIn)) return false;
    if (buffer.role == BufferRole::kInOut) return false;
  }
  return std::all_of(twin.dims.begin(), twin.dims.end(), [&](const std::string& dim) {
    return std::find(given.dims.begin(), given.dims.end(), dim) != given.dims.end();
  });
}

/// The kernel of the gradients, where the case names its twin: its start kernel.
std::optional<Exported> twin_of(const Exported& exported, const KernelOptions& options) {
  if (exported.given.backward.empty()) return std::nullopt;
  const std::filesystem::path beside = exported.given.file.parent_path() / (exported.given.backward + ".case");
  const Case twin = std::filesystem::exists(beside)
                        ? load_case("", beside)
                        : load_case(workbench_folder(options) / "cases", exported.given.backward);
  const std::filesystem::path start = twin.start(exported.backend);
  if (start.empty()) return std::nullopt;
  if (!is_twin(exported.given, twin))
    fail(ErrorKind::kBadData, "case " + twin.name + " is no backward twin of " + exported.given.name +
                                  ": it reads inputs and grad_OUTPUT, and gives grad_INPUT");
  return Exported{parse_candidate(read_text_file(start)), twin, exported.backend, {}};
}

Files python_package(const Exported& exported, const KernelOptions& options) {
  const std::filesystem::path workbench = workbench_folder(options);
  const std::string header = read_text_file(workbench / "cases/kernels/workbench_kernel.h"),
                    &name = exported.given.name;
  Files files = library_files(exported, header);
  files["_operator.py"] = read_text_file(workbench / "python" / "exported_operator.py");
  files["__init__.py"] = "\"\"\"" + name +
                         ", a kernel that salient-kernels judged and exported.\"\"\"\nimport pathlib\n\n" +
                         "from ._operator import operator\n\n" + name +
                         " = operator(pathlib.Path(__file__).parent)\n__all__ = [\"" + name + "\"]\n";
  if (const auto twin = twin_of(exported, options)) add_files(files, "backward/", library_files(*twin, header));
  return files;
}

/// For `kernels.get_local_kernel(PATH)`, and for its hub.
Files kernels_repository(const Exported& exported, const KernelOptions& options) {
  const bool is_host = exported.backend == BackendKind::kHost;
  const std::string folder = std::string("build/torch-") + (is_host ? "cpu/" : "cuda/");
  Files files;
  add_files(files, folder, python_package(exported, options));
  std::string name = exported.given.name;
  std::replace(name.begin(), name.end(), '_', '-');
  files[folder + "metadata.json"] =
      Json{{"id", exported.given.name + "_" + sha256(exported.candidate.source).substr(0, 12)},
           {"name", name},
           {"version", 1},
           {"license", "other"},
           {"python-depends", Json::array()},
           {"backend", {{"type", is_host ? "cpu" : "cuda"}}}}
          .dump(2) +
      "\n";
  return files;
}

Files tvm_package(const Exported& exported, const KernelOptions& options) {
  const std::string header = read_text_file(workbench_folder(options) / "cases/kernels/workbench_kernel.h"),
                    &name = exported.given.name;
  const bool is_host = exported.backend == BackendKind::kHost;
  const std::string source = name + "_tvm_ffi" + (is_host ? ".cpp" : ".cu");
  Files files = library_files(exported, header);
  files[source] = tvm_ffi_source(exported);
  files["__init__.py"] =
      "\"\"\"" + name + " as a function of TVM's interface: all buffers, then sizes.\"\"\"\nimport pathlib\n\n" +
      "import tvm_ffi.cpp\n\n_folder = pathlib.Path(__file__).parent\nmodule = tvm_ffi.cpp.load(\n    name=\"" + name +
      "\", " + (is_host ? "cpp" : "cuda") + "_files=[str(_folder / \"" + source + "\")], extra_" +
      (is_host ? "" : "cuda_") + "cflags=[\"-O3\", \"-std=c++20\"" +
      (is_host ? ", \"-march=x86-64-v3\", \"-ffp-contract=off\"" : "") +
      "],\n    extra_include_paths=[str(_folder)])\n" + name + " = module." + name + "\n__all__ = [\"" + name + "\"]\n";
  return files;
}

/// Builds the libraries of a package for this machine. @throws Error{kBadData} with what the compiler says
void build_libraries(const std::filesystem::path& folder, const Exported& exported, const KernelOptions& options) {
  const std::vector<std::string> command = build_command(exported, options.nvcc);
  const ProcessResult built = run_process(
      [&] {
        std::vector<std::string> words = {"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", folder.string()};
        words.insert(words.end(), command.begin(), command.end());
        return words;
      }(),
      "", {.seconds = 600});
  if (built.exit_code != 0)
    fail(ErrorKind::kBadData, folder.string() + ": cannot be built: " + built.errors.substr(0, 2000));
}

}  // namespace

int export_kernel(const Words& words, const KernelOptions& options) {
  if (words.empty() || words.size() > 2) fail(ErrorKind::kUsage, "export RUN, or export CASE FILE");
  if (options.out.empty()) fail(ErrorKind::kUsage, "--out: is needed, the folder for what is exported");
  const std::filesystem::path out = options.out;
  if (std::filesystem::exists(out) && !std::filesystem::is_empty(out))
    fail(ErrorKind::kUsage, "--out " + options.out + ": is not empty");
  const WorkFolder work;
  std::unique_ptr<Backend> backend;
  if (words.size() == 2) backend = make_backend(options, work);
  const Exported exported = backend ? of_file(words[0], words[1], options, *backend) : of_run(words[0], options);
  if (exported.candidate.language != Language::kCpp)
    fail(ErrorKind::kUsage, std::string("export: packages hold C++ or CUDA C++, and this kernel is in ") +
                                traits_of(exported.candidate.language).word);
  const std::string header = read_text_file(workbench_folder(options) / "cases/kernels/workbench_kernel.h");
  std::filesystem::path package;
  Files files;
  if (options.as == "cpp") {
    files = library_files(exported, header);
  } else if (options.as == "tvm-ffi") {
    add_files(files, exported.given.name + "/", tvm_package(exported, options));
  } else if (options.as == "kernels") {
    files = kernels_repository(exported, options);
    package = exported.backend == BackendKind::kHost ? "build/torch-cpu" : "build/torch-cuda";
  } else {
    add_files(files, exported.given.name + "/", python_package(exported, options));
    package = exported.given.name;
  }
  for (const auto& [name, text] : files) {
    std::filesystem::create_directories((out / name).parent_path());
    (void)write_text_file(out / name, text);
  }
  if (!package.empty() && exported.backend == BackendKind::kHost) {
    build_libraries(out / package, exported, options);
    if (const auto twin = twin_of(exported, options)) build_libraries(out / package / "backward", *twin, options);
  }
  log_result(out.string() + ": " + exported.given.name + " as " + options.as + ", " + std::to_string(files.size()) +
             " files" + (files.contains(exported.given.name + "/backward/case.json") ? ", with gradients" : ""));
  return 0;
}

}  // namespace salient::workbench
