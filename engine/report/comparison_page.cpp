// engine/report/comparison_page.cpp - see comparison_page.h.
#include "engine/report/comparison_page.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files/is_there.h"
#include "core/files/replace_text_file.h"
#include "core/version.h"
#include "engine/report/html_page.h"
#include "engine/report/page/page_assets.h"
#include "engine/report/run_comparison.h"
#include "engine/report/run_directory.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

/// A run, or the trials of one.
std::vector<fs::path> runs_in(const fs::path& directory) {
  if (!is_there(directory / "run.json")) return {directory};  // for read_run_files() to refuse
  std::vector<fs::path> trials;
  for (int number = 1;; ++number) {
    const fs::path trial = directory / ("trial-" + std::to_string(number));
    if (!is_there(trial / "run.json")) break;
    trials.push_back(trial);
  }
  return trials.empty() ? std::vector{directory} : trials;
}

std::string short_name(const fs::path& directory) {
  const std::string name = directory.filename().string();
  return name.starts_with("trial-") ? (directory.parent_path().filename() / name).string() : name;
}

std::vector<ComparedRun> read_runs(std::span<const fs::path> directories, const fs::path& folder) {
  std::vector<fs::path> places;
  std::vector<ComparedRun> runs;
  std::error_code error;
  for (const fs::path& named : directories)
    for (const fs::path& directory : runs_in(named)) {
      RunFiles files = read_run_files(directory);
      const fs::path place = fs::canonical(directory, error);
      if (std::ranges::count(places, place)) continue;
      places.push_back(place);
      const bool has_report = fs::exists(place / "report.html", error);
      runs.push_back({.name = short_name(place),
                      .link = has_report ? (fs::relative(place, folder, error) / "report.html").string() : "",
                      .files = std::move(files)});
    }
  std::map<std::string, int> times;
  for (const ComparedRun& run : runs) ++times[run.name];
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (times[runs[i].name] > 1) runs[i].name = places[i].string();
  return runs;
}

std::string header(const std::string& title, std::span<const ComparedRun> runs) {
  std::map<std::string, std::size_t> states;
  for (const ComparedRun& run : runs) ++states[shown_status(run.files.run).state];
  std::string line;
  for (const auto& [state, count] : states)
    line += (line.empty() ? "<b>" : " · <b>") + std::to_string(count) + " " + escape_html(state) + "</b>";
  const bool has_synthetic = std::ranges::any_of(runs, [](const auto& run) { return is_synthetic(run.files.run); });
  const bool all_finished = states["finished"] == runs.size();
  return "<h1>" + title + (has_synthetic ? " <span class=\"badge\">synthetic data</span>" : "") +
         "</h1>\n<p class=\"status" + (all_finished ? " finished" : "") + "\">" + line + " · salient-report " +
         kVersion + " · " + local_time("%Y-%m-%dT%H:%M:%S%z") + "</p>\n";
}

}  // namespace

std::string comparison_page(std::span<const fs::path> run_directories, const fs::path& folder) {
  const std::vector<ComparedRun> runs = read_runs(run_directories, folder);
  const std::string title = std::to_string(runs.size()) + (runs.size() == 1 ? " run" : " runs") + " compared";
  return to_html(
      {.title = title, .header = header(title, runs), .data = compare_runs(runs), .sections = kComparisonSections});
}

void write_comparison(std::span<const fs::path> run_directories, const fs::path& page) {
  std::error_code error;
  const fs::file_type found = fs::symlink_status(page, error).type();
  const bool is_new = found == fs::file_type::not_found || found == fs::file_type::none;
  if (page.filename().empty() || !(is_new || fs::is_regular_file(page, error)))  // a device would be replaced by a file
    fail(ErrorKind::kUsage,
         "'" + page.string() + "': is a folder or no regular file; name the page's file, such as comparison.html");
  const fs::path target = is_new ? fs::absolute(page) : fs::canonical(page);  // of a link, the file that it names
  const fs::path folder = fs::canonical(target.parent_path(), error);
  if (error) fail(ErrorKind::kIo, target.parent_path().string() + ": " + error.message());
  replace_text_file(target, comparison_page(run_directories, folder));
}

}  // namespace salient
