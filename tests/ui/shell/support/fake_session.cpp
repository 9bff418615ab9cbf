#include "support/fake_session.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <thread>

#include "support/fake_placement.h"
#include "tests/support/made_profile.h"

namespace orrery::ui::testing {
namespace {

using graph::NodeView;
using graph::ValueType;

Result<std::vector<ValueType>> sourceType(const NodeView& view) {
  const auto rows = view.attributes->find("rows"), cols = view.attributes->find("cols");
  if (rows == view.attributes->end())
    return std::vector<ValueType>{{DType::f32, {Dim(kTokens), Dim(std::get<int64_t>(cols->second))}}};
  return std::vector<ValueType>{
      {DType::q4_1, {Dim(std::get<int64_t>(rows->second)), Dim(std::get<int64_t>(cols->second))}}};
}
Result<std::vector<ValueType>> sameType(const NodeView& view) {
  return std::vector<ValueType>{*view.inputs.front()};
}
graph::Cost noCost(const NodeView&, const Bindings&) { return {}; }

std::shared_ptr<const graph::OpRegistry> fakeOps() {
  using graph::OpFamily;
  return std::make_shared<const graph::OpRegistry>(std::vector<graph::OpSchema>{
      {"input",
       OpFamily::source,
       "",
       {},
       {"out"},
       {{"name", "", std::string()}, {"cols", "", int64_t{1}}},
       sourceType,
       noCost},
      {"weight",
       OpFamily::source,
       "",
       {},
       {"out"},
       {{"tensor", "", std::string()}, {"rows", "", int64_t{1}}, {"cols", "", int64_t{1}}},
       sourceType,
       noCost},
      {"rms_norm",
       OpFamily::norm,
       "scales each row to unit mean square",
       {{"src"}},
       {"out"},
       {{"eps", "Added to the mean square", 1e-5}},
       sameType,
       noCost},
      {"linear",
       OpFamily::linear,
       "multiplies each row by a weight",
       {{"src"}, {"weight", true, false}},
       {"out"},
       {},
       sameType,
       noCost},
      {"add", OpFamily::elementwise, "adds two values", {{"a"}, {"b"}}, {"out"}, {}, sameType, noCost},
      {std::string(graph::kTransferOp),
       OpFamily::data_movement,
       "carries a value to the device that reads it next",
       {{"src"}},
       {"out"},
       {},
       sameType,
       noCost},
  });
}

class Counted : public FakeSession {
 public:
  Counted(const api::OpenOptions& options, FakePlan plan, std::shared_ptr<std::atomic<int>> count)
      : FakeSession(options, plan), count_(std::move(count)) {
    ++*count_;
  }
  ~Counted() override { --*count_; }

 private:
  std::shared_ptr<std::atomic<int>> count_;
};

/// Only layers can be edited.
Result<void> fakeFit(const edit::Edit& edit) {
  const auto scope = edit.fields.find("scope");
  if (scope != edit.fields.end() && (scope->second.rfind("layers.", 0) == 0 || edit.op == "precision"))
    return {};
  return Error{ErrorCode::invalid_argument, "The scope has no residual stream",
               scope == edit.fields.end() ? "" : scope->second, "choose a layer"};
}

constexpr const char* kWords[] = {"Planets", " farther", " from",    " the",     " Sun",     " move",
                                  " more",   " slowly",  " because", " gravity", " weakens", ".\n"};

}  // namespace

graph::GraphVersion fakeGraph(int layers) {
  graph::Graph graph(fakeOps());
  const auto add = [&](graph::Graph::NewNode node) {
    const auto id = graph.add_node(std::move(node));
    if (!id.ok()) throw std::runtime_error(id.error().to_string());
    return graph.node(*id).outputs.front();
  };
  ValueId stream =
      add({"input", "", "hidden", {{"name", std::string("hidden")}, {"cols", int64_t{64}}}, {}, {}, {}});
  for (int layer = 0; layer < layers; ++layer) {
    const std::string scope = "layers." + std::to_string(layer);
    const ValueId normed = add({"rms_norm", scope, "norm", {}, {stream}, {}, {}});
    const ValueId weight = add(
        {"weight",
         scope,
         "proj.weight",
         {{"tensor", "blk." + std::to_string(layer) + ".proj"}, {"rows", int64_t{64}}, {"cols", int64_t{64}}},
         {},
         {},
         {}});
    const ValueId projected = add({"linear", scope, "proj", {}, {normed, weight}, {}, {}});
    stream = add({"add", scope, "residual", {}, {stream, projected}, {}, {}});
  }
  stream = add({"linear", "", "head", {}, {stream}, {}, {}});
  graph.set_outputs({stream});
  return std::make_shared<const graph::Graph>(std::move(graph));
}

FakeSession::FakeSession(const api::OpenOptions& options, FakePlan plan) : options_(options), plan_(plan) {
  info_.name = std::filesystem::path(options.model).filename().string();
  info_.path = options.model;
  info_.format = "GGUF";
  info_.task = plan.task;
  info_.main_dtype = "Q4_1";
  info_.bytes = 98'000'000;
  info_.context_length = 8192;
  info_.memory.context = 8192;
  if (plan.task == api::Task::classify) info_.labels = {"negative", "positive"};
  limits_ = {{{1e6, 20e9}}, {200e9}, 2, "AVX2"};
  adopt(api::History(fakeGraph(plan.task == api::Task::classify ? 2 : 4)));
}

void FakeSession::adopt(api::History history) {
  auto state = std::make_shared<api::SessionState>(
      api::SessionState{nullptr, nullptr, nullptr, true, std::move(history)});
  state->model = placed(state->history.opened(), state->history.recipe());
  state->fused = withTransfers(*state->model, options_.device);
  const std::lock_guard lock(mutex_);
  state_ = std::move(state);
  ++generation_;
  read_ = decoded_ = 0;
  prompts_.clear();
  latencies_.clear();
}

api::SessionStatePtr FakeSession::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::vector<api::NodePlacement> FakeSession::placement() const {
  return placementOf(*model_graph(), options_.device);
}

Result<api::PlanReport> FakeSession::plan(api::Phase) {
  const graph::GraphVersion fused = fused_graph();
  std::map<NodeId, api::NodePlacement> moved;
  for (api::NodePlacement& place : placement()) moved[place.node] = std::move(place);
  api::PlanReport report;
  for (const NodeId id : fused->order()) {
    const graph::Node& node = fused->node(id);
    if (node.is_source()) continue;
    api::PlanStep step;
    step.node = id;
    step.path = node.path();
    step.op = node.op->name;
    step.device = graph::device_of(node).empty() ? options_.device : std::string(graph::device_of(node));
    step.kernel = graph::is_transfer(node) ? "transfer.to_device" : "cpu.avx2";
    step.refused = {{"cpu.avx512", "this CPU has no AVX-512"}};
    step.not_asked = {"ref"};
    step.flops = 1e6;
    step.bytes = 1e5;
    step.asked = moved.contains(id) ? moved[id].asked : step.device;
    step.reason = moved.contains(id) ? moved[id].reason : "";
    if (node.op->family == graph::OpFamily::linear) {
      const std::string_view asked = graph::precision_of(node);
      step.precision = asked.empty() ? options_.precision : std::string(asked);
      step.computes = asked == "exact" ? "float32" : "int16";
      if (asked == "bf16") step.precision_reason = "Q4_1 weights are not dense";
    }
    report.steps.push_back(std::move(step));
  }
  return report;
}

class FakeSession::Edits {
 public:
  using Made = Result<std::vector<api::EditRecord>>;
  explicit Edits(api::History& history) : history_(history) {}

  Made operator()(const api::MakeEdits& change) {
    std::vector<api::EditRecord> records;
    for (const edit::Edit& edit : change.edits) {
      ORRERY_TRY(fakeFit(edit));
      const std::string& scope = edit.fields.at("scope");
      records.push_back({edit.op + " " + scope, edit.op + " scope=" + scope, edit.op == "place"});
      history_.add({records.back(), {{edit, change.recipe}}, false, history_.opened()});
    }
    return records;
  }
  Made operator()(const api::UndoEdit&) {
    if (!history_.can_undo()) return Error{ErrorCode::not_found, "There is nothing to undo", "", ""};
    const api::EditRecord record = history_.last().record;
    history_.move_to(history_.position() - 1, false);
    return Made({{record.name, "", false}});
  }
  Made operator()(const api::RedoEdit&) {
    if (!history_.can_redo()) return Error{ErrorCode::not_found, "There is nothing to redo", "", ""};
    history_.move_to(history_.position() + 1, false);
    return Made({{history_.last().record.name, "", false}});
  }
  Made operator()(const api::JumpTo& change) {
    history_.move_to(change.steps, false);
    return Made({{"as it was opened", "", false}});
  }
  Made operator()(const api::RestoreNodes& change) {
    return made_without(
        [&](const api::RecipeEdit& entry) { return entry.edit.fields.at("scope") == change.scopes; },
        "restore " + change.scopes);
  }
  Made operator()(const api::SwitchRecipe& change) {
    std::vector<api::RecipeEdit> entries = history_.entries();
    for (api::RecipeEdit& entry : entries)
      if (entry.recipe == change.name) entry.on = change.on;
    return anew(std::move(entries), "recipe " + change.name);
  }
  Made operator()(const api::SetFusion&) { return Made(std::vector<api::EditRecord>()); }
  Made operator()(const api::SetPasses&) { return Made(std::vector<api::EditRecord>()); }
  Made operator()(const api::SetSizes&) { return Made(std::vector<api::EditRecord>()); }

 private:
  Made anew(std::vector<api::RecipeEdit> entries, const std::string& name) {
    const api::EditRecord record{name, "", false};
    history_.add({record, std::move(entries), true, history_.opened()});
    return Made({record});
  }
  template <class Goes>
  Made made_without(const Goes& goes, const std::string& name) {
    std::vector<api::RecipeEdit> entries = history_.entries();
    if (std::erase_if(entries, goes) == 0) return Error{ErrorCode::not_found, "No edit changes it", name, ""};
    return anew(std::move(entries), name);
  }

  api::History& history_;
};

Result<std::vector<api::EditRecord>> FakeSession::make(const api::Change& change, const Watch& watch) {
  api::History history = state()->history;
  ORRERY_ASSIGN(auto records, std::visit(Edits(history), change));
  do {
    ORRERY_TRY(watch.stage("Uploading to NVIDIA H200", 12, 40));
    if (*plan_.editsHeld) std::this_thread::sleep_for(plan_.perToken);
  } while (*plan_.editsHeld);
  adopt(std::move(history));
  return records;
}

std::stop_source FakeSession::submit(api::Change change, api::ChangeEvents events) {
  return edits_.post([this, change = std::move(change), events = std::move(events)](std::stop_token stop) {
    const auto records = make(change, {events.on_progress, std::move(stop)});
    events.on_done({records, state()});
  });
}

Result<api::Preview> FakeSession::preview(const std::vector<edit::Edit>&, std::stop_token) const {
  return api::Preview{};
}

Result<api::MeasuredChange> FakeSession::measure(const std::vector<edit::Edit>&, std::string_view,
                                                 std::stop_token) const {
  return api::MeasuredChange{
      .kl = 0.0021, .top1_agreement = 0.97, .cosine = {}, .tokens = 120, .positions = 64};
}

std::vector<api::DeviceVitals> FakeSession::vitals() const {
  std::vector<api::DeviceVitals> cards;
  if (options_.device != "cpu")
    cards.push_back({options_.device, "AVX2", 211'000'000, 141'000'000'000, 1980, 320, 41, 0.9});
  for (const std::string& device : plan_.cards)
    cards.push_back({device, "Test device", 64'000'000, 24'000'000'000, 1410, 170, 38, 0.4});
  return cards;
}

Result<SessionPtr> FakeSession::fork(const api::Fork& otherwise, const Watch&) const {
  api::OpenOptions options = options_;
  if (otherwise.context > 0) options.context = otherwise.context;
  if (!otherwise.kv_type.empty()) options.kv_type = otherwise.kv_type;
  FakePlan plan = plan_;
  plan.failReply = false;
  auto session = std::make_shared<FakeSession>(options, plan);
  session->adopt(state()->history);
  const auto edited = session->replay(otherwise.edits);
  if (!edited.ok()) return edited.error();
  return SessionPtr(std::move(session));
}

Result<std::vector<int32_t>> FakeSession::tokenize(std::string_view text, bool) const {
  return std::vector<int32_t>(text.size(), 1);
}
std::string FakeSession::detokenize(const std::vector<int32_t>& ids) const {
  return std::string(ids.size(), 'x');
}
std::string FakeSession::piece(int32_t id) const {
  return kWords[static_cast<size_t>(id) % std::size(kWords)];
}
Result<std::string> FakeSession::render(const std::vector<api::Message>&, const api::TemplateOptions&) const {
  return std::string();
}

Result<api::ChatResult> FakeSession::chat(const api::ChatRequest& request, const api::ChatEvents& events,
                                          std::stop_token stop) {
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
  }
  if (plan_.failReply)
    return Error{plan_.failure, "The context does not fit", "8192 tokens", "choose a smaller context"};
  events.on_prefill({49, 49, 33});
  api::ChatResult result;
  result.stop_reason = plan_.stopReason;
  for (int i = 0; i < plan_.tokens; ++i) {
    if (stop.stop_requested()) {
      result.stop_reason = "cancelled";
      break;
    }
    std::this_thread::sleep_for(plan_.perToken);
    api::TokenEvent token;
    token.id = i;
    token.piece = token.text = piece(i);
    token.logprob = -0.89F;
    token.top = {{i, token.piece, -0.89F}, {100, " is", -1.51F}, {101, " becomes", -2.04F}};
    token.step_ms = i == 0 ? 33 : 4.2 + 0.1 * (i % 5);
    token.position = 49 + i;
    result.text += token.text;
    result.tokens.push_back(token);
    recordToken(token);
    context_ = token.position + 1;
    events.on_token(token);
  }
  result.prompt_tokens = 49;
  result.prefill_ms = 33;
  result.decode_ms = 4.3 * plan_.tokens;
  result.prefill_tokens_per_second = 1485;
  result.decode_tokens_per_second = 232;
  result.time_to_first_token_ms = 41;
  return result;
}

void FakeSession::recordToken(const api::TokenEvent& token) {
  const std::lock_guard lock(mutex_);
  ++generation_;
  std::vector<int64_t>& times = token.position == 49 ? prompts_ : latencies_;
  ++(token.position == 49 ? read_ : decoded_);
  times.push_back(std::llround(token.step_ms * 1e6));
  if (times.size() > api::kProfileRuns) times.erase(times.begin());
}

api::ConversationPtr FakeSession::new_conversation() { return nullptr; }

std::stop_source FakeSession::start(const api::ConversationPtr&, api::ChatRequest request,
                                    api::ReplyEvents events) {
  return edits_.post([this, request = std::move(request), events = std::move(events)](std::stop_token stop) {
    events.on_done(chat(request, events, std::move(stop)));
  });
}

Result<api::ScoreResult> FakeSession::score(std::string_view, int, std::stop_token) {
  return api::ScoreResult{};
}

Result<std::vector<api::Classification>> FakeSession::classify(const std::vector<std::string>& texts,
                                                               const api::ClassifyCallback& on_result,
                                                               std::stop_token stop) {
  std::vector<api::Classification> results;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (stop.stop_requested()) return cancelled_error();
    std::this_thread::sleep_for(plan_.perToken);
    const bool good = texts[i].find("good") != std::string::npos;
    const float p = good ? 0.9F : 0.2F;
    results.push_back({texts[i], good ? "positive" : "negative", {1 - p, p}, {0, 0}, 1, {}});
    {
      const std::lock_guard lock(mutex_);
      ++generation_;
      ++read_;
      prompts_.push_back(1'000'000);
    }
    if (!on_result(i, results.back())) return cancelled_error();
  }
  return results;
}

Result<std::vector<api::Embedding>> FakeSession::embed(const std::vector<std::string>&, std::stop_token) {
  return std::vector<api::Embedding>{};
}
Result<std::vector<api::Relevance>> FakeSession::rerank(const std::string&, const std::vector<std::string>&,
                                                        std::stop_token) {
  return std::vector<api::Relevance>{};
}
Result<api::BenchResult> FakeSession::bench(const api::BenchOptions&, const ProgressCallback&,
                                            std::stop_token) {
  return api::BenchResult{};
}

/// Nodes of 10 µs and more, each a fifth longer than the one before; empty until something ran on the graph.
ProfilePtr FakeSession::profile(api::Phase phase) const {
  const std::lock_guard lock(mutex_);
  ProfilePtr& last = profiles_[phase == api::Phase::decode];
  if (last && last->generation == generation_) return last;
  const bool written = phase == api::Phase::decode;
  const size_t runs = static_cast<size_t>(std::min<int64_t>(written ? decoded_ : read_, api::kProfileRuns));
  api::testing::MadeProfile made(runs, phase);
  double us = 10;
  for (const NodeId id : state_->fused->order()) {
    if (state_->fused->node(id).is_source()) continue;
    if (runs > 0) made.add(id, us, {id, us * 2e4, us * 4e4, false});
    us *= 1.2;
  }
  api::Profile& profile = made.profile();
  profile.generation = generation_;
  profile.model_graph = state_->model;
  profile.fused_graph = state_->fused;
  profile.tokens = written ? 1 : 49;
  profile.overhead_share = 0.011;
  profile.latency = api::summarise(written ? latencies_ : prompts_, phase);
  return last = made.make();
}

/// One step of one node for each token that was written.
api::Trace FakeSession::trace() const {
  api::Trace trace;
  trace.title = info_.name + " on " + options_.device;
  if (!tracing) return trace;
  trace.tracks = {{options_.device, api::TraceTrack::Kind::steps},
                  {options_.device, api::TraceTrack::Kind::nodes}};
  trace.names = {{"decode", "", ""}, {"head", "linear", "cpu.avx2"}};
  const std::lock_guard lock(mutex_);
  for (int64_t step = 0; step < read_ + decoded_; ++step) {
    const int64_t begin = step * 4'000'000;
    trace.spans.push_back({0, 0, begin, begin + 3'900'000, 1, 1, 2e5, 4e5});
    trace.spans.push_back({1, 1, begin + 1000, begin + 3'000'000, 1, 1, 2e5, 4e5});
  }
  return trace;
}

std::vector<api::ChatRequest> FakeSession::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

/// Both sides write their replies one after the other; b takes half of a's time, and the head differs.
Result<api::CompareResult> fakeCompare(api::Session& a, api::Session& b, const api::CompareRequest& request,
                                       const api::CompareEvents& events, const ProgressCallback& progress,
                                       std::stop_token stop) {
  if (request.messages.empty() && request.raw.empty())
    return Error{ErrorCode::invalid_argument, "There is nothing to read", "compare", "give a prompt"};
  api::CompareResult result;
  api::ChatRequest chat;
  chat.messages = request.messages;
  for (const api::Side side : {api::Side::a, api::Side::b}) {
    progress("Running", 0, 0);
    const api::ChatEvents told{[&](const api::PrefillEvent& event) { events.on_prefill(side, event); },
                               [&](const api::TokenEvent& event) { events.on_token(side, event); }};
    ORRERY_ASSIGN((side == api::Side::a ? result.a : result.b),
                  (side == api::Side::a ? a : b).chat(chat, told, stop));
  }
  if (stop.stop_requested()) return cancelled_error();
  double us = 10;
  for (const NodeId id : a.model_graph()->order()) {
    const graph::Node& node = a.model_graph()->node(id);
    if (node.is_source()) continue;
    const bool head = node.path() == "head";
    result.nodes.push_back({node.path(), id, id, us, us / 2, false,
                            api::Difference{head ? 1.0 : 0.0, head ? 0.1 : 0.0, head ? 0.95 : 1.0}});
    us += 10;
  }
  result.first_divergent = "head";
  result.kl = 0.4;
  result.top1_agreement = 1;
  result.positions = 20;
  result.probed_tokens = 20;
  result.total_a_ms = 200;
  result.total_b_ms = 100;
  return result;
}

Services FakeEngine::services() const {
  Services services;
  services.open = [*this](const api::OpenOptions& options, const ProgressCallback& progress,
                          std::stop_token stop) -> Result<SessionPtr> {
    progress("Reading " + options.model, 1, 2);
    if (options.model.ends_with("corrupt.gguf"))
      return Error{ErrorCode::corrupt_file,
                   "Tensor blk.3.ffn_up.weight ends 4096 bytes past the end of the file", options.model,
                   "download it again"};
    if (options.model == "slow") {
      ++*slowStarted;
      while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++*slowStopped;
      return cancelled_error();
    }
    if (options.model == "large" && options.device == "cuda:0" && options.context != 2048)
      return Error{ErrorCode::out_of_memory, "It takes 800 MB, 300 MB are free", "cuda:0",
                   "use --context 2048"};
    FakePlan plan = chat;
    if (options.device == "cpu") plan.failReply = plan.failReply && chat.failure != ErrorCode::device;
    if (options.model == "sentiment") plan.task = api::Task::classify;
    return SessionPtr(std::make_shared<Counted>(options, plan, openSessions));
  };
  services.listModels = [](const std::vector<std::string>&) {
    return std::vector<api::LibraryEntry>{
        {"chat", "/models/chat.gguf", "", "GGUF", "llama", "Q4_1", 135'000'000, 98'000'000},
        {"sentiment", "/models/minilm", "/models/sentiment", "HF", "bert", "f32", 22'000'000, 91'000'000}};
  };
  services.memoryDemand = [](const api::OpenOptions& options) -> Result<api::MemoryDemand> {
    if (options.model.ends_with("corrupt.gguf"))
      return Error{ErrorCode::corrupt_file, "The file is cut off", options.model, "download it again"};
    api::MemoryDemand demand;
    demand.name = options.model;
    demand.cpu = {98'000'000, 10'000'000, ""};
    demand.cuda = {100'000'000, 20'000'000, ""};
    demand.model_context = 8192;
    demand.page_tokens = 32;
    demand.page_bytes = {{"f16", 2'560'000}, {"bf16", 2'560'000}, {"f32", 5'120'000}};  // 80 kB a token
    return demand;
  };
  services.canBypass = [](const graph::Graph&, std::string_view scope) -> Result<void> {
    if (scope.find('.', 7) == std::string_view::npos)
      return fakeFit({"bypass", {{"scope", std::string(scope)}}});
    return Error{ErrorCode::invalid_argument, "2 activations enter it, not one", std::string(scope), ""};
  };
  services.recipes = {edit::read_recipe, edit::parse_recipe, edit::write_recipe,
                      [](const graph::Graph&, const std::vector<edit::Edit>& edits) {
                        std::vector<edit::Misfit> misfits;
                        for (size_t i = 0; i < edits.size(); ++i)
                          if (const Result<void> fits = fakeFit(edits[i]); !fits.ok())
                            misfits.push_back({i, fits.error()});
                        return misfits;
                      }};
  services.writeTrace = [](const std::vector<api::Trace>& traces) {
    std::string text;
    for (const api::Trace& trace : traces)
      text += trace.title + ": " + std::to_string(trace.spans.size()) + " spans\n";
    return text;
  };
  services.cudaRefusal = "This build has no CUDA module";
  if (!devices.empty())
    services.listDevices = [devices = devices, held = devicesHeld] {
      while (*held) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return devices;
    };
  services.compare = fakeCompare;
  return services;
}

}  // namespace orrery::ui::testing
