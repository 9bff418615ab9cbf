// A session of the tiny model with random weights: edits of it take less than a millisecond or two.
#pragma once

#include <fmt/format.h>

#include <future>
#include <set>

#include "engine/api/session_impl.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/runtime/tiny_model.h"

namespace orrery::api {

/// A word for each token of the tiny model: "w0", "w1", ...
inline std::shared_ptr<const text::Tokenizer> words() {
  std::string vocabulary;
  for (int64_t id = 0; id < runtime::TinyModel::kVocabulary; ++id)
    vocabulary += fmt::format("{}\"w{}\": {}", id == 0 ? "" : ", ", id, id);
  auto tokenizer = text::tokenizer_from_json(fmt::format(
      R"({{"pre_tokenizer": {{"type": "Whitespace"}}, "model": {{"type": "WordLevel", "unk_token": "w0", "vocab": {{{}}}}}}})",
      vocabulary));
  EXPECT_TRUE(tokenizer.ok()) << (tokenizer.ok() ? "" : tokenizer.error().to_string());
  return tokenizer.ok() ? *tokenizer : nullptr;
}

/// A session of a graph and its weights.
struct GraphSession {
  GraphSession(const graph::GraphVersion& graph, std::shared_ptr<const io::ModelFile> file,
               std::shared_ptr<weights::WeightStore> weights, runtime::Model::Options run) {
    run.threads = 1;
    auto scheduler = std::make_shared<runtime::DeviceScheduler>(1, run.device);
    const Preparation preparation = preparation_of(run, "cpu", {});
    auto version = prepare_version(graph, preparation);
    EXPECT_TRUE(version.ok()) << (version.ok() ? "" : version.error().to_string());
    SessionImpl::Parts parts;
    parts.options.precision = "exact";
    parts.info.task = Task::generate;
    parts.source.file = std::move(file);
    parts.tokenizer = words();
    parts.weights = weights;
    parts.scheduler = std::move(scheduler);
    parts.model = std::make_shared<runtime::Model>(std::move(weights), *version, run);
    session =
        std::make_shared<SessionImpl>(std::move(parts), opened_state(version.value()->model, *version, true));
  }

  SessionImpl* operator->() const { return session.get(); }
  runtime::Model& model() const { return *session->engine().model; }

  std::shared_ptr<runtime::Sequence> sequence() const {
    return runtime::DeviceScheduler::new_sequence(session->engine().model);
  }
  runtime::TinyReply reply(const std::vector<int32_t>& text, int64_t count,
                           std::shared_ptr<runtime::Sequence> into = nullptr) const {
    const generate::Engine engine = session->engine();
    return runtime::tiny_reply(engine.scheduler, engine.model, text, count, std::move(into));
  }
  /// A reply that may begin with what others have read.
  runtime::TinyReply sharing(const std::vector<int32_t>& text, int64_t count) const {
    runtime::TinyReply reply;
    runtime::DecodeRequest request = runtime::tiny_request(text, count, &reply);
    request.share_prefix = true;
    const generate::Engine engine = session->engine();
    reply.outcome = engine.scheduler.decode(engine.model, sequence(), std::move(request)).get();
    EXPECT_TRUE(reply.outcome.ok());
    return reply;
  }
  /// Replies to several texts; no step runs before all of them wait.
  std::vector<runtime::TinyReply> replies_at_once(const std::vector<std::vector<int32_t>>& texts,
                                                  int64_t count) const {
    const generate::Engine engine = session->engine();
    std::vector<runtime::TinyReply> replies(texts.size());
    std::vector<std::future<Result<runtime::DecodeOutcome>>> ends;
    std::promise<void> all;
    engine.scheduler.call(runtime::DeviceScheduler::When::between_steps,
                          [there = all.get_future().share()](kernels::ThreadTeam&) { there.wait(); });
    for (size_t i = 0; i < texts.size(); ++i)
      ends.push_back(engine.scheduler.decode(engine.model, sequence(),
                                             runtime::tiny_request(texts[i], count, &replies[i])));
    all.set_value();
    for (size_t i = 0; i < texts.size(); ++i) {
      replies[i].outcome = ends[i].get();
      EXPECT_TRUE(replies[i].outcome.ok());
    }
    return replies;
  }

  std::shared_ptr<SessionImpl> session;
};

struct TinySession : GraphSession {
  explicit TinySession(int layers = 4) : TinySession(runtime::TinyModel(layers)) {}
  explicit TinySession(const runtime::TinyModel& tiny)
      : GraphSession(tiny.graph(), tiny.file, tiny.weights, runtime::TinyModel::exact_options()) {}

  runtime::TinyReply reply(int64_t count, std::shared_ptr<runtime::Sequence> sequence = nullptr) const {
    return GraphSession::reply(runtime::tiny_text(40, 5), count, std::move(sequence));
  }
};

/// One text after another.
inline std::vector<int32_t> joined(std::vector<int32_t> text, const std::vector<int32_t>& more) {
  text.insert(text.end(), more.begin(), more.end());
  return text;
}

inline edit::Edit edit_of(const std::string& words) {
  auto edit = edit::parse_edit(words);
  EXPECT_TRUE(edit.ok()) << words;
  return edit.ok() ? std::move(edit).value() : edit::Edit{};
}

/// Whether a state's parts are of one another: the graph is what its recipe makes, the version was made of
/// that graph, and the version has the cards that its nodes need.
inline testing::AssertionResult belongs_together(const SessionState& state) {
  const auto fails = [] { return testing::AssertionFailure(); };
  const runtime::Version& version = *state.version;
  if (version.model != state.model || version.drawn != state.fused)
    return fails() << "another graph's version";
  const History& history = state.history;
  if (const graph::GraphVersion kept = history.can_undo() ? history.last().graph : history.opened()) {
    if (kept != state.model) return fails() << "another history's graph";
  } else {
    const auto made = replayed(history.opened(), history.recipe());
    if (!made.ok()) return fails() << made.error().to_string();
    if (graph::print(*made->graph) != graph::print(*state.model)) return fails() << "another recipe's graph";
  }
  std::set<std::string> asked, held;
  for (const NodeId id : version.fused->order())
    if (const std::string_view device = graph::device_of(version.fused->node(id)); device.starts_with("cuda"))
      asked.emplace(device);
  for (const weights::DevicePtr& card : version.cards) held.insert(to_string(card->id()));
  if (asked != held) return fails() << "another version's cards";
  return testing::AssertionSuccess();
}

}  // namespace orrery::api
