// apps/salient_report.cpp - salient-report: makes report.html of run directories, from the files in them.
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/host/program.h"
#include "core/version.h"
#include "engine/report/report_page.h"

namespace salient {
namespace {

constexpr const char* kHelp =
    "salient-report - makes report.html of one or more run directories, from the files in them\n\n"
    "  salient-report runs/wordnet-sage-20261121-101500\n\n"
    "salient-train keeps report.html up to date by itself; this is for runs of older versions, for files that\n"
    "were edited, and for runs that were killed.\n"
    "  --version    print the version and stop\n"
    "  --help       print this and stop\n";

int run(std::span<const char* const> args) {
  if (args.empty()) fail(ErrorKind::kUsage, "name a run directory, such as salient-report runs/wordnet-sage-...");
  for (const std::string_view arg : args) {
    if (arg == "--help") return std::fputs(kHelp, stdout), 0;
    if (arg == "--version") return std::printf("salient-report %s\n", kVersion), 0;
    if (arg.starts_with("--")) fail(ErrorKind::kUsage, "unknown option " + std::string(arg) + "; see --help");
  }
  for (const std::filesystem::path directory : args) {
    write_report(directory);
    std::puts((directory / "report.html").c_str());
  }
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
