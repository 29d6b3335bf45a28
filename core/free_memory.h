// core/free_memory.h - gives a vector's memory back before the vector goes.
#pragma once

namespace salient {

/// Leaves the vectors empty and without memory; an assigned {} empties them and keeps it.
template <class... Vectors>
void free_memory_of(Vectors&... vectors) {
  (Vectors().swap(vectors), ...);
}

}  // namespace salient
