// prepare/importers/ogb_triples.cpp - see ogb_links.h; of ogbl-wikikg2 and ogbl-biokg.
#include <algorithm>
#include <array>
#include <compare>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/console/log.h"
#include "core/error.h"
#include "prepare/formats/line_reader.h"
#include "prepare/formats/text_fields.h"
#include "prepare/importers/ogb_csv_tables.h"
#include "prepare/importers/ogb_link_files.h"
#include "prepare/importers/ogb_links.h"
#include "store/link_table.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

struct KgTriple {
  std::uint32_t relation = 0;
  NodeId head = 0, tail = 0;  ///< of their own types
  auto operator<=>(const KgTriple&) const = default;
};

/// The types of a relation's ends.
struct RelationEnds {
  int head = -1, tail = -1;
  bool operator==(const RelationEnds&) const = default;
};

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  FieldSplitter splitter(line, ',');
  for (std::string_view field; splitter.next(field);) fields.emplace_back(field);
  return fields;
}

/// One type, or those of num-node-dict.csv.gz: a line of names and one of counts.
std::vector<NodeType> read_types(const OgbLinkLayout& layout) {
  const fs::path path = layout.raw("num-node-dict.csv.gz");
  if (!fs::exists(path))
    return {{.name = "entity", .count = read_promise(layout.raw("num-node-list.csv.gz")).num_lines}};
  LineReader reader(path);
  std::string_view line;
  const auto next = [&] { return reader.next(line) ? fields_of(line) : std::vector<std::string>{}; };
  const std::vector<std::string> names = next(), counts = next();
  if (names.empty() || names.size() != counts.size())
    fail(ErrorKind::kBadData, path.string() + ": a line of types and a line of their counts are expected");
  std::vector<NodeType> types(names.size());
  for (std::size_t t = 0; t < names.size(); ++t) {
    types[t].name = names[t];
    if (!parse_number(std::string_view(counts[t]), types[t].count)) fail_at_line(path, 2, counts[t], "is not a count");
  }
  return types;
}

/// [n] the type of each head, or tail.
std::vector<std::uint32_t> read_types_of(const ArrayDict& split, const char* key, std::size_t count,
                                         const std::vector<NodeType>& types) {
  if (!split.has(key)) {
    if (types.size() == 1) return std::vector<std::uint32_t>(count, 0);
    fail(ErrorKind::kBadData,
         split.file() + ": has no '" + key + "', and there are " + std::to_string(types.size()) + " types of nodes");
  }
  ArrayDict::Words words = split.words(key);
  std::vector<std::uint32_t> of_word;
  for (const std::string& name : words.names) {
    const auto found = std::ranges::find(types, name, &NodeType::name);
    if (found == types.end())
      fail(ErrorKind::kBadData, split.file() + ": '" + key + "' has '" + name + "', which is no type of nodes");
    of_word.push_back(static_cast<std::uint32_t>(found - types.begin()));
  }
  for (std::uint32_t& number : words.numbers) number = of_word[number];
  return std::move(words.numbers);
}

/// "SRC___NAME___DST" of each relation's folder, whose edge_reltype.csv.gz says its number; else the number.
std::vector<std::string> names_in_raw(const OgbLinkLayout& layout, std::size_t count) {
  std::vector<std::string> names(count);
  std::error_code error;
  const fs::path folder = layout.root / "raw" / "relations";
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const std::size_t first = name.find("___"), last = name.rfind("___");
    const fs::path numbers = entry->path() / "edge_reltype.csv.gz";
    if (first == std::string::npos || last <= first || !fs::exists(numbers)) continue;
    LineReader reader(numbers);
    std::size_t number = 0;
    if (std::string_view line; reader.next(line) && parse_number(line, number) && number < names.size())
      names[number] = name.substr(first + 3, last - first - 3);
  }
  for (std::size_t r = 0; r < names.size(); ++r)
    if (names[r].empty()) names[r] = std::to_string(r);
  return names;
}

/// Relations, and their reverses, by number.
void name_relations(const OgbLinkLayout& layout, const std::vector<RelationEnds>& all, Reverses reverses,
                    GraphSchema& schema) {
  const std::vector<std::string> names = names_in_raw(layout, all.size());
  for (std::size_t r = 0; r < all.size(); ++r) {
    // A number that no triple has keeps its place, as a relation without entries.
    const RelationEnds ends = all[r].head < 0 ? RelationEnds{0, 0} : all[r];
    schema.relations.push_back({.src = ends.head, .dst = ends.tail, .name = names[r]});
  }
  for (std::size_t r = 0; reverses == Reverses::kAdd && r < all.size(); ++r) {
    const Relation of = schema.relations[r];
    schema.relations.push_back(
        {.src = of.dst, .dst = of.src, .name = "rev_" + of.name, .reverse_of = static_cast<int>(r)});
  }
  number_slots(schema);
  if (const std::string rule = broken_rule(schema); !rule.empty())
    fail(ErrorKind::kBadData, layout.root.string() + ": " + rule);
}

/// [n] whether a triple was met before in its split.
std::vector<std::uint8_t> repeats_within(const std::vector<KgTriple>& triples) {
  std::vector<std::uint32_t> order(triples.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return triples[i]; });
  std::vector<std::uint8_t> is_again(triples.size(), 0);
  for (std::size_t i = 1; i < order.size(); ++i) is_again[order[i]] = triples[order[i]] == triples[order[i - 1]];
  return is_again;
}

class OgbTriples {
 public:
  OgbTriples(const OgbOptions& options, RepeatsBetween between, Reverses reverses)
      : options_(options),
        between_(between),
        reverses_(reverses),
        layout_(find_ogb_links(options).value()),
        types_(read_types(layout_)),
        begin_(types_.size() + 1, 0) {
    for (std::size_t t = 0; t < types_.size(); ++t) begin_[t + 1] = begin_[t] + types_[t].count;
  }

  TypedGraph run() {
    TypedGraph graph;
    for (std::size_t split = 0; split < 3; ++split) read(split);
    graph.schema.node_types = types_;
    name_relations(layout_, ends_, reverses_, graph.schema);
    graph.edges.resize(graph.schema.relations.size());
    for (std::size_t split = 0; split < 3; ++split) add_links(split, graph);
    graph.features.resize(types_.size());
    graph.has_links = true;
    graph.target.name = layout_.name;
    graph.target.source_kind = "ogb";
    graph.target.source_path = options_.raw.string();
    graph.target.source_options = options_.source_options;
    graph.target.symmetrise = false;
    graph.target.memory = options_.memory;
    graph.target.num_nodes = types_[0].count;
    for (std::size_t split = 1; split < 3; ++split) graph.target.negatives.of[split] = negatives_of(split);
    graph.target.negatives.links = between_ == RepeatsBetween::kKeep ? NegativeLinks::kWarn : NegativeLinks::kRefuse;
    return graph;
  }

 private:
  std::string file_of(std::size_t split) const { return layout_.splits[split].string(); }

  void read(std::size_t split) {
    const ArrayDict file(layout_.splits[split]);
    const std::uint64_t count = file.header("relation").num_items();
    options_.memory.check(count * 6 * sizeof(std::uint32_t), file.file());
    const std::uint64_t most_nodes = std::ranges::max_element(types_, {}, &NodeType::count)->count;
    const std::vector<std::uint32_t> heads = read_numbers(file, "head", most_nodes, "node"),
                                     tails = read_numbers(file, "tail", most_nodes, "node"),
                                     relations = read_numbers(file, "relation", kMaxRelations, "relation"),
                                     head_types = read_types_of(file, "head_type", count, types_),
                                     tail_types = read_types_of(file, "tail_type", count, types_);
    if (heads.size() != count || tails.size() != count || head_types.size() != count || tail_types.size() != count)
      fail(ErrorKind::kBadData, file.file() + ": its arrays are not of the same length");
    std::vector<KgTriple>& triples = triples_[split];
    triples.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      triples[i] = {relations[i], heads[i], tails[i]};
      const RelationEnds ends{static_cast<int>(head_types[i]), static_cast<int>(tail_types[i])};
      check(file, i, triples[i], ends, split == kTrainLinks);
    }
  }

  void check(const ArrayDict& file, std::size_t record, const KgTriple& triple, const RelationEnds& ends,
             bool is_training) {
    const auto refuse = [&](const std::string& rule) {
      fail(ErrorKind::kBadData, file.file() + ": record " + std::to_string(record) + " (" +
                                    std::to_string(triple.head) + ", " + std::to_string(triple.relation) + ", " +
                                    std::to_string(triple.tail) + "): " + rule);
    };
    if (triple.relation >= ends_.size() && is_training) ends_.resize(triple.relation + 1);
    if (triple.relation >= ends_.size() || (ends_[triple.relation].head < 0 && !is_training))
      refuse("no training triple has this relation");
    RelationEnds& known = ends_[triple.relation];
    if (known.head < 0) known = ends;
    if (known != ends) refuse("another triple of the relation is of other types of nodes");
    if (triple.head >= types_[static_cast<std::size_t>(ends.head)].count ||
        triple.tail >= types_[static_cast<std::size_t>(ends.tail)].count)
      refuse("its types have fewer nodes");
  }

  /// Sorts the split behind itself, for those that follow.
  void add_links(std::size_t split, TypedGraph& graph) {
    std::vector<KgTriple>& triples = triples_[split];
    const std::vector<std::uint8_t> is_again = repeats_within(triples);
    std::uint64_t repeats = 0, met = 0;
    std::string first;
    RawLinks& links = graph.links[split];
    for (std::size_t i = 0; i < triples.size(); ++i) {
      const auto& [relation, head, tail] = triples[i];
      repeats += is_again[i];
      if (is_again[i] != 0 && (split == kTrainLinks || between_ != RepeatsBetween::kKeep)) continue;
      if (is_in_earlier(split, triples[i])) {
        if (met++ == 0) first = "record " + std::to_string(i);
        if (between_ != RepeatsBetween::kKeep) continue;
      }
      const RelationEnds& ends = ends_[relation];
      links.ends.push_back(static_cast<NodeId>(begin_[static_cast<std::size_t>(ends.head)] + head));
      links.ends.push_back(static_cast<NodeId>(begin_[static_cast<std::size_t>(ends.tail)] + tail));
      links.relations.push_back(static_cast<std::uint16_t>(relation));
      kept_[split].push_back(i);
      if (split != kTrainLinks) continue;
      graph.edges[relation].sources.push_back(head);
      graph.edges[relation].destinations.push_back(tail);
    }
    say(split, repeats, met, first);
    std::ranges::sort(triples);
  }

  bool is_in_earlier(std::size_t split, const KgTriple& triple) const {
    for (std::size_t s = 0; s < split; ++s)
      if (std::ranges::binary_search(triples_[s], triple)) return true;
    return false;
  }

  void say(std::size_t split, std::uint64_t repeats, std::uint64_t met, const std::string& first) const {
    if (repeats > 0) log_info(file_of(split) + ": " + std::to_string(repeats) + " triples were met before in it");
    if (met == 0) return;
    const std::string text = file_of(split) + ": " + first + " is of an earlier split, too, as " + std::to_string(met) +
                             (met == 1 ? " triple is" : " triples are");
    if (between_ == RepeatsBetween::kRefuse)
      fail(ErrorKind::kBadData, text + "; they may be dropped from the later split, or kept");
    log_warning(text);
  }

  SplitNegatives negatives_of(std::size_t split) const {
    const auto kept = std::make_shared<const std::vector<std::uint64_t>>(kept_[split]);
    // Of each record the type whose ids its heads, or tails, are.
    const ArrayDict file(layout_.splits[split]);
    const auto relations =
        std::make_shared<const std::vector<std::uint32_t>>(read_numbers(file, "relation", kMaxRelations, "relation"));
    const auto range = [relations, ends = ends_, types = types_, begin = begin_](bool is_head) {
      return [=](std::uint64_t row) {
        const RelationEnds& of = ends[(*relations)[row]];
        const auto type = static_cast<std::size_t>(is_head ? of.head : of.tail);
        return IdRange{types[type].count, begin[type]};
      };
    };
    return {.destinations = negatives_in(layout_.splits[split], "tail_neg", kept, range(false)),
            .sources = negatives_in(layout_.splits[split], "head_neg", kept, range(true)),
            .pairs = {}};
  }

  static constexpr std::uint64_t kMaxRelations = 65'534;

  const OgbOptions& options_;
  const RepeatsBetween between_;
  const Reverses reverses_;
  const OgbLinkLayout layout_;
  const std::vector<NodeType> types_;
  std::vector<std::uint64_t> begin_;
  std::array<std::vector<KgTriple>, 3> triples_{};
  std::array<std::vector<std::uint64_t>, 3> kept_{};
  std::vector<RelationEnds> ends_{};
};

}  // namespace

TypedGraph import_ogb_triples(const OgbOptions& options, RepeatsBetween between, Reverses reverses) {
  return OgbTriples(options, between, reverses).run();
}

}  // namespace salient
