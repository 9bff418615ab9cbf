// A session of the tiny model with random weights: edits of it take less than a millisecond or two.
#pragma once

#include "engine/api/session_impl.h"
#include "tests/engine/runtime/tiny_model.h"

namespace orrery::api {

struct TinySession {
  explicit TinySession(int layers = 4) : tiny(layers) {
    auto scheduler = std::make_shared<runtime::DeviceScheduler>(1);
    runtime::Model::Options run = runtime::TinyModel::exact_options();
    run.threads = 1;
    const Preparation preparation = preparation_of(run, "cpu", true);
    auto version = prepare_version(tiny.graph(), preparation);
    EXPECT_TRUE(version.ok()) << (version.ok() ? "" : version.error().to_string());
    SessionImpl::Parts parts;
    parts.options.exact = true;
    parts.info.task = Task::generate;
    parts.source.file = tiny.file;
    parts.weights = tiny.weights;
    parts.scheduler = std::move(scheduler);
    parts.model = std::make_shared<runtime::Model>(tiny.weights, *version, run);
    session = std::make_shared<SessionImpl>(std::move(parts), opened_state(*version, true));
  }

  SessionImpl* operator->() const { return session.get(); }
  runtime::Model& model() const { return *session->engine().model; }

  runtime::TinyReply reply(int64_t count, std::shared_ptr<runtime::Sequence> sequence = nullptr) const {
    const generate::Engine engine = session->engine();
    return runtime::tiny_reply(engine.scheduler, engine.model, runtime::tiny_text(40, 5), count,
                               std::move(sequence));
  }

  runtime::TinyModel tiny;
  std::shared_ptr<SessionImpl> session;
};

inline edit::Edit edit_of(const std::string& words) {
  auto edit = edit::parse_edit(words);
  EXPECT_TRUE(edit.ok()) << words;
  return edit.ok() ? std::move(edit).value() : edit::Edit{};
}

/// Whether a state's parts are of one another: the graph is what its recipe makes, the version was made of
/// that graph, and the version has the card that its nodes need.
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
  bool on_card = false;
  for (const NodeId id : version.fused->order())
    on_card = on_card || graph::device_of(version.fused->node(id)).starts_with("cuda");
  if (on_card != (version.card != nullptr)) return fails() << "another version's card";
  return testing::AssertionSuccess();
}

}  // namespace orrery::api
