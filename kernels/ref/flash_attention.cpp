// Attention over whole tensors, and its gradients, reference: the formulas of flash_attention.h in float64.
// One thread; a row of scores at a time.
#include "kernels/flash_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {
namespace {

using Doubles = std::vector<double>;
constexpr double kNone = -std::numeric_limits<double>::infinity();

/// One query of one head: where its operands lie, and which scores it sees.
class FlashQuery {
 public:
  FlashQuery(const FlashAttention::Args& args, int64_t batch, int64_t head, int64_t query)
      : args_(args),
        batch_(batch),
        head_(head),
        kv_head_(head / (args.problem.heads / args.problem.kv_heads)),
        query_(query),
        queries_(length(args.query_lengths, args.queries)),
        keys_(length(args.key_lengths, args.keys)) {}

  int64_t keys() const { return query_ < queries_ ? keys_ : 0; }
  int64_t number() const { return (batch_ * args_.problem.heads + head_) * args_.queries + query_; }
  int64_t own(const HeadStrides& strides) const {
    return batch_ * strides.batch + head_ * strides.head + query_ * strides.token;
  }
  int64_t other(const HeadStrides& strides, int64_t key) const {
    return batch_ * strides.batch + kv_head_ * strides.head + key * strides.token;
  }
  /// The row of a key of this query's head in tensors without gaps.
  int64_t key_number(int64_t key) const {
    return (batch_ * args_.problem.kv_heads + kv_head_) * args_.keys + key;
  }
  int64_t score(const ScoreStrides& strides, int64_t key) const {
    return batch_ * strides.batch + head_ * strides.head + query_ * strides.query + key * strides.key;
  }
  bool sees(int64_t key) const {
    const FlashAttention::Problem& problem = args_.problem;
    const int64_t t = key - (query_ + keys_ - queries_);
    return (!problem.causal || t <= 0) && (problem.window_left < 0 || t >= -problem.window_left) &&
           (problem.window_right < 0 || t <= problem.window_right) &&
           (args_.mask == nullptr || args_.mask[score(args_.mask_strides, key)] != 0);
  }
  bool keeps(int64_t key) const { return !args_.dropout.drops() || args_.dropout.keeps(number(), key); }

  double dot(const void* a, int64_t a_at, const void* b, int64_t b_at) const {
    const DType dtype = args_.problem.dtype;
    double sum = 0;
    for (int64_t d = 0; d < args_.problem.head_dim; ++d)
      sum += real_at(dtype, a, a_at + d) * real_at(dtype, b, b_at + d);
    return sum;
  }
  struct Score {
    double value, slope;  // slope: by scale query . key
  };
  Score score(int64_t key) const {
    const double cap = args_.problem.softcap;
    Score score{
        args_.scale * dot(args_.query, own(args_.query_strides), args_.key, other(args_.key_strides, key)),
        1.0};
    if (cap > 0) {
      const double bent = std::tanh(score.value / cap);
      score = {cap * bent, 1.0 - bent * bent};
    }
    if (args_.bias != nullptr)
      score.value += real_at(args_.problem.bias, args_.bias, this->score(args_.bias_strides, key));
    return score;
  }

 private:
  int64_t length(const int32_t* lengths, int64_t most) const {
    return lengths != nullptr ? std::clamp<int64_t>(lengths[batch_], 0, most) : most;
  }

  const FlashAttention::Args& args_;
  int64_t batch_, head_, kv_head_, query_, queries_, keys_;
};

template <class Body>
void each_query(const FlashAttention::Args& args, Body&& body) {
  for (int64_t batch = 0; batch < args.batch; ++batch)
    for (int64_t head = 0; head < args.problem.heads; ++head)
      for (int64_t query = 0; query < args.queries; ++query) body(FlashQuery(args, batch, head, query));
}

bool is_step(int64_t number, int64_t step) { return number % step == step - 1; }

void put_all(DType dtype, const Doubles& values, void* base) {
  for (size_t i = 0; base != nullptr && i < values.size(); ++i)
    put_real(dtype, values[i], base, static_cast<int64_t>(i));
}

}  // namespace

std::string legal(const FlashAttention::Problem& problem) {
  if (!is_float(problem.dtype))
    return "query is " + std::string(name_of(problem.dtype)) + "; it must be f32, f16 or bf16";
  if (problem.head_dim < 1 || problem.head_dim > FlashAttention::kLargestHead)
    return "a head has " + std::to_string(problem.head_dim) + " dims; it must have from 1 to " +
           std::to_string(FlashAttention::kLargestHead);
  if (problem.kv_heads < 1 || problem.heads < 1 || problem.heads % problem.kv_heads != 0)
    return std::to_string(problem.heads) + " heads cannot share " + std::to_string(problem.kv_heads) +
           " heads of keys";
  if (problem.has_bias && problem.bias != DType::f32 && problem.bias != problem.dtype)
    return "bias is " + std::string(name_of(problem.bias)) + "; it must be f32 or as query, which is " +
           std::string(name_of(problem.dtype));
  if (!(problem.softcap >= 0) || std::isinf(problem.softcap)) return "the softcap is below 0 or no number";
  return {};
}

std::string legal(const FlashAttentionBackward::Problem& problem) { return legal(problem.forward); }

void flash_attention_some(const FlashAttention::Args& args, int64_t step) {
  const FlashAttention::Problem& problem = args.problem;
  const auto size = static_cast<size_t>(problem.head_dim);
  Doubles scores(static_cast<size_t>(args.keys)), out(size);
  each_query(args, [&](const FlashQuery& query) {
    if (!is_step(query.number(), step)) return;
    double largest = kNone, sum = 0;
    for (int64_t key = 0; key < query.keys(); ++key) {
      double& score = scores[static_cast<size_t>(key)];
      score = query.sees(key) ? query.score(key).value : kNone;
      largest = score > largest || std::isnan(score) ? score : largest;
    }
    std::fill(out.begin(), out.end(), 0.0);
    for (int64_t key = 0; key < query.keys() && largest != kNone; ++key) {
      if (!query.sees(key)) continue;
      const double weight = std::exp(scores[static_cast<size_t>(key)] - largest);
      sum += weight;
      if (!query.keeps(key)) continue;
      const int64_t value = query.other(args.value_strides, key);
      for (size_t d = 0; d < size; ++d)
        out[d] += weight * real_at(problem.dtype, args.value, value + static_cast<int64_t>(d));
    }
    const double factor = largest == kNone ? 0.0 : 1.0 / (sum * (1.0 - args.dropout.p));
    for (size_t d = 0; d < size; ++d)
      put_real(problem.dtype, out[d] * factor, args.out,
               query.own(args.out_strides) + static_cast<int64_t>(d));
    if (args.log_sum_exp != nullptr)
      args.log_sum_exp[query.number()] =
          static_cast<float>(largest == kNone ? kNone : largest + std::log(sum));
  });
}

void flash_attention(const FlashAttention::Args& args, const Launch&) { flash_attention_some(args, 1); }

void flash_attention_backward_some(const FlashAttentionBackward::Args& args, int64_t query_step,
                                   int64_t key_step) {
  const FlashAttention::Args& forward = args.forward;
  const FlashAttention::Problem& problem = forward.problem;
  const DType dtype = problem.dtype;
  const int64_t dim = problem.head_dim;
  const auto of_queries = static_cast<size_t>(forward.batch * problem.heads * forward.queries * dim);
  const auto of_keys = static_cast<size_t>(forward.batch * problem.kv_heads * forward.keys * dim);
  Doubles grad_query(of_queries), grad_key(of_keys), grad_value(of_keys);
  const double kept = 1.0 / (1.0 - forward.dropout.p);
  each_query(forward, [&](const FlashQuery& query) {
    const double log_sum_exp = forward.log_sum_exp[query.number()];
    const int64_t grad_out = query.own(args.grad_out_strides), own = query.own(forward.query_strides);
    const double g = query.dot(args.grad_out, grad_out, forward.out, query.own(forward.out_strides));
    float* grad_bias = args.grad_bias != nullptr ? args.grad_bias + query.number() * forward.keys : nullptr;
    if (grad_bias != nullptr) std::fill_n(grad_bias, forward.keys, 0.0F);
    const bool of_query = is_step(query.number(), query_step);
    for (int64_t key = 0; key < query.keys() && log_sum_exp != kNone; ++key) {
      const bool of_key = is_step(query.key_number(key), key_step);
      if (!(of_query || of_key) || !query.sees(key)) continue;
      const FlashQuery::Score score = query.score(key);
      const double p = std::exp(score.value - log_sum_exp);
      const bool keeps = query.keeps(key);
      const double d = keeps ? kept * query.dot(args.grad_out, grad_out, forward.value,
                                                query.other(forward.value_strides, key))
                             : 0.0;
      const double ds = p * (d - g), e = forward.scale * ds * score.slope;
      if (grad_bias != nullptr) grad_bias[key] = static_cast<float>(ds);
      const int64_t key_at = query.other(forward.key_strides, key);
      const int64_t query_at = query.number() * dim, to = query.key_number(key) * dim;
      for (int64_t i = 0; i < dim && of_query; ++i)
        grad_query[static_cast<size_t>(query_at + i)] += e * real_at(dtype, forward.key, key_at + i);
      for (int64_t i = 0; i < dim && of_key; ++i)
        grad_key[static_cast<size_t>(to + i)] += e * real_at(dtype, forward.query, own + i);
      for (int64_t i = 0; i < dim && of_key && keeps; ++i)
        grad_value[static_cast<size_t>(to + i)] += kept * p * real_at(dtype, args.grad_out, grad_out + i);
    }
  });
  put_all(dtype, grad_query, args.grad_query);
  put_all(dtype, grad_key, args.grad_key);
  put_all(dtype, grad_value, args.grad_value);
}

void flash_attention_backward(const FlashAttentionBackward::Args& args, const Launch&) {
  flash_attention_backward_some(args, 1, 1);
}

}  // namespace orrery::kernels::ref
