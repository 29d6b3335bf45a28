// apps/prepare_steps.cpp - see prepare_steps.h.
#include "apps/prepare_steps.h"

#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apps/label_note.h"
#include "apps/options/thread_note.h"
#include "core/console/leftovers.h"
#include "core/console/log.h"
#include "core/console/progress.h"
#include "core/host/interrupt.h"
#include "core/host/machine.h"
#include "core/memory_size.h"
#include "core/number_text.h"
#include "core/printable.h"
#include "prepare/writing/write_typed_store.h"
#include "store/column_spread.h"
#include "store/dataset_summary.h"
#include "store/open_store.h"
#include "store/store_manifest.h"

namespace salient::prepare {

std::string take_directory(Arguments& arguments, const char* name) {
  const std::string_view word = arguments.empty() ? "" : arguments[0];
  if (word.starts_with("--help") || word == "-h") return {};
  if (word.empty() || word.starts_with("--"))
    fail(ErrorKind::kUsage, std::string("expected a folder: salient-prepare ") + name + " DIR");
  arguments = arguments.subspan(1);
  return std::string(word);
}

void require_none(const std::vector<FieldProblem>& problems) {
  std::string text;
  for (const auto& [field, rule] : problems)
    text.append(text.empty() ? "--" : "; --").append(field).append(": ").append(rule);
  require_option(text.empty(), text);
}

void apply_common(const CommonOptions& common) {
  require_option(common.threads >= 0 && common.threads <= 4096, "--threads: 0 to 4096");
  set_progress_mode(common.progress);
  warn_of_threads("--threads", common.threads, num_usable_cores());
}

WriteStoreOptions start_writing(const WriteOptions& write, const char* marker) {
  require_option(!write.out.empty(), "--out: is needed, the folder to write");
  require_option(are_gigabytes(write.memory_gb), std::string("--memory-gb: ") + kGigabytesRule);
  WriteStoreOptions options{.out = write.out,
                            .num_threads = write.common.threads,
                            .force = write.force,
                            .in_fp8 = write.feature_dtype == FeatureType::kFp8};
  warn_of_leftovers(options.out);
  check_can_write(options, marker);
  return options;
}

void choose_layout(const LayoutOptions& layout, WriteStoreOptions& options) {
  require_option(!options.in_fp8 || layout.feature_layout != FeatureLayout::kCsr,
                 "--feature-layout: dense with --feature-dtype fp8; sparse rows are f16 or f32");
  options.feature_layout = layout.feature_layout;
}

void check_memory(std::uint64_t limit, std::uint64_t bytes_needed) {
  if (bytes_needed > limit)
    fail(ErrorKind::kHostMemory, "this graph needs about " + gigabytes_needed(bytes_needed) +
                                     " of memory, --memory-gb allows " + gigabytes(limit));
}

void check_free_memory(std::uint64_t bytes_needed) {
  const std::int64_t available = available_host_bytes();
  if (available > 0 && bytes_needed > static_cast<std::uint64_t>(available))
    fail(ErrorKind::kHostMemory, "this graph needs about " + gigabytes_needed(bytes_needed) + " of memory, and " +
                                     gigabytes(available) + " are free; take a smaller --scale or fewer --nodes");
}

std::uint64_t memory_limit(const WriteOptions& write) {
  if (write.memory_gb > 0) return static_cast<std::uint64_t>(bytes_of(write.memory_gb));
  return static_cast<std::uint64_t>(total_host_bytes()) / 2;
}

MemoryLimit limit_of_importer(const WriteOptions& write) {
  return MemoryLimit(write.memory_gb > 0 ? memory_limit(write) : static_cast<std::uint64_t>(total_host_bytes()));
}

/// Until now: the summary maps the finished store, and pages of files are the kernel's to drop.
std::string peak_memory_text(std::uint64_t limit) {
  const double peak = static_cast<double>(peak_resident_bytes()) * 1e-9;
  return "peak memory     " + (limit > 0 ? fixed(peak, 2) + " of " + gigabytes(limit) : fixed(peak, 2) + " GB") + "\n";
}

std::string symmetric_text(const WriteOptions& write) {
  return write.symmetric == Symmetric::kAuto ? "" : "--symmetric " + name_of(write.symmetric);
}

LabelChoice choice_of(const LabelOptions& labels) {
  return {.compact = labels.compact_labels, .one_hot = labels.one_hot, .class_names = labels.class_names};
}

FeatureRecipe recipe_of(const std::string& make_features) {
  const std::optional<FeatureRecipe> recipe = feature_recipe(make_features);
  require_option(recipe.has_value(), "--make-features: none, degree, random:K or positional:K with K from 1 to " +
                                         std::to_string(kMaxMadeWidth) + ", not '" + make_features + "'");
  return *recipe;
}

void require_name(const std::string& name) {
  require_option(name.empty() || is_dataset_name(name),
                 "--name: up to 100 characters, no slash or control character among them, and no dot in front");
}

std::string set_name(const std::string& name, const WriteOptions& write) {
  require_name(name);
  if (!name.empty()) return name;
  std::filesystem::path out = std::filesystem::path(write.out).lexically_normal();
  if (!out.has_filename()) out = out.parent_path();  // "data/mine/"
  const std::string folder = out.filename().string();
  require_option(is_dataset_name(folder), "--name: is needed, as the folder's name '" + folder + "' is no set's name");
  return folder;
}

/// What to do with a store, or what it lacks to be trained on.
std::string next_step(const Dataset& dataset, const std::string& out, const std::string& likely_features) {
  const bool is_typed = dataset.types.is_typed();
  if (dataset.has_links && is_typed && dataset.source_kind == "typed")
    return "next            salient-train --dataset " + out +
           " --task link --model rgcn --decoder distmult --corrupt both --negatives 2";
  if (dataset.has_links && is_typed)
    return "next            salient-train --dataset " + out + " --task link --model none --decoder complex";
  if (!is_typed && dataset.feature_dim == 0 && !likely_features.empty())
    return "to train on it  give it features: call " + likely_features + " 'x.npy' if it holds them";
  const std::string features = dataset.source_kind == "npz" ? "" : "--features or ";  // else an array of the file
  if (!is_typed && dataset.feature_dim == 0)
    return "to train on it  give it features, with " + features + "--make-features";
  if (dataset.has_links) return "next            salient-train --dataset " + out + " --task link --model sage";
  if (dataset.num_classes == 0) return "to train on it  give it labels, with --labels";
  if (dataset.train.empty()) return "to train on it  give it training nodes, with --split 0.6,0.2,0.2 or --train";
  return "next            salient-train --dataset " + out + (is_typed ? " --model rgcn" : "");
}

void print_summary(const WriteReport& report, const WriteOptions& write, const Timer& timer, std::uint64_t limit,
                   const std::string& likely_features) {
  const std::string peak_memory = peak_memory_text(limit);
  const Dataset dataset = open_store(write.out, write.common.threads, FeatureFile::kNeeded, GraphKind::kAny).dataset;
  const DatasetSummary summary = summarise(dataset, write.common.threads);
  std::cout << summary_text(dataset, summary);
  if (const std::string note = label_note(dataset, summary); !note.empty())
    std::cout << "labels          " << note << "\n";
  if (report.edges_read > 0)
    std::cout << "met             " << report.edges_read << " edges read, " << report.duplicates
              << " repeated entries left out, " << report.self_loops << " self loops kept\n";
  std::cout << "wrote           " << fixed(static_cast<double>(report.bytes) * 1e-6, 1) << " MB in "
            << fixed(timer.seconds(), 1) << " s to " << printable(write.out) << "\n"
            << peak_memory << next_step(dataset, printable(write.out), likely_features) << "\n";
}

void warn_of_wide_features(const RawFeatures& features, FeatureScaling scaling, const std::string& whose) {
  constexpr std::size_t kSampledRows = 4096;
  const bool is_said = scaling != FeatureScaling::kAuto;  // by the user
  if (is_said || features.dim == 0 || features.layout != FeatureLayout::kDense) return;
  const RowTable rows{features.rows.data(), features.num_rows(),
                      static_cast<std::size_t>(features.dim) * size_of(features.type), features.fp8_scale};
  const std::vector<double> deviations = column_deviations(rows, features.type, features.dim, kSampledRows);
  if (const std::string text = wide_column_text(deviations, features.column_names); !text.empty())
    log_warning(whose + text + "; --scale-features standard scales them");
}

int write_and_report(RawGraph graph, const WriteOptions& write, const WriteStoreOptions& options, const Timer& timer) {
  install_interrupt_handlers();  // only now: until here there is nothing to clean up
  const bool makes_features = options.make_features.kind != MadeFeatures::kNone;
  if (makes_features)
    graph.source_options.append(graph.source_options.empty() ? "" : " ")
        .append("--make-features ")
        .append(text_of(options.make_features));
  const std::string likely_features = graph.likely_features;
  const WriteReport report = write_store(std::move(graph), options);
  if (makes_features)
    std::cout << "made features   " << text_of(options.make_features) << ", " << report.feature_dim << " columns, seed "
              << write.rng_seed << "\n";
  print_summary(report, write, timer, write.memory_gb > 0 ? memory_limit(write) : 0, likely_features);
  return 0;
}

int write_and_report(TypedGraph graph, const WriteOptions& write, const WriteStoreOptions& options,
                     const Timer& timer) {
  install_interrupt_handlers();
  const WriteReport report = write_typed_store(std::move(graph), options);
  print_summary(report, write, timer, write.memory_gb > 0 ? memory_limit(write) : 0);
  return 0;
}

}  // namespace salient::prepare
