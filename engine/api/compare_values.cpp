#include "engine/api/compare_values.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <thread>
#include <unordered_map>

#include "engine/generate/probe.h"

namespace orrery::api {
namespace {

constexpr int64_t kLogitTokens = 512, kLogitRows = runtime::kMaxOutputs;
constexpr int64_t kNodeTokens = 64;  // all activations of the step are kept at once

std::span<const int32_t> first_of(std::span<const int32_t> tokens, int64_t most) {
  return tokens.first(std::min(tokens.size(), static_cast<size_t>(most)));
}

int64_t step_tokens(const SessionImpl& a, const SessionImpl& b, int64_t most) {
  return std::min({most, a.engine().model->options().batch_tokens, b.engine().model->options().batch_tokens});
}

/// By as many threads as the machine has: a vocabulary is large.
void for_each_position(size_t positions, const std::function<void(size_t)>& function) {
  const size_t threads = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, positions);
  std::vector<std::jthread> others;
  const auto part = [&](size_t thread) {
    for (size_t i = thread; i < positions; i += threads) function(i);
  };
  for (size_t thread = 1; thread < threads; ++thread) others.emplace_back(part, thread);
  part(0);
}

/// log(sum(exp(row))).
double log_sum(std::span<const float> row, size_t best) {
  const double largest = row[best];
  double sum = 0;
  for (const float value : row) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

double divergence(const Distributions& a, const Distributions& b, size_t position) {
  const double total_a = a.log_sums[position], total_b = b.log_sums[position];
  if (!std::isfinite(total_a) || !std::isfinite(total_b)) return std::numeric_limits<double>::infinity();
  const std::span<const float> row_a = a.row(position), row_b = b.row(position),
                               shares = a.row_of(a.probabilities, position);
  double sum = 0;
  for (size_t i = 0; i < row_a.size(); ++i)
    if (shares[i] > 0) sum += shares[i] * ((row_a[i] - total_a) - (row_b[i] - total_b));
  return std::max(sum, 0.0);
}

/// The graph that runs when nothing is fused, and what of it can be kept.
struct Plain {
  std::shared_ptr<const runtime::Version> version;
  std::vector<ValueId> values;

  const graph::Graph& graph() const { return *version->fused; }
};

Result<Plain> plain_of(const SessionImpl& session) {
  ORRERY_ASSIGN(auto version, plain_version(session));
  Plain plain{std::move(version), {}};
  plain.values = generate::float_values(plain.graph());
  return plain;
}

/// Of the values of either graph those of nodes with the same path, in a's order.
void keep_shared(Plain& a, Plain& b) {
  std::unordered_map<std::string, ValueId> there;
  for (const ValueId value : b.values) there.emplace(b.graph().value_path(value), value);
  std::vector<ValueId> from_a, from_b;
  for (const ValueId value : a.values)
    if (const auto it = there.find(a.graph().value_path(value)); it != there.end()) {
      from_a.push_back(value);
      from_b.push_back(it->second);
    }
  a.values = std::move(from_a);
  b.values = std::move(from_b);
}

/// The first float32 output of an encoder.
ValueId result_of(const graph::Graph& graph) {
  for (const ValueId output : graph.outputs()) {
    const graph::Value* value = graph.find_value(output);
    if (value && value->kind == graph::ValueKind::activation && value->type.dtype == DType::f32)
      return output;
  }
  return {};
}

}  // namespace

Difference difference_of(std::span<const float> a, std::span<const float> b) {
  Difference difference;
  double error = 0, square_a = 0, square_b = 0, product = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = a[i], y = b[i], apart = std::abs(x - y);
    if (!(apart <= difference.max_abs)) difference.max_abs = apart;  // NaN stays
    error += apart * apart;
    square_a += x * x;
    square_b += y * y;
    product += x * y;
  }
  if (error == 0) return difference;
  difference.nmse = square_a > 0 ? error / square_a : std::numeric_limits<double>::infinity();
  difference.cosine = square_a > 0 && square_b > 0 ? product / std::sqrt(square_a * square_b) : 0;
  return difference;
}

std::span<const float> Distributions::row_of(const std::vector<float>& values, size_t position) const {
  const size_t width = values.size() / log_sums.size();
  return std::span(values).subspan(position * width, width);
}

double Distributions::nll_of(std::span<const int32_t> next) const {
  if (next.empty()) return 0;
  double sum = 0;
  for (size_t i = 0; i < next.size(); ++i) sum += log_sums[i] - row(i)[static_cast<size_t>(next[i])];
  return sum / static_cast<double>(next.size());
}

Distributions distributions_of(std::vector<float> logits, int64_t positions, bool probabilities) {
  const auto count = static_cast<size_t>(positions);
  Distributions all{std::move(logits), {}, std::vector<double>(count), std::vector<size_t>(count)};
  if (count == 0) return all;
  if (probabilities) all.probabilities.resize(all.logits.size());
  const size_t width = all.logits.size() / count;
  for_each_position(count, [&](size_t i) {
    const std::span<const float> row = all.row(i);
    all.best[i] = static_cast<size_t>(std::ranges::max_element(row) - row.begin());
    all.log_sums[i] = log_sum(row, all.best[i]);
    if (!probabilities) return;
    for (size_t k = 0; k < width; ++k)
      all.probabilities[i * width + k] = static_cast<float>(std::exp(row[k] - all.log_sums[i]));
  });
  return all;
}

Agreement agreement_of(const Distributions& a, const Distributions& b) {
  Agreement agreement;
  const size_t positions = a.log_sums.size();
  if (positions == 0) return agreement;
  std::vector<double> kl(positions);
  for_each_position(positions, [&](size_t i) { kl[i] = divergence(a, b, i); });
  for (size_t i = 0; i < positions; ++i) {
    agreement.kl += kl[i];
    agreement.kl_by_position.push_back(static_cast<float>(kl[i]));
    if (a.best[i] == b.best[i]) ++agreement.top1;
  }
  agreement.kl /= static_cast<double>(positions);
  agreement.top1 /= static_cast<double>(positions);
  return agreement;
}

int64_t logit_tokens(const SessionImpl& a, const SessionImpl& b) { return step_tokens(a, b, kLogitTokens); }

Result<std::vector<float>> answer_of(const ProbedVersion& side, std::span<const int32_t> tokens, int64_t rows,
                                     const generate::KnownValues* known) {
  ORRERY_ASSIGN(const ValueId value, answer_value(*side.version.fused, rows));
  generate::Probe::Step step{tokens, rows};
  step.known = known;
  ORRERY_ASSIGN(auto probe, generate::Probe::run(side.session.engine(), side.version, {&value, 1}, step));
  return probe->read(0);
}

Result<ValueId> answer_value(const graph::Graph& graph, int64_t rows) {
  const ValueId value = rows > 0 ? generate::logits_of(graph) : result_of(graph);
  if (value.valid()) return value;
  return Error{ErrorCode::unsupported, "The graph gives nothing that could be compared", "compare", ""};
}

Result<void> compare_logits(SessionImpl& a, SessionImpl& b, std::span<const int32_t> tokens,
                            CompareResult& result) {
  tokens = first_of(tokens, logit_tokens(a, b));
  const int64_t rows = std::min(static_cast<int64_t>(tokens.size()), kLogitRows);
  const auto version_a = a.state()->version, version_b = b.state()->version;
  if (!generate::logits_of(*version_a->fused).valid() || !generate::logits_of(*version_b->fused).valid())
    return {};
  ORRERY_ASSIGN(std::vector<float> logits_a, answer_of({a, *version_a}, tokens, rows));
  ORRERY_ASSIGN(std::vector<float> logits_b, answer_of({b, *version_b}, tokens, rows));
  if (logits_a.size() != logits_b.size())
    return Error{ErrorCode::shape_mismatch, "The sides have different vocabularies", "compare",
                 "choose two models with the same tokens"};
  const Agreement agreement = agreement_of(distributions_of(std::move(logits_a), rows),
                                           distributions_of(std::move(logits_b), rows, false));
  result.kl = agreement.kl;
  result.top1_agreement = agreement.top1;
  result.positions = rows;
  return {};
}

Result<std::shared_ptr<const runtime::Version>> plain_version(const SessionImpl& session) {
  return prepare_version(session.model_graph(), session.preparation(false, session.state()->disabled_passes));
}

Result<void> compare_nodes(SessionImpl& a, SessionImpl& b, std::span<const int32_t> tokens,
                           CompareResult& result) {
  ORRERY_ASSIGN(Plain plain_a, plain_of(a));
  ORRERY_ASSIGN(Plain plain_b, plain_of(b));
  keep_shared(plain_a, plain_b);
  tokens = first_of(tokens, step_tokens(a, b, kNodeTokens));
  const int64_t outputs = generate::logits_of(plain_a.graph()).valid() ? 1 : 0;
  ORRERY_ASSIGN(auto probe_a,
                generate::Probe::run(a.engine(), *plain_a.version, plain_a.values, {tokens, outputs}));
  ORRERY_ASSIGN(auto probe_b,
                generate::Probe::run(b.engine(), *plain_b.version, plain_b.values, {tokens, outputs}));
  std::unordered_map<std::string, NodeComparison*> rows;
  for (NodeComparison& node : result.nodes) rows.emplace(node.node, &node);
  for (size_t i = 0; i < plain_a.values.size(); ++i) {
    const auto row = rows.find(plain_a.graph().node(probe_a->points()[i].node).path());
    if (row == rows.end() || probe_a->points()[i].elements != probe_b->points()[i].elements) continue;
    ORRERY_ASSIGN(const std::vector<float> values_a, probe_a->read(i));
    ORRERY_ASSIGN(const std::vector<float> values_b, probe_b->read(i));
    row->second->difference = difference_of(values_a, values_b);
  }
  result.probed_tokens = static_cast<int64_t>(tokens.size());
  return {};
}

}  // namespace orrery::api
