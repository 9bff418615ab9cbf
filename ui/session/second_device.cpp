#include "ui/session/second_device.h"

#include "ui/session/model_title.h"

namespace orrery::ui {
namespace {

constexpr int kMeasureMilliseconds = 1000;

size_t indexOf(api::Side side) { return side == api::Side::b ? 1 : 0; }

using Times = std::unordered_map<std::string, api::Measured>;

/// Of the model graph's nodes, by path: every session numbers its own graph.
Times timesOf(const SessionController& source) {
  Times times;
  const ProfilePtr profile = source.profile(api::Phase::decode);
  if (!profile) return times;
  for (const api::NodeTimes::Row& row : profile->model.rows())
    if (const graph::Node* node = profile->model_graph->find(row.node))
      times.emplace(node->path(), profile->measured(row.node, false));
  return times;
}

int64_t firstDifferent(const std::vector<api::TokenEvent>& a, const std::vector<api::TokenEvent>& b) {
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    if (i >= a.size() || i >= b.size() || a[i].id != b[i].id) return static_cast<int64_t>(i);
  return -1;
}

}  // namespace

SecondDevice::SecondDevice(SessionController* home, const Services& services, QObject* parent)
    : QObject(parent), home_(home), second_(new SessionController(services, this)) {
  measureSoon_.setSingleShot(true);
  measureSoon_.setInterval(kMeasureMilliseconds);
  connect(&measureSoon_, &QTimer::timeout, this, &SecondDevice::measure);
  setupHome();
  setupSecond();
}

SecondDevice::~SecondDevice() { delete second_; }

void SecondDevice::setupHome() {
  connect(home_, &SessionController::loadStarted, this, [this] { second_->close(); });
  connect(home_, &SessionController::loadEnded, this, &SecondDevice::openBeside);
  connect(home_, &SessionController::chatStarted, this, &SecondDevice::begin);
  connect(home_, &SessionController::edited, this, &SecondDevice::follow);
  connect(home_, &SessionController::stateChanged, this, [this](RunState state) {
    if (state != RunState::stopping) return;
    next_.reset();
    second_->stop();
  });
  connect(home_, &SessionController::prefilled, this, [this](const api::PrefillEvent& event) {
    if (together_) emit prefilled(homeSide(), event);
  });
  connect(home_, &SessionController::tokensArrived, this, [this](const TokenBatch& tokens) {
    if (together_) emit tokensArrived(homeSide(), tokens);
  });
  connect(home_, &SessionController::replyFinished, this,
          [this](const api::ChatResult& result) { finish(homeSide(), result); });
}

void SecondDevice::setupSecond() {
  connect(second_, &SessionController::opened, this, &SecondDevice::changed);
  connect(second_, &SessionController::loadFailed, this, [this](UiError error) {
    error.title += " on " + deviceTitle(place());
    close();
    emit failed(error);
  });
  connect(second_, &SessionController::prefilled, this, [this](const api::PrefillEvent& event) {
    if (!next_) emit prefilled(otherSide(), event);
  });
  connect(second_, &SessionController::tokensArrived, this, [this](const TokenBatch& tokens) {
    if (!next_) emit tokensArrived(otherSide(), tokens);
  });
  connect(second_, &SessionController::replyFinished, this, [this](const api::ChatResult& result) {
    if (const auto next = std::exchange(next_, std::nullopt)) return second_->chat(*next);
    finish(otherSide(), result);
  });
  connect(second_, &SessionController::replyFailed, this, &SecondDevice::failed);
  connect(second_, &SessionController::editFailed, this, &SecondDevice::openBeside);
  for (SessionController* source : {home_, second_})
    connect(source, &SessionController::profileChanged, this, [this] {
      if (together_ && !measureSoon_.isActive()) measureSoon_.start();
    });
}

std::string SecondDevice::place() const {
  const SessionPtr session = home_->session();
  return session && session->options().device != "cpu" ? "cpu" : device_;
}

api::Side SecondDevice::homeSide() const {
  const SessionPtr session = home_->session();
  return !session || session->options().device == "cpu" ? api::Side::a : api::Side::b;
}

SideLooks SecondDevice::sides() const { return sideLooks({"CPU", deviceTitle(device_)}, {false, true}); }

void SecondDevice::open(const std::string& device) {
  if (device == device_) return;
  second_->close();
  device_ = device;
  emit changed();
  openBeside();
}

void SecondDevice::close() {
  if (!wanted()) return;
  device_.clear();
  together_ = false;
  next_.reset();
  second_->close();
  emit changed();
}

void SecondDevice::openBeside() {
  const SessionPtr session = home_->session();
  if (!wanted() || !session || home_->loading()) return;
  if (session->options().device != "cpu") device_ = session->options().device;
  followed_ = home_->recipe().size();
  second_->openCopy(*session, home_->recipe(), place());
}

void SecondDevice::begin(const api::ChatRequest& request) {
  together_ = ready();
  if (!together_) return;
  replies_[0].reset();
  replies_[1].reset();
  emit began(sides());
  if (!second_->running()) return second_->chat(request);
  next_ = request;  // the last one's rest is not wanted any more
  second_->stop();
}

void SecondDevice::follow(const api::EditRecord& record, EditKind kind) {
  if (second_->loading()) return openBeside();  // once more, with this edit
  if (!ready()) return;
  const std::vector<edit::Edit>& recipe = home_->recipe();
  const size_t before = std::exchange(followed_, recipe.size());
  if (kind == EditKind::undone) return second_->undo();
  if (kind == EditKind::redone) return second_->redo();
  if (kind == EditKind::restored)  // "restore layers.3"
    return second_->restore(QString::fromStdString(record.name).section(' ', 1));
  second_->replay({recipe.begin() + static_cast<ptrdiff_t>(before), recipe.end()}, home_->title());
}

void SecondDevice::finish(api::Side side, const api::ChatResult& result) {
  if (!together_) return;
  replies_[indexOf(side)] = result;
  emit replyFinished(side, result);
  if (!measureSoon_.isActive()) measureSoon_.start();
}

void SecondDevice::measure() {
  if (!together_ || !ready()) return;
  auto result = std::make_shared<api::CompareResult>();
  const Times a = timesOf(*at(api::Side::a)), b = timesOf(*at(api::Side::b));
  const graph::GraphVersion model = home_->session()->model_graph();
  for (const NodeId id : model->order()) {
    const std::string path = model->node(id).path();
    const auto ours = a.find(path), theirs = b.find(path);
    if (ours == a.end() && theirs == b.end()) continue;
    const api::Measured left = ours == a.end() ? api::Measured() : ours->second,
                        right = theirs == b.end() ? api::Measured() : theirs->second;
    result->nodes.push_back(
        {path, id, id, left.timing.p50_us, right.timing.p50_us, left.estimated || right.estimated, {}});
  }
  if (replies_[0] && replies_[1]) {
    result->a = *replies_[0];
    result->b = *replies_[1];
    result->total_a_ms = result->a.prefill_ms + result->a.decode_ms;
    result->total_b_ms = result->b.prefill_ms + result->b.decode_ms;
    result->first_different_token = firstDifferent(result->a.tokens, result->b.tokens);
  }
  emit measured({result, sides()});
}

}  // namespace orrery::ui
