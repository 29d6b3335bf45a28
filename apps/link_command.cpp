// apps/link_command.cpp - see link_command.h.
#include "apps/link_command.h"

#include <iterator>

#include "core/field_values.h"
#include "core/files/is_there.h"
#include "engine/links/link_trainer.h"
#include "store/dataset_name.h"
#include "store/store_arrays.h"

namespace salient {
namespace {

using options::Assignment;

constexpr char kLink[] = "link";

/// What the command line, the files that it names and the environment say, the strongest last.
std::vector<Assignment> all_said(std::span<const char* const> args,
                                 const std::function<const char*(const char*)>& look_up, const ConfigReader& read_run) {
  const std::vector<Assignment> command_line = options::from_command_line<LinkCommand>(args);
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
  std::ranges::copy(options::from_environment<LinkRunOptions>(look_up), std::back_inserter(all));
  all.insert(all.end(), command_line.begin(), command_line.end());
  return all;
}

/// The last value of an option on a command line of any program, "" without one.
std::string value_on(std::span<const char* const> args, const std::string& option) {
  std::string value;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    if (arg == "--" + option && i + 1 < args.size()) value = args[i + 1];
    if (arg.starts_with("--" + option + "=")) value = arg.substr(option.size() + 3);
  }
  return value;
}

/// What a configuration file says of an option, "" if it says nothing or cannot be read.
std::string value_in(const std::string& file, const std::string& option) {
  std::string value;
  if (!is_there(file)) return value;
  for (const Assignment& said : options::from_toml_file(file))
    if (said.name == option) value = said.text;
  return value;
}

bool says_link(std::span<const char* const> args, const std::function<const char*(const char*)>& look_up) {
  const std::string resumed = value_on(args, "resume"), config = value_on(args, "config");
  const auto first_of = [&](const std::string& option) {
    if (std::string said = value_on(args, option); !said.empty()) return said;
    if (const char* variable = look_up(options::variable_of(option).c_str())) return std::string(variable);
    if (std::string said = config.empty() ? "" : value_in(config, option); !said.empty()) return said;
    return resumed.empty() ? std::string() : value_in(resumed + "/config.toml", option);
  };
  const std::string task = first_of("task"), dataset = first_of("dataset"), model = first_of("model");
  if (!task.empty() && task != kAutoWord && task != kLink) return false;
  if (!model.empty()) return model == name_of(LinkEncoder::kNone);
  if (dataset.empty()) return task == kLink;
  std::string root = first_of("data-root");
  if (root.empty()) root = options::data_folder(look_up).value_or(DataOptions{}.root);
  const auto has = [&](const StoreArray& array) { return is_there(dataset_folder(dataset, root) / array.file); };
  const auto& [ends, relations] = kLinkArrays[kTrainLinks];
  return has(relations) || (task == kLink && !has(ends));  // links without relations have no embedding models
}

}  // namespace

bool is_link_command(std::span<const char* const> args, const std::function<const char*(const char*)>& look_up) {
  try {
    return says_link(args, look_up);
  } catch (const std::exception&) {
    return false;
  }
}

LinkCommand read_link_command(std::span<const char* const> args, const std::function<const char*(const char*)>& look_up,
                              const ConfigReader& read_run) {
  LinkCommand command;
  options::apply(command, std::span<const Assignment>(all_said(args, look_up, read_run)));
  if (const std::optional<LinkOptions> link = link_options_of(command.options)) command.options.link = *link;
  return command;
}

std::optional<LinkRunOptions> embedding_options_of(const std::filesystem::path& run) {
  const std::filesystem::path file = run / "config.toml";
  if (run.empty() || !is_there(file)) return std::nullopt;
  std::vector<Assignment> said;
  try {
    said = options::from_toml_file(file.string());
  } catch (const Error&) {
    return std::nullopt;  // who reads it as another run's says what is wrong
  }
  const auto is_none = [](const Assignment& one) {
    return one.name == "model" && one.text == name_of(LinkEncoder::kNone);
  };
  if (std::ranges::none_of(said, is_none)) return std::nullopt;
  LinkRunOptions found;
  try {
    options::apply(found, std::span<const Assignment>(said));
    if (const std::optional<LinkOptions> link = link_options_of(found)) found.link = *link;
    refuse(problems_of(found));
  } catch (const Error& error) {
    fail(ErrorKind::kBadData, file.string() + ": is not the configuration of a run: " + error.what());
  }
  return found;
}

std::optional<LinkOptions> link_options_of(const LinkRunOptions& options) {
  LinkOptions link = options.link;
  link.negatives = 0;
  if (options.negatives != "all" && (!parse_number(options.negatives, link.negatives) || link.negatives < 1))
    return std::nullopt;
  return link;
}

std::vector<FieldProblem> problems_of(const LinkRunOptions& options) {
  std::vector<FieldProblem> found = problems(options.link);
  check_field(found, link_options_of(options).has_value(), "negatives", "all, or a number from 1 on");
  check_field(found, !options.data.dataset.empty(), "dataset", "is required, such as --dataset data/wn18rr");
  check_field(found, !options.data.root.empty(), "data-root", "is a folder, . for the working directory");
  const OutputOptions& output = options.output;
  check_field(found, output.resume.empty() || output.directory == output.resume, "out",
              "a resumed run goes on in its own directory, " + output.resume);
  return found;
}

}  // namespace salient
