// benchmarks/bench_training.cpp - see bench_training.h.
#include "benchmarks/bench_training.h"

#include <span>
#include <system_error>
#include <utility>

#include "core/host/timed_threads.h"

namespace salient {

ScratchFolder::ScratchFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "salient-bench-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) fail(ErrorKind::kIo, pattern + ": cannot make a folder");
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> items_of(const std::string& list, char between) {
  std::vector<std::string> items(1);
  for (const char c : list) {
    if (c == between)
      items.emplace_back();
    else
      items.back() += c;
  }
  return items;
}

Dataset without_evaluation(Dataset dataset) {
  dataset.valid = dataset.test = {};
  return dataset;
}

EpochTimes epoch_times(const std::vector<EpochMetrics>& epochs) {
  std::vector<double> rates;
  for (const EpochMetrics& epoch : std::span(epochs).subspan(1)) rates.push_back(1 / *epoch.epoch_seconds);
  const Spread spread = spread_of(std::move(rates));
  return {.median = 1 / spread.median, .best = 1 / spread.best};
}

}  // namespace salient
