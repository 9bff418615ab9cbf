#include "ui/session/depth_controller.h"

#include <algorithm>

#include "ui/session/guarded_job.h"

namespace orrery::ui {
namespace {

constexpr int kDepthTellMilliseconds = 100, kDepthAskMilliseconds = 400;
constexpr int64_t kTellingTokens = 500;  // of a stretch: shorter ones are mostly the first steps of it
constexpr double kTellingShare = 0.1;    // of a stretch that is being read
constexpr std::string_view kFastmaxKind = "fastmax";

/// Whether a node of the model attends, by Fastmax or otherwise.
bool attends(const graph::Graph& graph, bool fastmax) {
  return std::ranges::any_of(graph.order(), [&](NodeId id) {
    const graph::Node& node = graph.node(id);
    if (node.op->name != "attention") return false;
    const auto kind = node.attributes.find("kind");
    const bool is =
        kind != node.attributes.end() && kind->second == graph::Attribute(std::string(kFastmaxKind));
    return is == fastmax;
  });
}

double rateOf(const api::BenchResult::Depth& point) {
  return point.read > 0 ? point.read_ms / static_cast<double>(point.read) : 0;
}

double middleOf(const api::BenchResult::Depth& point) {
  return static_cast<double>(point.tokens) - static_cast<double>(point.read) / 2;
}

}  // namespace

double secondsToRead(const std::vector<api::BenchResult::Depth>& points, int64_t from, int64_t to) {
  if (points.empty() || to <= from) return 0;
  const api::BenchResult::Depth& last = points.back();
  double slope = 0;
  const auto tells = [](const api::BenchResult::Depth& point) { return point.read >= kTellingTokens; };
  if (points.size() > 1 && tells(last) && tells(points[points.size() - 2])) {
    const api::BenchResult::Depth& before = points[points.size() - 2];
    slope = std::max(0.0, (rateOf(last) - rateOf(before)) / (middleOf(last) - middleOf(before)));
  }
  const double middle = static_cast<double>(from + to) / 2;
  const double rate = rateOf(last) + slope * std::max(0.0, middle - middleOf(last));
  return rate * static_cast<double>(to - from) * 1e-3;
}

DepthController::DepthController(SessionController* session, QObject* parent)
    : QObject(parent), session_(session), worker_(std::make_unique<Worker>()) {
  telling_.setSingleShot(true);
  telling_.setInterval(kDepthTellMilliseconds);
  connect(&telling_, &QTimer::timeout, this, &DepthController::advanced);
  asking_.setSingleShot(true);
  asking_.setInterval(kDepthAskMilliseconds);
  connect(&asking_, &QTimer::timeout, this, &DepthController::ask);
  connect(session_, &SessionController::opened, this, [this] {
    if (session_->session() != model_) forget();
  });
}

DepthController::~DepthController() {
  stop_.request_stop();
  asked_.request_stop();
  worker_.reset();
}

QString DepthController::refusal() const {
  const SessionPtr session = session_->session();
  if (!session) return "Open a model to measure";
  if (!session_->services().depths.measure) return "This program cannot measure depths";
  if (!session->info().cannot_run.empty()) return QString::fromStdString(session->info().cannot_run);
  if (session->info().task != api::Task::generate) return "Only a model that writes text has a depth";
  return {};
}

QString DepthController::refusal(DepthBeside beside) const {
  const SessionPtr session = session_->session();
  if (!session || beside == DepthBeside::nothing) return {};
  if (beside == DepthBeside::opened)
    return session_->recipe().empty() ? QStringLiteral("The model is as it was opened") : QString();
  return attends(*session->model_graph(), false) ? QString()
                                                 : QStringLiteral("The model has no softmax attention");
}

DepthBeside DepthController::telling() const {
  for (const DepthBeside beside : {DepthBeside::opened, DepthBeside::fastmax})
    if (refusal(beside).isEmpty()) return beside;
  return DepthBeside::nothing;
}

api::DepthsRequest DepthController::requestOf(const std::vector<int64_t>& depths, DepthBeside beside) const {
  api::DepthsRequest request;
  request.depths = depths;
  if (beside == DepthBeside::opened) request.sides = {{.opened = true}, {}};
  if (beside == DepthBeside::fastmax) {
    const edit::Edit edit{"attention", {{"scope", "*"}, {"kind", std::string(kFastmaxKind)}}};
    request.sides = {{}, {.edits = {edit}}};
  }
  return request;
}

QStringList DepthController::names() const {
  const SessionPtr session = session_->session();
  switch (beside_) {
    case DepthBeside::opened:
      return {"as it was opened", "edited"};
    case DepthBeside::fastmax:
      return {session_->recipe().empty() ? "softmax" : "as it is", "Fastmax"};
    case DepthBeside::nothing:
      break;
  }
  return {session_->recipe().empty() ? "as it was opened" : "edited"};
}

void DepthController::post(quint64 generation, std::function<void()> call) {
  postAnswer(this, generation_, generation, std::move(call));
}

void DepthController::choose(const std::vector<int64_t>& depths, DepthBeside beside) {
  chosenDepths_ = depths;
  beside_ = beside;
  demand_.reset();
  demandRefusal_.clear();
  ++question_;
  asked_.request_stop();
  if (!running_) asking_.start();
  emit demandChanged();
}

void DepthController::ask() {
  const SessionPtr session = session_->session();
  if (running_ || chosenDepths_.empty() || !refusal().isEmpty() || !session_->services().depths.demand)
    return;
  const quint64 question = ++question_;
  asked_ = worker_->post([this, question, session, request = requestOf(chosenDepths_, beside_),
                          call = session_->services().depths.demand](std::stop_token stop) {
    postAnswer(this, question_, question,
               [this, result = guardedJob([&] { return call(*session, request, stop); })] {
                 if (result.ok())
                   demand_ = result.value();
                 else if (result.error().code != ErrorCode::cancelled)
                   demandRefusal_ = QString::fromStdString(result.error().to_string());
                 emit demandChanged();
               });
  });
}

void DepthController::start() {
  const SessionPtr session = session_->session();
  if (running_ || chosenDepths_.empty() || !refusal().isEmpty() || !refusal(beside_).isEmpty()) return;
  asking_.stop();
  asked_.request_stop();
  running_ = true;
  stopped_ = false;
  model_ = session;
  recipe_ = session_->recipe();
  depths_ = chosenDepths_;
  curves_.clear();
  for (const QString& name : names()) curves_.push_back({name, {}});
  progress_.reset();
  const quint64 generation = ++generation_;
  const api::DepthEvents events{.on_point =
                                    [this, generation](const api::DepthPoint& point) {
                                      post(generation, [this, point] {
                                        curves_[point.side].points.push_back(point.at);
                                        tellSoon();
                                      });
                                    },
                                .on_progress =
                                    [this, generation](const api::DepthProgress& progress) {
                                      post(generation, [this, progress] {
                                        if (progress.read == 0) stretch_.start();
                                        progress_ = progress;
                                        tellSoon();
                                      });
                                    }};
  stop_ = worker_->post([this, generation, session, request = requestOf(depths_, beside_), events,
                         call = session_->services().depths.measure](std::stop_token stop) {
    post(generation, [this, result = guardedJob([&] { return call(*session, request, events, stop); })] {
      finish(result);
    });
  });
  emit changed();
}

void DepthController::tellSoon() {
  if (!telling_.isActive()) telling_.start();
}

void DepthController::finish(const Result<void>& result) {
  running_ = false;
  telling_.stop();
  progress_.reset();
  stopped_ = !result.ok();
  if (!result.ok() && result.error().code != ErrorCode::cancelled)
    emit failed(describeError("Could not measure", result.error()));
  if (!demand_) asking_.start();
  emit changed();
}

void DepthController::stop() {
  if (running_) stop_.request_stop();
}

/// Another model is open.
void DepthController::forget() {
  stop_.request_stop();
  asked_.request_stop();
  ++generation_;
  ++question_;
  running_ = stopped_ = false;
  model_ = nullptr;
  demand_.reset();
  demandRefusal_.clear();
  depths_.clear();
  curves_.clear();
  progress_.reset();
  emit changed();
}

bool DepthController::complete() const {
  return !curves_.empty() && std::ranges::all_of(curves_, [this](const DepthCurve& curve) {
    return curve.points.size() == depths_.size();
  });
}

double DepthController::share() const {
  if (depths_.empty()) return 0;
  double read = 0;
  for (const DepthCurve& curve : curves_)
    if (!curve.points.empty()) read += static_cast<double>(curve.points.back().tokens);
  if (progress_ && curves_[progress_->side].points.size() < depths_.size())
    read += static_cast<double>(progress_->read);
  return read / static_cast<double>(depths_.back()) / static_cast<double>(curves_.size());
}

double DepthController::secondsLeft() const {
  if (!progress_) return 0;
  double seconds = 0;
  for (size_t side = 0; side < curves_.size(); ++side) {
    const std::vector<api::BenchResult::Depth>& points = curves_[side].points;
    if (points.size() == depths_.size()) continue;
    if (points.empty()) return 0;
    const int64_t from = points.back().tokens;
    double left = secondsToRead(points, from, depths_.back());
    if (side == progress_->side) {
      const double begun = static_cast<double>(stretch_.elapsed()) * 1e-3,
                   read = static_cast<double>(progress_->read), all = static_cast<double>(progress_->to_read);
      left = read > kTellingShare * all
                 ? begun * (all - read) / read + secondsToRead(points, progress_->depth, depths_.back())
                 : left - begun;
    }
    seconds += std::max(left, 0.0);
  }
  return seconds;
}

bool DepthController::edited() const { return model_ && session_->recipe() != recipe_; }

}  // namespace orrery::ui
