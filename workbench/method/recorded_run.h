// workbench/method/recorded_run.h - a ledger played again: its answers and assessments in their order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workbench/generator/generator.h"
#include "workbench/ledger/ledger.h"
#include "workbench/referee/referee.h"

namespace salient::workbench {

/// Hands out the records of a ledger in their order and compares them with what the method does now.
class RecordedRun {
 public:
  /// @param records  of the ledger in `folder`; the first is of kind "run"   @throws Error{kBadData}
  RecordedRun(const std::filesystem::path& folder, std::vector<Json> records);

  const Json& first() const { return records_.front(); }
  /// Whether there is a record left that an answer or an assessment could come from.
  bool is_at_end() const { return at_ >= records_.size(); }
  /// Why the run ended, or "" if it has no end.
  std::string end_reason() const;
  std::size_t num_actions() const;  ///< answers and assessments

  // Each @throws Error{kBadData} where the record goes on with something else.
  Answer answer();
  /// The verdict is decided again from the recorded times; without times there is none on speed.
  Assessment assessment();
  /// For what happens now: compares it with the record, whose turn it is. Requests may be worded otherwise by now.
  void compare(const std::string& kind, const Json& facts, const std::map<std::string, std::string>& texts);

  int reworded() const { return reworded_; }  ///< requests that would read otherwise today

 private:
  void drop_what_was_judged_again();
  [[noreturn]] void refuse(const std::string& kind, const std::string& why) const;
  const Json& peek(const std::string& kind) const;
  const Json& take(const std::string& kind);

  std::filesystem::path folder_;
  std::vector<Json> records_;
  std::size_t at_ = 1, taken_ = 1;
  int reworded_ = 0;
};

}  // namespace salient::workbench
