// workbench/referee/process_clock.cpp - see process_clock.h.
#include "workbench/referee/process_clock.h"

#include <algorithm>
#include <chrono>
#include <fstream>

#include "core/number_text.h"
#include "workbench/referee/timing.h"

namespace salient::workbench {
namespace {

constexpr double kAwayShare = 0.25, kAwaySeconds = 500e-6, kAwayFactor = 2;

template <class Get>
Spread spread_of_usage(const std::vector<Usage>& list, Get get) {
  std::vector<double> values;
  for (const Usage& usage : list) values.push_back(get(usage));
  return spread_of(std::move(values));
}

std::string milliseconds(double seconds) { return fixed(seconds * 1e3, 3) + " ms"; }

}  // namespace

ProcessTimes ProcessClock::read() const {
  ProcessTimes times;
  clockid_t clock{};
  timespec spent{};
  if (clock_getcpuclockid(process_, &clock) == 0 && clock_gettime(clock, &spent) == 0)
    times.cpu = static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
  const std::string folder = "/proc/" + std::to_string(process_) + "/";
  double ran = 0, queued = 0;
  if (std::ifstream(folder + "schedstat") >> ran >> queued) times.queued = queued * 1e-9;
  std::ifstream status(folder + "status");
  for (std::string word; status >> word;) {
    if (word == "Threads:") status >> times.threads;
    if (word == "voluntary_ctxt_switches:") status >> times.waits;
  }
  times.wall = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return times;
}

std::string hidden_work(const std::vector<Usage>& candidate, const std::vector<Usage>& best) {
  if (candidate.empty() || best.empty()) return {};
  const auto threads = std::max_element(candidate.begin(), candidate.end(), [](const Usage& a, const Usage& b) {
                         return a.threads < b.threads;
                       })->threads;
  if (threads > 1) return "it has " + std::to_string(threads) + " threads";
  const auto waits = [](const Usage& usage) { return static_cast<double>(usage.waits); };
  const double waited = spread_of_usage(candidate, waits).median;
  if (waited > std::max(1.0, spread_of_usage(best, waits).median) + 0.5)
    return "it waits " + fixed(waited - 1, 1) + " times in a sample";
  const double cpu = spread_of_usage(candidate, [](const Usage& usage) { return usage.cpu; }).median;
  const auto away = [](const Usage& usage) { return usage.away; };
  const double passed = spread_of_usage(candidate, away).low;
  if (passed > kAwayFactor * spread_of_usage(best, away).high + kAwayShare * cpu + kAwaySeconds)
    return milliseconds(passed) + " of a sample passed without it, beside " + milliseconds(cpu) + " of CPU time";
  return {};
}

}  // namespace salient::workbench
