// Attention, reference: one query and head at a time, scores and weights in float64. One thread.
//   dst = sum_j w_j value_j / sum_j w_j
//   softmax: w_j = exp(cap(scale * query . key_j) + bias_j - largest)
//     cap(s) = softcap tanh(s / softcap), or s without a softcap; bias_j by the distance, or 0
//   Fastmax: w_j = 1 + s_j + s_j^2 / 2, or max(1 + s_j, 0)      s_j = limit^2 query . key_j / |query|
//   |key_j|, or
//     scale * query . key_j
#include "kernels/attention.h"

#include <algorithm>
#include <cmath>

#include "kernels/linear.h"

namespace orrery::kernels::ref {
namespace {

/// Keys [begin, end) that the query at `position` of a sequence of `length` sees.
struct Visible {
  int64_t begin, end;
};

Visible visible(const Attention::Problem& problem, int64_t position, int64_t length) {
  const int64_t window = problem.window > 0 ? problem.window : length;
  const int64_t after = problem.causal ? 1 : window;
  return {std::max<int64_t>(0, position + 1 - window), std::min(position + after, length)};
}

/// Reads the key or value row of one position of one sequence as float32.
void read_row(const Attention::Args& args, int64_t sequence, int64_t position, int64_t kv_head, bool value,
              float* dst) {
  const int64_t dim = args.problem.head_dim;
  if (args.problem.keys == Attention::Keys::packed) {
    const int64_t token = args.ragged.sequence_starts[sequence] + position;
    const float* src = value ? args.value + token * args.value_stride : args.key + token * args.key_stride;
    std::copy_n(src + kv_head * dim, dim, dst);
    return;
  }
  const PagedKv& kv = args.kv;
  const int64_t page = args.ragged.page_table[sequence * args.ragged.max_pages + position / kv.page_tokens];
  const int64_t row = ((value ? kv.kv_heads : 0) + kv_head) * kv.page_tokens + position % kv.page_tokens;
  const size_t offset = static_cast<size_t>(row) * row_bytes(kv.dtype, dim).value_or(0);
  dequantise_row(kv.dtype, kv.base + static_cast<size_t>(page) * kv.page_stride + offset, dim, dst);
}

double product(const float* a, const float* b, int64_t dim) {
  double sum = 0;
  for (int64_t d = 0; d < dim; ++d) sum += static_cast<double>(a[d]) * b[d];
  return sum;
}

double softmax_score(const Attention::Args& args, const float* query, const float* key) {
  const double scaled = product(query, key, args.problem.head_dim) * args.scale;
  const double cap = args.problem.softcap;
  return cap > 0 ? cap * std::tanh(scaled / cap) : scaled;
}

using Fastmax = Attention::Fastmax;

/// What scales a query or key to the length `limit`.
double to_limit(const Fastmax& fastmax, const float* row, int64_t dim) {
  const double length = std::sqrt(product(row, row, dim));
  return fastmax.limit / std::clamp<double>(length, Fastmax::kShortest, Fastmax::kLongest);
}

double fastmax_score(const Attention::Args& args, const float* query, const float* key) {
  const int64_t dim = args.problem.head_dim;
  const Fastmax& fastmax = args.problem.fastmax;
  const double scale = fastmax.normalise ? to_limit(fastmax, query, dim) * to_limit(fastmax, key, dim)
                                         : static_cast<double>(args.scale);
  const double score = product(query, key, dim) * scale;
  return std::clamp<double>(score, -Fastmax::kLargestScore, Fastmax::kLargestScore);
}

double fastmax_weight(const Fastmax& fastmax, double score) {
  return fastmax.p == 2 ? 1 + score + score * score / 2 : std::max(1 + score, 0.0);
}

double bias_of(const Attention::Args& args, int64_t head, int64_t distance) {
  const int64_t reach = args.problem.bias_reach;
  if (reach == 0) return 0;
  return args.bias[head * (2 * reach + 1) + reach + std::clamp(distance, -reach, reach)];
}

/// Scores of a softmax to weights.
void soften(std::vector<double>& scores) {
  const double largest = scores.empty() ? 0 : *std::max_element(scores.begin(), scores.end());
  for (double& score : scores) score = std::exp(score - largest);
}

struct Query {
  int64_t sequence, position, token, head;
};

void attend(const Attention::Args& args, const Query& at, std::vector<double>& weights,
            std::vector<float>& row) {
  const Attention::Problem& problem = args.problem;
  const int64_t dim = problem.head_dim;
  const int64_t kv_head = at.head / (problem.heads / problem.kv_heads);
  const Visible keys = visible(problem, at.position, args.ragged.kv_lengths[at.sequence]);
  const float* query = args.query + at.token * args.query_stride + at.head * dim;
  float* dst = args.dst + at.token * args.dst_stride + at.head * dim;

  weights.clear();
  for (int64_t j = keys.begin; j < keys.end; ++j) {
    read_row(args, at.sequence, j, kv_head, false, row.data());
    weights.push_back(problem.kind == Attention::Kind::fastmax
                          ? fastmax_weight(problem.fastmax, fastmax_score(args, query, row.data()))
                          : softmax_score(args, query, row.data()) + bias_of(args, at.head, j - at.position));
  }
  if (problem.kind == Attention::Kind::softmax) soften(weights);
  std::vector<double> total(static_cast<size_t>(dim), 0.0);
  double sum = 0;
  for (int64_t j = keys.begin; j < keys.end; ++j) {
    const double weight = weights[static_cast<size_t>(j - keys.begin)];
    read_row(args, at.sequence, j, kv_head, true, row.data());
    for (int64_t d = 0; d < dim; ++d) total[static_cast<size_t>(d)] += weight * row[static_cast<size_t>(d)];
    sum += weight;
  }
  for (int64_t d = 0; d < dim; ++d)
    dst[d] = sum > 0 ? static_cast<float>(total[static_cast<size_t>(d)] / sum) : 0.0F;
}

std::string legal_fastmax(const Attention::Problem& problem) {
  const Fastmax& fastmax = problem.fastmax;
  if (fastmax.p != 1 && fastmax.p != 2) return "Fastmax has p 1 and 2, not " + std::to_string(fastmax.p);
  if (!(fastmax.limit > 0 && fastmax.limit <= Fastmax::kLargestLimit))
    return "the limit of Fastmax is not between 0 and 256";
  if (problem.softcap > 0) return "Fastmax has no softcap";
  return problem.bias_reach > 0 ? "Fastmax has no bias" : "";
}

}  // namespace

std::string legal(const Attention::Problem& problem) {
  if (problem.head_dim <= 0 || problem.kv_heads <= 0 || problem.heads <= 0) return "there are no heads";
  if (problem.heads % problem.kv_heads != 0) {
    return std::to_string(problem.heads) + " query heads cannot share " + std::to_string(problem.kv_heads) +
           " key heads evenly";
  }
  if (problem.window < 0) return "the window is negative";
  if (problem.bias_reach < 0) return "the bias has a negative reach";
  if (problem.keys == Attention::Keys::packed && problem.kv != DType::f32) return "packed keys are f32";
  if (problem.kind == Attention::Kind::fastmax) {
    if (std::string reason = legal_fastmax(problem); !reason.empty()) return reason;
  }
  return kept_refusal(problem.kv, problem.head_dim);
}

template <>
std::string legal_of<Attention::Kind::softmax>(const Attention::Problem& problem) {
  if (problem.kind != Attention::Kind::softmax) return "the weights are those of Fastmax, not of a softmax";
  return legal(problem);
}

template <>
std::string legal_of<Attention::Kind::fastmax>(const Attention::Problem& problem) {
  if (problem.kind != Attention::Kind::fastmax) return "the weights are those of a softmax, not of Fastmax";
  return legal(problem);
}

void attention(const Attention::Args& args, const Launch&) {
  std::vector<double> weights;
  std::vector<float> row(static_cast<size_t>(args.problem.head_dim));
  for (int64_t s = 0; s < args.ragged.sequences; ++s) {
    const int64_t begin = args.ragged.sequence_starts[s];
    const int64_t end = args.ragged.sequence_starts[s + 1];
    for (int64_t t = begin; t < end; ++t) {
      const int64_t position = args.ragged.kv_lengths[s] - (end - t);
      for (int64_t h = 0; h < args.problem.heads; ++h) attend(args, {s, position, t, h}, weights, row);
    }
  }
}

}  // namespace orrery::kernels::ref
