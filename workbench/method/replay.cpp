// workbench/method/replay.cpp - a recorded run once more, without generator, compiler or device; see driver.h.
#include <algorithm>

#include "core/error.h"
#include "workbench/method/driver.h"
#include "workbench/method/recorded_run.h"
#include "workbench/method/run_record.h"

namespace salient::workbench {
namespace {

constexpr const char* kProfileWords[] = {"from-start", "late", "never"};

}  // namespace

Json json_of(const MethodOptions& options) {
  return {{"method", options.method},
          {"rounds", options.rounds},
          {"repairs", options.repairs},
          {"profile", kProfileWords[static_cast<std::size_t>(options.profile)]},
          {"language", options.language},
          {"roles", options.roles},
          {"width", options.width},
          {"stop_at", options.stop_at},
          {"measures_start", options.measures_start}};
}

MethodOptions method_options_of(const Json& json) {
  try {
    MethodOptions options{json.at("method").get<std::string>(), json.at("rounds").get<int>(),
                          json.at("repairs").get<int>()};
    const std::string profile = json.at("profile").get<std::string>();
    for (std::size_t i = 0; i < 3; ++i)
      if (profile == kProfileWords[i]) options.profile = static_cast<ProfilePolicy>(i);
    options.language = json.at("language").get<std::string>();
    json.at("roles").get_to(options.roles);
    options.width = std::max(json.value("width", options.width), 1);
    options.stop_at = json.value("stop_at", 0.0);
    options.measures_start = json.value("measures_start", false);  // of older records
    return options;
  } catch (const Json::exception& error) {
    fail(ErrorKind::kBadData, std::string("the first record of a ledger is incomplete: ") + error.what());
  }
}

namespace {

std::map<std::string, std::string> machine_of(const Json& first) {
  try {
    return first.value("environment", Json::object()).get<std::map<std::string, std::string>>();
  } catch (const Json::exception&) {
    fail(ErrorKind::kBadData, "a record's environment is no list of texts");
  }
}

}  // namespace

std::filesystem::path case_file_of(const Json& first, const std::filesystem::path& workbench) {
  const std::string own = text_of(first, "case_file");
  return own.empty() ? workbench / "cases" / (text_of(first, "case") + ".case") : std::filesystem::path(own);
}

RunRecipe read_recipe(const std::filesystem::path& folder, const Json& first, const std::filesystem::path& workbench) {
  return {.given = parse_case(read_object(folder, text_of(first, "case_text")), case_file_of(first, workbench)),
          .prompts = Prompts::from_text(read_object(folder, text_of(first, "prompts"))),
          .backend = text_of(first, "backend") == "cuda" ? BackendKind::kCuda : BackendKind::kHost,
          .start = read_object(folder, text_of(first, "start")),
          .options = method_options_of(first.value("options", Json::object())),
          .machine = machine_of(first),
          .prices = prices_of(first)};
}

RunSummary replay_run(const std::filesystem::path& folder, const std::filesystem::path& workbench) {
  RecordedRun record(folder, load_ledger(folder));
  const RunRecipe recipe = read_recipe(folder, record.first(), workbench);
  const std::unique_ptr<Method> method = make_method(recipe.context());
  const std::string end = record.end_reason();
  const bool has_no_finish = end.empty() || end == kEndedEarly;
  std::size_t actions = 0;
  const Sources sources{
      .ask = [&](const Request&) { return ++actions, record.answer(); },
      .judge = [&](const std::string&, const std::string&, const MoreTests&) { return ++actions, record.assessment(); },
      .is_over = [&] { return has_no_finish && actions == record.num_actions(); },
      .prices = recipe.prices};
  RunSummary summary =
      run_method(*method, recipe.start, sources,
                 [&](const std::string& kind, const Json& facts, const std::map<std::string, std::string>& texts) {
                   if (kind == "end" && end.empty()) return;
                   record.compare(kind, facts, texts);
                 });
  if (end.empty()) summary.reason = "the run has no end yet";
  summary.reworded = record.reworded();
  return summary;
}

}  // namespace salient::workbench
