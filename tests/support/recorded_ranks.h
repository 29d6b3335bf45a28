// tests/support/recorded_ranks.h - a communicator that notes the messages that go through it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/comm/communicator.h"

namespace salient::test {

/// "KIND bytes to rank 0 bytes from rank 0 bytes to rank 1 ...\n" for each call.
inline std::string line_of(const char* kind, std::span<const std::span<const std::byte>> out,
                           std::span<const std::span<std::byte>> in) {
  std::string line = kind;
  for (std::size_t rank = 0; rank < out.size(); ++rank)
    line += " " + std::to_string(out[rank].size()) + " " + std::to_string(in[rank].size());
  return line + "\n";
}

/// Sends by `ids`, but rows by `rows`.
class RecordedRanks final : public Communicator {
 public:
  RecordedRanks(std::unique_ptr<Communicator> ids, std::unique_ptr<Communicator> rows)
      : ids_(std::move(ids)), rows_(*this, std::move(rows)) {}

  std::size_t num_id_calls() const { return num_id_calls_; }
  std::size_t num_row_calls() const { return rows_.num_calls; }
  std::string take_calls() { return std::exchange(calls_, {}); }

  std::string_view name() const override { return ids_->name(); }
  int rank() const override { return ids_->rank(); }
  int size() const override { return ids_->size(); }
  void all_reduce_sum(std::span<float> data, CUstream_st* stream) override { ids_->all_reduce_sum(data, stream); }
  void all_reduce_sum(std::span<double> values) override { ids_->all_reduce_sum(values); }
  void broadcast(std::span<float> data, CUstream_st* stream) override { ids_->broadcast(data, stream); }
  void broadcast(std::string& bytes) override { ids_->broadcast(bytes); }
  std::vector<std::string> gather(std::string_view bytes) override { return ids_->gather(bytes); }
  void barrier() override { ids_->barrier(); }
  std::unique_ptr<Transfer> transfer(std::span<const std::span<const std::byte>> out,
                                     std::span<const std::span<std::byte>> in) override {
    calls_ += line_of("ids", out, in);
    ++num_id_calls_;
    return ids_->transfer(out, in);
  }
  Messages& rows() override { return rows_; }
  void wait_until(const std::function<bool()>& is_done) override { ids_->wait_until(is_done); }
  std::uint32_t exchange_flags(std::uint32_t flags) override { return ids_->exchange_flags(flags); }
  void give_up(const std::string& why, Topic topic) override { ids_->give_up(why, topic); }

 private:
  struct Rows final : Messages {
    Rows(RecordedRanks& ranks, std::unique_ptr<Communicator> comm) : all(ranks), by(std::move(comm)) {}
    std::string_view name() const override { return by->name(); }
    std::unique_ptr<Transfer> transfer(std::span<const std::span<const std::byte>> out,
                                       std::span<const std::span<std::byte>> in) override {
      all.calls_ += line_of("rows", out, in);
      ++num_calls;
      return by->transfer(out, in);
    }
    RecordedRanks& all;
    std::unique_ptr<Communicator> by;
    std::size_t num_calls = 0;
  };

  std::unique_ptr<Communicator> ids_;
  Rows rows_;
  std::string calls_;
  std::size_t num_id_calls_ = 0;
};

/// What is wrong with the calls of all ranks, in rank order: another order of kinds, or a length that the other side of
/// a message does not have. "" = nothing.
inline std::string problem_of(const std::vector<std::string>& calls) {
  struct Call {
    std::string kind{};
    std::vector<std::size_t> bytes{};
  };
  std::vector<std::vector<Call>> of_rank;
  for (const std::string& text : calls) {
    std::vector<Call>& found = of_rank.emplace_back();
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      Call& call = found.emplace_back();
      words >> call.kind;
      for (std::size_t bytes = 0; words >> bytes;) call.bytes.push_back(bytes);
    }
  }
  for (std::size_t a = 0; a < of_rank.size(); ++a) {
    if (of_rank[a].size() != of_rank[0].size()) return "ranks make different numbers of calls";
    for (std::size_t k = 0; k < of_rank[a].size(); ++k) {
      if (of_rank[a][k].kind != of_rank[0][k].kind) return "call " + std::to_string(k) + " differs in kind";
      for (std::size_t b = 0; b < of_rank.size(); ++b)
        if (a != b && of_rank[a][k].bytes[2 * b] != of_rank[b][k].bytes[2 * a + 1])
          return "call " + std::to_string(k) + ": what one rank sends is not what another expects";
    }
  }
  return "";
}

}  // namespace salient::test
