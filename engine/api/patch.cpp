#include "engine/api/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <unordered_map>

#include "engine/api/compare_values.h"
#include "engine/api/guard.h"
#include "engine/edit/scope_pattern.h"
#include "engine/generate/encode_texts.h"
#include "engine/generate/probe.h"

namespace orrery::api {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kMostKept = uint64_t{128} << 20;  // bytes of A's values that lie here at a time
constexpr int64_t kNodeTextTokens = 64;              // of a text that is read once a node

/// A node whose value both graphs make.
struct SharedNode {
  std::string path;
  ValueId a, b;
  ValueId from = {};  // the last value of b's stream that is made before it; none: b runs from its beginning
};

/// Whether a path is that of a scope or lies in it.
bool is_within(std::string_view path, std::string_view scope) {
  return path.starts_with(scope) && (path.size() == scope.size() || path[scope.size()] == '.');
}

/// What both graphs have of some values of A, by path; the answer is not one of them.
std::vector<SharedNode> shared_nodes(const graph::Graph& a, const graph::Graph& b,
                                     std::span<const ValueId> of_a, std::span<const ValueId> of_b,
                                     ValueId answer) {
  std::unordered_map<std::string, ValueId> there;
  for (const ValueId value : of_b) there.emplace(b.value_path(value), value);
  std::vector<SharedNode> shared;
  for (const ValueId value : of_a) {
    const auto other = there.find(a.value_path(value));
    if (value == answer || other == there.end() || a.value(value).type != b.value(other->second).type)
      continue;
    shared.push_back({a.node(a.value(value).producer).path(), value, other->second});
  }
  return shared;
}

/// The nodes that are asked for, each with where B begins.
Result<std::vector<SharedNode>> places_of(const SessionImpl& session, const graph::Graph& a,
                                          const graph::Graph& b, std::span<const ValueId> stream_b,
                                          const PatchPlaces& places, ValueId answer) {
  if (places.nodes.empty()) return shared_nodes(a, b, generate::KnownValues::stream(a), stream_b, answer);
  std::vector<SharedNode> shared =
      shared_nodes(a, b, generate::float_values(a), generate::float_values(b), answer);
  if (places.nodes != "*") {
    ORRERY_ASSIGN(const auto scopes, edit::match_scopes(*session.model_graph(), places.nodes));
    std::erase_if(shared, [&](const SharedNode& node) {
      return std::ranges::none_of(scopes, [&](const auto& scope) { return is_within(node.path, scope); });
    });
  }
  if (shared.empty())
    return Error{ErrorCode::not_found, "No node of these gives a value that both sides have", places.nodes,
                 "name other scopes or nodes, or * for all"};
  std::unordered_map<NodeId, size_t> order;
  for (size_t i = 0; i < b.order().size(); ++i) order.emplace(b.order()[i], i);
  const auto place = [&](ValueId value) { return order.at(b.value(value).producer); };
  for (SharedNode& node : shared)
    for (const ValueId value : stream_b)
      if (place(value) < place(node.b)) node.from = value;
  return shared;
}

/// As many nodes in a row as A's values of them may lie here together, at least one.
std::span<const SharedNode> next_batch(std::span<const SharedNode> nodes, const graph::Graph& a,
                                       const Bindings& sizes) {
  double bytes = 0;
  size_t count = 0;
  while (count < nodes.size()) {
    bytes += graph::bytes_of(a.value(nodes[count].a).type, sizes);
    if (count > 0 && bytes > static_cast<double>(kMostKept)) break;
    ++count;
  }
  return nodes.first(count);
}

/// "Putting values of A into B, 40 s left"; without the time before the first node is done.
std::string words_of(Clock::time_point begin, size_t done, size_t all) {
  std::string words = "Putting values of A into B";
  if (done == 0) return words;
  const double left = std::chrono::duration<double>(Clock::now() - begin).count() /
                      static_cast<double>(done) * static_cast<double>(all - done);
  return words + fmt::format(", {:.0f} s left", std::ceil(left));
}

/// Reads the text with one value of A after another in B.
class Patching {
 public:
  Patching(const SessionImpl& a, const SessionImpl& b, std::span<const int32_t> tokens)
      : a_(a), b_(b), tokens_(tokens) {
    result_.tokens = static_cast<int64_t>(tokens_.size());
    result_.positions = std::min<int64_t>(result_.tokens, runtime::kMaxOutputs);
  }

  Result<PatchResult> run(const PatchPlaces& places, const ProgressCallback& progress,
                          const std::stop_token& stop) {
    ORRERY_ASSIGN(plain_a_, plain_version(a_));
    ORRERY_ASSIGN(plain_b_, plain_version(b_));
    ORRERY_ASSIGN(const ValueId answer, answer_value(graph_a(), result_.positions));
    const std::vector<ValueId> stream_b = generate::KnownValues::stream(graph_b());
    ORRERY_ASSIGN(const std::vector<SharedNode> nodes,
                  places_of(a_, graph_a(), graph_b(), stream_b, places, answer));
    ORRERY_TRY(read_as_they_are(answer, stream_b));
    const Bindings sizes{{kTokens, result_.tokens}, {kSequences, 1}, {kOutputs, result_.positions}};
    const Clock::time_point begin = Clock::now();
    std::span<const SharedNode> left(nodes);
    while (!left.empty()) {
      const std::span<const SharedNode> batch = next_batch(left, graph_a(), sizes);
      std::vector<ValueId> kept;
      for (const SharedNode& node : batch) kept.push_back(node.a);
      ORRERY_ASSIGN(const auto values,
                    generate::Probe::run(a_.engine(), *plain_a_, kept, {tokens_, result_.positions}));
      for (size_t i = 0; i < batch.size(); ++i) {
        if (stop.stop_requested()) return cancelled_error();
        const size_t done = result_.nodes.size();
        if (progress) progress(words_of(begin, done, nodes.size()), done, nodes.size());
        ORRERY_ASSIGN(const std::vector<std::byte> elements, values->read_bytes(i));
        ORRERY_TRY(put(batch[i], elements));
      }
      left = left.subspan(batch.size());
    }
    return std::move(result_);
  }

 private:
  const graph::Graph& graph_a() const { return *plain_a_->fused; }
  const graph::Graph& graph_b() const { return *plain_b_->fused; }

  /// A's answer, B's, and what B may begin at.
  Result<void> read_as_they_are(ValueId answer, const std::vector<ValueId>& stream_b) {
    ORRERY_ASSIGN(const auto probe,
                  generate::Probe::run(a_.engine(), *plain_a_, {&answer, 1}, {tokens_, result_.positions}));
    ORRERY_ASSIGN(std::vector<float> logits, probe->read(0));
    answer_ = distributions_of(std::move(logits), result_.positions);
    ORRERY_ASSIGN(const ValueId answer_b, answer_value(graph_b(), result_.positions));
    stream_ = stream_b;
    std::erase(stream_, answer_b);
    std::vector<ValueId> kept = stream_;
    kept.push_back(answer_b);
    ORRERY_ASSIGN(whole_, generate::Probe::run(b_.engine(), *plain_b_, kept, {tokens_, result_.positions}));
    ORRERY_ASSIGN(std::vector<float> plain, whole_->read(stream_.size()));
    if (plain.size() != answer_.logits.size())
      return Error{ErrorCode::shape_mismatch, "The sides have different vocabularies", "patch",
                   "choose two models with the same tokens"};
    result_.kl = agreement_of(answer_, distributions_of(std::move(plain), result_.positions, false)).kl;
    return {};
  }

  Result<void> put(const SharedNode& node, std::span<const std::byte> elements) {
    generate::KnownValues known;
    const auto from = std::ranges::find(stream_, node.from);
    if (from != stream_.end()) {
      ORRERY_ASSIGN(const std::vector<std::byte> own,
                    whole_->read_bytes(static_cast<size_t>(from - stream_.begin())));
      ORRERY_TRY(known.add(graph_b().feed_hash(node.from), own));
    }
    ORRERY_TRY(known.add(graph_b().feed_hash(node.b), elements));
    ORRERY_ASSIGN(std::vector<float> logits, answer_of({b_, *plain_b_}, tokens_, result_.positions, &known));
    const double kl = agreement_of(answer_, distributions_of(std::move(logits), result_.positions, false)).kl;
    result_.nodes.push_back({node.path, kl, result_.kl > 0 ? 1 - kl / result_.kl : 0});
    return {};
  }

  const SessionImpl &a_, &b_;
  std::span<const int32_t> tokens_;
  std::shared_ptr<const runtime::Version> plain_a_, plain_b_;
  Distributions answer_;                    // A's
  std::vector<ValueId> stream_;             // B's
  std::unique_ptr<generate::Probe> whole_;  // B as it is; what its kernels read stays made while it lives
  PatchResult result_;
};

}  // namespace

Result<PatchResult> patch_tokens(const SessionImpl& a, const SessionImpl& b, std::span<const int32_t> tokens,
                                 const PatchPlaces& places, const ProgressCallback& progress,
                                 const std::stop_token& stop) {
  const int64_t most =
      places.nodes.empty() ? logit_tokens(a, b) : std::min(logit_tokens(a, b), kNodeTextTokens);
  tokens = tokens.first(std::min(tokens.size(), static_cast<size_t>(most)));
  return Patching(a, b, tokens).run(places, progress, stop);
}

Result<PatchResult> patch(Session& a, Session& b, std::string_view text, const PatchPlaces& places,
                          const ProgressCallback& progress, std::stop_token stop) {
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
    return patch_tokens(*side_a, *side_b, tokens, places, progress, stop);
  });
}

}  // namespace orrery::api
