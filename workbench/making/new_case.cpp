// workbench/making/new_case.cpp - see new_case.h.
#include "workbench/making/new_case.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "core/error.h"
#include "workbench/case/formula.h"
#include "workbench/making/source_items.h"

namespace salient::workbench {
namespace {

const std::map<std::string, ElementType, std::less<>> kTypes = {
    {"float", ElementType::kF32},          {"half", ElementType::kF16},
    {"__half", ElementType::kF16},         {"_Float16", ElementType::kF16},
    {"__nv_bfloat16", ElementType::kBF16}, {"nv_bfloat16", ElementType::kBF16},
    {"bfloat16", ElementType::kBF16},      {"int", ElementType::kI32},
    {"int32_t", ElementType::kI32},        {"signed int", ElementType::kI32},
    {"unsigned", ElementType::kU32},       {"unsigned int", ElementType::kU32},
    {"uint32_t", ElementType::kU32}};
constexpr const char* kWholeTypes[] = {"int",      "long",         "long long",     "long long int",      "size_t",
                                       "unsigned", "int64_t",      "int32_t",       "uint32_t",           "uint64_t",
                                       "long int", "unsigned int", "unsigned long", "unsigned long long", "ptrdiff_t",
                                       "index_t"};

constexpr const char* kFormulaBound = "4";   // of formula.h's errors: the worst of them
constexpr const char* kProgramBound = "64";  // of estimated errors: what random ones become in long sums
constexpr std::int64_t kLargeFactor = 4;     // hidden shapes are larger than public ones by one part of it

std::string resolved_type(const NewCase& made, const std::string& type) {
  const auto& names = made.kernel.template_parameters;
  const auto found = std::find(names.begin(), names.end(), type);
  const auto at = static_cast<std::size_t>(found - names.begin());
  return found != names.end() && at < made.template_arguments.size() ? made.template_arguments[at] : type;
}

bool is_out(const NewBuffer& buffer) { return buffer.role != BufferRole::kIn; }

const char* word_of(BufferRole role) {
  return role == BufferRole::kIn ? "in" : role == BufferRole::kOut ? "out" : "inout";
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);)
    if (!trimmed(part).empty()) parts.push_back(trimmed(part));
  return parts;
}

std::pair<std::string, std::string> assignment(const std::string& option, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) fail(ErrorKind::kUsage, option + ": '" + text + "' is not NAME=VALUE");
  return {trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1))};
}

/// Expressions of case files have no blanks.
std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

}  // namespace

void read_parameters(NewCase& made) {
  for (const KernelParameter& parameter : made.kernel.parameters) {
    const std::string type = resolved_type(made, parameter.type);
    const std::string what = "parameter '" + parameter.name + "' of " + made.kernel.name + ", " + type;
    if (parameter.name.empty())
      fail(ErrorKind::kBadData,
           "a parameter of " + made.kernel.name + " is no pointer and no number: " + parameter.type);
    if (made.constants.contains(parameter.name)) continue;
    if (parameter.is_pointer) {
      const auto known = kTypes.find(type);
      if (known == kTypes.end())
        fail(ErrorKind::kBadData, what + "*: a case's buffers are float, half, bfloat16, int or unsigned");
      made.buffers.push_back({parameter.name, known->second, parameter.is_const ? BufferRole::kIn : BufferRole::kOut});
    } else if (std::find(std::begin(kWholeTypes), std::end(kWholeTypes), type) != std::end(kWholeTypes)) {
      made.dims.push_back(parameter.name);
    } else {
      fail(ErrorKind::kBadData, what + ": is no size; say its value, --set " + parameter.name + "=VALUE");
    }
  }
  if (made.buffers.empty()) fail(ErrorKind::kBadData, made.kernel.name + " has no buffer");
  if (made.dims.empty()) fail(ErrorKind::kBadData, made.kernel.name + " has no size among its parameters");
  if (made.dims.size() == 1)
    for (NewBuffer& buffer : made.buffers) buffer.count = made.dims[0];
}

void set_buffers(NewCase& made, const std::string& text) {
  for (const std::string& part : split(text, ';')) {
    const auto [name, value] = assignment("--buffers", part);
    const auto found = std::find_if(made.buffers.begin(), made.buffers.end(),
                                    [&, &wanted = name](const NewBuffer& buffer) { return buffer.name == wanted; });
    if (found == made.buffers.end()) fail(ErrorKind::kUsage, "--buffers: the kernel has no buffer " + name);
    std::vector<std::string> words = split(value, ' ');
    for (const BufferRole role : {BufferRole::kIn, BufferRole::kOut, BufferRole::kInOut})
      if (!words.empty() && words[0] == word_of(role)) {
        found->role = role;
        words.erase(words.begin());
      }
    if (words.empty()) continue;
    found->count = words[0];
    if (const std::string why = problem_of_expression(made, found->count); !why.empty())
      fail(ErrorKind::kUsage, "--buffers: " + name + ": " + why);
    found->fill.clear();
    for (std::size_t i = 1; i < words.size(); ++i) found->fill += (i > 1 ? " " : "") + words[i];
  }
}

void set_shapes(NewCase& made, const std::string& text) {
  for (const std::string& part : split(text, ';')) {
    Variables shape;
    for (const std::string& word : split(part, ' ')) {
      const auto [name, value] = assignment("--shapes", word);
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (error != std::errc{} || end != value.data() + value.size() || number < 0)
        fail(ErrorKind::kUsage, "--shapes: '" + value + "' is no size");
      shape[name] = number;
    }
    for (const std::string& dim : made.dims)
      if (!shape.contains(dim)) fail(ErrorKind::kUsage, "--shapes: '" + part + "' does not say " + dim);
    if (shape.size() != made.dims.size())
      fail(ErrorKind::kUsage, "--shapes: '" + part + "' has a size that the kernel lacks");
    made.shapes.push_back(std::move(shape));
  }
}

std::string problem_of_expression(const NewCase& made, const std::string& text) {
  Variables sevens;
  for (const std::string& dim : made.dims) sevens[dim] = 7;
  try {
    return evaluate(text, sevens) < 0 ? "'" + text + "' is negative" : "";
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadData) throw;
    return error.what();
  }
}

namespace {

/// Whether buffers of these sizes can be: no negative counts, indices into something, offsets of some rows.
bool can_be(const NewCase& made, const Variables& dims) {
  return std::all_of(made.buffers.begin(), made.buffers.end(), [&](const NewBuffer& buffer) {
    const std::vector<std::string> fill = split(buffer.fill, ' ');
    const std::int64_t count = evaluate(buffer.count, dims);
    if (count < 0) return false;
    if (fill.size() != 2) return true;
    const std::int64_t limit = evaluate(fill[1], dims);
    return fill[0] == "index" ? count == 0 || limit > 0 : count > 1 || (count == 1 && limit == 0);
  });
}

void add_shape(std::string& text, const NewCase& made, const std::string& set, const std::vector<DimRange>& ranges) {
  Variables low, high;
  for (const DimRange& range : ranges) low[range.name] = range.low, high[range.name] = range.high;
  if (!can_be(made, low) || !can_be(made, high)) return;
  text += set;
  for (const DimRange& range : ranges)
    text += " " + range.name + "=" + std::to_string(range.low) +
            (range.high != range.low || set.starts_with("hidden") ? ".." + std::to_string(range.high) : "");
  text += "\n";
}

std::string shapes_text(const NewCase& made) {
  std::string text;
  const auto add = [&](const std::string& set, const auto& range_of) {
    std::vector<DimRange> ranges;
    for (std::size_t d = 0; d < made.dims.size(); ++d) {
      const auto [low, high] = range_of(d);
      ranges.push_back({made.dims[d], low, high});
    }
    add_shape(text, made, set, ranges);
  };
  using Range = std::pair<std::int64_t, std::int64_t>;
  Variables most;
  for (const Variables& shape : made.shapes) {
    add("public", [&](std::size_t d) { return Range{shape.at(made.dims[d]), shape.at(made.dims[d])}; });
    for (const auto& [dim, size] : shape) most[dim] = std::max(most[dim], size);
  }
  if (made.has_fixed_shapes) return text;
  constexpr std::int64_t kOdd[] = {3, 5, 7, 9, 11, 13}, kMore[] = {33, 17, 65, 9, 31, 12};
  const std::int64_t small = made.dims.size() == 1 ? 70000 : made.dims.size() == 2 ? 300 : 70;
  const auto of = [&](std::size_t d) { return std::max<std::int64_t>(most[made.dims[d]], 1); };
  const auto few = [&](std::size_t d, std::int64_t size) {
    return Range{std::min(size, of(d)), std::min(size, of(d))};
  };
  add("edge", [&](std::size_t) { return Range{0, 0}; });
  add("edge", [&](std::size_t) { return Range{1, 1}; });
  add("edge", [&](std::size_t d) { return few(d, kOdd[d % 6]); });
  add("edge", [&](std::size_t d) { return few(d, kMore[d % 6]); });
  add("hidden", [&](std::size_t d) { return Range{1, std::min(of(d), small + 13 * static_cast<std::int64_t>(d))}; });
  add("hidden", [&](std::size_t d) { return Range{(of(d) + 3) / 4, (of(d) + 1) / 2}; });
  add("hidden", [&](std::size_t d) { return Range{of(d), of(d) + of(d) / kLargeFactor + 3}; });
  return text;
}

/// What must be read and written at least: of what indices choose, nothing is known.
std::string least_bytes(const NewCase& made) {
  const bool has_indices = std::any_of(made.buffers.begin(), made.buffers.end(),
                                       [](const NewBuffer& buffer) { return buffer.fill.starts_with("index"); });
  std::string text;
  for (const NewBuffer& buffer : made.buffers) {
    const std::size_t times = buffer.role == BufferRole::kInOut ? 2 : 1;
    if (has_indices && buffer.role == BufferRole::kIn && is_float(buffer.type)) continue;
    text += (text.empty() ? "" : "+") + std::to_string(times * bytes_of(buffer.type)) + "*(" + buffer.count + ")";
  }
  return text;
}

std::string outputs_count(const NewCase& made) {
  std::string text;
  for (const NewBuffer& buffer : made.buffers)
    if (is_out(buffer)) text += (text.empty() ? "(" : "+(") + buffer.count + ")";
  return text;
}

}  // namespace

std::string case_text(const NewCase& made) {
  std::string text = "# " + made.name + ".case - made by salient-kernels new from " + made.file + ".\ncase " +
                     made.name + "\nclass " + made.kind + "\n";
  for (const std::string& formula : made.formulas) text += "| " + formula + "\n";
  if (made.formulas.empty()) text += "| What the function in " + made.python + " computes.\n";
  text += made.formulas.empty() ? "reference python " + made.python + "\n" : "reference formula\n";
  for (const std::string& formula : made.formulas) text += "formula " + formula + "\n";
  text += "dims";
  for (const std::string& dim : made.dims) text += " " + dim;
  text += "\n";
  for (const NewBuffer& buffer : made.buffers)
    text += "buffer " + buffer.name + " " + workbench::word_of(buffer.type) + " " + word_of(buffer.role) + " " +
            buffer.count + (buffer.fill.empty() ? "" : " " + buffer.fill) + "\n";
  const bool is_formula = !made.formulas.empty();
  text += "bound " +
          (made.bound.empty() ? std::string(is_formula ? kFormulaBound : kProgramBound) : without_blanks(made.bound)) +
          "\n";
  text += "bytes " + (made.bytes.empty() ? least_bytes(made) : without_blanks(made.bytes)) + "\n";
  text += "flops " + (made.flops.empty() ? outputs_count(made) : without_blanks(made.flops)) + "\n";
  if (made.text.text.find("atomic") != std::string::npos) text += "atomics yes\n";
  text += "exponents -20 20\n";
  const char* const extension = made.backend == BackendKind::kHost ? ".cpp" : ".cu";
  text += std::string("start ") + workbench::word_of(made.backend) + " " + made.name + extension + "\n";
  return text + shapes_text(made);
}

std::string kernel_text(const NewCase& made) {
  const bool is_host = made.backend == BackendKind::kHost;
  std::string entry = made.name + "_kernel";
  while (made.text.text.find(entry) != std::string::npos) entry += "_entry";
  std::string arguments, parameters = is_host ? "WorkbenchBlock" : "";
  const auto add = [](std::string& list, const std::string& item) {
    list.append(list.empty() ? "" : ", ").append(item);
  };
  for (const NewBuffer& buffer : made.buffers)
    add(parameters, (is_out(buffer) ? "" : "const ") + type_name(buffer.type, made.backend) + "* " + buffer.name);
  for (const std::string& dim : made.dims) add(parameters, "long long " + dim);
  for (const KernelParameter& parameter : made.kernel.parameters) {
    const auto constant = made.constants.find(parameter.name);
    const auto buffer = std::find_if(made.buffers.begin(), made.buffers.end(),
                                     [&](const NewBuffer& one) { return one.name == parameter.name; });
    const bool is_read = buffer != made.buffers.end() && !is_out(*buffer) && !parameter.is_const;
    add(arguments, constant != made.constants.end() ? constant->second
                   : is_read ? "const_cast<" + type_name(buffer->type, made.backend) + "*>(" + parameter.name + ")"
                             : parameter.name);
  }
  std::string call = made.text.name;
  for (std::size_t i = 0; i < made.template_arguments.size(); ++i)
    call += (i == 0 ? "<" : ", ") + made.template_arguments[i] + (i + 1 == made.template_arguments.size() ? ">" : "");
  const std::string smem = made.smem.empty() || made.smem == "0" ? "" : " smem=" + without_blanks(made.smem);
  std::string text = "// " + made.name + (is_host ? ".cpp" : ".cu") +
                     " - start kernel, made by salient-kernels new from " + made.file + ".\n// launch " + entry +
                     " block=" + (is_host ? "1" : made.block) + " grid=" + (is_host ? "1" : made.grid) + smem + "\n";
  if (is_host) text += "#include \"workbench_kernel.h\"\n";
  text += "\n" + made.text.text + "\nextern \"C\" " + (is_host ? "void " : "__global__ void ") +
          (made.kernel.launch_bounds.empty() ? "" : made.kernel.launch_bounds + " ") + entry + "(" + parameters +
          ") {\n  " + call + "(" + arguments + ");\n}\n";
  return text;
}

}  // namespace salient::workbench
