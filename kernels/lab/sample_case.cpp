#include "kernels/lab/sample_case.h"

#include <algorithm>

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

SampleCase::SampleCase(std::vector<float> logits, std::vector<Sample::Request> requests)
    : logits_(std::move(logits)), requests_(std::move(requests)) {
  problem.vocabulary = static_cast<int64_t>(logits_.size() / std::max<size_t>(requests_.size(), 1));
  for (const Sample::Request& request : requests_) {
    problem.chains = problem.chains || request.chain != nullptr;
    recent_.emplace_back(request.recent,
                         request.recent + (request.recent != nullptr ? request.recent_count : 0));
  }
}

Call<Sample> SampleCase::place(const Row<Sample>&, Place& place) const {
  std::vector<Sample::Request> there = requests_;
  for (size_t i = 0; i < there.size(); ++i)
    if (there[i].recent != nullptr) there[i].recent = place.put(recent_[i]);
  Call<Sample> call;
  call.args = {.logits = place.put(logits_),
               .requests = place.put(there),
               .choices = place.put(std::vector<Sample::Choice>(there.size())),
               .outputs = static_cast<int64_t>(there.size()),
               .vocabulary = problem.vocabulary};
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
  return {.bytes = 4.0 * static_cast<double>(logits_.size()),
          .flops = 2.0 * static_cast<double>(logits_.size())};
}

}  // namespace orrery::kernels::lab
