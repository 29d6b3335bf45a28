// workbench/app/new_verb.cpp - new: a case from somebody's kernel, and its first verdict.
#include <algorithm>
#include <regex>

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "workbench/app/bench_setup.h"
#include "workbench/app/questions.h"
#include "workbench/app/verbs.h"
#include "workbench/case/formula.h"
#include "workbench/making/new_case.h"
#include "workbench/making/source_items.h"

namespace salient::workbench {
namespace {

constexpr const char* kWideBlock = "256";

FoundKernel chosen_kernel(const std::vector<FoundKernel>& kernels, const KernelOptions& options) {
  std::string names;
  for (const FoundKernel& kernel : kernels) {
    if (kernel.name == options.kernel) return kernel;
    names.append(names.empty() ? "" : ", ").append(kernel.name);
  }
  if (kernels.empty())
    fail(ErrorKind::kBadData, options.from +
                                  ": no function that could be a kernel: CUDA's have __global__, a host's "
                                  "one has a pointer among its parameters and returns nothing");
  if (!options.kernel.empty()) fail(ErrorKind::kUsage, "--kernel " + options.kernel + ": the source has " + names);
  if (kernels.size() == 1) return kernels.front();
  const std::string name = said_or_asked("", "kernel", "which kernel? " + names);
  const auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const FoundKernel& one) { return one.name == name; });
  if (found == kernels.end()) fail(ErrorKind::kUsage, "--kernel " + name + ": the source has " + names);
  return *found;
}

BackendKind backend_of(const std::filesystem::path& file, const KernelOptions& options) {
  const bool is_cuda = file.extension() == ".cu" || file.extension() == ".cuh";
  if (options.backend != "auto" && (options.backend == "cuda") != is_cuda)
    fail(ErrorKind::kUsage,
         "--backend " + options.backend + ": " + file.string() + " is not for it; CUDA ends with .cu");
  return is_cuda ? BackendKind::kCuda : BackendKind::kHost;
}

void read_constants(NewCase& made, const KernelOptions& options) {
  for (const std::string& word : options.set) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) fail(ErrorKind::kUsage, "--set: '" + word + "' is not NAME=VALUE");
    made.constants[word.substr(0, equals)] = word.substr(equals + 1);
  }
  for (const auto& [name, value] : made.constants)
    if (std::none_of(made.kernel.parameters.begin(), made.kernel.parameters.end(),
                     [&, &wanted = name](const KernelParameter& one) { return one.name == wanted; }))
      fail(ErrorKind::kUsage, "--set " + name + ": " + made.kernel.name + " has no such parameter");
}

/// One or two sizes, "A" or "A, B", that the case's sizes decide. @return whether they are
bool is_launch_size(const NewCase& made, const std::string& text) {
  const std::vector<std::string> parts = parts_of(text);
  return !parts.empty() && parts.size() <= 3 && std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
    return problem_of_expression(made, part).empty();
  });
}

/// "A, B" becomes "A KEY_y=B".
std::string as_launch_keys(const std::string& key, const std::string& text) {
  std::vector<std::string> parts = parts_of(text);
  std::string made;
  constexpr const char* kAxes[] = {"", "_y", "_z"};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::erase(parts[i], ' ');
    made += i == 0 ? parts[i] : " " + key + kAxes[i] + "=" + parts[i];
  }
  return made;
}

void choose_launch(NewCase& made, const KernelOptions& options) {
  const auto one = [&](const std::string& said, const std::string& found, const char* key, const char* what,
                       const std::string& otherwise) {
    std::string text = said;
    if (text.empty() && is_launch_size(made, found)) text = found;
    text = said_or_asked(text, key, std::string(what) + " of " + made.kernel.name, otherwise);
    if (!is_launch_size(made, text)) fail(ErrorKind::kUsage, std::string("--") + key + ": '" + text + "' is no size");
    return as_launch_keys(key, text);
  };
  made.block = one(options.block, made.kernel.block, "block", "threads of a block", kWideBlock);
  const auto output = std::find_if(made.buffers.begin(), made.buffers.end(),
                                   [](const NewBuffer& buffer) { return buffer.role != BufferRole::kIn; });
  const std::string count = output == made.buffers.end() ? made.dims[0] : output->count;
  const std::string threads = made.block.substr(0, made.block.find(' '));
  made.grid = one(options.grid, made.kernel.grid, "grid", "blocks", "ceil(" + count + ", " + threads + ")");
  if (!made.kernel.smem.empty() && is_launch_size(made, made.kernel.smem)) made.smem = made.kernel.smem;
}

void ask_for_buffers(NewCase& made, const KernelOptions& options) {
  set_buffers(made, options.buffers);
  for (NewBuffer& buffer : made.buffers) {
    const bool needs_fill = buffer.role != BufferRole::kOut && !is_float(buffer.type) && buffer.fill.empty();
    if (!buffer.count.empty() && !needs_fill) continue;
    const std::string form = needs_fill ? "COUNT index LIMIT, COUNT indptr LIMIT or COUNT bits" : "COUNT";
    const std::string said = said_or_asked("", "buffers",
                                           "elements of " + buffer.name + ", by the sizes " + made.dims[0] +
                                               (made.dims.size() > 1 ? ", ..." : "") + " (" + form + ")");
    set_buffers(made, buffer.name + "=" + said);
  }
}

void ask_for_shapes(NewCase& made, const KernelOptions& options) {
  std::string otherwise;
  const bool is_host = made.backend == BackendKind::kHost;
  for (const std::string& dim : made.dims)
    otherwise += (otherwise.empty() ? "" : " ") + dim + "=" +
                 (made.dims.size() == 1   ? (is_host ? "262144" : "16777216")
                  : made.dims.size() == 2 ? (is_host ? "512" : "4096")
                                          : (is_host ? "64" : "1024"));
  set_shapes(made, said_or_asked(options.shapes, "shapes", "sizes at which it is timed", otherwise));
  made.has_fixed_shapes = options.fixed;
}

void ask_for_reference(NewCase& made, const KernelOptions& options, const std::filesystem::path& out) {
  if (!options.reference.empty()) {
    const std::string file = options.reference.substr(0, options.reference.find(' '));
    if (!std::filesystem::exists(file)) fail(ErrorKind::kNoInput, file + ": no such file");
    made.python = std::filesystem::absolute(file).lexically_relative(std::filesystem::absolute(out)).string() +
                  options.reference.substr(file.size());
    made.kind = "any";
    return;
  }
  for (std::size_t from = 0; from < options.formula.size();) {
    const std::size_t to = std::min(options.formula.find(';', from), options.formula.size());
    made.formulas.push_back(trimmed(options.formula.substr(from, to - from)));
    from = to + 1;
  }
  if (made.formulas.empty())
    for (const NewBuffer& buffer : made.buffers)
      if (buffer.role != BufferRole::kIn)
        made.formulas.push_back(
            said_or_asked("", "formula", "what is right, as " + buffer.name + "[i] = ... (or --reference FILE.py)"));
  for (const std::string& formula : made.formulas)
    if (formula.find("sum(") != std::string::npos) made.kind = "reduction";
}

/// Formulas of + - * / and sums have errors as those of products: what is left of shorter factors shows in their mean.
std::string with_mean(const std::string& text, const Case& given) {
  if (given.formulas.empty()) return text;
  for (const std::string& formula : given.formulas)
    if (Formula(formula, given).has_functions()) return text;
  const std::size_t at = text.find("\nbytes ");
  return text.substr(0, at) + "\nmean 2" + text.substr(at);
}

/// The verdict of the start kernel. @return the exit code
int check_new(const std::filesystem::path& file, const std::filesystem::path& kernel, const KernelOptions& options) {
  KernelOptions how = options;
  how.backend = kernel.extension() == ".cu" ? "cuda" : "host";
  try {
    return check_candidate({file.string(), kernel.string()}, how);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kNoDevice && !(how.backend == "cuda" && error.kind() == ErrorKind::kNoInput)) throw;
    log_result(std::string("written, not judged: ") + error.what());
    log_result("on a machine with a GPU: salient-kernels check " + file.string() + " " + kernel.string());
    return kWaiting;
  }
}

}  // namespace

int new_case(const Words& words, const KernelOptions& options) {
  static const std::regex name_form("[a-z][a-z0-9_]*");
  if (words.size() != 1 || !std::regex_match(words[0], name_form))
    fail(ErrorKind::kUsage, "new NAME --from FILE; NAME has small letters, digits and _");
  if (options.from.empty()) fail(ErrorKind::kUsage, "--from: is needed, the file with the kernel");
  const std::filesystem::path out = options.out.empty() ? "." : options.out, file = out / (words[0] + ".case");
  if (std::filesystem::exists(file))
    fail(ErrorKind::kUsage, file.string() + " is there already; --out names another folder");

  NewCase made{.name = words[0], .file = std::filesystem::path(options.from).filename().string()};
  made.backend = backend_of(options.from, options);
  const std::string source = read_text_file(options.from);
  made.kernel = chosen_kernel(find_kernels(source, made.backend), options);
  made.text = text_for_kernel(source, made.backend, made.kernel);
  made.template_arguments = options.template_arguments;
  if (made.template_arguments.size() < made.kernel.template_parameters.size())
    fail(ErrorKind::kUsage, "--template: " + made.kernel.name + " is a template of " +
                                made.kernel.template_parameters.front() +
                                (made.kernel.template_parameters.size() > 1 ? ", ..." : "") + "; say its arguments");
  read_constants(made, options);
  read_parameters(made);
  ask_for_buffers(made, options);
  if (made.backend == BackendKind::kCuda) choose_launch(made, options);
  ask_for_reference(made, options, out);
  ask_for_shapes(made, options);
  made.bytes = options.bytes;
  made.flops = options.flops;

  const std::filesystem::path kernel =
      out / "kernels" / (made.name + (made.backend == BackendKind::kHost ? ".cpp" : ".cu"));
  if (std::filesystem::exists(kernel)) fail(ErrorKind::kUsage, kernel.string() + " is there already");
  const std::string text = case_text(made);
  const std::string checked = with_mean(text, parse_case(text, std::filesystem::absolute(file).lexically_normal()));
  std::filesystem::create_directories(kernel.parent_path());
  (void)write_text_file(file, checked);
  (void)write_text_file(kernel, kernel_text(made));
  for (const std::string& left_out : made.text.left_out) log_result("left out of " + made.file + ": " + left_out);
  log_result(file.string());
  log_result(kernel.string());
  return check_new(file, kernel, options);
}

}  // namespace salient::workbench
