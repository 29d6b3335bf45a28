// apps/link_command.cpp - see link_command.h.
#include "apps/link_command.h"

#include "apps/link_assignments.h"
#include "apps/path_command.h"
#include "core/field_values.h"
#include "core/files/is_there.h"
#include "engine/links/link_trainer.h"
#include "engine/paths/path_trainer.h"
#include "store/dataset_name.h"
#include "store/store_arrays.h"

namespace salient {
namespace {

using options::Assignment;

constexpr char kLink[] = "link";

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

/// What --model says of a run of triples, or the data set where nothing does; "" for another run.
std::string model_of_triples(std::span<const char* const> args,
                             const std::function<const char*(const char*)>& look_up) {
  const std::string resumed = value_on(args, "resume"), config = value_on(args, "config");
  const auto first_of = [&](const std::string& option) {
    if (std::string said = value_on(args, option); !said.empty()) return said;
    if (const char* variable = look_up(options::variable_of(option).c_str())) return std::string(variable);
    if (std::string said = config.empty() ? "" : value_in(config, option); !said.empty()) return said;
    return resumed.empty() ? std::string() : value_in(resumed + "/config.toml", option);
  };
  const std::string task = first_of("task"), dataset = first_of("dataset"), model = first_of("model");
  if (!task.empty() && task != kAutoWord && task != kLink) return "";
  if (!model.empty()) return model;
  const std::string none = name_of(LinkEncoder::kNone);
  if (dataset.empty()) return task == kLink ? none : "";
  std::string root = first_of("data-root");
  if (root.empty()) root = options::data_folder(look_up).value_or(DataOptions{}.root);
  const auto has = [&](const StoreArray& array) { return is_there(dataset_folder(dataset, root) / array.file); };
  const auto& [ends, relations, times] = kLinkArrays[kTrainLinks];
  const bool is_of_triples = has(relations) || (task == kLink && !has(ends));  // others have no embedding models
  return is_of_triples ? none : "";
}

}  // namespace

bool is_link_command(std::span<const char* const> args, const std::function<const char*(const char*)>& look_up,
                     std::string_view model) {
  try {
    return model_of_triples(args, look_up) == model;
  } catch (const std::exception&) {
    return false;
  }
}

LinkCommand read_link_command(std::span<const char* const> args, const std::function<const char*(const char*)>& look_up,
                              const ConfigReader& read_run) {
  LinkCommand command;
  options::apply(command, std::span<const Assignment>(link_assignments<LinkCommand>(args, look_up, read_run)));
  if (const std::optional<LinkOptions> link = link_options_of(command.options)) command.options.link = *link;
  return command;
}

PathCommand read_path_command(std::span<const char* const> args, const std::function<const char*(const char*)>& look_up,
                              const ConfigReader& read_run) {
  PathCommand command;
  options::apply(command, std::span<const Assignment>(link_assignments<PathCommand>(args, look_up, read_run)));
  if (const std::optional<LinkOptions> link = link_options_of(command.options)) command.options.link = *link;
  return command;
}

namespace {

/// The options of a run whose config.toml has this model.
template <class Options>
std::optional<Options> options_of(const std::filesystem::path& run, const std::string& model) {
  const std::filesystem::path file = run / "config.toml";
  if (run.empty() || !is_there(file)) return std::nullopt;
  std::vector<Assignment> said;
  try {
    said = options::from_toml_file(file.string());
  } catch (const Error&) {
    return std::nullopt;  // who reads it as another run's says what is wrong
  }
  const auto is_asked = [&](const Assignment& one) { return one.name == "model" && one.text == model; };
  if (std::ranges::none_of(said, is_asked)) return std::nullopt;
  Options found;
  try {
    options::apply(found, std::span<const Assignment>(said));
    if (const std::optional<LinkOptions> link = link_options_of(found)) found.link = *link;
    refuse(problems_of(found));
  } catch (const Error& error) {
    fail(ErrorKind::kBadData, file.string() + ": is not the configuration of a run: " + error.what());
  }
  return found;
}

/// Of the text of --negatives.
std::optional<LinkOptions> with_negatives(LinkOptions link, const std::string& negatives) {
  link.negatives = 0;
  if (negatives != "all" && (!parse_number(negatives, link.negatives) || link.negatives < 1)) return std::nullopt;
  return link;
}

template <class Options>
void add_problems(const Options& options, std::vector<FieldProblem>& found) {
  check_field(found, link_options_of(options).has_value(), "negatives", "all, or a number from 1 on");
  check_field(found, !options.data.dataset.empty(), "dataset", "is required, such as --dataset data/wn18rr");
  check_field(found, !options.data.root.empty(), "data-root", "is a folder, . for the working directory");
  const OutputOptions& output = options.output;
  check_field(found, output.resume.empty() || output.directory == output.resume, "out",
              "a resumed run goes on in its own directory, " + output.resume);
}

}  // namespace

std::optional<LinkRunOptions> embedding_options_of(const std::filesystem::path& run) {
  return options_of<LinkRunOptions>(run, name_of(LinkEncoder::kNone));
}

std::optional<PathRunOptions> path_options_of(const std::filesystem::path& run) {
  return options_of<PathRunOptions>(run, name_of(PathModelName::kNbfnet));
}

std::optional<LinkOptions> link_options_of(const LinkRunOptions& options) {
  return with_negatives(options.link, options.negatives);
}

std::optional<LinkOptions> link_options_of(const PathRunOptions& options) {
  return with_negatives(options.link, options.negatives);
}

std::vector<FieldProblem> problems_of(const LinkRunOptions& options) {
  std::vector<FieldProblem> found = problems(options.link);
  add_problems(options, found);
  return found;
}

std::vector<FieldProblem> problems_of(const PathRunOptions& options) {
  std::vector<FieldProblem> found = problems(options.link, options.paths);
  add_problems(options, found);
  return found;
}

}  // namespace salient
