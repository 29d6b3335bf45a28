// engine/comm/message_bytes.h - one message for each rank, as the bytes that Communicator::transfer() takes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace salient {

template <class T>
std::vector<std::span<const std::byte>> to_send(const std::vector<std::vector<T>>& messages) {
  std::vector<std::span<const std::byte>> spans;
  for (const std::vector<T>& message : messages) spans.push_back(std::as_bytes(std::span(message)));
  return spans;
}

/// @param messages  with the lengths that the others send
template <class T>
std::vector<std::span<std::byte>> to_receive(std::vector<std::vector<T>>& messages) {
  std::vector<std::span<std::byte>> spans;
  for (std::vector<T>& message : messages) spans.push_back(std::as_writable_bytes(std::span(message)));
  return spans;
}

}  // namespace salient
