// apps/salient_report.cpp - salient-report: makes report.html of a run directory, or one page that compares runs, from
// the files in them.
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/console/log.h"
#include "core/error.h"
#include "core/host/program.h"
#include "core/version.h"
#include "engine/report/comparison_page.h"
#include "engine/report/report_page.h"

namespace salient {
namespace {

constexpr const char* kHelp =
    "salient-report - makes report.html of a run directory, or compares runs\n\n"
    "  salient-report runs/wordnet-sage-20261121-101500   makes report.html in it\n"
    "  salient-report RUN RUN... [--out comparison.html]  makes one page of all:\n"
    "      results with their spread over seeds, options that differ, curves, time by\n"
    "      phase\n\n"
    "salient-train keeps report.html up to date by itself; making it again is for\n"
    "runs of older versions, for files that were edited, and for runs that were\n"
    "killed. In a comparison, a run of several --trials stands for them all.\n"
    "  --out FILE   the page that compares; also compares what one RUN holds, such as\n"
    "               its trials\n"
    "  --version    print the version and stop\n"
    "  --help       print this and stop\n";

int run(std::span<const char* const> args) {
  std::vector<std::filesystem::path> runs;
  std::optional<std::filesystem::path> out;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    if (arg.starts_with("--help") || arg == "-h" || (i == 0 && arg == "help")) return std::fputs(kHelp, stdout), 0;
    if (arg == "--version") return std::printf("salient-report %s\n", kVersion), 0;
    if (arg.starts_with("--out=")) {
      out = arg.substr(6);
    } else if (arg == "--out") {
      if (++i == args.size()) fail(ErrorKind::kUsage, "--out: name the page's file, such as comparison.html");
      out = args[i];
    } else if (arg.starts_with("--")) {
      fail(ErrorKind::kUsage, "unknown option " + std::string(arg) + "; see --help");
    } else {
      runs.emplace_back(arg);
    }
  }
  if (runs.empty()) fail(ErrorKind::kUsage, "name a run directory, such as salient-report runs/wordnet-sage-...");
  if (runs.size() == 1 && !out) {
    write_report(runs[0]);
    out = runs[0] / "report.html";
  } else {
    out = out.value_or("comparison.html");
    write_comparison(runs, *out);
  }
  log_result(out->string());
  return 0;
}

}  // namespace
}  // namespace salient

int main(int argc, char** argv) {
  salient::start_program();
  try {
    return salient::end_program("salient-report", salient::run({argv + 1, static_cast<std::size_t>(argc - 1)}));
  } catch (...) {
    return salient::report_current_exception("salient-report");
  }
}
