// prepare/importers/typed_options.cpp - see typed_options.h.
#include "prepare/importers/typed_options.h"

#include "prepare/importers/labelled_split.h"
#include "prepare/importers/relation_split.h"
#include "prepare/importers/typed_schema.h"

namespace salient {

std::vector<FieldProblem> problems(const TypedOptions& options) {
  std::vector<FieldProblem> found;
  check_field(found, !options.nodes.empty(), "nodes", "a node type is needed, as NAME=FILE or NAME=count:N");
  check_field(found, !options.edges.empty(), "edges", "a relation is needed, as SRC:NAME:DST=FILE");
  for (const NodeSource& source : options.nodes)
    check_field(found, source.count || !source.file.empty(), "nodes",
                "node type '" + source.type + "' has neither a file nor a count");
  const bool has_files = !options.train.empty() || !options.valid.empty() || !options.test.empty();
  const bool has_labels = !options.labels.empty();
  check_field(found, has_labels || !has_files, "train", "needs labels, which say of which type the nodes are");
  check_field(found, has_labels || options.split.empty(), "split",
              "needs labels, a split is drawn from labelled nodes");
  check_field(found, options.split.empty() || !has_files, "split", "instead of files of nodes, not beside them");
  check_field(found, options.targets.empty() || has_labels, "target", "columns of the labels, which are not given");
  check_field(found, options.targets.empty() || (options.label_choice == LabelChoice{} && options.label_column.empty()),
              "target", "instead of options that say what a label is");
  check_field(found, options.mask >= 0, "mask", "at least 0");
  check_split(found, options.split);
  check_split(found, options.edge_split, "edge-split");
  check_field(found, !options.edge_split.empty() || options.link_relations.empty(), "link-relation",
              "says of which relations a split of the edges makes links");
  check_field(found, options.edge_split.empty() || options.targets.empty(), "edge-split",
              "of graphs whose nodes have classes or no labels; not with targets");
  if (!found.empty()) return found;
  const SchemaDraft draft = draft_schema(options);
  check_field(found, draft.rule.empty(), draft.field, draft.rule);
  std::string rule;
  if (!options.edge_split.empty() && draft.rule.empty())
    (void)link_relations(draft.schema, options.link_relations, rule);
  check_field(found, rule.empty(), "link-relation", rule);
  return found;
}

}  // namespace salient
