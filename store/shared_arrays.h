// store/shared_arrays.h - arrays in SharedMemory, as text that other processes of the host can map. For .cpp files.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "core/host/shared_memory.h"

namespace salient {

/// Owns the mappings of another process' arrays.
class SharedArrays {
 public:
  using Json = nlohmann::json;

  /// {process, descriptor, bytes} of an array in `memory`; null if it is empty.
  template <class T>
  static Json describe(std::span<const T> items, const SharedMemory& memory) {
    if (items.empty()) return nullptr;
    const SharedHandle found = memory.handle_of(items.data());
    return {found.process, found.descriptor, items.size_bytes()};
  }

  /// The array that describe() described, read-only, for as long as this lives.
  /// @throws as map_shared().
  template <class T>
  std::span<const T> map(const Json& array) {
    if (array.is_null()) return {};
    const auto bytes = array[2].get<std::size_t>();
    mappings_.push_back(map_shared({.process = array[0], .descriptor = array[1], .bytes = bytes}));
    return {reinterpret_cast<const T*>(mappings_.back().get()), bytes / sizeof(T)};
  }

 private:
  std::vector<std::shared_ptr<const std::byte>> mappings_;
};

}  // namespace salient
