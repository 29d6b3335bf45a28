// apps/link_assignments.h - what a command that learns triples is told, from all sources; for sources alone.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "apps/options/options.h"
#include "apps/run_config.h"
#include "core/error.h"

namespace salient {

/// What the command line, the files that it names and the environment say, the strongest last.
template <class Command>
std::vector<options::Assignment> link_assignments(std::span<const char* const> args,
                                                  const std::function<const char*(const char*)>& look_up,
                                                  const ConfigReader& read_run) {
  using options::Assignment;
  const std::vector<Assignment> command_line = options::from_command_line<Command>(args);
  std::string resumed, config;
  for (const Assignment& said : command_line) {
    if (said.text.empty() && (said.name == "resume" || said.name == "config"))
      fail(ErrorKind::kUsage, said.said_by + " cannot be ''");
    if (said.name == "resume") resumed = said.text;
    if (said.name == "config") config = said.text;
  }
  std::vector<Assignment> all;
  if (!resumed.empty()) {
    all = options::from_toml_text(read_run(resumed), resumed + "/config.toml");
    std::erase_if(all, [](const Assignment& said) { return said.name == "resume" || said.name == "out"; });
    all.push_back({"out", resumed, "--resume"});
  }
  if (!config.empty()) std::ranges::copy(options::from_toml_file(config), std::back_inserter(all));
  if (const auto root = options::data_folder(look_up)) all.push_back({"data-root", *root, options::kDataVariable});
  std::ranges::copy(options::from_environment<decltype(Command::options)>(look_up), std::back_inserter(all));
  all.insert(all.end(), command_line.begin(), command_line.end());
  return all;
}

}  // namespace salient
