// engine/report/comparison_page.h - one page that compares runs: curves, options that differ, results, times.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace salient {

/// The page of the runs, like report_page(); a run of several trials is shown as one, and a run that is named twice is
/// there once. Links lead from `folder`, where the page will lie, to the runs' own reports.
///
/// @throws Error{kNoInput}, Error{kBadData}, Error{kIo} as report_page().
/// Cost: reads each run's files; names that differ are found in time runs^2 x options: 0.1 s for 50 runs.
std::string comparison_page(std::span<const std::filesystem::path> run_directories,
                            const std::filesystem::path& folder);

/// Replaces the file `page`. @throws as comparison_page(); Error{kUsage} if `page` is a folder.
void write_comparison(std::span<const std::filesystem::path> run_directories, const std::filesystem::path& page);

}  // namespace salient
