// workbench/referee/bottlenecks.cpp - see bottlenecks.h.
#include "workbench/referee/bottlenecks.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string_view>

#include "core/number_text.h"

namespace salient::workbench {
namespace {

constexpr double kAtTheBound = 0.8;    // share from which the bound itself is what holds a kernel back
constexpr double kUnevenShapes = 0.7;  // of the best shape's share
constexpr double kExcessTraffic = 1.25;

/// A figure of ncu_profile.cpp's table, and from where on it is a fault.
struct BottleneckRule {
  std::string_view figure;  ///< text behind the number
  const char* name;
  double least;  ///< below it, and above 0, which is said of what a kernel does not do
};
constexpr BottleneckRule kRules[] = {
    {" % of the warps that fit", "low_occupancy", 40},
    {" % of the bytes of loaded sectors used", "uncoalesced_loads", 60},
    {" % of the bytes of shared wavefronts used", "bank_conflicts", 60},
    {" waves of blocks", "too_few_blocks", 1},
};

/// The numbers of a line "ncu: SHAPE, KERNEL: 211.68 us, 517.4 MB of memory traffic, ...", by the text behind them.
std::map<std::string, double, std::less<>> figures_of(const std::string& line) {
  std::map<std::string, double, std::less<>> figures;
  const std::size_t colon = line.rfind(": ");
  for (std::size_t from = colon == std::string::npos ? line.size() : colon + 2; from < line.size();) {
    const std::size_t to = std::min(line.find(", ", from), line.size());
    const std::string figure = line.substr(from, to - from);
    char* end = nullptr;
    const double value = std::strtod(figure.c_str(), &end);
    if (end != figure.c_str()) figures[end] = value;
    from = to + 2;
  }
  return figures;
}

class Collected {
 public:
  /// @param severity  the worst of a name is kept
  void add(const std::string& name, double severity, const std::string& evidence) {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const Graded& one) { return one.made.name == name; });
    if (found == all_.end())
      all_.push_back({{name, evidence}, severity});
    else if (severity > found->severity)
      *found = {{name, evidence}, severity};
  }

  std::vector<Bottleneck> take() {
    std::vector<Bottleneck> made;
    for (Graded& one : all_) made.push_back(std::move(one.made));
    return made;
  }

 private:
  struct Graded {
    Bottleneck made{};
    double severity = 0;
  };
  std::vector<Graded> all_{};
};

void add_of_times(const Timing& timing, Collected& found) {
  double best = 0;
  const auto share_of = [](const ShapeTimes& times) { return times.floor / spread_of(times.candidate).median; };
  for (const ShapeTimes& times : timing.shapes) best = std::max(best, share_of(times));
  for (const ShapeTimes& times : timing.shapes) {
    const double share = share_of(times);
    const std::string text = times.shape + ": " + fixed(100 * share, 1) + " % of the measured bound";
    if (share >= kAtTheBound) {
      const bool is_memory = times.copy_rate > 0 && times.bytes / times.copy_rate >= 0.99 * times.floor;
      found.add(is_memory ? "memory_bound" : "arithmetic_bound", share, text);
    } else if (share < kUnevenShapes * best) {
      found.add("slow_shape", 1 - share, text + ", the best shape has " + fixed(100 * best, 1) + " %");
    }
  }
}

/// "    48 bytes stack frame, 40 bytes spill stores, 44 bytes spill loads"
void add_of_compiler(const std::string& line, Collected& found) {
  const std::size_t at = line.find(" bytes spill stores");
  if (at == std::string::npos) return;
  const std::size_t begin = line.rfind(' ', at - 1);
  const double bytes = std::strtod(line.c_str() + (begin == std::string::npos ? 0 : begin), nullptr);
  const std::size_t first = line.find_first_not_of(' ');
  if (bytes > 0) found.add("register_spills", bytes, line.substr(first));
}

void add_of_profiler(const std::string& line, const Timing& timing, Collected& found) {
  const auto figures = figures_of(line);
  const std::string of = line.substr(5, line.rfind(": ") - 5);
  for (const BottleneckRule& rule : kRules) {
    const auto figure = figures.find(rule.figure);
    if (figure == figures.end()) continue;
    if (const double value = figure->second; value > 0 && value < rule.least)
      found.add(rule.name, -value, of + ": " + fixed(value, 2) + figure->first);
  }
  const auto traffic = figures.find(" MB of memory traffic");
  for (const ShapeTimes& times : timing.shapes) {
    if (traffic == figures.end() || !of.starts_with(times.shape + ", ")) continue;
    const double needed = times.bytes * 1e-6;
    if (needed > 0 && traffic->second > kExcessTraffic * needed)
      found.add("excess_traffic", traffic->second / needed,
                of + ": " + fixed(traffic->second, 1) + " MB moved, the case needs " + fixed(needed, 1));
  }
}

}  // namespace

std::vector<Bottleneck> bottlenecks_of(const Assessment& assessment) {
  Collected found;
  add_of_times(assessment.timing, found);
  std::istringstream lines(assessment.notes);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("ncu: "))
      add_of_profiler(line, assessment.timing, found);
    else
      add_of_compiler(line, found);
  }
  return found.take();
}

std::string names_of(const std::vector<Bottleneck>& bottlenecks) {
  std::string text;
  for (const Bottleneck& one : bottlenecks) text += (text.empty() ? "" : ", ") + one.name;
  return text;
}

}  // namespace salient::workbench
