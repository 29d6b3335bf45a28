// engine/comm/call_limit.cpp - see call_limit.h.
#include "engine/comm/call_limit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace salient {
namespace {

constexpr double kBetweenRanks = 2, kMostExtra = 10;  // seconds; a launcher ends the others in about one

[[noreturn]] void give_up(const Launch& launch, const char* what, double seconds) {
  (void)std::fflush(stdout);  // what the main thread has printed
  const std::string text = "rank " + std::to_string(launch.rank) + " on " + launch.host + ": " + what + " takes more " +
                           "than " + std::to_string(std::lround(seconds)) +
                           " s: another rank is stopped, hanging, or cut off";
  std::_Exit(report(launch.program.name, Error(ErrorKind::kComm, text, Topic::kCommTimeout), launch.program.advice));
}

}  // namespace

CallLimit::CallLimit(const Launch& launch, const char* what, double seconds) {
  if (seconds <= 0) return;
  watch_ = std::jthread([this, launch, what, seconds](const std::stop_token& stop) {
    const auto limit = std::chrono::duration<double>(seconds + std::min(kMostExtra, kBetweenRanks * launch.rank));
    std::unique_lock lock(mutex_);
    (void)over_.wait_for(lock, stop, limit, [] { return false; });
    if (!stop.stop_requested()) give_up(launch, what, seconds);
  });
}

}  // namespace salient
