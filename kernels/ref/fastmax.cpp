// Fastmax and its gradients, reference: the formulas of fastmax.h, every score by itself, in float64. One
// thread.
#include "kernels/fastmax.h"

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {
namespace {

using Doubles = std::vector<double>;

/// The rows of one batch and head, without gaps.
Doubles rows_of(DType dtype, const void* base, const HeadStrides& strides, int64_t batch, int64_t head,
                int64_t tokens, int64_t dim) {
  Doubles rows;
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t d = 0; d < dim; ++d)
      rows.push_back(
          real_at(dtype, base, batch * strides.batch + head * strides.head + t * strides.token + d));
  return rows;
}

double dot(const double* a, const double* b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

/// What rows are multiplied by, and which one decides it.
struct Scale {
  double factor = 1, squares = 0;  // of the longest
  int64_t longest = -1;

  Scale(const Doubles& rows, int64_t dim, bool normalise, double limit) {
    if (!normalise) return;
    const int64_t tokens = static_cast<int64_t>(rows.size()) / dim;
    for (int64_t t = 0; t < tokens; ++t) {
      const double length =
          dot(&rows[static_cast<size_t>(t * dim)], &rows[static_cast<size_t>(t * dim)], dim);
      if (longest < 0 || length > squares || (std::isnan(length) && !std::isnan(squares))) {
        longest = t;
        squares = length;
      }
    }
    factor = squares == 0 ? 0 : limit / std::sqrt(squares);
  }
};

/// One batch and head: operands as the formula has them, and its sums.
struct Head {
  Head(const Fastmax::Args& from, int64_t batch_of, int64_t head_of)
      : args(from), problem(from.problem), batch(batch_of), head(head_of), dim(from.problem.head_dim) {
    kv_head = head / (problem.heads / problem.kv_heads);
    query = rows_of(problem.dtype, args.query, args.query_strides, batch, head, args.queries, dim);
    key = rows_of(problem.dtype, args.key, args.key_strides, batch, kv_head, args.keys, dim);
    value = rows_of(problem.dtype, args.value, args.value_strides, batch, kv_head, args.keys, dim);
    of_query = Scale(query, dim, problem.normalise, args.limit);
    of_key = Scale(key, dim, problem.normalise, args.limit);
    q = query;
    for (double& x : q) x *= of_query.factor;
    k = key;
    for (int64_t j = 0; j < args.keys; ++j)
      for (int64_t d = 0; d < dim; ++d) {
        double& x = k[static_cast<size_t>(j * dim + d)];
        x *= of_key.factor / static_cast<double>(args.temperature);
        if (args.rpe != nullptr) x += real_at(problem.dtype, args.rpe, rpe_row(j) * dim + d);
      }
    if (problem.dropping == Fastmax::Dropping::features) make_masks();
  }

  int64_t rpe_row(int64_t j) const { return (j + args.keys) % (2 * args.keys - 1); }
  bool sees(int64_t i, int64_t j) const { return !problem.causal || j <= i + args.keys - args.queries; }
  double a2() const { return problem.p == 2 ? args.a2 : 0.0; }

  void make_masks() {
    const double stays = 1 / (1 - args.rate);
    const Dropout queries(args.rate, args.seed, Fastmax::kQueryStream);
    const Dropout keys(args.rate, args.seed, Fastmax::kKeyStream);
    const int64_t features = problem.p == 2 ? dim * (dim + 1) / 2 : dim;
    const int64_t query_row = (batch * problem.heads + head) * args.queries;
    const int64_t key_row = (batch * problem.kv_heads + kv_head) * args.keys;
    for (int64_t i = 0; i < args.queries; ++i)
      for (int64_t f = 0; f < features; ++f)
        query_mask.push_back(queries.keeps(query_row + i, f) ? stays : 0);
    for (int64_t j = 0; j < args.keys; ++j)
      for (int64_t f = 0; f < features; ++f) key_mask.push_back(keys.keeps(key_row + j, f) ? stays : 0);
    mask_width = features;
  }
  double masked(int64_t i, int64_t j, int64_t feature) const {
    return query_mask[static_cast<size_t>(i * mask_width + feature)] *
           key_mask[static_cast<size_t>(j * mask_width + feature)];
  }

  /// visit(m, n, factor) for all products of two elements, both ways round, that a score is the sum of:
  /// factor q_m q_n k_m k_n.
  template <class Visit>
  void each_square(int64_t i, int64_t j, const Visit& visit) const {
    int64_t feature = 0;
    for (int64_t m = 0; m < dim; ++m)
      for (int64_t n = m; n < dim; ++n, ++feature) {
        const double factor = masked(i, j, feature);
        visit(m, n, factor);
        if (n > m) visit(n, m, factor);
      }
  }

  double weight(int64_t i, int64_t j) const {
    const double *x = &q[static_cast<size_t>(i * dim)], *y = &k[static_cast<size_t>(j * dim)];
    double linear = dot(x, y, dim), square = linear * linear;
    if (mask_width > 0 && problem.p == 1) {
      linear = 0;
      for (int64_t d = 0; d < dim; ++d) linear += masked(i, j, d) * x[d] * y[d];
    } else if (mask_width > 0) {
      square = 0;
      each_square(i, j,
                  [&](int64_t m, int64_t n, double factor) { square += factor * x[m] * x[n] * y[m] * y[n]; });
    }
    return args.a0 + args.a1 * linear + a2() * square;
  }

  /// e and h get what a weight's gradient brings them.
  void add_slopes(int64_t i, int64_t j, double of_weight, double* e, double* h) const {
    const double *x = &q[static_cast<size_t>(i * dim)], *y = &k[static_cast<size_t>(j * dim)];
    const bool masked_square = mask_width > 0 && problem.p == 2;
    const double slope = args.a1 + (masked_square ? 0.0 : 2 * a2() * dot(x, y, dim));
    for (int64_t d = 0; d < dim; ++d) {
      const double factor = of_weight * slope * (mask_width > 0 && problem.p == 1 ? masked(i, j, d) : 1.0);
      e[d] += factor * y[d];
      h[d] += factor * x[d];
    }
    if (!masked_square) return;
    each_square(i, j, [&](int64_t m, int64_t n, double factor) {
      e[m] += 2 * a2() * of_weight * factor * x[n] * y[m] * y[n];
      h[m] += 2 * a2() * of_weight * factor * y[n] * x[m] * x[n];
    });
  }

  double noise(int64_t i, int64_t d) const {
    if (problem.dropping != Fastmax::Dropping::noise) return 1;
    const int64_t row = (batch * problem.heads + head) * args.queries + i;
    return 1 + args.rate * (args.noise != nullptr ? real_at(problem.dtype, args.noise, row * dim + d)
                                                  : normal_noise<double>(args.seed, row, d));
  }

  /// o of a query, and the sum of its weights; false where it sees no key.
  bool attend(int64_t i, Doubles& o, double& total) const {
    o.assign(static_cast<size_t>(dim), 0.0);
    total = 0;
    bool any = false;
    for (int64_t j = 0; j < args.keys; ++j) {
      if (!sees(i, j)) continue;
      any = true;
      const double w = weight(i, j);
      total += w;
      for (int64_t d = 0; d < dim; ++d)
        o[static_cast<size_t>(d)] += w * value[static_cast<size_t>(j * dim + d)];
    }
    for (double& x : o) x = any ? x / total : 0.0;
    return any;
  }

  const Fastmax::Args& args;
  const Fastmax::Problem& problem;
  int64_t batch, head, kv_head = 0, dim;
  Doubles query, key, value, q, k;
  Scale of_query{{}, 1, false, 0}, of_key{{}, 1, false, 0};
  Doubles query_mask, key_mask;
  int64_t mask_width = 0;
};

/// By a row times its factor: by the row.
void through_scale(Doubles& gradient, const Doubles& rows, const Scale& scale, double divisor, int64_t dim) {
  double all = 0;
  for (size_t i = 0; i < rows.size(); ++i) all += gradient[i] * rows[i];
  for (double& x : gradient) x *= scale.factor / divisor;
  if (scale.longest < 0 || scale.squares == 0) return;
  for (int64_t d = 0; d < dim; ++d) {
    const auto at = static_cast<size_t>(scale.longest * dim + d);
    gradient[at] -= scale.factor / scale.squares * all * rows[at] / divisor;
  }
}

void put_rows(DType dtype, const Doubles& rows, void* to, int64_t at) {
  for (size_t i = 0; to != nullptr && i < rows.size(); ++i)
    put_real(dtype, rows[i], to, at + static_cast<int64_t>(i));
}

}  // namespace

std::string legal(const Fastmax::Problem& problem) {
  if (!is_float(problem.dtype))
    return "query is " + std::string(name_of(problem.dtype)) + "; it must be f32, f16 or bf16";
  if (problem.head_dim < 1 || problem.head_dim > Fastmax::kLargestHead)
    return "head_dim is " + std::to_string(problem.head_dim) + "; it must be from 1 to " +
           std::to_string(Fastmax::kLargestHead);
  if (problem.p != 1 && problem.p != 2) return "p is " + std::to_string(problem.p) + "; it must be 1 or 2";
  if (problem.kv_heads < 1 || problem.heads < 1 || problem.heads % problem.kv_heads != 0)
    return "query has " + std::to_string(problem.heads) + " heads, but key has " +
           std::to_string(problem.kv_heads) + "; the first must be a positive multiple of the second";
  return {};
}

std::string legal(const FastmaxBackward::Problem& problem) { return legal(problem.forward); }

void fastmax(const Fastmax::Args& args, const Launch&) {
  const int64_t dim = args.problem.head_dim;
  for (int64_t b = 0; b < args.batch; ++b)
    for (int64_t h = 0; h < args.problem.heads; ++h) {
      const Head head(args, b, h);
      Doubles o;
      double total = 0;
      for (int64_t i = 0; i < args.queries; ++i) {
        head.attend(i, o, total);
        const HeadStrides& to = args.out_strides;
        for (int64_t d = 0; d < dim; ++d)
          put_real(args.problem.dtype, o[static_cast<size_t>(d)] * head.noise(i, d), args.out,
                   b * to.batch + h * to.head + i * to.token + d);
      }
    }
}

void fastmax_backward(const FastmaxBackward::Args& args, const Launch&) {
  const Fastmax::Args& forward = args.forward;
  const Fastmax::Problem& problem = forward.problem;
  const int64_t dim = problem.head_dim, group = problem.heads / problem.kv_heads;
  const auto key_size = static_cast<size_t>(forward.keys * dim);
  Doubles of_rpe(static_cast<size_t>(args.rpe_rows * dim));
  for (int64_t b = 0; b < forward.batch; ++b)
    for (int64_t kv = 0; kv < problem.kv_heads; ++kv) {
      Doubles of_key(key_size), of_value(key_size);
      for (int64_t h = kv * group; h < (kv + 1) * group; ++h) {
        const Head head(forward, b, h);
        Doubles of_query(static_cast<size_t>(forward.queries * dim)), o, g(static_cast<size_t>(dim));
        for (int64_t i = 0; i < forward.queries; ++i) {
          double total = 0;
          if (!head.attend(i, o, total)) continue;
          const HeadStrides& from = args.grad_out_strides;
          for (int64_t d = 0; d < dim; ++d)
            g[static_cast<size_t>(d)] =
                real_at(problem.dtype, args.grad_out, b * from.batch + h * from.head + i * from.token + d) *
                head.noise(i, d) / total;
          const double mean = dot(g.data(), o.data(), dim);
          for (int64_t j = 0; j < forward.keys; ++j) {
            if (!head.sees(i, j)) continue;
            const size_t at = static_cast<size_t>(j * dim);
            const double weight = head.weight(i, j);
            for (int64_t d = 0; d < dim; ++d)
              of_value[at + static_cast<size_t>(d)] += weight * g[static_cast<size_t>(d)];
            head.add_slopes(i, j, dot(g.data(), &head.value[at], dim) - mean,
                            &of_query[static_cast<size_t>(i * dim)], &of_key[at]);
          }
        }
        through_scale(of_query, head.query, head.of_query, 1.0, dim);
        put_rows(problem.dtype, of_query, args.grad_query, (b * problem.heads + h) * forward.queries * dim);
      }
      const Head head(forward, b, kv * group);
      for (int64_t j = 0; forward.rpe != nullptr && j < forward.keys; ++j)
        for (int64_t d = 0; d < dim; ++d)
          of_rpe[static_cast<size_t>(head.rpe_row(j) * dim + d)] += of_key[static_cast<size_t>(j * dim + d)];
      through_scale(of_key, head.key, head.of_key, forward.temperature, dim);
      const int64_t at = (b * problem.kv_heads + kv) * forward.keys * dim;
      put_rows(problem.dtype, of_key, args.grad_key, at);
      put_rows(problem.dtype, of_value, args.grad_value, at);
    }
  put_rows(problem.dtype, of_rpe, args.grad_rpe, 0);
}

}  // namespace orrery::kernels::ref
