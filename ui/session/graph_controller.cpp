#include "ui/session/graph_controller.h"

#include <algorithm>
#include <cmath>

#include "engine/api/array_text.h"
#include "ui/session/guarded_job.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr int kFirstNumbers = 4;

/// Of an input node the name that it is given by; null: another node, or one without a name.
const std::string* inputNameOf(const graph::Node& node) {
  const auto name = node.attributes.find("name");
  return node.op->name != "input" || name == node.attributes.end() ? nullptr
                                                                   : std::get_if<std::string>(&name->second);
}

/// Whether a node reads what is given by the name.
bool isRead(const graph::Graph& graph, const std::string& name) {
  for (const NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    const std::string* known = inputNameOf(node);
    if (known && *known == name && !graph.users(node.outputs.front()).empty()) return true;
  }
  return false;
}

/// What the nodes make, but for the outputs, which are told anyway.
std::vector<ValueId> keptOf(const graph::Graph& graph) {
  std::vector<ValueId> values;
  for (const NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    if (node.is_source()) continue;
    for (const ValueId output : node.outputs)
      if (std::find(graph.outputs().begin(), graph.outputs().end(), output) == graph.outputs().end())
        values.push_back(output);
  }
  return values;
}

void addValue(GraphResult& result, ValueId value, std::string path, api::Array array) {
  const api::Statistics statistics = api::statistics_of(array);
  if (result.values.emplace(value, ShownArray{QString::fromStdString(path), std::move(array), statistics})
          .second)
    result.order.push_back(value);
}

/// What was given, at the nodes that read it.
void addGiven(GraphResult& result, const api::RunRequest& request) {
  for (const NodeId id : result.graph->order()) {
    const graph::Node& node = result.graph->node(id);
    const std::string* name = inputNameOf(node);
    const auto given = name ? request.inputs.find(*name) : request.inputs.end();
    if (given != request.inputs.end())
      addValue(result, node.outputs.front(), result.graph->value_path(node.outputs.front()), given->second);
  }
}

}  // namespace

/// An input of a run: its array is made where it runs.
struct GraphController::Asked {
  std::string name, words;
  graph::ValueType type;
};

GraphController::GraphController(SessionController* session, QObject* parent)
    : QObject(parent),
      session_(session),
      checks_(std::make_unique<Worker>()),
      runs_(std::make_unique<Worker>()) {
  connect(session_, &SessionController::opened, this, &GraphController::takeSession);
  connect(session_, &SessionController::graphChanged, this, &GraphController::takeGraph);
}

GraphController::~GraphController() {
  stop_.request_stop();
  runs_.reset();
  checks_.reset();
}

bool GraphController::own() const {
  const SessionPtr session = session_->session();
  return session && session->info().task == api::Task::tensors && session->info().cannot_run.empty();
}

QString GraphController::refusal() const {
  if (!own()) return tr("Values are those of a graph of one's own: make one with File > New graph");
  if (!session_->services().graphs.run) return tr("This program cannot run graphs");
  if (session_->session()->model_graph()->order().empty()) return tr("The graph is empty");
  return {};
}

void GraphController::make(const api::OpenOptions& options) {
  if (!session_->services().graphs.make) return;
  api::OpenOptions exact = options;
  exact.model.clear();
  exact.adapter.clear();
  exact.recipe.clear();
  exact.precision = "exact";  // tensors are computed in their own type
  ++made_;
  session_->open(exact, made_ == 1 ? tr("New graph") : tr("New graph %1").arg(made_));
}

void GraphController::post(quint64 generation, std::function<void()> call) {
  postAnswer(this, generation_, generation, std::move(call));
}

void GraphController::takeSession() {
  if (session_->session() == model_) return;
  const bool moved = session_->moved();
  stop_.request_stop();
  ++generation_;
  model_ = session_->session();
  running_ = false;
  stale_ = false;
  result_.reset();
  inputs_.clear();
  if (moved) return;
  words_.clear();
  saved_.clear();
  const auto read = session_->services().graphs.canvas;
  if (!own() || !read || model_->info().path.empty()) return;
  checks_->post([this, read, path = model_->info().path, generation = generation_](std::stop_token) {
    const auto canvas = guardedJob([&] { return read(path); });
    if (!canvas.ok()) return;  // it was read a moment ago
    post(generation, [this, canvas = canvas.value()] {
      const graph::GraphVersion graph = model_->model_graph();
      for (const auto& [node, words] : canvas.given) {
        const graph::Node* found = graph->find(graph->find_path(node));
        if (const std::string* name = found ? inputNameOf(*found) : nullptr)
          words_[QString::fromStdString(*name)] = QString::fromStdString(words);
      }
      takeGraph();
      stale_ = false;
      markSaved();
      emit canvasRead(canvas);
    });
  });
}

void GraphController::takeGraph() {
  std::vector<GivenInput> before = std::exchange(inputs_, {});
  const auto inputs = own() ? api::inputs_of(*session_->session()->model_graph())
                            : Result<std::vector<api::GraphInput>>(std::vector<api::GraphInput>());
  if (inputs.ok())
    for (const api::GraphInput& input : *inputs) {
      GivenInput given{input, words_[QString::fromStdString(input.name)], {}, {}};
      const auto same = std::find_if(before.begin(), before.end(), [&](const GivenInput& other) {
        return other.input.name == input.name && other.input.type == input.type && other.words == given.words;
      });
      if (same != before.end()) {
        given.is = same->is;
        given.why = same->why;
      } else {
        check(given);
      }
      inputs_.push_back(std::move(given));
    }
  stale_ = result_ != nullptr;
  emit changed();
}

void GraphController::give(const QString& input, const QString& words) {
  words_[input] = words;
  for (GivenInput& given : inputs_) {
    if (QString::fromStdString(given.input.name) != input || given.words == words) continue;
    given.words = words;
    check(given);
    stale_ = result_ != nullptr;
  }
  emit changed();
}

/// Tells a moment later what the words make, if they are still the same.
void GraphController::check(GivenInput& given) {
  given.is.clear();
  given.why.clear();
  if (given.words.trimmed().isEmpty()) return;
  checks_->post([this, name = given.input.name, words = given.words, type = given.input.type,
                 generation = generation_](std::stop_token) {
    const auto made = guardedJob([&] { return api::array_type_in(words.toStdString(), type); });
    const QString is = made.ok() ? QString::fromStdString(to_string(*made)) : QString();
    const QString why = made.ok() ? QString() : QString::fromStdString(made.error().to_string());
    post(generation, [this, name, words, is, why] {
      for (GivenInput& known : inputs_)
        if (known.input.name == name && known.words == words) {
          known.is = is;
          known.why = why;
        }
      emit changed();
    });
  });
}

api::Given GraphController::given() const {
  api::Given given;
  if (!own()) return given;
  const graph::GraphVersion graph = session_->session()->model_graph();
  for (const NodeId id : graph->order()) {
    const graph::Node& node = graph->node(id);
    const std::string* name = inputNameOf(node);
    const auto words = name ? words_.find(QString::fromStdString(*name)) : words_.end();
    if (words != words_.end() && !words->second.isEmpty()) given[node.path()] = words->second.toStdString();
  }
  return given;
}

void GraphController::setKeepsAll(bool keeps) {
  if (keepsAll_ == keeps) return;
  keepsAll_ = keeps;
  emit changed();
}

void GraphController::run() {
  if (running_ || !refusal().isEmpty()) return;
  const graph::GraphVersion graph = session_->session()->model_graph();
  std::vector<Asked> asked;
  for (const GivenInput& given : inputs_)
    if (given.input.needed || !given.words.trimmed().isEmpty() ||
        (keepsAll_ && isRead(*graph, given.input.name)))
      asked.push_back({given.input.name, given.words.toStdString(), given.input.type});
  running_ = true;
  stop_ =
      runs_->post([this, asked = std::move(asked), session = session_->session(), keep = keepsAll_,
                   call = session_->services().graphs.run, generation = generation_](std::stop_token stop) {
        auto result = guardedJob([&]() -> Result<GraphResultPtr> {
          api::RunRequest request;
          for (const Asked& input : asked) {
            auto array = api::array_in(input.words, input.type);
            if (!array.ok()) {
              Error error = array.error();
              if (error.where.empty()) error.where = input.name;
              return error;
            }
            request.inputs.emplace(input.name, std::move(array).value());
          }
          auto made = std::make_shared<GraphResult>();
          made->graph = session->model_graph();
          if (keep) request.keep = keptOf(*made->graph);
          ORRERY_ASSIGN(api::GraphRun run, call(*session, request, stop));
          for (api::RunValue& value : run.outputs)
            addValue(*made, value.value, std::move(value.path), std::move(value.array));
          made->outputs = made->order.size();
          for (api::RunValue& value : run.kept)
            addValue(*made, value.value, std::move(value.path), std::move(value.array));
          addGiven(*made, request);
          made->plan = std::make_shared<const api::PlanReport>(std::move(run.plan));
          made->us = run.us;
          made->profile = std::move(run.profile);
          made->sizes = std::move(run.sizes);
          return GraphResultPtr(std::move(made));
        });
        post(generation, [this, result = std::move(result)] { finish(result); });
      });
  emit changed();
}

void GraphController::stop() {
  if (running_) stop_.request_stop();
}

void GraphController::finish(Result<GraphResultPtr> result) {
  running_ = false;
  if (result.ok()) {
    result_ = std::move(result).value();
    stale_ = result_->graph != session_->session()->model_graph();
    if (!stale_) {
      session_->showProfile(result_->profile);
      session_->requestPlan(api::Phase::prefill);  // its kernels are known from the sizes on
    }
    emit ran();
  } else if (result.error().code != ErrorCode::cancelled) {
    emit failed(result.error());
  }
  emit changed();
}

const ShownArray* GraphController::valueOf(ValueId value) const {
  if (!result_) return nullptr;
  const auto found = result_->values.find(value);
  return found == result_->values.end() ? nullptr : &found->second;
}

QString GraphController::rangeOf(ValueId value) const {
  const ShownArray* shown = valueOf(value);
  if (!shown || shown->statistics.elements == 0) return {};
  QStringList first;
  for (int i = 0; i < std::min<int64_t>(kFirstNumbers, shown->statistics.elements); ++i)
    first += format::number(api::number_at(shown->array, i));
  return QString("%1 … %2:  %3%4")
      .arg(format::number(shown->statistics.least), format::number(shown->statistics.most), first.join(", "),
           shown->statistics.elements > kFirstNumbers ? QStringLiteral(" …") : QString());
}

}  // namespace orrery::ui
