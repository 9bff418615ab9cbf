// A file that cannot run, opened to be looked at: its graph, tensors and metadata. Everything else is refused
// with the reason.
#include "engine/api/shown_session.h"

#include "engine/api/guard.h"
#include "engine/api/inspect.h"
#include "engine/api/own_graph.h"
#include "engine/weights/memory_state.h"
#include "kernels/cpu/isa.h"

namespace orrery::api {
namespace {

class ShownSession final : public Session {
 public:
  ShownSession(OpenOptions options, ModelInfo info, graph::GraphVersion graph)
      : options_(std::move(options)),
        info_(std::move(info)),
        state_(std::make_shared<const SessionState>(
            SessionState{graph, graph, nullptr, false, History(graph)})) {
    limits_.cpu = kernels::isa_summary();
  }

  const ModelInfo& info() const override { return info_; }
  const OpenOptions& options() const override { return options_; }
  SessionStatePtr state() const override { return state_; }
  Result<PlanReport> plan(Phase) override { return PlanReport{}; }
  std::vector<NodePlacement> placement() const override { return {}; }

  std::stop_source submit(Change change, ChangeEvents events) override {
    if (events.on_done) events.on_done({refused(change), state_});
    return std::stop_source(std::nostopstate);
  }
  Result<Preview> preview(const std::vector<edit::Edit>&, std::stop_token) const override {
    return refusal();
  }
  Result<MeasuredChange> measure(const std::vector<edit::Edit>&, std::string_view,
                                 std::stop_token) const override {
    return refusal();
  }

  Result<std::vector<int32_t>> tokenize(std::string_view, bool) const override { return refusal(); }
  std::string detokenize(const std::vector<int32_t>&) const override { return {}; }
  std::string piece(int32_t) const override { return {}; }
  bool is_special(int32_t) const override { return false; }
  Result<std::string> render(const std::vector<Message>&, const TemplateOptions&) const override {
    return refusal();
  }

  Result<ChatResult> chat(const ChatRequest&, const ChatEvents&, std::stop_token) override {
    return refusal();
  }
  ConversationPtr new_conversation() override { return nullptr; }
  std::stop_source start(const ConversationPtr&, ChatRequest, ReplyEvents events) override {
    if (events.on_done) events.on_done(refusal());
    return std::stop_source(std::nostopstate);
  }
  Result<ScoreResult> score(std::string_view, int, std::stop_token) override { return refusal(); }
  Result<std::vector<Classification>> classify(const std::vector<std::string>&, const ClassifyCallback&,
                                               std::stop_token) override {
    return refusal();
  }
  Result<std::vector<Embedding>> embed(const std::vector<std::string>&, std::stop_token) override {
    return refusal();
  }
  Result<std::vector<Relevance>> rerank(const std::string&, const std::vector<std::string>&,
                                        std::stop_token) override {
    return refusal();
  }
  Result<BenchResult> bench(const BenchOptions&, const ProgressCallback&, std::stop_token) override {
    return refusal();
  }

  void set_profiling(bool) override {}
  ProfilePtr profile(Phase) const override { return unmeasured_; }
  void set_tracing(bool) override {}
  Trace trace() const override { return {}; }
  const MachineLimits& limits() const override { return limits_; }
  std::vector<DerivedWeight> derived_weights() const override { return {}; }
  MemoryUse memory_use() const override { return {0, 0, 0, weights::program_bytes()}; }
  int64_t context_used() const override { return 0; }
  std::vector<DeviceVitals> vitals() const override { return {}; }
  void forget_context() override {}
  std::vector<Offer> memory_offers() const override { return {}; }
  Result<std::shared_ptr<Session>> fork(const Fork&, const Watch&) const override { return refusal(); }

 private:
  Error refusal() const {
    return {ErrorCode::unsupported, "This file can be looked at, not run", info_.path, info_.cannot_run};
  }
  Result<std::vector<EditRecord>> refused(const Change& change) const {
    const auto* edits = std::get_if<MakeEdits>(&change);
    if (edits && !edits->edits.empty()) return refusal();
    if (edits || std::holds_alternative<SetFusion>(change)) return std::vector<EditRecord>();
    return Error{ErrorCode::not_found, "Nothing was edited", "", ""};
  }

  OpenOptions options_;
  ModelInfo info_;
  SessionStatePtr state_;
  ProfilePtr unmeasured_ = std::make_shared<const Profile>();
  MachineLimits limits_;
};

Result<std::shared_ptr<Session>> show(const OpenOptions& options, const Error& why,
                                      const ProgressCallback& progress, std::stop_token stop) {
  ORRERY_ASSIGN(const DType kv_type, parse_kv_type(options.kv_type));
  ORRERY_ASSIGN(const ModelPath path, resolve_model(options.model, options.adapter));
  ORRERY_ASSIGN(const ModelSource source, open_source(path, progress, std::move(stop)));
  if (source.file->tensors.empty()) return why;
  std::string cannot_run = why.to_string();
  models::BuiltModel built = build_to_show(source, cannot_run);
  ModelInfo info = describe(source, &built, "", 0, kv_type, 1);
  info.cannot_run = std::move(cannot_run);
  auto graph = std::make_shared<const graph::Graph>(std::move(built.graph));
  return std::shared_ptr<Session>(std::make_shared<ShownSession>(options, std::move(info), std::move(graph)));
}

}  // namespace

Result<std::shared_ptr<Session>> open_or_show(const OpenOptions& options, const ProgressCallback& progress,
                                              std::stop_token stop) {
  if (is_graph_file(options.model) && options.recipe.empty()) {
    OpenOptions exactly = options;  // tensors are computed in their own type
    exactly.precision = name_of(kernels::Precision::exact);
    return open_graph_file(exactly);
  }
  auto session = Session::open(options, progress, stop);
  if (session.ok() || session.error().code != ErrorCode::unsupported || !options.recipe.empty())
    return session;
  auto shown = guarded([&] { return show(options, session.error(), progress, stop); });
  return shown.ok() ? std::move(shown) : std::move(session);
}

}  // namespace orrery::api
