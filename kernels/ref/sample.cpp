// Sampling, reference: the whole row is sorted and every step of sample.h is done literally, in float64.
// One thread.
#include "kernels/sample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "kernels/philox.h"
#include "kernels/ref/element.h"
#include "kernels/sampler_chain.h"

namespace orrery::kernels::ref {
namespace {

constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

struct Token {
  float logit;
  int32_t id;
  double weight = 0;  // exp((logit - largest) / temperature)
};

bool before(const Token& a, const Token& b) { return a.logit != b.logit ? a.logit > b.logit : a.id < b.id; }

/// Tokens of finite logit, most probable first.
std::vector<Token> sorted_tokens(const std::vector<float>& logits) {
  std::vector<Token> tokens;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > kMinusInfinity) tokens.push_back({logits[i], static_cast<int32_t>(i)});
  }
  std::sort(tokens.begin(), tokens.end(), before);
  return tokens;
}

/// Penalties, then the bias.
void change(const Sample::Request& request, std::vector<float>& logits) {
  std::map<int32_t, int64_t> seen;
  for (int32_t i = 0; penalises(request) && i < request.recent_count; ++i) ++seen[request.recent[i]];
  for (const auto& [id, times] : seen) {
    if (id < 0 || id >= static_cast<int64_t>(logits.size())) continue;
    float& logit = logits[static_cast<size_t>(id)];
    logit = penalised(request.params, logit, times);
  }
  for (size_t id = 0; request.bias != nullptr && id < logits.size(); ++id)
    logits[id] = clean_logit(logits[id] + request.bias[id]);
}

/// Cuts to the smallest set whose mass reaches top_p, then to p_i >= min_p * p_max.
void cut(const SamplingParams& params, std::vector<Token>& tokens) {
  double mass = 0;
  for (const Token& token : tokens) mass += token.weight;
  double reached = 0;
  size_t kept = 0;
  while (kept < tokens.size() && (kept == 0 || params.top_p >= 1.0F || reached < params.top_p * mass)) {
    reached += tokens[kept++].weight;
  }
  while (kept > 1 && tokens[kept - 1].weight < params.min_p) --kept;
  tokens.resize(kept);
}

int32_t draw(const Sample::Request& request, std::vector<Token> tokens) {
  const SamplingParams& params = request.params;
  if (tokens.empty()) return -1;
  if (!(params.temperature > 0) || tokens.front().logit == kLargest) return tokens.front().id;
  if (params.top_k > 0 && tokens.size() > static_cast<size_t>(params.top_k)) {
    tokens.resize(static_cast<size_t>(params.top_k));
  }
  const double largest = tokens.front().logit;
  for (Token& token : tokens) token.weight = std::exp((token.logit - largest) / params.temperature);
  cut(params, tokens);
  double mass = 0;
  for (const Token& token : tokens) mass += token.weight;
  const double wanted = philox_uniform(params.seed, request.position) * mass;
  double reached = 0;
  for (const Token& token : tokens) {
    reached += token.weight;
    if (reached > wanted) return token.id;
  }
  return tokens.back().id;
}

Sample::Choice choose(const Sample::Request& request, const std::vector<float>& row) {
  std::vector<float> logits(row.size());
  std::transform(row.begin(), row.end(), logits.begin(), [](float logit) { return clean_logit(logit); });
  Sample::Choice choice;
  choice.logprob = kMinusInfinity;
  const bool finite = std::any_of(row.begin(), row.end(), [](float x) { return std::isfinite(x); });
  if (!finite || request.target >= static_cast<int64_t>(row.size())) return choice;

  const std::vector<Token> tokens = sorted_tokens(logits);
  const double largest = tokens.front().logit;
  double sum = 0;
  for (const Token& token : tokens) sum += std::exp(token.logit - largest);
  const double log_sum = largest + std::log(sum);
  choice.top_count = static_cast<int32_t>(std::min<size_t>(
      tokens.size(), static_cast<size_t>(std::clamp<int32_t>(request.top, 0, Sample::kMaxTop))));
  for (int32_t i = 0; i < choice.top_count; ++i) {
    choice.top_ids[i] = tokens[static_cast<size_t>(i)].id;
    choice.top_logprobs[i] = static_cast<float>(tokens[static_cast<size_t>(i)].logit - log_sum);
  }

  if (request.target >= 0) {
    choice.id = request.target;
  } else if (request.chain != nullptr) {
    choice.id = draw_by_chain(request.params, *request.chain, request.position, row);
  } else {
    std::vector<float> changed = logits;
    change(request, changed);
    choice.id = draw(request, sorted_tokens(changed));
  }
  if (choice.id < 0) return choice;
  choice.logprob = static_cast<float>(logits[static_cast<size_t>(choice.id)] - log_sum);
  return choice;
}

}  // namespace

std::string legal(const Sample::Problem& problem) {
  if (problem.vocabulary <= 0) return "the vocabulary is empty";
  if (problem.vocabulary > std::numeric_limits<int32_t>::max()) return "ids have 31 bits";
  return is_float(problem.dtype) ? "" : "logits of " + std::string(name_of(problem.dtype)) + " are no floats";
}

void sample(const Sample::Args& args, const Launch&) {
  std::vector<float> row(static_cast<size_t>(args.vocabulary));
  for (int64_t i = 0; i < args.outputs; ++i) {
    for (size_t id = 0; id < row.size(); ++id)
      row[id] = static_cast<float>(
          real_at(args.dtype, args.logits, i * args.vocabulary + static_cast<int64_t>(id)));
    put_choice(args, i, choose(request_of(args, i), row));
  }
}

}  // namespace orrery::kernels::ref
