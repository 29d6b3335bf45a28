// apps/salient_prepare.cpp - salient-prepare: other people's graphs, or generated ones, become data sets.
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/advice.h"
#include "apps/graph_file.h"
#include "apps/missing_dataset.h"
#include "apps/options/options.h"
#include "apps/prepare_edges.h"
#include "apps/prepare_ogb.h"
#include "apps/prepare_options.h"
#include "apps/prepare_partition.h"
#include "apps/prepare_steps.h"
#include "apps/prepare_synthetic.h"
#include "apps/prepare_triples.h"
#include "apps/prepare_typed.h"
#include "core/console/progress.h"
#include "core/error.h"
#include "core/host/interrupt.h"
#include "core/host/machine.h"
#include "core/host/program.h"
#include "core/printable.h"
#include "core/timer.h"
#include "core/value_text.h"
#include "core/version.h"
#include "prepare/importers/edges_importer.h"
#include "prepare/importers/graphbolt_importer.h"
#include "prepare/importers/masked_npz_importer.h"
#include "prepare/importers/ogb_importer.h"
#include "prepare/importers/ogb_typed.h"
#include "prepare/importers/wordnet_importer.h"
#include "prepare/writing/ogb_stream.h"
#include "prepare/writing/write_store.h"
#include "store/dataset.h"
#include "store/dataset_summary.h"
#include "store/open_store.h"
#include "store/parts.h"
#include "store/store_arrays.h"
#include "store/store_manifest.h"

namespace salient::prepare {
namespace {

struct Command {
  const char* name;
  const char* synopsis;
  const char* purpose;
  int (*run)(Arguments);
};

int run_wordnet(Arguments arguments) {
  WordnetArguments given;
  if (!read(arguments, "wordnet", given)) return 0;
  const Timer timer;
  WriteStoreOptions options = start_writing(given.write);
  choose_layout(given.layout, options);
  RawGraph graph = import_wordnet({.source = given.source,
                                   .pointers = given.pointers,
                                   .rng_seed = given.write.rng_seed,
                                   .feature_type = gathered_type(given.write.feature_dtype),
                                   .source_options = given.pointers == WordnetPointers::kAll ? "--pointers all" : "",
                                   .memory = limit_of_importer(given.write)});
  if (given.write.symmetric == Symmetric::kNo) graph.symmetrise = false;
  return write_and_report(std::move(graph), given.write, options, timer);
}

int run_ogb(Arguments arguments) {
  OgbArguments given;
  if (!read(arguments, "ogb", given)) return 0;
  const Timer timer;
  require_option(!given.raw.empty(), "--raw: is needed, the unpacked data set's folder");
  require_name(given.name);
  const WriteStoreOptions options = start_writing(given.write);
  std::string source_options = symmetric_text(given.write);
  if (!given.target.empty())
    source_options.append(source_options.empty() ? "" : " ").append("--target ").append(to_text(given.target));
  if (given.keep_edge_features) source_options.append(source_options.empty() ? "" : " ").append("--keep-edge-features");
  const OgbOptions ogb{.raw = given.raw,
                       .name = given.name,
                       .targets = given.target,
                       .label_choice = choice_of(given.label_choice),
                       .feature_type = gathered_type(given.write.feature_dtype),
                       .keeps_edge_features = given.keep_edge_features,
                       .symmetric = given.write.symmetric,
                       .num_threads = given.write.common.threads,
                       .source_options = source_options,
                       .memory = MemoryLimit(memory_limit(given.write))};
  require_none(problems(ogb));
  const std::uint64_t limit = memory_limit(given.write);
  if (const OgbLinks links = links_of_ogb(ogb); links != OgbLinks::kNone)
    return write_ogb_links(ogb, links, given, options, timer);
  if (is_typed_ogb(ogb)) {
    return write_and_report(import_typed_ogb(ogb), given.write, options, timer);
  } else if (can_stream_ogb(ogb)) {
    install_interrupt_handlers();
    print_summary(stream_ogb(ogb, options, limit), given.write, timer, limit);
  } else {
    check_memory(limit, ogb_memory_bytes(ogb));
    RawGraph graph = import_ogb(ogb);
    install_interrupt_handlers();
    print_summary(write_store(std::move(graph), options), given.write, timer, limit);
  }
  return 0;
}

int run_graphbolt(Arguments arguments) {
  GraphBoltArguments given;
  if (!read(arguments, "graphbolt", given)) return 0;
  const Timer timer;
  require_option(!given.dir.empty(), "--dir: is needed, the folder with metadata.yaml");
  require_name(given.name);
  const WriteStoreOptions options = start_writing(given.write);
  const GraphBoltOptions graphbolt{.dir = given.dir,
                                   .name = given.name,
                                   .task = given.task,
                                   .feature = given.feature,
                                   .feature_type = gathered_type(given.write.feature_dtype),
                                   .symmetric = given.write.symmetric,
                                   .num_threads = given.write.common.threads,
                                   .source_options = symmetric_text(given.write),
                                   .memory = limit_of_importer(given.write)};
  if (is_typed_graphbolt(graphbolt))
    return write_and_report(import_typed_graphbolt(graphbolt), given.write, options, timer);
  return write_and_report(import_graphbolt(graphbolt), given.write, options, timer);
}

int run_npz(Arguments arguments) {
  NpzArguments given;
  if (!read(arguments, "npz", given)) return 0;
  const Timer timer;
  WriteStoreOptions options = start_writing(given.write);
  options.make_features = recipe_of(given.make_features);
  choose_layout(given.layout, options);
  std::string source_options =
      given.split.empty() ? "--mask " + std::to_string(given.mask) : "--split " + to_text(given.split);
  if (const std::string symmetric = symmetric_text(given.write); !symmetric.empty())
    source_options.append(" ").append(symmetric);
  if (!given.target.empty()) source_options.append(" --target ").append(to_text(given.target));
  const MaskedNpzOptions npz{.file = given.file,
                             .name = set_name(given.name, given.write),
                             .mask = given.mask,
                             .split = given.split,
                             .targets = given.target,
                             .label_choice = choice_of(given.label_choice),
                             .feature_type = gathered_type(given.write.feature_dtype),
                             .symmetric = given.write.symmetric,
                             .rng_seed = given.write.rng_seed,
                             .source_options = source_options,
                             .memory = limit_of_importer(given.write)};
  require_none(problems(npz));
  return write_and_report(import_masked_npz(npz), given.write, options, timer);
}

int run_edges(Arguments arguments) {
  EdgesArguments given;
  if (!read(arguments, "edges", given)) return 0;
  const Timer timer;
  WriteStoreOptions options = start_writing(given.write);
  options.make_features = recipe_of(given.make_features);
  choose_layout(given.layout, options);
  const EdgesOptions edges = edges_options(given);
  require_none(problems(edges));
  RawGraph graph = import_edges(edges);
  warn_of_wide_features(graph.features, given.table.scale_features);
  return write_and_report(std::move(graph), given.write, options, timer);
}

int run_typed(Arguments arguments) {
  TypedArguments given;
  if (!read(arguments, "typed", given)) return 0;
  const Timer timer;
  WriteStoreOptions options = start_writing(given.write);
  choose_layout(given.layout, options);
  if (!given.schema.empty()) read_graph_file(given.schema, given);
  const TypedOptions typed = typed_options(given);
  require_none(problems(typed));
  TypedGraph graph = import_typed(typed);
  for (std::size_t t = 0; t < graph.features.size(); ++t)
    warn_of_wide_features(graph.features[t], given.scale_features, "type '" + graph.schema.node_types[t].name + "': ");
  return write_and_report(std::move(graph), given.write, options, timer);
}

int run_triples(Arguments arguments) {
  TriplesArguments given;
  if (!read(arguments, "triples", given)) return 0;
  const Timer timer;
  const WriteStoreOptions options = start_writing(given.write);
  const TriplesOptions triples = triples_options(given);
  require_none(problems(triples));
  ImportedTriples imported = import_triples(triples);
  print_repeats(imported);
  return write_and_report(std::move(imported.graph), given.write, options, timer);
}

/// Without features.npy, too, where the folder has the rows of some parts.
Dataset open_with_parts(const std::string& directory, int num_threads) {
  return open_or_advise(
      directory, [&] { return open_store(directory, num_threads, FeatureFile::kOrParts, GraphKind::kAny).dataset; });
}

int run_verify(Arguments arguments) {
  CommonOptions common;
  const std::string directory = take_directory(arguments, "verify");
  if (!read(arguments, "verify DIR", common)) return 0;
  const Timer timer;
  open_or_advise(directory, [&] { verify_dataset(directory, common.threads); });
  if (has_parts(directory)) verify_parts(open_with_parts(directory, common.threads));
  std::printf("%s: every check passed in %.1f s\n", printable(directory).c_str(), timer.seconds());
  return 0;
}

int run_describe(Arguments arguments) {
  CommonOptions common;
  const std::string directory = take_directory(arguments, "describe");
  if (!read(arguments, "describe DIR", common)) return 0;
  const Dataset dataset = open_with_parts(directory, common.threads);
  const std::string parts = has_parts(directory) ? parts_text(dataset, open_parts(dataset)) : "";
  std::cout << summary_text(dataset, summarise(dataset, common.threads)) << parts << "fingerprint     "
            << dataset.fingerprint << "\n";
  return 0;
}

constexpr Command kCommands[] = {
    {"wordnet", "[--source /usr/share/wordnet] --out DIR", "WordNet 3.0: 117,659 synsets", run_wordnet},
    {"ogb", "--raw DIR --out DIR [--name ogbn-arxiv]", "an OGB set of nodes or links, CSV or binary layout", run_ogb},
    {"edges", "--edges FILE --out DIR [--nodes TABLE --label COLUMN] [--split 0.6,0.2,0.2]",
     "an edge list, text or NumPy", run_edges},
    {"typed",
     "--nodes TYPE=FILE ... --edges SRC:NAME:DST=FILE ... --out DIR [--labels TYPE=FILE] [--split 0.6,0.2,0.2] "
     "| --schema graph.toml --out DIR",
     "a graph of several node types and relations", run_typed},
    {"graphbolt", "--dir DIR --out DIR [--task node_classification]", "DGL's OnDiskDataset, by its metadata.yaml",
     run_graphbolt},
    {"triples", "--train FILE --valid FILE --test FILE --out DIR [--columns h,r,t] [--reverse add|none]",
     "a knowledge graph, whose links are to be predicted", run_triples},
    {"npz", "--file FILE.npz --out DIR [--mask 0]", "one file with several splits, as tolokers.npz", run_npz},
    {"synthetic", "--like arxiv|products|papers100M|mag240M|mag|igbh [--scale S] [--raw-ogb] --out DIR",
     "a generated graph", run_synthetic},
    {"partition", "DIR --parts K [--method cluster|ranges] [--by FILE] [--write-rows]",
     "which rank holds the rows of which nodes", run_partition},
    {"verify", "DIR", "every check of a store, checksums included", run_verify},
    {"describe", "DIR", "what is in a store", run_describe},
};

void print_help() {
  constexpr std::size_t kIndent = 6;
  const std::size_t columns = options::help_columns();
  std::cout << "salient-prepare: makes data sets for salient-train\n\n";
  for (const Command& command : kCommands) {
    const std::string synopsis = std::string("  salient-prepare ") + command.name + " " + command.synopsis;
    std::cout << "  " << options::wrapped(synopsis.substr(2), kIndent, columns + kIndent - 2) << '\n'
              << std::string(kIndent, ' ') << options::wrapped(command.purpose, kIndent, columns) << '\n';
  }
  std::cout << "\nsalient-prepare COMMAND --help lists the options. The files: docs/DATASETS.md.\n";
}

int run(Arguments arguments) {
  const std::string_view name = arguments.empty() ? "" : arguments[0];
  if (name.empty() || name.starts_with("--help") || name == "-h" || name == "help") {
    print_help();
    return name.empty() ? static_cast<int>(ErrorKind::kUsage) : 0;
  }
  if (name == "--version") {
    std::cout << "salient-prepare " << kVersion << "\n";
    return 0;
  }
  const Command* nearest = kCommands;
  for (const Command& command : kCommands) {
    if (name == command.name) return command.run(arguments.subspan(1));
    if (options::edit_distance(name, command.name) < options::edit_distance(name, nearest->name)) nearest = &command;
  }
  fail(ErrorKind::kUsage, "unknown command '" + std::string(name) + "'; did you mean " + nearest->name + "?");
}

}  // namespace
}  // namespace salient::prepare

int main(int argc, char** argv) {
  salient::start_program();
  // A large block that is freed goes back at once, which --memory-gb counts on.
  (void)mallopt(M_MMAP_THRESHOLD, 1 << 20);  // NOLINT(concurrency-mt-unsafe): no other thread runs yet
  try {
    try {
      const int code = salient::prepare::run({argv + 1, static_cast<std::size_t>(argc > 0 ? argc - 1 : 0)});
      return salient::end_program("salient-prepare", code);
    } catch (const salient::Interrupted& interrupted) {
      std::fputs("salient-prepare: interrupted; nothing is left behind\n", stderr);
      return 128 + interrupted.signal;
    } catch (const std::bad_alloc&) {
      salient::fail(salient::ErrorKind::kHostMemory, "out of host memory; --feature-dtype f16 or fp8 needs the least");
    }
  } catch (...) {
    return salient::report_current_exception("salient-prepare", salient::prepare_advice);
  }
}
