#include "engine/runtime/encode_job.h"

#include <fmt/format.h>

namespace orrery::runtime {

EncodeJob::EncodeJob(std::shared_ptr<Model> model, EncodeRequest request, OnDone on_done)
    : Job(std::move(model), request.stop), request_(std::move(request)), on_done_(std::move(on_done)) {}

bool EncodeJob::join(StepBatch& batch, StepRoom& room) {
  if (request_.texts.empty()) {
    cancel();
    return false;
  }
  first_sequence_ = batch.sequences();
  joined_ = 0;
  while (done_ + joined_ < request_.texts.size() && room.sequences > 0) {
    const std::vector<int32_t>& text = request_.texts[done_ + joined_];
    const auto tokens = static_cast<int64_t>(text.size());
    if (tokens == 0) {
      fail({ErrorCode::invalid_argument, "A text without tokens cannot be encoded",
            fmt::format("text {}", done_ + joined_ + 1), "leave it out"});
      return false;
    }
    if (tokens > room.tokens && !batch.empty())
      break;  // a text is never cut; a long one gets a step of its own
    const size_t index = done_ + joined_;
    std::span<const int32_t> types;
    if (index < request_.types.size()) types = request_.types[index];
    batch.add_sequence(text, 0, {}, types);
    room.tokens -= tokens;
    --room.sequences;
    ++joined_;
  }
  return joined_ > 0;
}

void EncodeJob::complete(const StepResult& result) {
  const auto* values = static_cast<const float*>(result.executor.output(result.plan, 0));
  const graph::Graph& graph = *result.plan.graph;
  const graph::ValueType& type = graph.value(graph.outputs().at(0)).type;
  if (!values || type.dtype != DType::f32 || type.shape.size() != 2 || !type.shape[1].is_constant())
    return fail({ErrorCode::unsupported, "The graph has no float32 output with rows of one text", "output 0",
                 "undo the edit that changed its output"});
  const auto width = static_cast<size_t>(type.shape[1].constant());
  const bool per_token = type.shape[0] == Dim(kTokens);
  for (size_t i = 0; i < joined_; ++i) {
    const auto sequence = first_sequence_ + static_cast<int64_t>(i);
    const size_t tokens = request_.texts[done_].size();
    const auto first = static_cast<size_t>(per_token ? result.batch.first_row(sequence) : sequence);
    const double share = static_cast<double>(tokens) / static_cast<double>(result.batch.tokens());
    const double ms = result.ms * share;
    model_->profiler.record_latency(result.plan, Phase::prefill, ms);
    const bool more =
        request_.on_result(done_, {values + first * width, (per_token ? tokens : 1) * width}, ms);
    ++done_;
    if (!more) return cancel();
  }
  if (done_ == request_.texts.size()) cancel();
}

void EncodeJob::fail(Error error) {
  error_ = std::move(error);
  finished_ = true;
}

void EncodeJob::settle() {
  if (error_)
    on_done_(*std::move(error_));
  else
    on_done_(done_);
}

}  // namespace orrery::runtime
