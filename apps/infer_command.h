// apps/infer_command.h - the command line of salient-infer: its options, their rules, and where their values come from.
#pragma once

#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "apps/applied_variables.h"
#include "apps/infer_options.h"
#include "apps/options/options.h"
#include "apps/run_fields.h"

namespace salient {

/// Which nodes or links of the data set are asked for. @param self  as below
template <class Self, class Visit>
void visit_asked(Self& self, Visit&& field) {
  field(
      "nodes", self.nodes.what,
      "train | valid | test | all | ids, parted by commas | a file with ids, .npy, .txt, .csv or .tsv, or with a bool "
      "for each node");
  field("nodes-by", self.nodes.by,
        "what names a node: the id that the source gave it, or its row in the store; auto: ids where it has them");
  field("id-column", self.nodes.id_column,
        "of a table of ids or of new nodes, NAME or number from 0; empty = one with a usual name");
  field("links", self.links,
        "of a run of --task link, instead of --nodes: pairs of ids in text, as salient-prepare edges takes edges; of a "
        "knowledge graph triples, as salient-prepare triples takes them");
  field("link-time-column", self.link_time_column,
        "of --links of a run by times: name or number of the column that says when each pair is asked for; without it "
        "all at --time");
  field("valid-negatives", self.negatives.valid,
        "instead: a file of triples that are no links; with --test-negatives, accuracy of telling links from them");
  field("test-negatives", self.negatives.test, "likewise, of the test");
  field("relation", self.relation, "of the likeliest links of --nodes in a knowledge graph, by its name");
  field("side", self.side, "of links: which end is to be found for each of --nodes, tails or heads");
}

/// `self` is InferOptions& when a value is set and const InferOptions& when it is printed.
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, InferOptions>
void visit_fields(Self& self, Visit&& field) {
  field("run", self.run, "directory of a run of salient-train");
  visit_asked(self, field);
  field("new-nodes", self.added.nodes,
        "instead of --nodes: a table of nodes that the data set lacks, with the columns of its own table; of a typed "
        "graph TYPE=FILE, for each type");
  field("new-edges", self.added.edges,
        "of them, by ids: a list of edges in text, as salient-prepare edges takes it; of a typed graph "
        "SRC:NAME:DST=FILE, for each relation");
  field("fanout", self.sampled.fanout,
        "neighbours kept per node and hop, the nodes' own hop first; the run's --eval-fanout");
  field("fanout-of", self.sampled.fanout_of, "of a relation of a typed graph, SRC:NAME:DST=15,10,5; empty = the run's");
  visit_draw(self.sampled.draw, field,
             "uniform, or by numbers that a batch's nodes share (labor): fewer rows; auto: as in the run");
  visit_time(self.sampled.seen, self.sampled.window, self.sampled.strategy, field,
             "which edges a node of time T sees: those before T (lt), or also those of T (le); auto: as in the run");
  field("time", self.sampled.asked,
        "of a run that draws by time: when all nodes are asked for, in the unit of the edges' times or as a date of "
        "ISO 8601; auto: each node at its own time");
  field("exact", self.exact, "all neighbours, layer by layer, instead of --fanout");
  field("out", self.results.directory, "folder for the results; empty = RUN/predictions/NODES-TIME");
  field("force", self.results.force, "replace --out if it holds earlier results");
  field("checkpoint", self.checkpoint, "best | latest | epoch-NNNN");
  field("format", self.results.format, "arrays for programs, or a table for people");
  field("top-k", self.results.top_k,
        "classes per node, the most probable first; of a run of --task link the likeliest links that a node has not");
  field("probabilities", self.results.probabilities,
        "also write those of every class: in the table a column prob_NAME each, as an array probabilities.npy");
  field("embeddings", self.results.embeddings, "also write the result of this layer, from 1; 0 = none");
  field("dataset", self.data.dataset, "another data set than the run's, with the run's columns of features");
  field("match-features", self.match_features,
        "columns of another data set: by their names, and made features only if made as the run's; or as they come");
  field("data-root", self.data.root, "where prepared data sets live; SALIENT_DATA sets it too");
  field("seed", self.sampled.seed, "of the sampled neighbourhoods; -1 = the run's");
  field("batch-size", self.sampled.batch_size, "nodes per rank and batch; 0 = the run's --eval-batch-size");
  visit_fields(self.machine, field);
  field("precision", self.precision, "how a GPU multiplies matrices; auto: as in the run");
  field(
      "step", self.sampled.step,
      "resident: with data on the GPU a batch is one graph there; --exact of GraphSAGE in f16; auto: where it can be");
  field("activations", self.layerwise.activations, "where --exact keeps layers' results");
  field("activation-dtype", self.layerwise.activation_dtype,
        "type of layers' results with --exact; auto: f16 where f32 has no room in memory");
  field("memory-gb", self.layerwise.memory_gb,
        "host memory that --exact may take: auto goes on to f16, then to a file; 0 = four fifths of what is free");
  field("scratch", self.layerwise.scratch, "folder for that file, removed at the end; empty = beside --out");
  field("block-mb", self.layerwise.block_mb,
        "rows that --exact gathers at a time; a node with more neighbours takes more");
  visit_fields(self.comm, field);
  visit_fields(self.console, field);
}

/// The whole command line.
using InferCommand = Command<InferOptions, RankedActions>;

/// Merges, the strongest last: defaults < --config file < SALIENT_*, as applied_variables() < command line.
///
/// @param look_up  getenv in a program.
/// @throws Error{kUsage}; Error{kNoInput} when the config file is missing.
InferCommand read_infer_command(std::span<const char* const> args,
                                const std::function<const char*(const char*)>& look_up);

/// Every rule that the options break. Never touches disk, GPU or network.
std::vector<FieldProblem> problems_of(const InferOptions& options);

/// What is not said is as in the run. @throws Error{kUsage} for what does not fit the run.
InferOptions with_defaults_of(InferOptions options, const TrainOptions& run);

}  // namespace salient
