// workbench/making/kernel_source.cpp - see kernel_source.h.
//
// No compiler reads these sources: they may need headers and libraries that are not here. Brackets, words and the order
// of declarations are enough for what is asked.
#include "workbench/making/kernel_source.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <set>

#include "core/error.h"
#include "workbench/making/source_items.h"
#include "workbench/referee/static_gate.h"

namespace salient::workbench {
namespace {

KernelParameter parameter_of(const std::string& text) {
  KernelParameter made;
  std::string type = text.substr(0, text.find('='));
  if (const std::size_t bracket = type.find('['); bracket != std::string::npos) {
    made.is_pointer = true;
    type.resize(bracket);
  }
  type = trimmed(type);
  std::size_t start = type.size();
  while (start > 0 && is_word_character(type[start - 1])) --start;
  made.name = type.substr(start);
  type.resize(start);
  if (type.find('&') != std::string::npos) made.name.clear();  // a reference is none that a launch passes
  made.is_pointer = made.is_pointer || type.find('*') != std::string::npos;
  for (const std::string& word : words_in(type)) {
    made.is_const = made.is_const || word == "const";
    if (word != "const" && word != "__restrict__" && word != "__restrict" && word != "restrict" && word != "std" &&
        word != "volatile")
      made.type += (made.type.empty() ? "" : " ") + word;
  }
  return made;
}

/// "NAME = EXPRESSION;" and "dim3 NAME(A, B)" of the source, for names that a launch uses.
std::string defined_as(const std::string& blanked, const std::string& name) {
  const std::regex definition("\\b" + name + R"(\s*(=([^;=][^;]*);|\(([^;]*)\)\s*;|\{([^;]*)\}\s*;))");
  std::smatch found;
  if (!std::regex_search(blanked, found, definition)) return "";
  for (const int part : {2, 3, 4})
    if (found[static_cast<std::size_t>(part)].matched) return trimmed(found[static_cast<std::size_t>(part)].str());
  return "";
}

/// An argument of a launch in names of the kernel's parameters; "" where it is not known what it is.
std::string launch_text(const std::string& blanked, std::string text,
                        const std::map<std::string, std::string>& renamed) {
  static const std::regex casts(
      R"(static_cast\s*<[^<>]*>|\((int|unsigned|unsigned int|size_t|long long)\)|\bdim3\b|(\d)[uUlL]+)");
  for (int level = 0; level < 4; ++level) {
    std::string made;
    bool is_changed = false;
    text = std::regex_replace(text, casts, "$2");
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      while (end < text.size() && is_word_character(text[end])) ++end;
      if (end == at) {
        made += text[at++];
        continue;
      }
      const std::string word = text.substr(at, end - at);
      at = end;
      const auto other = renamed.find(word);
      const std::string definition = other != renamed.end() || std::isdigit(static_cast<unsigned char>(word[0])) != 0
                                         ? ""
                                         : defined_as(blanked, word);
      is_changed = is_changed || !definition.empty();
      made += other != renamed.end() ? other->second : definition.empty() ? word : "(" + definition + ")";
    }
    text = trimmed(made);
    while (text.starts_with('(') && behind_bracket(text, 0) == text.size())
      text = trimmed(text.substr(1, text.size() - 2));
    if (!is_changed) break;
  }
  return text;
}

/// What the source says of how it launches the kernel.
void read_launch(const std::string& blanked, FoundKernel& kernel) {
  const std::regex launch("\\b" + kernel.name + R"(\s*(<[^<>;]*>)?\s*<<<)");
  std::smatch found;
  if (!std::regex_search(blanked, found, launch)) return;
  const auto begin = static_cast<std::size_t>(found.position(0) + found.length(0));
  const std::size_t end = blanked.find(">>>", begin);
  if (end == std::string::npos) return;
  const std::vector<std::string> how = parts_of(blanked.substr(begin, end - begin));
  std::map<std::string, std::string> renamed;
  if (const std::size_t open = blanked.find('(', end); open != std::string::npos) {
    const std::vector<std::string> arguments =
        parts_of(blanked.substr(open + 1, behind_bracket(blanked, open) - open - 2));
    for (std::size_t i = 0; i < arguments.size() && i < kernel.parameters.size(); ++i)
      if (!kernel.parameters[i].is_pointer) renamed[arguments[i]] = kernel.parameters[i].name;
  }
  for (const KernelParameter& parameter : kernel.parameters) renamed.emplace(parameter.name, parameter.name);
  if (!how.empty()) kernel.grid = launch_text(blanked, how[0], renamed);
  if (how.size() > 1) kernel.block = launch_text(blanked, how[1], renamed);
  if (how.size() > 2) kernel.smem = launch_text(blanked, how[2], renamed);
}

FoundKernel kernel_of(const std::string& blanked, const Item& item) {
  FoundKernel made{.name = item.name};
  const std::string text = blanked.substr(item.begin, item.end - item.begin);
  if (const std::size_t at = text.find("__launch_bounds__"); at != std::string::npos) {
    const std::size_t open = text.find('(', at);
    made.launch_bounds = text.substr(at, behind_bracket(text, open) - at);
  }
  if (const std::size_t at = text.find("template"); at == 0) {
    const std::size_t open = text.find('<'), end = behind_bracket(text, open);
    for (const std::string& one : parts_of(text.substr(open + 1, end - open - 2)))
      if (const std::vector<std::string> words = words_in(one.substr(0, one.find('='))); !words.empty())
        made.template_parameters.push_back(words.back());
  }
  const std::regex head("\\b" + item.name + R"(\s*\()");
  std::smatch found;
  if (!std::regex_search(text, found, head)) return made;
  const auto open = static_cast<std::size_t>(found.position(0) + found.length(0)) - 1;
  for (const std::string& one : parts_of(text.substr(open + 1, behind_bracket(text, open) - open - 2)))
    if (one != "void") made.parameters.push_back(parameter_of(one));
  return made;
}

bool is_kernel(const std::string& blanked, const Item& item, BackendKind backend) {
  if (item.kind != Item::Kind::kFunction) return false;
  const std::string text = blanked.substr(item.begin, item.end - item.begin), head = text.substr(0, text.find('{'));
  if (backend == BackendKind::kCuda) return head.find("__global__") != std::string::npos;
  const FoundKernel found = kernel_of(blanked, item);
  return words_in(head).size() > 1 && head.find("void") < head.find('(') && item.name != "main" &&
         std::any_of(found.parameters.begin(), found.parameters.end(),
                     [](const KernelParameter& parameter) { return parameter.is_pointer; });
}

/// Of the host code of a GPU's source: it stays away.
bool is_of_host_code(const std::string& text) {
  static const std::regex words(
      R"(\b(torch|at|c10|pybind11|cuda[A-Z]\w*|cublas\w*|cudnn\w*|std::(vector|string|cout|cerr|mt19937))\b|<<<)");
  return std::regex_search(text, words);
}

/// The function as one that another calls: no kernel, and not seen from outside.
std::string as_function(std::string text, const std::string& launch_bounds, BackendKind backend) {
  text = std::regex_replace(text, std::regex(R"(^\s*extern\s*"C"\s*)"), "");
  if (backend == BackendKind::kCuda) {
    text = std::regex_replace(text, std::regex(R"(\b__global__\b)"), "__device__",
                              std::regex_constants::format_first_only);
    if (const std::size_t at = text.find(launch_bounds); !launch_bounds.empty() && at != std::string::npos)
      text.erase(at, launch_bounds.size());
  } else if (const std::vector<std::string> words = words_in(text.substr(0, text.find('(')));
             std::none_of(words.begin(), words.end(), [](const std::string& word) {
               return word == "static" || word == "inline" || word == "template" || word == "constexpr";
             })) {
    text = "static " + text;
  }
  return text;
}

/// Functions that are needed: the kernel, and by name whatever those need.
std::set<std::size_t> needed_functions(const std::string& blanked, const std::vector<Item>& items, std::size_t kernel) {
  std::set<std::size_t> needed = {kernel};
  std::set<std::string> names;
  for (const Item& item : items)
    if (item.kind != Item::Kind::kFunction)
      for (const std::string& word : words_in(blanked.substr(item.begin, item.end - item.begin))) names.insert(word);
  for (bool is_changed = true; is_changed;) {
    for (const std::size_t i : needed)
      for (const std::string& word : words_in(blanked.substr(items[i].begin, items[i].end - items[i].begin)))
        names.insert(word);
    is_changed = false;
    for (std::size_t i = 0; i < items.size(); ++i)
      if (items[i].kind == Item::Kind::kFunction && names.contains(items[i].name) && items[i].name != "main")
        is_changed = needed.insert(i).second || is_changed;
  }
  return needed;
}

}  // namespace

std::vector<FoundKernel> find_kernels(const std::string& source, BackendKind backend) {
  const std::string blanked = without_comments(source);
  std::vector<FoundKernel> kernels;
  for (const Item& item : items_of(blanked)) {
    if (!is_kernel(blanked, item, backend)) continue;
    kernels.push_back(kernel_of(blanked, item));
    if (backend == BackendKind::kCuda) read_launch(blanked, kernels.back());
  }
  return kernels;
}

KernelText text_for_kernel(const std::string& source, BackendKind backend, const FoundKernel& kernel) {
  const std::string blanked = without_comments(source);
  const std::vector<Item> items = items_of(blanked);
  const auto chosen = std::find_if(items.begin(), items.end(), [&](const Item& item) {
    return item.name == kernel.name && is_kernel(blanked, item, backend);
  });
  require(chosen != items.end(), "the kernel was found in this source");
  const auto at = static_cast<std::size_t>(chosen - items.begin());
  const std::set<std::size_t> needed = needed_functions(blanked, items, at);
  KernelText made;
  std::vector<std::string> frames;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    const std::string text = source.substr(item.begin, item.end - item.begin);
    const std::string plain = blanked.substr(item.begin, item.end - item.begin);
    const bool is_include = plain.find("include") != std::string::npos && item.kind == Item::Kind::kDirective;
    bool is_kept = !is_of_host_code(plain) || backend == BackendKind::kHost;
    if (item.kind == Item::Kind::kFunction) is_kept = needed.contains(i);
    if (is_include) is_kept = !reject_text(text + "\n", backend);
    if (item.kind == Item::Kind::kFrame) {
      is_kept = true;
      const std::vector<std::string> words = words_in(plain);
      if (plain.starts_with("}") && !frames.empty()) frames.pop_back();
      if (!plain.starts_with("}"))
        frames.push_back(words.size() > 1 && words.back() != "namespace" ? words.back() : "");
    }
    if (i == at) {
      for (const std::string& frame : frames) made.name += frame.empty() ? "" : frame + "::";
      made.name += kernel.name;
    }
    if (is_kept)
      made.text +=
          (i == at ? as_function(text, kernel.launch_bounds, backend) : text) + (text.ends_with("\n") ? "" : "\n");
    else
      made.left_out.push_back(is_include          ? trimmed(text)
                              : item.name.empty() ? trimmed(plain.substr(0, 60))
                                                  : item.name);
  }
  return made;
}

}  // namespace salient::workbench
