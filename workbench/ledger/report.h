// workbench/ledger/report.h - a run's ledger as pages for people: Markdown and HTML.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace salient::workbench {

/// Seconds of other implementations on the same machine: [shape][name], shapes as "k=4096 m=4096 n=4096".
using Baselines = std::map<std::string, std::map<std::string, double>>;

/// Those of one case in a file of scripts/workbench_baselines.py. @throws Error{kNoInput}, Error{kBadData}
Baselines read_baselines(const std::filesystem::path& file, const std::string& name);

/// What was found, which verdicts were given, the best per shape, and the differences of start and best.
/// @throws Error{kNoInput}, Error{kBadData} as load_ledger()
std::string markdown_report(const std::filesystem::path& run, const Baselines& baselines = {});

/// The same as one HTML page without any outside file. Texts of generators are escaped.
std::string html_report(const std::filesystem::path& run, const Baselines& baselines = {});

/// Lines of `before` and `after` as "-", "+" and " " lines. Cost: lines of the one times lines of the other.
std::string line_difference(const std::string& before, const std::string& after);

}  // namespace salient::workbench
