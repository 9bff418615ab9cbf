// How far the numbers of two sessions are apart.
#pragma once

#include <span>
#include <vector>

#include "engine/api/compare.h"
#include "engine/api/patch.h"
#include "engine/api/session_impl.h"
#include "engine/generate/known_values.h"

namespace orrery::api {

Difference difference_of(std::span<const float> a, std::span<const float> b);

/// Logits (positions, vocabulary) with what takes the most time of all that is made of them.
struct Distributions {
  std::vector<float> logits, probabilities;  // these may be left out
  std::vector<double> log_sums;              // of the exponentials, by position
  std::vector<size_t> best;                  // the likeliest token, by position

  std::span<const float> row(size_t position) const { return row_of(logits, position); }
  std::span<const float> row_of(const std::vector<float>& values, size_t position) const;
  /// Of the tokens that come after the positions but the last: nats a token.
  double nll_of(std::span<const int32_t> next) const;
};
Distributions distributions_of(std::vector<float> logits, int64_t positions, bool probabilities = true);

/// Of two sets with the same positions and vocabulary, the first with probabilities: the mean of KL(a || b),
/// and how often the likeliest token is the same. Rows with a value that is not finite count as infinitely
/// far.
struct Agreement {
  double kl = 0, top1 = 0;
  std::vector<float> kl_by_position = {};
};
Agreement agreement_of(const Distributions& a, const Distributions& b);

/// A version as a session's scheduler runs it, published or not.
struct ProbedVersion {
  const SessionImpl& session;
  const runtime::Version& version;
};
/// Tokens of one step that both can read for their distributions.
int64_t logit_tokens(const SessionImpl& a, const SessionImpl& b);
/// What it gives for `tokens`, in one step: logits of the last `rows` tokens, an encoder's (rows 0) vector or
/// logits.
Result<std::vector<float>> answer_of(const ProbedVersion& side, std::span<const int32_t> tokens, int64_t rows,
                                     const generate::KnownValues* known = nullptr);
/// The value that such an answer is; refused where the graph has none.
Result<ValueId> answer_value(const graph::Graph& graph, int64_t rows);

/// Fills kl, top1_agreement and positions, from one step over `tokens` as the sides run; nothing for
/// encoders.
Result<void> compare_logits(SessionImpl& a, SessionImpl& b, std::span<const int32_t> tokens,
                            CompareResult& result);

/// The graph of a session as it runs when nothing is fused: sides have the same nodes then.
Result<std::shared_ptr<const runtime::Version>> plain_version(const SessionImpl& session);

/// patch() over tokens of a prompt.
Result<PatchResult> patch_tokens(const SessionImpl& a, const SessionImpl& b, std::span<const int32_t> tokens,
                                 const PatchPlaces& places, const ProgressCallback& progress,
                                 const std::stop_token& stop);

/// Fills the differences of the nodes, from one step of the model graphs without fusion over the first of
/// `tokens`.
Result<void> compare_nodes(SessionImpl& a, SessionImpl& b, std::span<const int32_t> tokens,
                           CompareResult& result);

}  // namespace orrery::api
