// apps/prepare_steps.h - what the commands of salient-prepare have in common: reading options, rules, the last lines.
#pragma once

#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "apps/options/help.h"
#include "apps/prepare_options.h"
#include "core/error.h"
#include "core/field_problem.h"
#include "core/timer.h"
#include "prepare/importers/label_choice.h"
#include "prepare/importers/typed_graph.h"
#include "prepare/writing/make_features.h"
#include "prepare/writing/write_store.h"
#include "store/dataset.h"

namespace salient::prepare {

using Arguments = std::span<const char* const>;

/// The fields of a library's options have the names of ours.
void require_none(const std::vector<FieldProblem>& problems);

/// Checks and applies what every command takes: threads, progress.
void apply_common(const CommonOptions& common);

inline const CommonOptions& common_of(const CommonOptions& options) { return options; }
inline const CommonOptions& common_of(const PartitionArguments& options) { return options.common; }
const CommonOptions& common_of(const auto& options) { return options.write.common; }

/// Options of one subcommand, or nothing after --help has been printed.
template <class Options>
bool read(Arguments arguments, const char* name, Options& options) {
  options::parse(arguments, options);
  if (common_of(options).help) {
    options::print_help(std::cout, std::string("salient-prepare ") + name + ", options and their defaults:\n",
                        Options{}, common_of(options).help);
    return false;
  }
  apply_common(common_of(options));
  return true;
}

/// The folder that verify, describe and partition take as their first word, which leaves `arguments`; "" for --help.
/// @throws Error{kUsage} where there is none
std::string take_directory(Arguments& arguments, const char* name);

/// What can be refused before any file is read.
WriteStoreOptions start_writing(const WriteOptions& write, const char* marker = "");

/// @throws Error{kHostMemory} if more bytes are needed than allowed.
void check_memory(std::uint64_t limit, std::uint64_t bytes_needed);

/// @throws Error{kHostMemory} if more bytes are needed than are free on this machine.
void check_free_memory(std::uint64_t bytes_needed);

/// --memory-gb in bytes; 0 means half of the machine's memory.
std::uint64_t memory_limit(const WriteOptions& write);

/// Whether rows stay sparse. @throws Error{kUsage} for sparse rows in fp8
void choose_layout(const LayoutOptions& layout, WriteStoreOptions& options);

/// --memory-gb for importers that hold a graph in memory; 0 stands for all of the machine's.
MemoryLimit limit_of_importer(const WriteOptions& write);

/// One line: what this process took at most so far. @param limit  bytes that it was limited to, 0 = it was not
std::string peak_memory_text(std::uint64_t limit);

/// As a store records the choice: auto, which is yes for every importer, leaves no trace.
std::string symmetric_text(const WriteOptions& write);

/// @throws Error{kUsage} for a name that no data set may have.
void require_name(const std::string& name);

/// What a set is called: `name`, or the folder of --out if that is empty. @throws as require_name()
std::string set_name(const std::string& name, const WriteOptions& write);

/// What the options say about labels.
LabelChoice choice_of(const LabelOptions& labels);

/// The recipe that --make-features gives. @throws Error{kUsage} for text that is none
FeatureRecipe recipe_of(const std::string& make_features);

/// The last lines of every subcommand that writes a store. Opening it again proves that it can be opened.
/// @param limit            bytes that the memory was limited to, 0 = it was not
/// @param likely_features  an array that may hold the features which the store lacks; "" = none
void print_summary(const WriteReport& report, const WriteOptions& write, const Timer& timer, std::uint64_t limit = 0,
                   const std::string& likely_features = "");

/// Warns of dense features that are as their source has them, and vary too differently to train on.
/// @param whose  in front of the line: "", or "type 'paper': "
void warn_of_wide_features(const RawFeatures& features, FeatureScaling scaling, const std::string& whose = "");

/// Writes the store and prints the last lines. @return the exit code
int write_and_report(RawGraph graph, const WriteOptions& write, const WriteStoreOptions& options, const Timer& timer);
int write_and_report(TypedGraph graph, const WriteOptions& write, const WriteStoreOptions& options, const Timer& timer);

}  // namespace salient::prepare
