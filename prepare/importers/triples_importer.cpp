// prepare/importers/triples_importer.cpp - see triples_importer.h.
#include "prepare/importers/triples_importer.h"

#include <algorithm>
#include <compare>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/field_values.h"
#include "core/free_memory.h"
#include "prepare/formats/line_reader.h"
#include "prepare/formats/text_fields.h"
#include "prepare/importers/id_table.h"
#include "prepare/importers/name_map.h"

namespace salient {
namespace {

namespace fs = std::filesystem;
constexpr char kEntity[] = "entity";

/// The numbers of entities, or of relations: those of their table, or of first appearance.
class Numbers {
 public:
  Numbers(const fs::path& table, const char* what, const MemoryLimit& memory) : what_(what), names_(memory) {
    if (!table.empty()) table_ = read_id_table(table, memory);
  }

  std::uint64_t number_of(std::string_view name, const fs::path& file, std::uint64_t line) {
    if (!table_) return names_.add(name);
    std::uint64_t number = 0;
    if (!parse_number(name, number) || number >= table_->size())
      fail_at_line(file, line, name,
                   std::string("no number of ") + what_ +
                       (table_->size() == 0 ? ", there are none" : ", they are 0 to " + std::to_string(size() - 1)));
    return number;
  }
  std::size_t size() const { return table_ ? table_->size() : names_.size(); }
  NameTable take() { return table_ ? std::move(*table_) : names_.take(); }

 private:
  const char* what_;
  NameMap names_;
  std::optional<NameTable> table_{};
};

/// A triple by numbers, and where it was met.
struct MetTriple {
  std::uint32_t relation, head, tail;
  std::uint32_t split;
  std::uint64_t place;  ///< in the split

  auto operator<=>(const MetTriple&) const = default;
  bool is_same_triple(const MetTriple& other) const {
    return relation == other.relation && head == other.head && tail == other.tail;
  }
};

class TriplesImport {
 public:
  explicit TriplesImport(const TriplesOptions& options)
      : options_(options),
        files_{options.train, options.valid, options.test},
        entities_(options.entities, "an entity", options.memory),
        relations_(options.relations, "a relation", options.memory) {}

  ImportedTriples run() {
    for (std::uint32_t s = 0; s < files_.size(); ++s)
      if (!files_[s].empty()) read(s);
    if (lines_[0].empty()) fail(ErrorKind::kBadData, files_[0].string() + ": no triple");
    find_repeats();
    std::ranges::sort(met_, {}, [](const MetTriple& triple) { return std::pair(triple.split, triple.place); });
    TypedGraph& graph = result_.graph;
    start(graph);
    make_schema(graph.schema);
    for (const MetTriple& triple : met_) {
      RawLinks& links = graph.links[triple.split];
      links.ends.insert(links.ends.end(), {triple.head, triple.tail});
      links.relations.push_back(static_cast<std::uint16_t>(triple.relation));
      if (triple.split != 0) continue;
      graph.edges[triple.relation].sources.push_back(triple.head);
      graph.edges[triple.relation].destinations.push_back(triple.tail);
    }
    graph.has_links = true;
    graph.features.resize(1);
    graph.node_names = entities_.take();
    return std::move(result_);
  }

 private:
  void read(std::uint32_t split) {
    const fs::path& file = files_[split];
    const std::optional<TripleColumns> columns =
        options_.columns.empty() ? std::nullopt : triple_columns(options_.columns);
    (void)read_triples(file, columns, [&](const Triple& triple) {
      if (met_.size() == met_.capacity())
        options_.memory.check((met_.capacity() * 3 / 2 + 1024) * sizeof(MetTriple), file.string());
      const auto number = [&](Numbers& numbers, std::string_view name) {
        return static_cast<std::uint32_t>(numbers.number_of(name, file, triple.line));
      };
      const std::uint32_t head = number(entities_, triple.head), relation = number(relations_, triple.relation),
                          tail = number(entities_, triple.tail);
      if (relations_.size() > kMaxRelations)
        fail_at_line(file, triple.line, triple.relation,
                     "more than " + std::to_string(kMaxRelations) + " relations; is the order of the columns another");
      met_.push_back({relation, head, tail, split, lines_[split].size()});
      lines_[split].push_back(triple.line);
    });
  }

  /// Leaves each triple once in met_, and counts the others.
  void find_repeats() {
    std::ranges::sort(met_);
    const MetTriple* refused = nullptr;
    const MetTriple* refused_as = nullptr;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < met_.size(); ++i) {
      const MetTriple triple = met_[i];
      if (kept == 0 || !met_[kept - 1].is_same_triple(triple)) {
        met_[kept++] = triple;
        continue;
      }
      const MetTriple& first = met_[kept - 1];
      if (first.split == triple.split) {
        ++result_.repeats[triple.split];
        continue;
      }
      if (options_.between == RepeatsBetween::kKeep) {
        met_[kept++] = triple;
        continue;
      }
      ++result_.dropped[triple.split];
      if (options_.between == RepeatsBetween::kDrop) continue;
      if (refused == nullptr || std::pair(triple.split, triple.place) < std::pair(refused->split, refused->place)) {
        refused_ = {first, triple};
        refused_as = &refused_[0];
        refused = &refused_[1];
      }
    }
    if (refused != nullptr) refuse(*refused, *refused_as);
    met_.resize(kept);
  }

  [[noreturn]] void refuse(const MetTriple& triple, const MetTriple& first) {
    const NameTable relations = relations_.take(), entities = entities_.take();
    const std::string text = std::string(entities[triple.head]) + " " + std::string(relations[triple.relation]) + " " +
                             std::string(entities[triple.tail]);
    std::uint64_t count = 0;
    for (const std::uint64_t dropped : result_.dropped) count += dropped;
    fail_at_line(files_[triple.split], lines_[triple.split][triple.place], text,
                 "is also line " + std::to_string(lines_[first.split][first.place]) + " of " +
                     files_[first.split].filename().string() + ", as " + std::to_string(count) +
                     (count == 1 ? " triple is" : " triples are") +
                     " of two splits; they may be dropped from the later");
  }

  void start(TypedGraph& graph) const {
    graph.target.name = options_.name;
    graph.target.source_kind = "triples";
    graph.target.source_path = options_.train.string();
    graph.target.source_options = options_.source_options;
    graph.target.symmetrise = false;
    graph.target.memory = options_.memory;
    graph.target.num_nodes = entities_.size();
  }

  void make_schema(GraphSchema& schema) {
    const NameTable names = relations_.take();
    schema.node_types = {{.name = kEntity, .count = entities_.size()}};
    std::set<std::string> taken;
    for (std::size_t r = 0; r < names.size(); ++r) {
      schema.relations.push_back({.src = 0, .dst = 0, .name = std::string(names[r])});
      taken.emplace(names[r]);
    }
    if (options_.reverses == Reverses::kAdd)
      for (std::size_t r = 0; r < names.size(); ++r) {
        std::string name = kReversePrefix + std::string(names[r]);
        while (taken.contains(name)) name.insert(0, kReversePrefix);
        schema.relations.push_back({.src = 0, .dst = 0, .name = name, .reverse_of = static_cast<int>(r)});
        taken.insert(std::move(name));
      }
    number_slots(schema);
    if (const std::string rule = broken_rule(schema); !rule.empty())
      fail(ErrorKind::kBadData, options_.train.string() + ": " + rule);
    result_.graph.edges.resize(schema.relations.size());
  }

  const TriplesOptions& options_;
  const std::array<fs::path, 3> files_;
  Numbers entities_, relations_;
  std::vector<MetTriple> met_{};
  std::array<std::vector<std::uint64_t>, 3> lines_{};  ///< of each triple
  std::array<MetTriple, 2> refused_{};
  ImportedTriples result_{};
};

}  // namespace

std::vector<FieldProblem> problems(const TriplesOptions& options) {
  std::vector<FieldProblem> found;
  check_field(found, !options.train.empty(), "train", "is needed, the file with the training triples");
  check_field(found, options.columns.empty() || triple_columns(options.columns), "columns",
              "h, r and t in the order of the fields, each once, and - for a field that is not read");
  check_field(found, options.entities.empty() == options.relations.empty(), "entities",
              "together with the table of relations: triples are then numbers of both");
  return found;
}

ImportedTriples import_triples(const TriplesOptions& options) {
  require(problems(options).empty(), "options name a graph");
  return TriplesImport(options).run();
}

}  // namespace salient
