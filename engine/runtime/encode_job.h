// Whole texts through an encoder: packed ragged into steps, no KV.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/runtime/job.h"

namespace orrery::runtime {

/// One text's part of the graph's first output: its row, or a row for each of its tokens. Called on the
/// scheduler's thread, in order; false: no more is wanted. `ms` is the text's share of its step by tokens.
using EncodeCallback = std::function<bool(size_t index, std::span<const float> values, double ms)>;

struct EncodeRequest {
  std::vector<std::vector<int32_t>> texts;  // none empty
  std::vector<std::vector<int32_t>> types;  // of the tokens of each text; empty: all are 0
  EncodeCallback on_result;
  std::stop_token stop;
};

class EncodeJob final : public Job {
 public:
  /// With the number of texts that were done: fewer than asked for when it was stopped.
  using OnDone = std::function<void(Result<size_t>)>;

  /// `on_done` as DecodeJob has it.
  EncodeJob(std::shared_ptr<Model> model, EncodeRequest request, OnDone on_done);

  bool is_decode() const override { return false; }
  bool join(StepBatch& batch, StepRoom& room) override;
  void complete(const StepResult& result) override;
  void cancel() override { finished_ = true; }
  void fail(Error error) override;
  void settle() override;

 private:
  EncodeRequest request_;
  OnDone on_done_;
  std::optional<Error> error_;
  size_t done_ = 0, joined_ = 0;  // texts; texts of the current step
  int64_t first_sequence_ = 0;
};

}  // namespace orrery::runtime
