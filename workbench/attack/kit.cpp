// workbench/attack/kit.cpp - see kit.h.
#include "workbench/attack/kit.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.h"
#include "core/files/file_io.h"
#include "core/number_text.h"
#include "core/printable.h"
#include "workbench/case/problem.h"
#include "workbench/referee/conversation.h"

namespace salient::workbench {
namespace {

using Json = nlohmann::json;

constexpr double kClaimedGain = 0.5;  // of the reference's time: a cheat that is timed sleeps for many times as long

KitEntry read_entry(const std::filesystem::path& file, const std::filesystem::path& folder) {
  KitEntry entry{.name = file.stem(), .language = file.extension() == ".py" ? "python" : "cpp"};
  entry.source = read_text_file(file);
  std::istringstream lines(entry.source);
  std::string first, second, sign, word;
  std::getline(lines, first);
  std::getline(lines, second);
  const std::size_t dash = first.find(" - ");
  if (dash != std::string::npos) entry.what = first.substr(dash + 3);
  std::istringstream words(second);
  words >> sign >> word;
  const bool is_fixture = word == "expect";
  if (is_fixture) words >> word >> word;
  if (word != "attack" && word != "honest" && word != "case")
    fail(ErrorKind::kBadData, file.string() + ": its second line says 'attack PROBLEM' or 'honest PROBLEM'");
  entry.is_honest = word == "honest";
  words >> entry.problem;
  while (words >> word) {
    entry.is_timed = entry.is_timed || word == "timed";
    entry.needs_promotion = entry.needs_promotion || word == "promoted";
  }
  const std::filesystem::path problem = folder / "problems" / (entry.problem + ".py");
  if (entry.language == "python") entry.problem_source = read_text_file(problem);
  return entry;
}

Json first_line(Conversation& talk, const Harness& harness) {
  const std::string line = talk.line(harness.seconds);
  Json hello = Json::parse(line, nullptr, false);
  const bool is_one = hello.is_object() && hello.value("harness", Json()).is_string() &&
                      hello.value("languages", Json()).is_array() && !hello["languages"].empty() &&
                      std::all_of(hello["languages"].begin(), hello["languages"].end(),
                                  [](const Json& language) { return language.is_string(); });
  if (!is_one)
    fail(ErrorKind::kBadData, harness.command[0] +
                                  ": a harness begins with a line {\"harness\": NAME, \"languages\": "
                                  "[...]}, not with " +
                                  printable(line.substr(0, 200)));
  return hello;
}

HarnessVerdict verdict_of(const Json& answer, const std::string& word) {
  HarnessVerdict verdict;
  if (!answer.is_object() || answer.value("word", Json()) != word) {
    verdict.reason = "it did not answer what it was asked";
    return verdict;
  }
  const Json said = answer.value("verdict", Json());
  using Kind = HarnessVerdict::Kind;
  verdict.kind = said == "accepted"   ? Kind::kAccepted
                 : said == "rejected" ? Kind::kRefused
                 : said == "unable"   ? Kind::kUnable
                                      : Kind::kSilent;
  if (const Json reason = answer.value("reason", Json()); reason.is_string())
    verdict.reason = printable(reason.get<std::string>().substr(0, 300));
  if (const Json speedup = answer.value("speedup", Json()); speedup.is_number())
    verdict.speedup = speedup.get<double>();
  return verdict;
}

}  // namespace

std::vector<KitEntry> read_kit(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) fail(ErrorKind::kNoInput, folder.string() + ": no folder of attacks");
  std::vector<KitEntry> kit;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".py" || file.path().extension() == ".cpp")
      kit.push_back(read_entry(file.path(), folder));
  std::sort(kit.begin(), kit.end(), [](const KitEntry& a, const KitEntry& b) { return a.name < b.name; });
  return kit;
}

HarnessFacts ask_who_it_is(const Harness& harness) {
  Conversation talk(harness.command, {});
  const Json hello = first_line(talk, harness);
  return {printable(hello["harness"].get<std::string>()), hello["languages"].get<std::vector<std::string>>()};
}

HarnessVerdict ask_harness(const Harness& harness, const KitEntry& entry) {
  Conversation talk(harness.command, {});
  const std::string word = std::to_string(seed_from_system());
  const Json question = {{"word", word},
                         {"name", entry.name},
                         {"language", entry.language},
                         {"source", entry.source},
                         {"problem", entry.problem},
                         {"problem_source", entry.problem_source},
                         {"timed", entry.is_timed},
                         {"promotion", entry.needs_promotion}};
  try {
    (void)first_line(talk, harness);
    talk.send(question.dump() + "\n", harness.seconds);
    return verdict_of(Json::parse(talk.line(harness.seconds), nullptr, false), word);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadData) throw;
    return {HarnessVerdict::Kind::kSilent, error.what(), {}};
  }
}

bool is_wrong(const KitEntry& entry, const HarnessVerdict& verdict) {
  const bool is_accepted = verdict.kind == HarnessVerdict::Kind::kAccepted;
  if (verdict.kind == HarnessVerdict::Kind::kUnable) return false;
  if (entry.is_honest) return !is_accepted;
  if (!is_accepted) return false;
  return !entry.is_timed || entry.language != "python" || (verdict.speedup && *verdict.speedup > kClaimedGain);
}

}  // namespace salient::workbench
