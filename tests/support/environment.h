// tests/support/environment.h - an environment that a test makes up, to be looked up as getenv() does.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "engine/comm/launch.h"

namespace salient::test {

inline LookUp environment(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> const char* {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : found->second.c_str();
  };
}

}  // namespace salient::test
