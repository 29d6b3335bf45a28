// workbench/method/method.cpp - the parts of prompts that methods share; see method.h.
#include "workbench/method/method.h"

#include <algorithm>

#include "core/error.h"
#include "workbench/method/answers.h"
#include "workbench/referee/bottlenecks.h"

namespace salient::workbench {
namespace {

constexpr std::size_t kMaxLog = 4000;

}  // namespace

namespace {

std::unique_ptr<Method> make_named(const MethodContext& context) {
  const MethodOptions& options = context.options;
  for (const std::string& role : options.roles)
    if (role != "planner" && role != "coder" && role != "tester" && role != "profiler")
      fail(ErrorKind::kUsage, "there is no role '" + role + "'; planner, coder, tester, profiler");
  if (std::find(options.roles.begin(), options.roles.end(), "coder") == options.roles.end())
    fail(ErrorKind::kUsage, "the role coder cannot be left out");
  if (options.method == "cutegen") return make_cutegen(context);
  if (options.method == "astra") return make_astra(context);
  if (options.method == "single") return make_single(context);
  if (options.method == "beam") return make_beam(context);
  if (options.method == "mcts") return make_mcts(context);
  fail(ErrorKind::kUsage, "there is no method '" + options.method + "'; cutegen, astra, single, beam, mcts");
}

}  // namespace

std::unique_ptr<Method> make_method(const MethodContext& context) {
  std::unique_ptr<Method> method = make_named(context);
  return context.options.stop_at > 0 ? make_until(std::move(method), context.options.stop_at) : std::move(method);
}

namespace {

/// The language, and a whole candidate where there is one: its first line names its case, which is not told its own.
std::string rules_text(const MethodContext& context) {
  const std::string& language = context.options.language;
  const std::string rules = context.prompts->fill("rules_" + language), example = "example_" + language;
  if (!context.prompts->has(example)) return rules;
  const std::string source = context.prompts->fill(example);
  if (source.starts_with("// " + context.given->name + " ")) return rules;
  return rules + "A whole candidate of another case:\n```\n" + source + "```\n";
}

}  // namespace

std::string task_text(const MethodContext& context) {
  std::string machine;
  for (const auto& [what, value] : context.machine) machine.append(what).append(": ").append(value).append("\n");
  return context.prompts->fill("task", {{"case", describe(*context.given, context.backend)},
                                        {"machine", machine},
                                        {"rules", rules_text(context)},
                                        {"parameters", parameter_list(*context.given, context.backend, {})},
                                        {"example", context.start}});
}

std::string menu_text(const MethodContext& context) {
  const std::string name = "menu_" + context.given->kind + (context.backend == BackendKind::kHost ? "_host" : "_cuda");
  if (context.prompts->has(name)) return context.prompts->fill(name);
  const std::string any = context.backend == BackendKind::kHost ? "menu_any_host" : "menu_any_cuda";
  return context.prompts->has(any) ? context.prompts->fill(any) : "";
}

std::string finding_text(const Finding& finding) {
  std::string text = std::string(word_of(finding.verdict)) + ": " + finding.reason + "\n";
  if (!finding.log.empty()) text += quoted(finding.log.substr(0, kMaxLog)) + "\n";
  return text;
}

bool begins_with_start(const MethodContext& context) {
  return context.options.measures_start && context.options.profile != ProfilePolicy::kNever;
}

Action measure_start(const MethodContext& context) {
  return {.kind = Action::Kind::kJudge, .source = context.start, .is_start = true};
}

std::string profile_text(const Assessment& assessment) {
  std::string text = timing_text(assessment.timing);
  for (const Bottleneck& one : bottlenecks_of(assessment)) text += one.name + ": " + one.evidence + "\n";
  if (!assessment.notes.empty()) text += assessment.notes.substr(0, kMaxLog);
  return text.empty() ? "not measured\n" : text;
}

}  // namespace salient::workbench
