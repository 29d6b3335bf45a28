// engine/comm/stale_segments.cpp - see stale_segments.h. By hand: OpenMPI has no call or tool that lists them.
#include "engine/comm/stale_segments.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

namespace salient {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> kPrefixes = {"vader_segment.", "sm_segment."};
constexpr std::time_t kYoungest = 10;  // seconds: a run that starts makes a segment a moment before it maps it

/// "vader_segment.node7.0.2bbc0001" of a segment's name; empty for other names. Some versions leave out the domain.
std::string job_of(const std::string& name, const std::string& host) {
  const std::string machine = host.substr(0, host.find('.')) + ".", user = "." + std::to_string(getuid()) + ".";
  const bool is_segment = std::ranges::any_of(
      kPrefixes, [&](std::string_view prefix) { return name.starts_with(std::string(prefix) + machine); });
  return is_segment && name.find(user) != std::string::npos ? name.substr(0, name.rfind('.')) : "";
}

bool is_process(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

/// Whether a process of this user maps a file whose path has `text` in it; nullopt if they cannot be listed.
std::optional<bool> is_mapped(const std::string& text, const fs::path& processes) {
  std::error_code error;
  for (const fs::directory_entry& process : fs::directory_iterator(processes, error)) {
    struct stat about {};
    if (!is_process(process.path()) || stat(process.path().c_str(), &about) != 0 || about.st_uid != getuid()) continue;
    std::ifstream maps(process.path() / "maps");  // not to be read: it has ended, or has more rights than a rank has
    for (std::string line; std::getline(maps, line);)
      if (line.find(text) != std::string::npos) return true;
  }
  return error ? std::nullopt : std::optional(false);
}

}  // namespace

std::vector<StaleSegments> stale_segments(const std::string& host, const fs::path& root) {
  const fs::path folder = root / "dev/shm";
  std::map<std::string, StaleSegments> of_job;
  std::set<std::string> young_jobs;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string job = job_of(entry.path().filename().string(), host);
    struct stat about {};
    if (job.empty() || stat(entry.path().c_str(), &about) != 0 || !S_ISREG(about.st_mode)) continue;
    StaleSegments& segments = of_job[job];
    segments.pattern = (folder / job).string() + ".*";
    segments.bytes += about.st_size;
    ++segments.count;
    if (std::time(nullptr) - about.st_mtime < kYoungest) young_jobs.insert(job);
  }
  std::vector<StaleSegments> found;
  for (const auto& [job, segments] : of_job)
    if (!young_jobs.contains(job) && is_mapped("/" + job + ".", root / "proc") == false) found.push_back(segments);
  return found;
}

}  // namespace salient
