// apps/resumed_options.cpp - see resumed_options.h.
#include "apps/resumed_options.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <string_view>
#include <type_traits>

#include "apps/train_command.h"
#include "core/value_text.h"
#include "engine/train/schedule.h"

namespace salient {
namespace {

/// Of the machine, its ranks, the console and the run's folder: they decide nothing that a run learns.
constexpr std::string_view kNotSaid[] = {"data-root", "out",      "resume",       "progress", "log-level",
                                         "workers",   "threads",  "slots",        "comm",     "comm-rows",
                                         "trace",     "cache-gb", "comm-timeout", "graph-gb", "cache-policy"};

std::map<std::string, std::string, std::less<>> texts_of(const TrainOptions& options) {
  std::map<std::string, std::string, std::less<>> texts;
  visit_fields(options, [&]<class T>(std::string_view name, const T& value, std::string_view) {
    if constexpr (!std::is_same_v<T, options::Alias>) texts.emplace(name, to_text(value));
  });
  return texts;
}

/// In steps of an epoch.
Schedule schedule_of(const OptimisationOptions& options) {
  constexpr double kSteps = 1000;  // of an epoch: a warm-up may end inside one
  return {.kind = options.schedule,
          .lr = options.lr,
          .warmup_steps = static_cast<std::int64_t>(options.warmup * kSteps),
          .total_steps = static_cast<std::int64_t>(options.epochs * kSteps)};
}

double rate_at(const OptimisationOptions& options, int num_epochs) {
  return schedule_of(options).rate(std::int64_t{1000} * num_epochs, {});
}

std::string short_text(double rate) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.3g", rate);
  return text;
}

}  // namespace

std::vector<std::string> option_changes(const TrainOptions& before, const TrainOptions& now) {
  std::vector<std::string> changes;
  const auto earlier = texts_of(before);
  for (const auto& [name, value] : texts_of(now)) {
    const std::string& was = earlier.at(name);
    if (value == was || std::ranges::find(kNotSaid, name) != std::end(kNotSaid)) continue;
    changes.push_back(name + " " + (was.empty() ? "none" : was) + " -> " + (value.empty() ? "none" : value));
  }
  return changes;
}

std::vector<std::string> changed_options(const TrainOptions& said) {
  const auto defaults = texts_of({});
  std::vector<std::string> changed;
  visit_fields(said, [&]<class T>(std::string_view name, const T& value, std::string_view) {
    if constexpr (!std::is_same_v<T, options::Alias>)
      if (name != "out" && name != "resume" && defaults.at(std::string(name)) != to_text(value))
        changed.emplace_back(name);
  });
  return changed;
}

std::string step_size_change(const OptimisationOptions& before, const OptimisationOptions& now, int num_epochs) {
  if (num_epochs == 0 || num_epochs >= now.epochs) return "";
  const double was = rate_at(before, num_epochs), is = rate_at(now, num_epochs);
  if (was == is) return "";
  std::string line = "the step size goes on at " + short_text(is) + " in epoch " + std::to_string(num_epochs + 1) +
                     "; epoch " + std::to_string(num_epochs) + " ended at " + short_text(was);
  if (now.schedule == ScheduleKind::kCosine)
    line += ": the cosine goes down over all " + std::to_string(now.epochs) + " epochs, the finished ones included";
  return line;
}

}  // namespace salient
