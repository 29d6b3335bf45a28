// tests/support/multilabel_case.h - logits and labels of several labels a node, some of them not known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/philox.h"

namespace salient::test {

struct MultilabelCase {
  std::vector<float> logits{};
  std::vector<std::int8_t> flags{};

  /// A third each of 1, 0 and -1; logits in [-10, 10) and, now and then, far beyond or 0.
  static MultilabelCase make(std::size_t count) {
    MultilabelCase made;
    for (std::size_t i = 0; i < count; ++i) {
      const PhiloxBlock draws = philox4x32({{3, 1}}, {{static_cast<std::uint32_t>(i), 0, 0, 0}});
      made.flags.push_back(static_cast<std::int8_t>(static_cast<int>(draws.word[0] % 3) - 1));
      made.logits.push_back(static_cast<float>(draws.word[1]) / 2147483648.0f * 10 - 10);
      if (draws.word[2] % 64 == 0) made.logits.back() *= 8;
      if (draws.word[2] % 64 == 1) made.logits.back() = 0;
    }
    return made;
  }
};

}  // namespace salient::test
