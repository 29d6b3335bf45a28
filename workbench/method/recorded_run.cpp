// workbench/method/recorded_run.cpp - see recorded_run.h.
#include "workbench/method/recorded_run.h"

#include <algorithm>

#include "core/error.h"
#include "workbench/ledger/records.h"
#include "workbench/ledger/sha256.h"

namespace salient::workbench {
namespace {

bool is_action(const Json& record) { return record["kind"] == "answer" || record["kind"] == "assessment"; }

}  // namespace

RecordedRun::RecordedRun(const std::filesystem::path& folder, std::vector<Json> records)
    : folder_(folder), records_(std::move(records)) {
  drop_what_was_judged_again();
  if (records_.front()["kind"] != "run")
    fail(ErrorKind::kBadData, folder_.string() + ": the ledger does not begin with a run");
}

/// A person had the last candidate judged again: its assessment and the end that followed do not count.
void RecordedRun::drop_what_was_judged_again() {
  for (std::size_t i = 3; i < records_.size();) {
    const bool is_again =
        records_[i]["kind"] == "again" && records_[i - 1]["kind"] == "end" && records_[i - 2]["kind"] == "assessment";
    if (!is_again) {
      ++i;
      continue;
    }
    records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(i - 2),
                   records_.begin() + static_cast<std::ptrdiff_t>(i + 1));
    i = std::max<std::size_t>(3, i - 2);
  }
}

std::string RecordedRun::end_reason() const {
  return records_.back()["kind"] == "end" ? text_of(records_.back(), "reason") : "";
}

std::size_t RecordedRun::num_actions() const {
  return static_cast<std::size_t>(std::count_if(records_.begin(), records_.end(), is_action));
}

Answer RecordedRun::answer() {
  const Json& record = take("answer");
  const std::string error = text_of(record, "error");
  return {error.empty(),
          read_object(folder_, text_of(record, "answer")),
          error,
          text_of(record, "author"),
          number_of(record, "tokens_asked"),
          number_of(record, "tokens_answered"),
          record.value("seconds", 0.0)};
}

Assessment RecordedRun::assessment() {
  const Json& record = take("assessment");
  Assessment made = assessment_of(record);
  made.finding.log = read_object(folder_, text_of(record, "log"));
  const bool has_samples = !made.timing.shapes.empty();
  if (!has_samples && is_correct(made.finding.verdict) && made.finding.verdict != Verdict::kImpossible)
    refuse("assessment", std::string(word_of(made.finding.verdict)) + " without samples");
  if (has_samples) {
    made.decision = decide(made.timing);
    made.finding.verdict = made.decision.verdict;
    made.finding.reason = made.decision.reason;
  }
  return made;
}

void RecordedRun::compare(const std::string& kind, const Json& facts, const std::map<std::string, std::string>& texts) {
  if (kind == "answer" || kind == "assessment") at_ = taken_;
  const Json& record = peek(kind);
  for (const auto& [key, text] : texts) {
    if (text_of(record, key.c_str()) == (text.empty() ? "" : sha256(text))) continue;
    if (kind != "request") refuse(kind, key + " differs from the recorded one");
    ++reworded_;
  }
  for (const char* key : {"verdict", "role", "candidate", "of_start", "id"})
    if (facts.contains(key) && (!record.contains(key) || facts[key] != record[key]))
      refuse(kind, std::string(key) + " differs from the recorded one");
  for (const char* key : {"bound", "spent", "spent_a_per_cent"})  // older records have none
    if (record.contains(key) && facts.value(key, Json()) != record[key])
      refuse(kind, std::string(key) + " differs from the recorded one");
  ++at_;
}

void RecordedRun::refuse(const std::string& kind, const std::string& why) const {
  fail(ErrorKind::kBadData,
       (folder_ / "ledger.jsonl").string() + ": record " + std::to_string(at_) + " (" + kind + "): " + why);
}

const Json& RecordedRun::peek(const std::string& kind) const {
  if (is_at_end()) refuse(kind, "the recorded run ends before it");
  if (records_[at_]["kind"] != kind)
    refuse(kind, "the recorded run goes on with " + records_[at_]["kind"].get<std::string>());
  return records_[at_];
}

const Json& RecordedRun::take(const std::string& kind) {
  taken_ = at_;
  return peek(kind);
}

}  // namespace salient::workbench
