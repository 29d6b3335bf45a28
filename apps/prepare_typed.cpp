// apps/prepare_typed.cpp - see prepare_typed.h.
#include "apps/prepare_typed.h"

#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "apps/prepare_steps.h"
#include "core/field_values.h"
#include "core/value_text.h"
#include "store/graph_schema.h"

namespace salient::prepare {
namespace {

/// "NAME=VALUE", of which neither is empty.
std::pair<std::string, std::string> parts_of(const std::string& option, const std::string& text,
                                             const std::string& form) {
  const std::size_t at = text.find('=');
  require_option(at != std::string::npos && at > 0 && at + 1 < text.size(),
                 option + ": " + form + ", not '" + text + "'");
  return {text.substr(0, at), text.substr(at + 1)};
}

NodeSource node_source(const std::string& text) {
  constexpr std::string_view kCount = "count:";
  const auto [type, value] = parts_of("--nodes", text, "TYPE=FILE or TYPE=count:N");
  NodeSource source{.type = type};
  if (value.starts_with(kCount)) {
    std::uint64_t count = 0;
    require_option(parse_number(std::string_view(value).substr(kCount.size()), count),
                   "--nodes: node type '" + type + "': '" + value + "' is no count, as count:7167 is");
    source.count = count;
  } else {
    source.file = value;
  }
  return source;
}

EdgeSource edge_source(const std::string& text) {
  constexpr const char* kForm = "SRC:NAME:DST=FILE";
  const auto [relation, file] = parts_of("--edges", text, kForm);
  const std::size_t first = relation.find(':'), last = relation.rfind(':');
  require_option(first != std::string::npos && first != last,
                 std::string("--edges: ") + kForm + ", not '" + text + "'");
  return {.src = relation.substr(0, first),
          .name = relation.substr(first + 1, last - first - 1),
          .dst = relation.substr(last + 1),
          .file = file};
}

/// The one type that has labels, and their file.
std::pair<std::string, std::string> labels_of(const Repeated& labels) {
  std::pair<std::string, std::string> found;
  for (const std::string& text : labels.items) {
    const auto given = parts_of("--labels", text, "TYPE=FILE");
    require_option(found.first.empty(),
                   "--labels: of " + found.first + " and " + given.first + ": one target type a store, given once");
    found = given;
  }
  return found;
}

std::string source_options_of(const TypedArguments& given) {
  std::string text = given.reverse == Reverses::kNone ? "--reverse none" : "";
  if (!given.edge_split.empty())
    text.append(text.empty() ? "" : " ").append("--edge-split " + to_text(given.edge_split));
  for (const std::string& relation : given.link_relation.items) text += " --link-relation " + relation;
  return text;
}

}  // namespace

TypedOptions typed_options(const TypedArguments& given) {
  const auto [target, labels] = labels_of(given.labels);
  TypedOptions options{.reverses = given.reverse,
                       .target = target,
                       .labels = labels,
                       .train = given.train,
                       .valid = given.valid,
                       .test = given.test,
                       .mask = given.mask,
                       .split = given.split,
                       .edge_split = given.edge_split,
                       .link_relations = given.link_relation.items,
                       .label_column = given.label_column,
                       .targets = given.target,
                       .unlabelled = given.unlabelled,
                       .header = given.header,
                       .scaling = given.scale_features,
                       .label_choice = choice_of(given.label_choice),
                       .name = set_name(given.name, given.write),
                       .source_options = source_options_of(given),
                       .feature_type = gathered_type(given.write.feature_dtype),
                       .rng_seed = given.write.rng_seed,
                       .num_threads = given.write.common.threads,
                       .memory = limit_of_importer(given.write)};
  require_option(given.write.symmetric == Symmetric::kAuto,
                 "--symmetric: of plain graphs; --reverse says it of relations");
  for (const std::string& text : given.nodes.items) options.nodes.push_back(node_source(text));
  for (const std::string& text : given.edges.items) options.edges.push_back(edge_source(text));
  return options;
}

}  // namespace salient::prepare
