// engine/report/report_page.h - report.html: one page that shows what the files of a run directory say.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "core/timer.h"

namespace salient {

/// The page of a run: one HTML file with style, script and data in it, which loads nothing from a network. Made from
/// run.json, config.toml, metrics.jsonl, confusion.json and schema.json alone, and only run.json is required: it can be
/// made at any time, also of a run that goes on, was interrupted or failed.
///
/// @throws Error{kNoInput} for a folder without run.json, Error{kBadData} for one that is no JSON, Error{kIo}.
/// Cost: reads and parses metrics.jsonl: milliseconds per 1000 epochs.
std::string report_page(const std::filesystem::path& run_directory);

/// Replaces DIR/report.html. @throws as report_page().
void write_report(const std::filesystem::path& run_directory);

/// write_report() for a run that goes on after a failure: the first one is a warning, later ones are silent.
void refresh_report(const std::filesystem::path& run_directory) noexcept;

/// Refreshes the report of a run that goes on, at the cost of at most a fiftieth of its time.
class LiveReport {
 public:
  explicit LiveReport(std::filesystem::path run_directory) : run_directory_(std::move(run_directory)) {}

  /// After every epoch. Does nothing without a run.json, or while too little time has passed since the last page.
  void refresh_if_due() noexcept;

 private:
  std::filesystem::path run_directory_;
  Timer since_last_{};
  double seconds_of_last_ = 0;
};

}  // namespace salient
