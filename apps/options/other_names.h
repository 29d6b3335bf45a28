// apps/options/other_names.h - what PyG, DGL and Hugging Face call our options and models.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace salient::options {

struct OtherName {
  std::string_view theirs, ours;
  std::string_view instead{};  ///< what to do; then the name is no other one of `ours`, but known where that is
};

std::span<const OtherName> other_names();

/// The word of an option's value that somebody else's name means, such as "sage" of "GraphSAGE"; "" for none.
std::string_view our_word(std::string_view theirs);

}  // namespace salient::options
