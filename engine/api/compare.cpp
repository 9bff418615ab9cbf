#include "engine/api/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <set>

#include "engine/api/compare_values.h"
#include "engine/api/guard.h"
#include "engine/api/side_times.h"
#include "engine/generate/encode_texts.h"

namespace orrery::api {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kEncoderRuns = 5;

class Comparison {
 public:
  Comparison(SessionImpl& a, SessionImpl& b, const CompareRequest& request, const CompareEvents& events,
             const ProgressCallback& progress, std::stop_token stop)
      : a_(a), b_(b), request_(request), events_(events), progress_(progress), stop_(std::move(stop)) {}

  Result<CompareResult> run() {
    if (a_.info().task != b_.info().task)
      return Error{ErrorCode::invalid_argument, "The sides do different things", "compare",
                   "choose two models of the same kind"};
    ORRERY_TRY(find_tokens());
    ORRERY_TRY(run_sides());
    if (generates()) take_reply();
    result_.nodes = timed_nodes(a_, b_);
    ORRERY_TRY(stage("Comparing the distributions"));
    if (generates()) ORRERY_TRY(compare_logits(a_, b_, tokens_, result_));
    ORRERY_TRY(stage("Comparing the nodes"));
    ORRERY_TRY(compare_nodes(a_, b_, tokens_, result_));
    find_divergent();
    if (request_.patch && generates()) ORRERY_TRY(patch_nodes());
    return std::move(result_);
  }

 private:
  bool generates() const { return a_.info().task == Task::generate; }

  Result<void> stage(std::string_view words) {
    if (stop_.stop_requested()) return cancelled_error();
    if (progress_) progress_(words, 0, 0);
    return {};
  }

  ChatRequest chat_request(int64_t tokens) const {
    ChatRequest chat;
    chat.messages = request_.messages;
    chat.raw = request_.raw;
    chat.max_tokens = tokens;
    chat.sampling.temperature = 0;
    return chat;
  }

  Result<void> find_tokens() {
    ORRERY_TRY(a_.check_vocabulary());
    if (generates()) {
      ORRERY_ASSIGN(tokens_, a_.prompt_of(chat_request(1)));
    } else {
      tokens_ = generate::encode_within(*a_.engine().tokenizer, request_.raw, a_.text_limit());
    }
    if (tokens_.empty())
      return Error{ErrorCode::invalid_argument, "There is nothing to read", "compare", "give a prompt"};
    return b_.check_ids(tokens_);
  }

  Result<void> run_sides() {
    ORRERY_TRY(stage("Warming up"));
    for (SessionImpl* session : {&a_, &b_}) ORRERY_TRY(warm_up(*session));
    ORRERY_TRY(stage("Running"));
    const auto a = [this] { return measure(a_, Side::a, result_.a, result_.total_a_ms); };
    const auto b = [this] { return measure(b_, Side::b, result_.b, result_.total_b_ms); };
    if (share_device()) {
      ORRERY_TRY(a());
      return b();
    }
    auto other = std::async(std::launch::async, [&b] { return guarded(b); });
    Result<void> here = guarded(a);
    Result<void> there = other.get();
    return here.ok() ? std::move(there) : std::move(here);
  }

  /// Whether any part of either side runs where a part of the other does.
  bool share_device() const {
    const std::set<std::string> on_a = devices_of(a_), on_b = devices_of(b_);
    return std::any_of(on_a.begin(), on_a.end(), [&](const auto& device) { return on_b.contains(device); });
  }
  static std::set<std::string> devices_of(const SessionImpl& session) {
    std::set<std::string> devices{session.options().device};
    for (const NodePlacement& placement : session.placement()) devices.insert(placement.device);
    return devices;
  }

  /// Packs, uploads and captures what the first steps need.
  Result<void> warm_up(SessionImpl& session) {
    session.set_profiling(true);
    ChatResult ignored;
    double ms = 0;
    const Result<void> done = run_once(session, 4, {}, ignored, ms);
    session.engine().model->profiler.clear();
    return done;
  }

  Result<void> measure(SessionImpl& session, Side side, ChatResult& result, double& total_ms) {
    ChatEvents events;
    if (events_.on_prefill)
      events.on_prefill = [this, side](const PrefillEvent& event) { events_.on_prefill(side, event); };
    if (events_.on_token)
      events.on_token = [this, side](const TokenEvent& event) { events_.on_token(side, event); };
    return run_once(session, request_.max_tokens, events, result, total_ms);
  }

  Result<void> run_once(SessionImpl& session, int64_t tokens, const ChatEvents& events, ChatResult& result,
                        double& total_ms) {
    if (!generates()) return encode(session, total_ms);
    const auto sequence = runtime::DeviceScheduler::new_sequence(session.engine().model);
    ORRERY_ASSIGN(result, session.reply(sequence, tokens_, chat_request(tokens), events, stop_));
    if (result.stop_reason == "cancelled") return cancelled_error();
    total_ms = result.prefill_ms + result.decode_ms;
    return {};
  }

  Result<void> encode(SessionImpl& session, double& total_ms) {
    const generate::Engine engine = session.engine();
    const auto start = Clock::now();
    for (int run = 0; run < kEncoderRuns; ++run) {
      runtime::EncodeRequest request;
      request.texts = {tokens_};
      request.on_result = [](size_t, std::span<const float>, double) { return true; };
      request.stop = stop_;
      const auto done = engine.scheduler.encode(engine.model, std::move(request)).get();
      if (!done.ok()) return done.error();
      if (*done == 0) return cancelled_error();
    }
    total_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count() / kEncoderRuns;
    return {};
  }

  /// A's reply continues the text; where the replies part is told.
  void take_reply() {
    const auto& a = result_.a.tokens;
    const auto& b = result_.b.tokens;
    for (size_t i = 0; i < std::max(a.size(), b.size()) && result_.first_different_token < 0; ++i)
      if (i >= a.size() || i >= b.size() || a[i].id != b[i].id)
        result_.first_different_token = static_cast<int64_t>(i);
    for (const TokenEvent& token : a) tokens_.push_back(token.id);
  }

  Result<void> patch_nodes() {
    ORRERY_ASSIGN(const PatchResult patched,
                  patch_tokens(a_, b_, tokens_, request_.patch_places, progress_, stop_));
    result_.patched_stream = request_.patch_places.nodes.empty();
    std::map<std::string_view, double> gone;
    for (const PatchedNode& node : patched.nodes) gone.emplace(node.node, node.gone);
    for (NodeComparison& row : result_.nodes)
      if (const auto found = gone.find(row.node); found != gone.end()) row.gone = found->second;
    result_.patched_kl = patched.kl;
    return {};
  }

  void find_divergent() {
    for (const NodeComparison& row : result_.nodes)
      if (row.difference && !(row.difference->nmse <= request_.divergent_nmse)) {
        result_.first_divergent = row.node;
        return;
      }
  }

  SessionImpl &a_, &b_;
  const CompareRequest& request_;
  const CompareEvents& events_;
  const ProgressCallback& progress_;
  std::stop_token stop_;
  std::vector<int32_t> tokens_;
  CompareResult result_;
};

}  // namespace

Result<CompareResult> compare(Session& a, Session& b, const CompareRequest& request,
                              const CompareEvents& events, const ProgressCallback& progress,
                              std::stop_token stop) {
  return guarded([&]() -> Result<CompareResult> {
    auto* side_a = dynamic_cast<SessionImpl*>(&a);
    auto* side_b = dynamic_cast<SessionImpl*>(&b);
    if (!side_a || !side_b)
      return Error{ErrorCode::unsupported, "These sessions cannot be compared", "compare", ""};
    return Comparison(*side_a, *side_b, request, events, progress, std::move(stop)).run();
  });
}

}  // namespace orrery::api
