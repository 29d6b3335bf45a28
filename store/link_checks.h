// store/link_checks.h - the rules that the links of a store keep, and what the splits share.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "store/dataset.h"
#include "store/dataset_checks.h"

namespace salient {

/// What opening a store checks: the relation of a link is one of the schema and no reverse, its ends are nodes of the
/// relation's types; of a plain graph its ends are nodes.
/// @throws Error{kBadData} naming file, record and rule.    Cost: every link once
void check_links(const Dataset& dataset, const DatasetChecks& checks);

/// Whether splits may share links.
enum class MayRepeat : std::uint8_t { kNo, kYes };

/// Among the options of a store's source: its splits may share links, as those of a foreign benchmark do.
inline constexpr char kKeepsRepeats[] = "repeats-between keep";

/// What only verify checks: no link is there twice, in one split or in two, and the entries of a relation are its
/// training links: so no link of validation or test is among the messages. Of a plain graph neither is its reverse, and
/// the message says how many links break that. Negatives that the data set comes with are no links. Of links with
/// times: verify_timed_links().
/// @param may_repeat  a link of a later split may be one of an earlier, and negatives may be links: the data set was
///                    made to keep what its source has (kKeepsRepeats)
/// @throws as check_links()
/// Cost: sorts the links, 24 bytes each; and verify_negatives()
void verify_links(const Dataset& dataset, const DatasetChecks& checks, MayRepeat may_repeat = MayRepeat::kNo);

/// What of a split a model meets in training.
struct LinkLeaks {
  std::uint64_t in_training = 0;           ///< links that are training links: 0, or verify_links() refuses the store
  std::uint64_t reversed_in_training = 0;  ///< whose reverse is a training link of the same relation
  std::uint64_t unseen = 0;                ///< with an end that is in no training link
};

/// Of training, validation and test; of training `reversed_in_training` alone.
std::array<LinkLeaks, 3> count_leaks(const Dataset& dataset);

/// Lines of a summary: sizes of the splits, leaks, nodes that no training link has.
std::string links_text(const Dataset& dataset);

}  // namespace salient
