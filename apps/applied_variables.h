// apps/applied_variables.h - where the options of programs come from that apply a run, and do not train one.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/command.h"
#include "apps/options/options.h"

namespace salient {

/// Whether salient-train has an option of this name that says what a training is, and not which machine, ranks, console
/// or data folder it has. Set for a training, its variable must not change what a run predicts that is over.
bool is_of_trainings(std::string_view field);

/// The variables of the fields of Options that are read, the weakest first.
/// @param look_up  getenv in a program
template <class Options>
std::vector<options::Assignment> applied_variables(const std::function<const char*(const char*)>& look_up) {
  std::vector<options::Assignment> found;
  if (const auto root = options::data_folder(look_up)) found.push_back({"data-root", *root, options::kDataVariable});
  for (options::Assignment& variable : options::from_environment<Options>(look_up))
    if (!is_of_trainings(variable.name)) found.push_back(std::move(variable));
  return found;
}

/// A line for each variable that is set and not read: "SALIENT_FANOUT is of trainings and not read here; ...".
template <class Options>
std::vector<std::string> variables_left_out(const std::function<const char*(const char*)>& look_up) {
  Options fields;
  std::vector<std::string> lines;
  visit_fields(fields, [&](std::string_view field, auto&, std::string_view) {
    const std::string variable = options::variable_of(field);
    if (is_of_trainings(field) && look_up(variable.c_str()) != nullptr)
      lines.push_back(variable + " is of trainings and not read here; --" + std::string(field) + " says it");
  });
  return lines;
}

/// Of a program with `options` and an action `config`, the strongest last: defaults < the file that --config names <
/// applied_variables() < command line. @throws Error{kUsage}; Error{kNoInput}, Error{kIo} for the file
template <class Command>
Command merged_command(std::span<const char* const> args, const std::function<const char*(const char*)>& look_up) {
  using Assignments = std::span<const options::Assignment>;
  const auto command_line = options::from_command_line<Command>(args);
  Command first, command;
  options::apply(first, Assignments(command_line));
  for (const options::Assignment& said : command_line)  // a script's "--config $FILE" with an empty FILE
    if (said.name == "config") require_option(!said.text.empty(), said.said_by + " cannot be ''");
  if (!first.actions.config.empty())
    options::apply(command.options, Assignments(options::from_toml_file(first.actions.config)));
  options::apply(command.options, Assignments(applied_variables<decltype(command.options)>(look_up)));
  options::apply(command, Assignments(command_line));
  return command;
}

}  // namespace salient
