// tests/workbench/bench_support.h - the committed cases, a host back end in a scratch folder, and verdicts of sources.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "core/files/file_io.h"
#include "tests/support/scratch.h"
#include "workbench/backend/backend.h"
#include "workbench/case/case.h"
#include "workbench/referee/referee.h"

namespace salient::workbench::test {

/// Workers of a program with a sanitizer run without filters.
inline constexpr bool kHasFilters =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    false;
#else
    true;
#endif

inline std::filesystem::path cases_folder() { return std::filesystem::path(SALIENT_WORKBENCH_DIR) / "cases"; }
inline std::filesystem::path fixtures_folder() { return SALIENT_FIXTURES_DIR; }

inline Candidate start_of(const Case& given) { return parse_candidate(read_text_file(given.host_start)); }

/// The host's shapes for a back end that says it is a device, but is the host.
inline Case as_on_a_device(Case given) {
  std::erase_if(given.shapes, [](const ShapeSpec& shape) { return shape.backend == "cuda"; });
  for (ShapeSpec& shape : given.shapes) shape.backend.clear();
  return given;
}

/// In shapes of at most 3000, for tests of what is done with a verdict: a check takes a tenth of the time.
inline Case in_small_shapes(Case given) {
  for (ShapeSpec& shape : given.shapes)
    for (DimRange& dim : shape.dims) {
      dim.high = std::min<std::int64_t>(dim.high, 3000);
      dim.low = std::min(dim.low, dim.high);
    }
  return given;
}

struct HostBench {
  salient::test::Scratch scratch{};
  std::unique_ptr<Backend> backend = make_host_backend(cases_folder() / "kernels", scratch.path());
};

inline Finding verdict_of_source(Backend& backend, const Case& given, const std::string& source,
                                 RefereeOptions options = {}) {
  std::variant<Candidate, Finding> read = read_candidate(source);
  if (const auto* rejected = std::get_if<Finding>(&read)) return *rejected;
  return Referee(backend, given, options).check(std::get<Candidate>(read)).finding;
}

}  // namespace salient::workbench::test
