// prepare/formats/line_blocks.h - parses the lines of a big file on several threads, as if on one.
#pragma once

#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "core/arena_of.h"
#include "core/console/progress.h"
#include "prepare/formats/line_reader.h"

namespace salient {

/// Reads what is left of `reader` in blocks of lines: parse(block) runs on any thread, consume(parsed) on one at a
/// time, in the order of the file.
///
/// @param num_threads  0 = all cores
/// @param label        of the progress bar, which counts bytes of the file
/// @throws what reader, parse and consume throw; of several the one that comes first in the file.
/// Memory: a few blocks for each thread.
template <class Parsed, class Parse, class Consume>
void for_each_line_block(LineReader& reader, int num_threads, const std::string& label, Parse parse, Consume consume) {
  struct Item {
    LineBlock block{};
    Parsed parsed{};
    std::exception_ptr error{};
    std::uint64_t bytes = 0;
  };
  using oneapi::tbb::filter_mode;
  using oneapi::tbb::make_filter;
  oneapi::tbb::task_arena arena = arena_of(num_threads);
  std::vector<Item> items(std::size_t{2} * static_cast<std::size_t>(arena.max_concurrency()));
  std::uint64_t num_read = 0, reported = 0;
  bool stopped = false;
  Progress progress(label, reader.bytes_total(), "bytes");

  const auto read = [&](oneapi::tbb::flow_control& control) -> Item* {
    Item& item =
        items[num_read++ % items.size()];  // free again: blocks end in order, at most items.size() are on the way
    try {
      if (stopped || !reader.next_block(item.block)) {
        control.stop();
        return nullptr;
      }
    } catch (...) {  // reported when its turn comes: a line before it may be wrong, too
      item.error = std::current_exception();
      stopped = true;
    }
    item.bytes = reader.bytes_read() - std::exchange(reported, reader.bytes_read());
    return &item;
  };
  const auto parse_one = [&](Item* item) {
    try {
      if (!item->error) item->parsed = parse(std::as_const(item->block));
    } catch (...) {
      item->error = std::current_exception();
    }
    return item;
  };
  const auto consume_one = [&](Item* item) {
    if (item->error) std::rethrow_exception(item->error);
    consume(std::move(item->parsed));
    progress.add(item->bytes);
  };
  arena.execute([&] {
    oneapi::tbb::parallel_pipeline(items.size(),
                                   make_filter<void, Item*>(filter_mode::serial_in_order, read) &
                                       make_filter<Item*, Item*>(filter_mode::parallel, parse_one) &
                                       make_filter<Item*, void>(filter_mode::serial_in_order, consume_one));
  });
}

}  // namespace salient
