// workbench/ledger/spent.h - what a run has used: tokens, time, money, and how much of it for each per cent of the
// measured bound.
#pragma once

#include <cstdint>

#include "workbench/ledger/ledger.h"

namespace salient::workbench {

/// Of a million tokens, in the money of whoever runs it. 0 = not said.
struct Prices {
  double asked = 0, answered = 0;
};

struct Spent {
  std::int64_t tokens_asked = 0, tokens_answered = 0;  ///< as far as generators count them
  double seconds = 0;                                  ///< in which answers were waited for, and candidates judged

  std::int64_t tokens() const { return tokens_asked + tokens_answered; }
  Spent& operator+=(const Spent& more);
  Spent operator-(const Spent& less) const;
};

/// Money.
double cost_of(const Spent& spent, const Prices& prices);

/// {"tokens", "seconds", "cost"}; without what is 0. @param times  factor of each
Json json_of(const Spent& spent, const Prices& prices, double times = 1);

/// An accepted candidate, as a ledger's record "best" has it.
struct Step {
  double from = 0, to = 0;  ///< per cent of the measured bound: of the best kernel so far, and of this one beside it
  Spent run{}, step{};      ///< since the run began, and since the last accepted candidate
};

/// {"bound": {"from", "to"}, "spent": of the run, "spent_a_per_cent": of the step}; the last one where there is a gain
/// of the bound's share.
Json json_of(const Step& step, const Prices& prices);

/// Of the first record of a ledger. @throws Error{kBadData}
Prices prices_of(const Json& first);
Json json_of(const Prices& prices);

}  // namespace salient::workbench
