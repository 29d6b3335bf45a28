// apps/prepare_ogb.h - salient-prepare ogb: its options, and the sets of links.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "apps/prepare_options.h"
#include "core/timer.h"
#include "prepare/importers/ogb_importer.h"
#include "prepare/importers/ogb_links.h"
#include "prepare/importers/repeats_between.h"
#include "prepare/writing/write_store.h"

namespace salient::prepare {

struct OgbArguments {
  std::string raw{}, name{};
  std::vector<std::string> target{};
  bool keep_edge_features = false;
  RepeatsBetween repeats_between = RepeatsBetween::kKeep;
  Reverses reverse = Reverses::kAdd;
  LabelOptions label_choice{};
  WriteOptions write{};
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, OgbArguments>
void visit_fields(Self& self, Visit&& field) {
  field("raw", self.raw, "the unpacked data set's folder, or raw/ in it; needed");
  field("name", self.name, "such as ogbn-arxiv; empty = by the folder's name");
  field("target", self.target, kTargetHelp);
  field("keep-edge-features", self.keep_edge_features, "those of raw/edge-feat.csv.gz, as of ogbn-proteins");
  field("repeats-between", self.repeats_between,
        "of ogbl-...: of a link that an earlier split has; keep, as OGB's evaluation does");
  field("reverse", self.reverse, "of ogbl-wikikg2 and ogbl-biokg: of each relation rev_NAME, with the same edges");
  visit_fields(self.label_choice, field);
  visit_fields(self.write, field);
}

/// Imports and writes a set of links. @return the exit code
int write_ogb_links(OgbOptions ogb, OgbLinks links, const OgbArguments& given, const WriteStoreOptions& options,
                    const Timer& timer);

}  // namespace salient::prepare
