#include "kernels/lab/sample_case.h"

#include <algorithm>

#include "kernels/quantise.h"

namespace orrery::kernels::lab {
namespace {

/// What is listed; the places after it are not defined.
std::vector<Output> numbers_of(const std::vector<Sample::Choice>& choices) {
  Output ids{.name = "ids", .cols = Sample::kMaxTop + 2};
  Output logprobs{.name = "logprobs", .cols = Sample::kMaxTop + 1};
  for (const Sample::Choice& choice : choices) {
    ids.values.push_back(static_cast<float>(choice.id));
    ids.values.push_back(static_cast<float>(choice.top_count));
    logprobs.values.push_back(choice.logprob);
    for (int32_t i = 0; i < Sample::kMaxTop; ++i) {
      const bool listed = i < choice.top_count;
      ids.values.push_back(listed ? static_cast<float>(choice.top_ids[i]) : 0.0F);
      logprobs.values.push_back(listed ? choice.top_logprobs[i] : 0.0F);
    }
  }
  return {std::move(ids), std::move(logprobs)};
}

}  // namespace

SampleCase::SampleCase(std::vector<float> logits, std::vector<Sample::Request> requests, DType dtype)
    : logits_(row_bytes(dtype, static_cast<int64_t>(logits.size())).value_or(0)),
      requests_(std::move(requests)) {
  quantise_row(dtype, logits.data(), static_cast<int64_t>(logits.size()), logits_.data());
  problem.dtype = dtype;
  problem.vocabulary = static_cast<int64_t>(logits.size() / std::max<size_t>(requests_.size(), 1));
  for (const Sample::Request& request : requests_) {
    problem.chains = problem.chains || request.chain != nullptr;
    recent_.emplace_back(request.recent,
                         request.recent + (request.recent != nullptr ? request.recent_count : 0));
    bias_.emplace_back(request.bias, request.bias + (request.bias != nullptr ? problem.vocabulary : 0));
  }
}

/// The tensors of a batch as the choices that they are.
Call<Sample> SampleCase::place_batch(Place& place) const {
  const size_t count = requests_.size();
  std::vector<int64_t> seeds, positions;
  std::vector<int32_t> recent;
  std::vector<float> bias;
  for (size_t i = 0; i < count; ++i) {
    seeds.push_back(static_cast<int64_t>(requests_[i].params.seed));
    positions.push_back(static_cast<int64_t>(requests_[i].position));
    recent.insert(recent.end(), recent_[i].begin(), recent_[i].end());
    if (i == 0 || requests_[i].bias != requests_[0].bias)
      bias.insert(bias.end(), bias_[i].begin(), bias_[i].end());
  }
  Sample::Batch batch{
      .each = requests_.front(), .seeds = place.put(seeds), .positions = place.put(positions)};
  const auto top = static_cast<size_t>(batch.each.top);
  if (batch.each.recent != nullptr) batch.each.recent = place.put(recent);
  batch.recent_stride = batch.each.recent_count;
  if (batch.each.bias != nullptr) batch.each.bias = place.put(bias);
  batch.bias_stride = bias.size() > static_cast<size_t>(problem.vocabulary) ? problem.vocabulary : 0;
  batch.tokens = place.put(std::vector<int64_t>(count));
  batch.logprobs = place.put(std::vector<float>(count));
  batch.top_tokens = place.put(std::vector<int64_t>(count * top));
  batch.top_logprobs = place.put(std::vector<float>(count * top));
  Call<Sample> call;
  call.args = {.logits = place.put(logits_, problem.dtype),
               .outputs = static_cast<int64_t>(count),
               .vocabulary = problem.vocabulary,
               .dtype = problem.dtype,
               .batch = batch};
  call.read = [=](Place& from) {
    std::vector<Sample::Choice> choices(count);
    const std::vector<int64_t> tokens = from.get(batch.tokens, count);
    const std::vector<float> logprobs = from.get(batch.logprobs, count);
    const std::vector<int64_t> top_tokens = from.get(batch.top_tokens, count * top);
    const std::vector<float> top_logprobs = from.get(batch.top_logprobs, count * top);
    for (size_t i = 0; i < count; ++i) {
      choices[i].id = static_cast<int32_t>(tokens[i]);
      choices[i].logprob = logprobs[i];
      for (size_t j = 0; j < top; ++j) {
        choices[i].top_ids[j] = static_cast<int32_t>(top_tokens[i * top + j]);
        choices[i].top_logprobs[j] = top_logprobs[i * top + j];
        choices[i].top_count += choices[i].top_ids[j] >= 0 ? 1 : 0;
      }
    }
    return numbers_of(choices);
  };
  return call;
}

Call<Sample> SampleCase::place(const Row<Sample>&, Place& place) const {
  if (as_batch) return place_batch(place);
  std::vector<Sample::Request> there = requests_;
  for (size_t i = 0; i < there.size(); ++i)
    if (there[i].recent != nullptr) there[i].recent = place.put(recent_[i]);
  for (size_t i = 0; i < there.size(); ++i)
    if (there[i].bias != nullptr) there[i].bias = place.put(bias_[i]);
  Call<Sample> call;
  call.args = {.logits = place.put(logits_, problem.dtype),
               .requests = place.put(there),
               .choices = place.put(std::vector<Sample::Choice>(there.size())),
               .outputs = static_cast<int64_t>(there.size()),
               .vocabulary = problem.vocabulary,
               .dtype = problem.dtype};
  call.read = [choices = call.args.choices, count = there.size()](Place& from) {
    return numbers_of(from.get(choices, count));
  };
  return call;
}

std::vector<Sample::Choice> SampleCase::choices(const Call<Sample>& call, Place& place) const {
  return place.get(call.args.choices, requests_.size());
}

std::vector<Expected> SampleCase::expected(const Roundings&) const {
  std::vector<Output> outputs = run_reference<SampleCase>(*this, sample_rows());
  Expected logprobs{.output = std::move(outputs[1]), .tolerance = 2e-5};
  logprobs.scales.assign(logprobs.output.values.size(), 1.0F);
  return {{.output = std::move(outputs[0])}, std::move(logprobs)};
}

Work SampleCase::work() const {
  const bool biased = !requests_.empty() && requests_.front().bias != nullptr;
  const double logits = static_cast<double>(requests_.size()) * static_cast<double>(problem.vocabulary);
  return {.bytes = static_cast<double>(logits_.size()) + (biased ? 4.0 * logits : 0.0),
          .flops = 2.0 * logits};
}

}  // namespace orrery::kernels::lab
