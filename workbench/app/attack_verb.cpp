// workbench/app/attack_verb.cpp - attack: the kit of cheats against somebody's own referee.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/replace_text_file.h"
#include "core/host/interrupt.h"
#include "workbench/app/bench_setup.h"
#include "workbench/app/verbs.h"
#include "workbench/attack/kit.h"
#include "workbench/case/case.h"

namespace salient::workbench {
namespace {

using Kind = HarnessVerdict::Kind;

bool holds(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// The start kernels of the cases that cheats in C++ are of: who refuses everything has shown nothing.
void add_start_kernels(std::vector<KitEntry>& kit, const std::filesystem::path& cases) {
  std::vector<std::string> names;
  for (const KitEntry& entry : kit)
    if (entry.language == "cpp" && !holds(names, entry.problem)) names.push_back(entry.problem);
  for (const std::string& name : names) {
    const Case given = load_case(cases, name);
    if (!given.host_start.empty())
      kit.push_back({.name = "start kernel of " + name,
                     .language = "cpp",
                     .source = read_text_file(given.host_start),
                     .what = "an honest kernel",
                     .problem = name,
                     .is_honest = true});
  }
}

const char* word_of(const KitEntry& entry, const HarnessVerdict& verdict) {
  if (verdict.kind == Kind::kUnable) return "not judged";
  if (is_wrong(entry, verdict)) return entry.is_honest ? "REFUSED, though it is honest" : "ACCEPTED";
  if (verdict.kind == Kind::kAccepted) return entry.is_honest ? "accepted" : "accepted, without a gain";
  return verdict.kind == Kind::kSilent ? "no verdict" : "refused";
}

}  // namespace

int attack_harness(const Words& words, const KernelOptions& options) {
  if (!words.empty()) fail(ErrorKind::kUsage, "attack --harness COMMAND");
  if (options.harness.empty()) fail(ErrorKind::kUsage, "--harness: is needed, the command that judges");
  const Harness harness{{"/bin/sh", "-c", options.harness}, options.answer_s};
  const std::filesystem::path workbench = workbench_folder(options);
  std::vector<KitEntry> kit =
      read_kit(options.kit.empty() ? workbench / "attacks" : std::filesystem::path(options.kit));
  for (const std::string& name : options.only)
    if (std::none_of(kit.begin(), kit.end(), [&](const KitEntry& entry) { return entry.name == name; }))
      fail(ErrorKind::kUsage, "--only: the kit has no " + name);
  std::erase_if(kit, [&](const KitEntry& entry) { return !options.only.empty() && !holds(options.only, entry.name); });
  install_interrupt_handlers();
  const HarnessFacts facts = ask_who_it_is(harness);
  std::erase_if(kit, [&](const KitEntry& entry) { return !holds(facts.languages, entry.language); });
  if (kit.empty()) fail(ErrorKind::kUsage, facts.name + " judges none of the kit's languages, python and cpp");
  add_start_kernels(kit, workbench / "cases");

  std::size_t cheats = 0, accepted = 0, honest = 0, refused = 0, unable = 0;
  nlohmann::json record = nlohmann::json::array();
  for (const KitEntry& entry : kit) {
    const HarnessVerdict verdict = ask_harness(harness, entry);
    const bool wrong = is_wrong(entry, verdict);
    const char* const said = word_of(entry, verdict);
    log_result(entry.name + ": " + said + (wrong && !entry.is_honest ? ", " + entry.what : "") +
               (verdict.reason.empty() ? "" : " (" + verdict.reason + ")"));
    record.push_back({{"name", entry.name},
                      {"what", entry.what},
                      {"honest", entry.is_honest},
                      {"said", said},
                      {"wrong", wrong},
                      {"reason", verdict.reason}});
    if (verdict.kind == Kind::kUnable) {
      ++unable;
      continue;
    }
    ++(entry.is_honest ? honest : cheats);
    if (wrong) ++(entry.is_honest ? refused : accepted);
  }
  log_result(facts.name + ": cheats accepted " + std::to_string(accepted) + " of " + std::to_string(cheats) +
             ", honest kernels refused " + std::to_string(refused) + " of " + std::to_string(honest) +
             (unable > 0 ? ", not judged " + std::to_string(unable) : ""));
  if (!options.out.empty())
    replace_text_file(options.out, nlohmann::json{{"harness", facts.name}, {"verdicts", record}}.dump(2) + "\n");
  return accepted + refused > 0 ? kRejected : 0;
}

}  // namespace salient::workbench
