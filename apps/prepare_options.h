// apps/prepare_options.h - the options of salient-prepare: one struct and one list of fields per subcommand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "apps/options/options.h"
#include "apps/prepare_edge_columns.h"
#include "core/console/console_options.h"
#include "prepare/importers/edge_file.h"
#include "prepare/importers/feature_table.h"
#include "prepare/importers/raw_graph.h"
#include "prepare/importers/typed_options.h"
#include "prepare/importers/wordnet_importer.h"
#include "prepare/partitioning/partition.h"
#include "store/row_table.h"
#include "store/sparse_rows.h"

namespace salient::prepare {

/// Of every subcommand.
struct CommonOptions {
  int threads = 0;
  ProgressMode progress = ProgressMode::kAuto;
  options::HelpTopic help{};
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, CommonOptions>
void visit_fields(Self& self, Visit&& field) {
  field("threads", self.threads, "0 = all cores");
  field("progress", self.progress, "a bar on a terminal, else lines");
  field("help", self.help, "print this and stop");
}

/// Of every subcommand that writes a store.
struct WriteOptions {
  std::string out{};
  FeatureType feature_dtype = FeatureType::kF16;
  Symmetric symmetric = Symmetric::kAuto;
  double memory_gb = 0;
  std::uint32_t rng_seed = 0;
  bool force = false;
  CommonOptions common{};
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, WriteOptions>
void visit_fields(Self& self, Visit&& field) {
  field("out", self.out, "folder to write; needed");
  field("feature-dtype", self.feature_dtype, "of the store; fp8: half the memory of f16, at 4 significant bits");
  field("symmetric", self.symmetric, "add the reverse of every edge; auto is yes");
  field("memory-gb", self.memory_gb,
        "most resident memory until all is written (VmHWM); 0 = the machine's, of ogb half of it, of synthetic what is "
        "free");
  field("rng-seed", self.rng_seed, "of node order, split and generated data");
  field("force", self.force, "replace an existing store");
  visit_fields(self.common, field);
}

/// Of subcommands whose features may be mostly zero.
struct LayoutOptions {
  std::optional<FeatureLayout> feature_layout{};
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, LayoutOptions>
void visit_fields(Self& self, Visit&& field) {
  field("feature-layout", self.feature_layout,
        "csr: only values that are not 0; auto: csr for sparse matrices of 1000 columns or more that it makes 4 times "
        "smaller");
}

struct WordnetArguments {
  std::string source = "/usr/share/wordnet";
  WordnetPointers pointers = WordnetPointers::kSemantic;
  LayoutOptions layout{};
  WriteOptions write{};
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, WordnetArguments>
void visit_fields(Self& self, Visit&& field) {
  field("source", self.source, "folder with data.noun, data.verb, data.adj and data.adv");
  field("pointers", self.pointers, "all: also the lexical ones, a harder graph");
  visit_fields(self.layout, field);
  visit_fields(self.write, field);
}

/// Of subcommands that read other people's labels.
struct LabelOptions {
  bool compact_labels = false;
  bool one_hot = false;
  std::string class_names{};
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, LabelOptions>
void visit_fields(Self& self, Visit&& field) {
  field("compact-labels", self.compact_labels, "number the classes that occur from 0");
  field("one-hot", self.one_hot, "labels [nodes, T] with one 1 in each row are T classes");
  field("class-names", self.class_names, "text, a name a line");
}

/// --target of sets whose labels are an array.
inline constexpr char kTargetHelp[] =
    "columns of the labels, from 0, or all, that are values to be predicted (regression)";

struct GraphBoltArguments {
  std::string dir{}, name{}, task{}, feature{};
  WriteOptions write{};
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, GraphBoltArguments>
void visit_fields(Self& self, Visit&& field) {
  field("dir", self.dir, "folder with metadata.yaml, of DGL's OnDiskDataset; needed");
  field("name", self.name, "empty = its dataset_name");
  field("task", self.task, "whose seeds and labels are the split; empty = the first");
  field("feature", self.feature, "of the nodes; empty = feat, where there are several");
  visit_fields(self.write, field);
}

struct NpzArguments {
  std::string file{};
  std::string name{};
  int mask = 0;
  std::vector<double> split{};
  std::vector<std::string> target{};
  std::string make_features = "none";
  LayoutOptions layout{};
  LabelOptions label_choice{};
  WriteOptions write{};
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, NpzArguments>
void visit_fields(Self& self, Visit&& field) {
  field("file", self.file, ".npz with features, labels, edges and masks, by the names of PyG, DGL and others; needed");
  field("name", self.name, "empty = by the folder's name, --out");
  field("mask", self.mask, "which of the file's splits, from 0");
  field("split", self.split, "instead of masks: fractions such as 0.6,0.2,0.2, drawn by --rng-seed");
  field("target", self.target, kTargetHelp);
  field("make-features", self.make_features, "for a graph without: degree, random:K or positional:K (K columns)");
  visit_fields(self.layout, field);
  visit_fields(self.label_choice, field);
  visit_fields(self.write, field);
}

/// What the columns of a table of nodes are.
struct TableOptions {
  FeatureScaling scale_features = FeatureScaling::kAuto;
  std::vector<std::string> categorical{}, index_columns{}, drop_columns{}, missing{};
  std::string features_as{};
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, TableOptions>
void visit_fields(Self& self, Visit&& field) {
  field(
      "scale-features", self.scale_features,
      "numbers to mean 0 and deviation 1; auto: of a table in text, columns that reach beyond 10 or vary by less than "
      "0.1; standard: all, of an array, too");
  field("categorical", self.categorical, "columns of words or codes, by name or from 0: a feature for each word");
  field("index-columns", self.index_columns, "likewise, but one feature: the number of the word");
  field("drop-columns", self.drop_columns, "columns that are no features");
  field("missing", self.missing, "words that stand for a missing value, beside NA, null, ?, ...");
  field("features-as", self.features_as,
        "data set whose columns and scales the features get, so that a run on it can predict; instead of the above");
}

struct EdgesArguments {
  std::string edges{};
  std::string nodes{}, label{};
  std::string features{}, labels{};
  std::string train{}, valid{}, test{};
  int mask = 0;
  std::vector<double> split{};
  EdgeColumnOptions columns{};
  IdKind ids = IdKind::kAuto;
  HeaderRule header = HeaderRule::kAuto;
  std::string id_column{}, label_column{}, label_id_column{};
  std::vector<std::string> target{}, unlabelled{};
  TableOptions table{};
  std::string name{};
  std::string make_features = "none";
  LayoutOptions layout{};
  LabelOptions label_choice{};
  WriteOptions write{};
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, EdgesArguments>
void visit_fields(Self& self, Visit&& field) {
  field("edges", self.edges,
        ".txt .csv .tsv .mtx (also .gz) or .npy: a pair of node ids per edge; or .npz of scipy.sparse; needed");
  field("nodes", self.nodes,
        "a table in text, a line a node: its id, features (numbers, words, yes and no, blanks), and a label");
  field("label", self.label, "the column of --nodes that is the label; empty = by its name, such as label or class");
  field("features", self.features, "instead of --nodes: .npy [nodes, width]; .npz of scipy.sparse; or such a table");
  field("labels", self.labels,
        ".npy [nodes]: classes, -1 or NaN = unlabelled; [nodes, labels]: 1, 0, or -1 or NaN = not known; "
        "or a table in text: a line a node, its id and a number or word");
  field("train", self.train, ".npy: row numbers, or bool masks [nodes], [nodes, K]; or text: an id a line");
  field("valid", self.valid, "likewise");
  field("test", self.test, "likewise");
  field("split", self.split, "instead of the three: fractions such as 0.6,0.2,0.2, drawn by --rng-seed");
  field("mask", self.mask, "of masks with K columns: which, from 0");
  visit_fields(self.columns, field);
  field("ids", self.ids, "what ids are; auto: by the first edge");
  field("header", self.header, "whether the first line of a table in text has names; auto: by what is below it");
  field("id-column", self.id_column, "of tables of nodes: name or number; empty = the first");
  field("label-id-column", self.label_id_column, "of a table of --labels; empty = --id-column");
  field("label-column", self.label_column, "of a table of labels: name or number, -1 = last; empty = by name");
  field("target", self.target,
        "columns of --nodes or --labels that are values to be predicted (regression), by name or from 0; of .npy also "
        "all; blanks and NaN = not known");
  field("unlabelled", self.unlabelled, "words of a table of labels that mean none, such as unknown,withheld");
  visit_fields(self.table, field);
  field("name", self.name, "empty = by the folder's name, --out");
  field("make-features", self.make_features, "for a graph without: degree, random:K or positional:K (K columns)");
  visit_fields(self.layout, field);
  visit_fields(self.label_choice, field);
  visit_fields(self.write, field);
}

/// An option that is given several times.
struct Repeated {
  std::vector<std::string> items{};

  friend std::string to_text(const Repeated&) { return ""; }
  friend bool from_text(std::string_view text, Repeated& repeated) {
    repeated.items.emplace_back(text);
    return !text.empty();
  }
};

struct TypedArguments {
  std::string schema{};
  Repeated nodes{}, edges{};
  Reverses reverse = Reverses::kAdd;
  Repeated labels{};
  std::string train{}, valid{}, test{};
  int mask = 0;
  std::vector<double> split{};
  std::vector<double> edge_split{};
  Repeated link_relation{};
  HeaderRule header = HeaderRule::kAuto;
  std::string label_column{};
  std::vector<std::string> target{};
  std::vector<std::string> unlabelled{};
  FeatureScaling scale_features = FeatureScaling::kAuto;
  std::string name{};
  LayoutOptions layout{};
  LabelOptions label_choice{};
  WriteOptions write{};
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, TypedArguments>
void visit_fields(Self& self, Visit&& field) {
  field("schema", self.schema,
        "a file, graph.toml, that says nodes, edges, labels and split; instead of these options");
  field("nodes", self.nodes,
        "of each node type TYPE=FILE: .npy [nodes, width], .npz of scipy.sparse, or a table in text with ids; or "
        "TYPE=count:N");
  field("edges", self.edges, "of each relation SRC:NAME:DST=FILE: a pair of ids per edge, of a SRC and of a DST");
  field("reverse", self.reverse, "of each relation: rev_NAME from DST to SRC, unless it is given");
  field("labels", self.labels, "TYPE=FILE: of the nodes of one type, as of edges; it may be their table");
  field("train", self.train, "nodes of the same type, as of edges");
  field("valid", self.valid, "likewise");
  field("test", self.test, "likewise");
  field("split", self.split, "instead of the three: fractions such as 0.6,0.2,0.2, drawn by --rng-seed");
  field("edge-split", self.edge_split,
        "links to be predicted: fractions of the edges for training, validation and test, such as 0.8,0.1,0.1, drawn "
        "by --rng-seed; entries of their relations and of the reverses are the training links alone");
  field("link-relation", self.link_relation,
        "SRC:NAME:DST: --edge-split is of this relation; may be repeated; none = all");
  field("mask", self.mask, "of masks with K columns: which, from 0");
  field("header", self.header, "whether the first line of a table in text has names; auto: by what is below it");
  field("label-column", self.label_column, "of a table of labels: name or number, -1 = last; empty = by its name");
  field("target", self.target, "columns of the labels that are values to be predicted (regression), as of edges");
  field("unlabelled", self.unlabelled, "words of a table of labels that mean none, such as unknown,withheld");
  field("scale-features", self.scale_features, "as of edges");
  field("name", self.name, "empty = by the folder's name, --out");
  visit_fields(self.layout, field);
  visit_fields(self.label_choice, field);
  visit_fields(self.write, field);
}

struct SyntheticArguments {
  std::string like{};
  double scale = 1;
  std::uint64_t nodes = 0;
  double mean_degree = 15;
  int features = 64;
  int classes = 16;
  double train_communities = 1;
  double community_edges = 0;
  bool raw_ogb = false;
  WriteOptions write{};
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, SyntheticArguments>
void visit_fields(Self& self, Visit&& field) {
  field("like", self.like,
        "arxiv | products | papers100M | mag240M: size and difficulty of that data set; mag | igbh: of a typed graph");
  field("scale", self.scale, "with --like: share of its nodes, up to 1");
  field("nodes", self.nodes, "instead of --like: number of nodes");
  field("mean-degree", self.mean_degree, "with --nodes");
  field("features", self.features, "with --nodes: width of a feature row");
  field("classes", self.classes, "with --nodes");
  field("train-communities", self.train_communities,
        "the split comes from the smallest communities with this share of the nodes; 1 = from all");
  field("community-edges", self.community_edges,
        "share of the edges that stay inside their community, with degrees up to ten times the mean; 0 = as in the "
        "original's twin");
  field("raw-ogb", self.raw_ogb, "write raw files as OGB's papers100M has them, for salient-prepare ogb");
  visit_fields(self.write, field);
}

struct PartitionArguments {
  int parts = 0;
  PartitionMethod method = PartitionMethod::kCluster;
  std::string by{};
  bool write_rows = false;
  bool force = false;
  CommonOptions common{};
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, PartitionArguments>
void visit_fields(Self& self, Visit&& field) {
  field("parts", self.parts, "how many, one for each rank of a run; needed, but with --by");
  field("method", self.method, "cluster: few entries between parts of equal size; ranges: consecutive ids");
  field(
      "by", self.by,
      "instead of --method: the part of each node, text with a number a line, as METIS and KaMinPar make it, or .npy");
  field("write-rows", self.write_rows,
        "write the feature rows of each part to a file of its own, too, for hosts without features.npy");
  field("force", self.force, "replace existing parts");
  visit_fields(self.common, field);
}

}  // namespace salient::prepare
