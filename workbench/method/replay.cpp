// workbench/method/replay.cpp - a recorded run once more, without generator, compiler or device; see driver.h.
#include <deque>

#include "core/error.h"
#include "core/files/file_io.h"
#include "workbench/ledger/records.h"
#include "workbench/ledger/sha256.h"
#include "workbench/method/driver.h"
#include "workbench/method/run_record.h"

namespace salient::workbench {
namespace {

constexpr const char* kProfileWords[] = {"from-start", "late", "never"};

/// Hands out the records of a ledger in their order and compares them with what the method does now.
class Record {
 public:
  explicit Record(const std::filesystem::path& folder) : folder_(folder), records_(load_ledger(folder)) {}

  const Json& first() const { return records_.front(); }

  Answer answer() {
    const Json& record = take("answer");
    const std::string error = record.value("error", "");
    return {error.empty(), read_object(folder_, record.value("answer", "")), error};
  }

  Assessment assessment() {
    const Json& record = take("assessment");
    Assessment made = assessment_of(record);
    made.finding.log = read_object(folder_, record.value("log", ""));
    if (!made.timing.shapes.empty()) {  // decided again from the samples
      made.decision = decide(made.timing);
      made.finding.verdict = made.decision.verdict;
      made.finding.reason = made.decision.reason;
    }
    return made;
  }

  /// For what happens now: compares it with the record, whose turn it is.
  void compare(const std::string& kind, const Json& facts, const std::map<std::string, std::string>& texts) {
    if (kind == "answer" || kind == "assessment") at_ = taken_;
    const Json& record = peek(kind);
    for (const auto& [key, text] : texts)
      if (record.value(key, "") != (text.empty() ? "" : sha256(text)))
        refuse(kind, key + " differs from the recorded one");
    for (const char* key : {"verdict", "role", "candidate", "of_start", "id"})
      if (facts.contains(key) && facts[key] != record.value(key, Json()))
        refuse(kind, std::string(key) + " differs from the recorded one");
    ++at_;
  }

 private:
  [[noreturn]] void refuse(const std::string& kind, const std::string& why) const {
    fail(ErrorKind::kBadData,
         (folder_ / "ledger.jsonl").string() + ": record " + std::to_string(at_) + " (" + kind + "): " + why);
  }

  const Json& peek(const std::string& kind) const {
    if (at_ >= records_.size()) refuse(kind, "the recorded run ends before it");
    if (records_[at_]["kind"] != kind)
      refuse(kind, "the recorded run goes on with " + records_[at_]["kind"].get<std::string>());
    return records_[at_];
  }

  const Json& take(const std::string& kind) {
    taken_ = at_;
    return peek(kind);
  }

  std::filesystem::path folder_;
  std::vector<Json> records_;
  std::size_t at_ = 1, taken_ = 1;
};

}  // namespace

Json json_of(const MethodOptions& options) {
  return {{"method", options.method},     {"rounds", options.rounds},
          {"repairs", options.repairs},   {"profile", kProfileWords[static_cast<std::size_t>(options.profile)]},
          {"language", options.language}, {"roles", options.roles}};
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
    return options;
  } catch (const Json::exception& error) {
    fail(ErrorKind::kBadData, std::string("the first record of a ledger is incomplete: ") + error.what());
  }
}

RunSummary replay_run(const std::filesystem::path& folder, const std::filesystem::path& workbench) {
  Record record(folder);
  const Json& first = record.first();
  const std::string name = first.value("case", ""), start = read_object(folder, first.value("start", ""));
  // The case and the prompts as they were recorded, not as they are today.
  const Case given =
      parse_case(read_object(folder, first.value("case_text", "")), workbench / "cases" / (name + ".case"));
  const Prompts prompts = Prompts::from_text(read_object(folder, first.value("prompts", "")));
  const MethodContext context{
      .given = &given,
      .prompts = &prompts,
      .backend = first.value("backend", "host") == "cuda" ? BackendKind::kCuda : BackendKind::kHost,
      .start = start,
      .options = method_options_of(first.value("options", Json::object()))};
  const std::unique_ptr<Method> method = make_method(context);
  bool was_cut = false;
  const std::vector<Json> all = load_ledger(folder);
  if (all.back()["kind"] == "end") was_cut = all.back().value("reason", "") == kEndedEarly;
  std::size_t actions = 0, recorded = 0;
  for (const Json& one : all) recorded += one["kind"] == "answer" || one["kind"] == "assessment" ? 1U : 0U;
  const Sources sources{.ask = [&](const Request&) { return ++actions, record.answer(); },
                        .judge = [&](const std::string&, const std::string&,
                                     const std::vector<Variables>&) { return ++actions, record.assessment(); },
                        .is_over = [&] { return was_cut && actions == recorded; }};
  return run_method(*method, start, sources,
                    [&](const std::string& kind, const Json& facts, const std::map<std::string, std::string>& texts) {
                      record.compare(kind, facts, texts);
                    });
}

}  // namespace salient::workbench
