// apps/prepare_ogb.cpp - see prepare_ogb.h.
#include "apps/prepare_ogb.h"

#include "apps/prepare_steps.h"

namespace salient::prepare {

int write_ogb_links(OgbOptions ogb, OgbLinks links, const OgbArguments& given, const WriteStoreOptions& options,
                    const Timer& timer) {
  require_option(given.target.empty() && choice_of(given.label_choice) == LabelChoice{} && !given.keep_edge_features,
                 "--raw: a set of links, whose nodes have no labels and whose edges no features");
  // The rule for repeats is among the source's options: verify heeds it.
  ogb.source_options.append(ogb.source_options.empty() ? "" : " ")
      .append("--repeats-between ")
      .append(name_of(given.repeats_between));
  if (links == OgbLinks::kPairs)
    return write_and_report(import_ogb_pairs(ogb, given.repeats_between), given.write, options, timer);
  require_option(given.write.symmetric == Symmetric::kAuto,
                 "--symmetric: of plain graphs; --reverse says it of relations");
  return write_and_report(import_ogb_triples(ogb, given.repeats_between, given.reverse), given.write, options, timer);
}

}  // namespace salient::prepare
