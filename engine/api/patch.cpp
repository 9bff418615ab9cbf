#include "engine/api/patch.h"

#include <map>

#include "engine/api/compare_values.h"
#include "engine/api/guard.h"
#include "engine/generate/encode_texts.h"
#include "engine/generate/probe.h"

namespace orrery::api {
namespace {

/// The values of both graphs that one node after another of the stream makes, by its path; the answer is not
/// one of them.
struct Stream {
  std::vector<std::string> nodes;
  std::vector<ValueId> a, b;
};

Stream shared_stream(const graph::Graph& a, const graph::Graph& b, ValueId answer) {
  std::map<std::string, ValueId> there;
  for (const ValueId value : generate::KnownValues::stream(b)) there.emplace(b.value_path(value), value);
  Stream stream;
  for (const ValueId value : generate::KnownValues::stream(a)) {
    const auto other = there.find(a.value_path(value));
    if (value == answer || other == there.end() || a.value(value).type != b.value(other->second).type)
      continue;
    stream.nodes.push_back(a.node(a.value(value).producer).path());
    stream.a.push_back(value);
    stream.b.push_back(other->second);
  }
  return stream;
}

/// B from a value on, which is given to it.
Result<Distributions> answer_with(const ProbedVersion& b, ValueId value, std::span<const std::byte> elements,
                                  std::span<const int32_t> tokens, int64_t rows) {
  generate::KnownValues known;
  ORRERY_TRY(known.add(b.version.fused->feed_hash(value), elements));
  ORRERY_ASSIGN(std::vector<float> logits, answer_of(b, tokens, rows, &known));
  return distributions_of(std::move(logits), rows, false);
}

}  // namespace

Result<PatchResult> patch_tokens(const SessionImpl& a, const SessionImpl& b, std::span<const int32_t> tokens,
                                 const ProgressCallback& progress, const std::stop_token& stop) {
  tokens = tokens.first(std::min(tokens.size(), static_cast<size_t>(logit_tokens(a, b))));
  PatchResult result;
  result.tokens = static_cast<int64_t>(tokens.size());
  result.positions = std::min<int64_t>(result.tokens, runtime::kMaxOutputs);
  ORRERY_ASSIGN(const auto plain_a, plain_version(a));
  ORRERY_ASSIGN(const auto plain_b, plain_version(b));
  ORRERY_ASSIGN(const ValueId logits, answer_value(*plain_a->fused, result.positions));
  const Stream stream = shared_stream(*plain_a->fused, *plain_b->fused, logits);
  std::vector<ValueId> kept = stream.a;
  kept.push_back(logits);
  ORRERY_ASSIGN(const auto probe,
                generate::Probe::run(a.engine(), *plain_a, kept, {tokens, result.positions}));
  ORRERY_ASSIGN(std::vector<float> logits_a, probe->read(stream.a.size()));
  const Distributions answer = distributions_of(std::move(logits_a), result.positions);
  const ProbedVersion side{b, *plain_b};
  // What B's kernels read stays as it is made while the step that made it lives.
  ORRERY_ASSIGN(const ValueId logits_b, answer_value(*plain_b->fused, result.positions));
  ORRERY_ASSIGN(const auto whole,
                generate::Probe::run(b.engine(), *plain_b, {&logits_b, 1}, {tokens, result.positions}));
  ORRERY_ASSIGN(std::vector<float> plain, whole->read(0));
  if (plain.size() != answer.logits.size())
    return Error{ErrorCode::shape_mismatch, "The sides have different vocabularies", "patch",
                 "choose two models with the same tokens"};
  result.kl = agreement_of(answer, distributions_of(std::move(plain), result.positions, false)).kl;
  for (size_t i = 0; i < stream.nodes.size(); ++i) {
    if (stop.stop_requested()) return cancelled_error();
    if (progress) progress("Putting values of A into B", i, stream.nodes.size());
    ORRERY_ASSIGN(const std::vector<std::byte> elements, probe->read_bytes(i));
    ORRERY_ASSIGN(const Distributions patched,
                  answer_with(side, stream.b[i], elements, tokens, result.positions));
    const double kl = agreement_of(answer, patched).kl;
    result.nodes.push_back({stream.nodes[i], kl, result.kl > 0 ? 1 - kl / result.kl : 0});
  }
  return result;
}

Result<PatchResult> patch(Session& a, Session& b, std::string_view text, const ProgressCallback& progress,
                          std::stop_token stop) {
  return guarded([&]() -> Result<PatchResult> {
    const auto* side_a = dynamic_cast<const SessionImpl*>(&a);
    const auto* side_b = dynamic_cast<const SessionImpl*>(&b);
    if (!side_a || !side_b || a.info().task != Task::generate || b.info().task != Task::generate)
      return Error{ErrorCode::unsupported, "Values are put from one model that writes into another", "patch",
                   "choose two such models"};
    ORRERY_TRY(side_a->check_vocabulary());
    const std::vector<int32_t> tokens =
        generate::encode_within(*side_a->engine().tokenizer, text, logit_tokens(*side_a, *side_b));
    if (tokens.empty())
      return Error{ErrorCode::invalid_argument, "There is nothing to read", "patch", "give a text"};
    ORRERY_TRY(side_b->check_ids(tokens));
    return patch_tokens(*side_a, *side_b, tokens, progress, stop);
  });
}

}  // namespace orrery::api
