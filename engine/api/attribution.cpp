#include "engine/api/attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "engine/api/compare_values.h"
#include "engine/api/guard.h"
#include "engine/api/session_impl.h"
#include "engine/generate/encode_texts.h"
#include "engine/generate/probe.h"
#include "engine/passes/differentiate.h"
#include "engine/passes/whole_text.h"

namespace orrery::api {
namespace {

constexpr std::string_view kScope = "attribution";

/// The whole text as a number.
std::optional<int32_t> number_in(const std::string& text) {
  int32_t number = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && last == end ? std::optional(number) : std::nullopt;
}

/// The graph of one score for each token, and of the logit that they are of.
class Drawing {
 public:
  explicit Drawing(graph::Graph graph) : graph_(std::move(graph)) {}

  struct Drawn {
    graph::GraphVersion graph;  // its outputs are these two
    ValueId scores, logit;
  };
  Result<Drawn> draw(ValueId logits, int32_t target) {
    ORRERY_ASSIGN(const ValueId embedded, embeddings());
    ORRERY_ASSIGN(const ValueId of_target, logit_of(logits, target));
    ORRERY_ASSIGN(const ValueId logit, add("sum", "logit", {of_target}));
    const passes::Differentiated of{logit};
    ORRERY_ASSIGN(passes::Derivatives made, passes::differentiate(graph_, {&of, 1}, {&embedded, 1}));
    graph_ = std::move(made.graph);
    ORRERY_ASSIGN(const ValueId products, add("mul", "products", {embedded, made.values.front()}));
    ORRERY_ASSIGN(const ValueId scores,
                  add("sum", "scores", {products}, {{"axis", std::vector<int64_t>{-1}}}));
    graph_.set_outputs({scores, logit});
    return Drawn{std::make_shared<const graph::Graph>(std::move(graph_)), scores, logit};
  }

 private:
  Result<ValueId> add(const std::string& op, const std::string& name, std::vector<ValueId> inputs,
                      graph::Attributes attributes = {}) {
    ORRERY_ASSIGN(
        const NodeId id,
        graph_.add_node({op, std::string(kScope), name, std::move(attributes), std::move(inputs), {}, {}}));
    return graph_.node(id).outputs.front();
  }

  /// What tokens are looked up as.
  Result<ValueId> embeddings() const {
    for (const NodeId id : graph_.order()) {
      const graph::Node& node = graph_.node(id);
      if (node.op->name != "embedding") continue;
      const graph::Node& ids = graph_.node(graph_.value(node.inputs.front()).producer);
      const auto name = ids.attributes.find("name");
      if (ids.op->name == "input" && name != ids.attributes.end() &&
          name->second == graph::Attribute(std::string(graph::step_input::token_ids)))
        return node.outputs.front();
    }
    return Error{ErrorCode::unsupported, "The graph looks up no tokens", "attribute",
                 "open a model that reads text"};
  }

  /// The column of the logits. Behind a linear without bias it is made of that row of the weight alone, so
  /// that nothing of the size of a vocabulary comes back.
  Result<ValueId> logit_of(ValueId logits, int32_t target) {
    std::vector<graph::Node> after;  // of the linear: functions of each logit alone
    graph::Node maker = graph_.node(graph_.value(logits).producer);
    while (maker.op->name == "scale" || maker.op->name == "tanh") {
      after.push_back(maker);
      maker = graph_.node(graph_.value(maker.inputs.front()).producer);
    }
    if (!takes_one_row(maker)) {
      const std::vector<int64_t> begin{target}, end{target + 1}, last{-1};
      return add("slice", "target", {logits}, {{"axes", last}, {"starts", begin}, {"stops", end}});
    }
    ORRERY_ASSIGN(const ValueId row,
                  add("split", "target_row", {maker.inputs[1]},
                      {{"axis", int64_t{0}}, {"begin", int64_t{target}}, {"count", int64_t{1}}}));
    graph::Attributes attributes = maker.attributes;
    std::erase_if(attributes, [](const auto& entry) { return graph::is_drawing_attribute(entry.first); });
    ORRERY_ASSIGN(ValueId logit, add("linear", "target", {maker.inputs[0], row}, std::move(attributes)));
    for (size_t i = after.size(); i-- > 0;) {
      ORRERY_ASSIGN(logit, add(after[i].op->name, after[i].name, {logit}, after[i].attributes));
    }
    return logit;
  }

  bool takes_one_row(const graph::Node& maker) const {
    if (maker.op->name != "linear" || maker.inputs[2].valid()) return false;
    const graph::Node& weight = graph_.node(graph_.value(maker.inputs[1]).producer);
    if (weight.op->name != "weight") return false;
    const auto rows = weight.attributes.find("rows"), stacked = weight.attributes.find("stacked");
    return rows->second == graph::Attribute(std::vector<int64_t>()) &&
           stacked->second == graph::Attribute(int64_t{0});
  }

  graph::Graph graph_;
};

class Attributing {
 public:
  Attributing(SessionImpl& session, const AttributionRequest& request, const Watch& watch)
      : session_(session), request_(request), watch_(watch), state_(session.state()) {}

  Result<Attribution> run() {
    ORRERY_TRY(check());
    ORRERY_TRY(watch_.stage("Reading the text"));
    ORRERY_TRY(read_text());
    ORRERY_TRY(choose_target());
    ORRERY_TRY(watch_.stage("Drawing the gradients"));
    ORRERY_ASSIGN(const Drawing::Drawn drawn, drawn_graph());
    ORRERY_TRY(watch_.stage("Compiling the gradients"));
    Preparation preparation = session_.preparation(state_->fusion, {});
    ORRERY_ASSIGN(const auto version, prepare_version(drawn.graph, preparation, {{}, watch_.stop}));
    ORRERY_TRY(watch_.stage("Running the gradients"));
    ORRERY_TRY(run_step(*version));
    return std::move(result_);
  }

 private:
  bool writes() const { return session_.info().task == Task::generate; }
  int64_t outputs() const { return writes() ? 1 : 0; }

  Result<void> check() const {
    const ModelInfo& info = session_.info();
    ORRERY_TRY(session_.check_vocabulary());
    if (info.task == Task::generate || (info.task == Task::classify && !info.classifies_tokens)) return {};
    return Error{ErrorCode::unsupported, "This model gives neither a next token nor a label of a text",
                 info.name, "open one that writes or classifies texts"};
  }

  Result<void> read_text() {
    tokens_ = session_.engine().tokenizer->encode(request_.text, true);
    const int64_t most = std::min({kMostAttributed, session_.engine().model->options().batch_tokens,
                                   session_.text_limit() > 0 ? session_.text_limit() : kMostAttributed});
    if (tokens_.empty())
      return Error{ErrorCode::invalid_argument, "There is no text", "attribute", "give a text"};
    if (static_cast<int64_t>(tokens_.size()) > most)
      return Error{ErrorCode::invalid_argument,
                   fmt::format("The text has {} tokens; {} are attributed at most", tokens_.size(), most),
                   "attribute", "give a shorter one"};
    return session_.check_ids(tokens_);
  }

  /// The target's number, name and probability, from the logits of the session's own step.
  Result<void> choose_target() {
    ORRERY_ASSIGN(const std::vector<float> logits,
                  answer_of({session_, *state_->version}, tokens_, outputs()));
    if (logits.empty())
      return Error{ErrorCode::unsupported, "The model gives no logits", session_.info().name, ""};
    ORRERY_ASSIGN(result_.target, target_among(static_cast<int32_t>(logits.size()), logits));
    result_.target_name = name_of(result_.target);
    const auto target = static_cast<size_t>(result_.target);
    result_.probability =
        double{writes() ? generate::softmax(logits)[target] : generate::label_probabilities(logits)[target]};
    return {};
  }

  Result<int32_t> target_among(int32_t count, const std::vector<float>& logits) const {
    const std::string& asked = request_.target;
    if (asked.empty()) return static_cast<int32_t>(std::ranges::max_element(logits) - logits.begin());
    const auto refused = [&](std::string what, std::string advice) {
      return Error{ErrorCode::invalid_argument, std::move(what), "target", std::move(advice)};
    };
    const auto label = std::ranges::find(session_.info().labels, asked);
    if (!writes() && label != session_.info().labels.end())
      return static_cast<int32_t>(label - session_.info().labels.begin());
    if (const auto number = number_in(asked)) {
      if (*number >= 0 && *number < count) return *number;
      return refused(fmt::format("{} is none of the {} numbers", *number, count), "count from 0");
    }
    if (!writes())
      return refused(fmt::format("\"{}\" is no label", asked.substr(0, 80)),
                     fmt::format("choose one of {}", fmt::join(session_.info().labels, ", ")));
    const std::vector<int32_t> ids = session_.engine().tokenizer->encode(asked, false);
    if (ids.size() == 1 && ids.front() < count) return ids.front();
    return refused(fmt::format("\"{}\" is {} tokens", asked.substr(0, 80), ids.size()),
                   "give one token, as a text or by its id");
  }

  std::string name_of(int32_t target) const {
    if (writes()) return session_.piece(target);
    const auto& labels = session_.info().labels;
    return static_cast<size_t>(target) < labels.size() ? labels[static_cast<size_t>(target)]
                                                       : fmt::format("LABEL_{}", target);
  }

  Result<Drawing::Drawn> drawn_graph() const {
    ORRERY_ASSIGN(graph::Graph graph, passes::with_whole_text(*state_->model));
    ORRERY_ASSIGN(const ValueId logits, answer_value(graph, outputs()));
    return Drawing(std::move(graph)).draw(logits, result_.target);
  }

  Result<void> run_step(const runtime::Version& version) {
    const auto begin = std::chrono::steady_clock::now();
    ORRERY_ASSIGN(const auto probe, generate::Probe::run(session_.engine(), version, version.fused->outputs(),
                                                         {tokens_, outputs()}));
    ORRERY_ASSIGN(const std::vector<float> scores, probe->read(0));
    ORRERY_ASSIGN(const std::vector<float> logit, probe->read(1));
    result_.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    result_.logit = double{logit.front()};
    for (size_t i = 0; i < tokens_.size(); ++i)
      result_.tokens.push_back({tokens_[i], session_.piece(tokens_[i]), double{scores[i]}});
    return {};
  }

  SessionImpl& session_;
  const AttributionRequest& request_;
  const Watch& watch_;
  SessionStatePtr state_;
  std::vector<int32_t> tokens_;
  Attribution result_;
};

}  // namespace

Result<Attribution> attribute(Session& session, const AttributionRequest& request, const Watch& watch) {
  return guarded([&]() -> Result<Attribution> {
    auto* own = dynamic_cast<SessionImpl*>(&session);
    if (!own)
      return Error{ErrorCode::invalid_argument, "Only a session of a model is attributed",
                   session.info().name, ""};
    return Attributing(*own, request, watch).run();
  });
}

}  // namespace orrery::api
