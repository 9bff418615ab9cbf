// FastmaxScan, reference: the formulas of fastmax_scan.h in float64, feature by feature. One thread.
#include "kernels/fastmax_scan.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace orrery::kernels::ref {
namespace {

/// What scales a query or key, without its limit or scale.
double by_length(const float* row, int64_t dim) {
  double squares = 0;
  for (int64_t d = 0; d < dim; ++d) squares += static_cast<double>(row[d]) * row[d];
  const double length = std::sqrt(squares);
  return 1 / std::clamp<double>(length, Attention::Fastmax::kShortest, Attention::Fastmax::kLongest);
}

/// x_t of a row times `factor`; `weighted`: also times w_t.
std::vector<double> features_of(const FastmaxScan::Problem& problem, const float* row, double factor,
                                bool weighted) {
  const int64_t dim = problem.head_dim, padded = FastmaxScan::padded(dim), quad = FastmaxScan::kQuad;
  const auto x = [&](int64_t n) { return n < dim ? factor * row[n] : 0.0; };
  std::vector<double> features = {1, 0, 0, 0};
  for (int64_t n = 0; n < padded; ++n) features.push_back(x(n));
  for (int64_t m = 0; m < padded && problem.fastmax.p == 2; ++m)
    for (int64_t n = m / quad * quad; n < padded; ++n) {
      const bool twice = m / quad == n / quad;
      features.push_back(x(m) * x(n) * (weighted && twice ? 0.5 : 1));
    }
  return features;
}

/// One token of one kv head; `sums` and `counts` are those of a record.
void scan_token(const FastmaxScan::Args& args, int64_t row, int64_t kv_head, float* sums, float* counts) {
  const FastmaxScan::Problem& problem = args.problem;
  const int64_t dim = problem.head_dim, group = problem.heads / problem.kv_heads;
  const float* key = args.key + (row * problem.kv_heads + kv_head) * dim;
  const float* value = args.value + (row * problem.kv_heads + kv_head) * dim;
  const bool normalise = problem.fastmax.normalise;
  const std::vector<double> entering = features_of(problem, key, normalise ? by_length(key, dim) : 1, false);
  const auto count = static_cast<int64_t>(entering.size());
  for (int64_t t = 0; t < count; ++t) {
    const double x = entering[static_cast<size_t>(t)];
    counts[t] = static_cast<float>(counts[t] + x);
    for (int64_t d = 0; d < dim; ++d)
      sums[t * dim + d] = static_cast<float>(sums[t * dim + d] + x * value[d]);
  }
  const double limit = problem.fastmax.limit;
  for (int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    const float* query = args.query + (row * problem.heads + head) * dim;
    const double factor = normalise ? limit * limit * by_length(query, dim) : args.scale;
    const std::vector<double> asked = features_of(problem, query, factor, true);
    std::vector<double> total(static_cast<size_t>(dim), 0.0);
    double divisor = 0;
    for (int64_t t = 0; t < count; ++t) {
      const double x = asked[static_cast<size_t>(t)];
      divisor += x * counts[t];
      for (int64_t d = 0; d < dim; ++d) total[static_cast<size_t>(d)] += x * sums[t * dim + d];
    }
    float* dst = args.dst + (row * problem.heads + head) * dim;
    for (int64_t d = 0; d < dim; ++d)
      dst[d] = divisor <= 0 ? 0.0F : static_cast<float>(total[static_cast<size_t>(d)] / divisor);
  }
}

void scan_run(const FastmaxScan::Args& args, const RecordRun& run) {
  const FastmaxScan::Problem& problem = args.problem;
  const int64_t floats = FastmaxScan::floats(problem);
  if (run.before == nullptr)
    std::fill_n(run.after, floats, 0.0F);
  else if (run.before != run.after)
    std::copy_n(run.before, floats, run.after);
  for (int64_t row = run.row; row < run.row + run.tokens; ++row)
    for (int64_t kv_head = 0; kv_head < problem.kv_heads; ++kv_head)
      scan_token(args, row, kv_head, run.after + FastmaxScan::sums_at(problem, kv_head),
                 run.after + FastmaxScan::counts_at(problem, kv_head));
}

}  // namespace

std::string legal(const FastmaxScan::Problem& problem) {
  const Attention::Fastmax& fastmax = problem.fastmax;
  if (problem.head_dim <= 0 || problem.kv_heads <= 0 || problem.heads <= 0) return "there are no heads";
  if (problem.heads % problem.kv_heads != 0)
    return std::to_string(problem.heads) + " query heads cannot share " + std::to_string(problem.kv_heads) +
           " key heads evenly";
  if (problem.head_dim > FastmaxScan::kLargestHead)
    return "heads of " + std::to_string(problem.head_dim) + " would keep too large a state; it takes up to " +
           std::to_string(FastmaxScan::kLargestHead);
  if (fastmax.p != 1 && fastmax.p != 2) return "Fastmax has p 1 and 2, not " + std::to_string(fastmax.p);
  if (!(fastmax.limit > 0 && fastmax.limit <= Attention::Fastmax::kLargestLimit))
    return "the limit of Fastmax is not between 0 and 256";
  if (fastmax.p == 1 && !(fastmax.normalise && fastmax.limit <= 1))
    return "weights of p = 1 could be below zero, which a state cannot leave out";
  return "";
}

void fastmax_scan(const FastmaxScan::Args& args, const Launch&) {
  const int64_t cols = args.problem.heads * args.problem.head_dim;
  for (int64_t s = 0; s < args.ragged.sequences; ++s) {
    const int64_t begin = args.ragged.sequence_starts[s], end = args.ragged.sequence_starts[s + 1];
    if (args.uses[s].after < 0) std::fill_n(args.dst + begin * cols, (end - begin) * cols, 0.0F);
    each_record_run(args.ragged, args.records, args.uses, s,
                    [&](const RecordRun& run) { scan_run(args, run); });
  }
}

}  // namespace orrery::kernels::ref
