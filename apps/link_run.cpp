// apps/link_run.cpp - run_link_command() and run_path_command(): a data set with links, a run directory, a result.
#include <filesystem>
#include <functional>
#include <iostream>
#include <sstream>

#include "apps/link_command.h"
#include "apps/missing_dataset.h"
#include "apps/path_command.h"
#include "apps/versions.h"
#include "core/console/log.h"
#include "core/files/replace_text_file.h"
#include "core/host/interrupt.h"
#include "core/host/machine.h"
#include "core/version.h"
#include "engine/links/link_trainer.h"
#include "engine/paths/path_trainer.h"
#include "engine/report/report_page.h"
#include "engine/report/run_directory.h"
#include "store/dataset_name.h"
#include "store/open_store.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

Dataset open_links(const DataOptions& data, int threads) {
  const fs::path folder = dataset_folder(data.dataset, data.root);
  Dataset dataset = open_or_advise(
      folder, [&] { return open_store(folder, threads, FeatureFile::kNeeded, GraphKind::kAny).dataset; });
  if (!dataset.has_links)
    fail(ErrorKind::kUsage, "--task: " + dataset.name +
                                " has no links to be predicted; salient-prepare triples makes "
                                "data sets with them");
  return dataset;
}

RunDescription description_of(const Dataset& dataset, const LinkOptions& options) {
  RunDescription about{.program = std::string("salient-train ") + kVersion, .versions = library_versions()};
  about.machine = {{"host", host_name()}, {"cpu", cpu_model()}, {"cores", num_usable_cores()}, {"device", "cpu"}};
  const auto count = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  about.dataset = {{"name", dataset.name},
                   {"source", dataset.source_kind},
                   {"fingerprint", dataset.fingerprint},
                   {"nodes", count(dataset.num_nodes())},
                   {"entries", dataset.num_edges()},
                   {"task", "link"},
                   {"relations", count(dataset.types.relations.size())},
                   {"train_links", count(dataset.links[kTrainLinks].size())},
                   {"valid_links", count(dataset.links[kValidLinks].size())},
                   {"test_links", count(dataset.links[kTestLinks].size())}};
  about.resolved = {{"batch_size", link_batch_size(options, dataset.links[kTrainLinks].size())},
                    {"metric", "mrr"},
                    {"precision", "fp32"}};
  return about;
}

/// The configuration as it is read from any working directory.
template <class Options>
void write_link_config(const fs::path& directory, Options said) {
  said.output.directory = said.output.resume = "";
  said.data.dataset = whole_path(said.data.dataset);
  said.data.root = fs::absolute(said.data.root).string();
  std::ostringstream config;
  options::print_toml(config, said);
  replace_text_file(directory / "config.toml", config.str());
}

std::string figures_line(const std::string& set, const Figures& figures) {
  std::string line;
  figures.for_each([&](const char* name, Metric metric, double value) {
    line.append(line.empty() ? set + " " : ", ").append(name).append(" ").append(figure_text(metric, value));
  });
  return line;
}

void print_result(const LinkResult& result, const fs::path& directory) {
  log_info("report: " + (directory / "report.html").string());
  if (const std::string line = figures_line("valid", result.valid); !line.empty())
    log_result(line + " (epoch " + std::to_string(result.best_epoch) + ")");
  if (const std::string line = figures_line("test", result.test); !line.empty()) log_result(line);
  log_result("run directory " + directory.string());
}

/// What a model does in a run directory, after_epoch() behind each epoch.
using Training = std::function<LinkResult(const Dataset& dataset, const fs::path& directory,
                                          const std::function<void()>& after_epoch)>;

/// Trains, and keeps run.json true whatever happens.
LinkResult train_in(const fs::path& directory, const Dataset& dataset, const LinkOptions& options,
                    const Training& train) {
  RunDescription about = description_of(dataset, options);
  const auto write_status = [&](const std::string& status) {
    write_run_json(directory, about, status);
    refresh_report(directory);
  };
  write_status("running");
  try {
    const LinkResult result = train(dataset, directory, [&] { refresh_report(directory); });
    if (result.best_epoch > 0) about.result["best_epoch"] = result.best_epoch;
    const auto add = [&](const std::string& set, const Figures& figures) {
      figures.for_each([&](const std::string& name, Metric, double value) { about.result[set + name] = value; });
    };
    if (result.interrupted_by == 0) {
      add("valid_", result.valid);
      add("test_", result.test);
    }
    write_status(result.interrupted_by == 0 ? "finished" : "interrupted");
    return result;
  } catch (const std::exception& error) {
    try {
      write_status(std::string("failed: ") + error.what());
    } catch (const Error&) {  // the disk may be what failed: the first reason is the one to report
      mark_as_failed(directory);
    }
    throw;
  }
}

/// @param model  in the name of a run directory
template <class Command>
int run_command(const Command& command, const Launch& launch, const std::string& model, const Training& train) {
  const auto& said = command.options;
  if (launch.size > 1)
    fail_on_all_ranks(launch, ErrorKind::kUsage, "--ranks: 1 with --task link, whose rows are on one rank");
  if (command.actions.print_config) {
    options::print_toml(std::cout, said);
    return 0;
  }
  const Dataset dataset = open_links(said.data, said.link.threads);
  const bool is_resumed = !said.output.resume.empty();
  const fs::path wanted = is_resumed ? said.output.resume : said.output.directory;
  install_interrupt_handlers();  // only now: until here a signal ends the process at once, and nothing is left behind
  const fs::path directory = make_run_directory(wanted, dataset.name + "-" + model, is_resumed);
  const RunLock lock(directory);
  write_link_config(directory, said);
  log_to_file((directory / "log.txt").string());
  const LinkResult result = train_in(directory, dataset, said.link, train);
  if (result.interrupted_by != 0) {
    log_warning("interrupted; continue with salient-train --resume " + directory.string());
    return 128 + result.interrupted_by;
  }
  print_result(result, directory);
  return 0;
}

}  // namespace

int run_link_command(const LinkCommand& command, const Launch& launch, Communicator&) {
  const LinkOptions& link = command.options.link;
  return run_command(command, launch, name_of(link.decoder),
                     [&](const Dataset& dataset, const fs::path& directory, const std::function<void()>& after_epoch) {
                       return train_links(dataset, link, directory, after_epoch);
                     });
}

int run_path_command(const PathCommand& command, const Launch& launch, Communicator&) {
  const PathRunOptions& said = command.options;
  return run_command(command, launch, name_of(said.model),
                     [&](const Dataset& dataset, const fs::path& directory, const std::function<void()>& after_epoch) {
                       return train_paths(dataset, said.link, said.paths, directory, after_epoch);
                     });
}

}  // namespace salient
