// workbench/ledger/report.h - a run's ledger as pages for people: Markdown and HTML.
#pragma once

#include <filesystem>
#include <string>

namespace salient::workbench {

/// What was found, which verdicts were given, the best per shape, and the differences of start and best.
/// @throws Error{kNoInput}, Error{kBadData} as load_ledger()
std::string markdown_report(const std::filesystem::path& run);

/// The same as one HTML page without any outside file. Texts of generators are escaped.
std::string html_report(const std::filesystem::path& run);

/// Lines of `before` and `after` as "-", "+" and " " lines. Cost: lines of the one times lines of the other.
std::string line_difference(const std::string& before, const std::string& after);

}  // namespace salient::workbench
