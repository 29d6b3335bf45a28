// prepare/importers/wordnet_importer.cpp - four files of synsets -> nodes, edges, labels, features, split
#include "prepare/importers/wordnet_importer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/console/log.h"
#include "core/console/progress.h"
#include "core/error.h"
#include "prepare/formats/line_reader.h"
#include "prepare/formats/text_fields.h"
#include "prepare/importers/gloss_features.h"
#include "prepare/importers/split.h"
#include "prepare/importers/wordnet_line.h"

namespace salient {

namespace {

constexpr std::size_t kMaxWords = 1024;

struct DataFile {
  const char* name;
  char part;
};
constexpr std::array<DataFile, 4> kFiles = {
    {{"data.noun", 'n'}, {"data.verb", 'v'}, {"data.adj", 'a'}, {"data.adv", 'r'}}};

/// Lexicographer files by number. The package lacks the list; it is in the man page lexnames.5WN.
constexpr std::array<const char*, kNumWordnetLexFiles> kLexNames = {
    "adj.all",          "adj.pert",           "adv.all",
    "noun.Tops",        "noun.act",           "noun.animal",
    "noun.artifact",    "noun.attribute",     "noun.body",
    "noun.cognition",   "noun.communication", "noun.event",
    "noun.feeling",     "noun.food",          "noun.group",
    "noun.location",    "noun.motive",        "noun.object",
    "noun.person",      "noun.phenomenon",    "noun.plant",
    "noun.possession",  "noun.process",       "noun.quantity",
    "noun.relation",    "noun.shape",         "noun.state",
    "noun.substance",   "noun.time",          "verb.body",
    "verb.change",      "verb.cognition",     "verb.communication",
    "verb.competition", "verb.consumption",   "verb.contact",
    "verb.creation",    "verb.emotion",       "verb.motion",
    "verb.perception",  "verb.possession",    "verb.social",
    "verb.stative",     "verb.weather",       "adj.ppl"};

/// A pointer whose target is not looked up yet: it may be in a file that is read later.
struct OpenPointer {
  std::uint32_t source = 0;  ///< synset, in file order
  std::uint32_t offset = 0;
  char part = 'n';
  std::uint8_t target_word = 0;
  std::uint64_t line = 0;
};

/// All synsets in the order of the files.
struct Synsets {
  std::array<std::vector<std::uint32_t>, kFiles.size()> offsets{};  ///< ascending: each is the line's place in its file
  std::array<std::uint32_t, kFiles.size()> first{};                 ///< number of each file's first synset
  std::vector<std::int32_t> labels{};
  std::vector<std::uint8_t> num_words{};
  std::vector<OpenPointer> pointers{};
  WordCounts glosses{};
};

std::size_t file_of_part(char part) {
  return static_cast<std::size_t>(std::ranges::find(kFiles, part, &DataFile::part) - kFiles.begin());
}

void read_file(const WordnetOptions& options, std::size_t file, Synsets& synsets) {
  LineReader reader(options.source / kFiles[file].name);
  Progress progress(kFiles[file].name, reader.bytes_total(), "bytes");
  synsets.first[file] = static_cast<std::uint32_t>(synsets.labels.size());
  std::uint64_t offset = 0, reported = 0;
  WordnetSynset synset;
  for (std::string_view line; reader.next(line); offset += line.size() + 1) {
    if (line.starts_with("  ") && synsets.offsets[file].empty()) continue;  // the licence
    const auto refuse = [&](const char* rule) { fail_at_line(reader.path(), reader.line_number(), line, rule); };
    if (const char* rule = parse_wordnet_line(line, kFiles[file].part, synset)) refuse(rule);
    if (synset.offset != offset) refuse("synset_offset is not the line's place in the file");
    const auto number = static_cast<std::uint32_t>(synsets.labels.size());
    for (const WordnetPointer& pointer : synset.pointers)
      if (!pointer.is_lexical() || options.pointers == WordnetPointers::kAll)
        synsets.pointers.push_back({number, pointer.offset, pointer.part,
                                    static_cast<std::uint8_t>(pointer.target_word), reader.line_number()});
    synsets.offsets[file].push_back(synset.offset);
    synsets.labels.push_back(synset.lex_file);
    synsets.num_words.push_back(static_cast<std::uint8_t>(synset.num_words));
    synsets.glosses.add_text(synset.gloss);
    progress.add(reader.bytes_read() - std::exchange(reported, reader.bytes_read()));
  }
}

/// The number of the synset that a pointer leads to.
std::uint32_t target_of(const WordnetOptions& options, const Synsets& synsets, const OpenPointer& pointer) {
  const std::size_t file = file_of_part(pointer.part);
  const auto& offsets = synsets.offsets[file];
  const auto found = std::ranges::lower_bound(offsets, pointer.offset);
  const auto target = synsets.first[file] + static_cast<std::uint32_t>(found - offsets.begin());
  const bool exists = found != offsets.end() && *found == pointer.offset;
  if (exists && pointer.target_word <= synsets.num_words[target]) return target;
  std::size_t source_file = kFiles.size() - 1;
  while (synsets.first[source_file] > pointer.source) --source_file;
  std::string text = line_name(options.source / kFiles[source_file].name, pointer.line) + ": a pointer leads to ";
  if (exists) text += "word " + std::to_string(pointer.target_word) + " of ";
  text += "synset " + std::to_string(pointer.offset) + " of " + kFiles[file].name + ", which does not exist";
  fail(ErrorKind::kBadData, text);
}

void add_edges(const WordnetOptions& options, const Synsets& synsets, const std::vector<NodeId>& id_of,
               RawGraph& graph) {
  std::size_t num_self = 0;
  for (const OpenPointer& pointer : synsets.pointers) {
    const std::uint32_t target = target_of(options, synsets, pointer);
    if (target == pointer.source) {
      ++num_self;
      continue;
    }
    graph.sources.push_back(id_of[pointer.source]);
    graph.destinations.push_back(id_of[target]);
  }
  if (num_self > 0) log_info("wordnet: dropped pointers from a synset to itself: " + std::to_string(num_self));
}

void add_features(const WordnetOptions& options, const WordCounts& glosses,
                  const std::vector<std::uint64_t>& original_ids, RawGraph& graph) {
  constexpr std::size_t kBlockRows = 256;
  graph.vocabulary = glosses.vocabulary(kMaxWords);
  const WordCounts::Rows rows = glosses.rows(graph.vocabulary);
  const std::size_t dim = graph.vocabulary.size();
  graph.features.type = options.feature_type;
  graph.features.dim = static_cast<int>(dim);
  if (dim == 0) return;
  graph.memory.check(rows.size() * dim * size_of(options.feature_type), options.source.string());
  graph.features.rows.reserve(rows.size() * dim * size_of(options.feature_type));
  std::vector<float> block;
  for (std::size_t node = 0; node < original_ids.size(); node += kBlockRows) {
    const std::size_t count = std::min(kBlockRows, original_ids.size() - node);
    block.assign(count * dim, 0);
    for (std::size_t row = 0; row < count; ++row)
      rows.write(static_cast<std::size_t>(original_ids[node + row]), block.data() + row * dim);
    append_feature_rows(graph.features, block.data(), block.size(), "glosses");
  }
}

std::vector<NodeId> renumbered(const std::vector<NodeId>& synsets, const std::vector<NodeId>& id_of) {
  std::vector<NodeId> ids;
  for (const NodeId synset : synsets) ids.push_back(id_of[synset]);
  return ids;
}

}  // namespace

RawGraph import_wordnet(const WordnetOptions& options) {
  for (const DataFile& file : kFiles)
    if (const auto path = options.source / file.name; !std::filesystem::exists(path))
      fail(ErrorKind::kNoInput,
           path.string() + " is missing; apt-get install --no-install-recommends wordnet-base brings it",
           Topic::kSourceFolder);
  std::uint64_t text_bytes = 0;
  for (const DataFile& file : kFiles) text_bytes += std::filesystem::file_size(options.source / file.name);
  options.memory.check(2 * text_bytes, options.source.string());  // a word of 5 letters is 4 bytes; vectors grow
  Synsets synsets;
  for (std::size_t file = 0; file < kFiles.size(); ++file) read_file(options, file, synsets);

  RawGraph graph{.name = "wordnet",
                 .source_kind = "wordnet",
                 .source_path = options.source.string(),
                 .source_options = options.source_options,
                 .num_nodes = synsets.labels.size(),
                 .num_classes = kNumWordnetLexFiles,
                 .rng_seed = options.rng_seed,
                 .memory = options.memory};
  graph.class_names.assign(kLexNames.begin(), kLexNames.end());
  const std::size_t num_nodes = synsets.labels.size();
  const std::vector<NodeId> id_of = permutation_by_key(num_nodes, options.rng_seed, kOrderTag);
  graph.original_ids.resize(num_nodes);
  graph.labels.resize(num_nodes);
  for (std::size_t synset = 0; synset < num_nodes; ++synset) {
    graph.original_ids[id_of[synset]] = synset;
    graph.labels[id_of[synset]] = synsets.labels[synset];
  }
  add_edges(options, synsets, id_of, graph);
  add_features(options, synsets.glosses, graph.original_ids, graph);
  const Split by_synset = split(num_nodes, {0.6, 0.2, 0.2}, options.rng_seed);
  graph.train = renumbered(by_synset.train, id_of);
  graph.valid = renumbered(by_synset.valid, id_of);
  graph.test = renumbered(by_synset.test, id_of);
  return graph;
}

}  // namespace salient
