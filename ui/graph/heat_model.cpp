#include "ui/graph/heat_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr double kMostRatio = 16;
constexpr double kLeastShare = 1e-5;  // what is less is as cold

/// To the next 1, 2 or 5 times a power of ten; a negative value goes away from zero, so -roundDown(-x) rounds
/// x up.
double roundDown(double value) {
  const double size = std::abs(value), power = std::pow(10, std::floor(std::log10(size) + 1e-9));
  const double steps[] = {1, 2, 5, 10};
  if (value > 0) {
    for (int i = 2; i > 0; --i)
      if (size >= steps[i] * power * (1 - 1e-9)) return steps[i] * power;
    return power;
  }
  for (const double step : steps)
    if (size <= step * power * (1 + 1e-9)) return -step * power;
  return -10 * power;
}

double difference(const std::vector<double>& prefix, Span span) {
  return at(span.end) < prefix.size() ? prefix[at(span.end)] - prefix[at(span.begin)] : 0;
}

bool grows(const std::vector<int>& prefix, Span span) {
  return at(span.end) < prefix.size() && prefix[at(span.end)] > prefix[at(span.begin)];
}

}  // namespace

void HeatModel::setScene(std::shared_ptr<const SceneGraph> scene) {
  scene_ = std::move(scene);
  low_ = high_ = 0;
  addUp();
}

void HeatModel::setFigures(Figures figures) {
  figures_ = std::move(figures);
  addUp();
}

void HeatModel::resetScale() {
  low_ = high_ = 0;
  widen();
}

void HeatModel::setMode(HeatMode mode) {
  mode_ = mode;
  resetScale();
}

void HeatModel::setSides(const SideLooks& sides) {
  sides_ = sides;
  placeNodes();
}

void HeatModel::setLogarithmic(bool logarithmic) {
  logarithmic_ = logarithmic;
  placeNodes();
}

void HeatModel::addUp() {
  const size_t count = scene_ ? scene_->nodes.size() : 0;
  runs_ = 0;
  times_.clear();
  a_.assign(count + 1, 0);
  b_.assign(count + 1, 0);
  bytes_.assign(count + 1, 0);
  known_.assign(count + 1, 0);
  estimated_.assign(count + 1, 0);
  figures_.sides.empty() ? addMeasured() : addSides();
  us_.assign(count, 0);
  measured_ = slow_ = false;
  for (size_t i = 0; i < count; ++i) {
    const Span span{static_cast<int>(i), static_cast<int>(i) + 1};
    us_[i] = known(span) ? us(span) : kNotKnown;
    measured_ |= us_[i] > 0;
    slow_ |= us_[i] > 1e5;
  }
  if (!measured_ && mode_ != HeatMode::bytes) low_ = high_ = 0;  // nothing that a scale could be of
  widen();
}

void HeatModel::addMeasured() {
  static const api::NodeTimes kNone;
  const api::NodeTimes& own = figures_.profile ? figures_.profile->of(figures_.fused) : kNone;
  const api::NodeTimes& other = figures_.profile ? figures_.profile->of(false) : kNone;
  const size_t count = scene_ ? scene_->nodes.size() : 0;
  runs_ = own.runs();
  times_.assign((count + 1) * runs_, 0);
  for (size_t i = 0; i < count; ++i) {
    const SceneNode& node = scene_->nodes[i];
    // What a fused node is opened into has its share of that node's time.
    const bool shared = !own.find(node.id) && other.runs() == runs_;
    const api::NodeTimes& times = shared ? other : own;
    const std::optional<size_t> row = times.find(node.id);
    for (size_t run = 0; run < runs_; ++run)
      times_[(i + 1) * runs_ + run] = times_[i * runs_ + run] + (row ? times.times(*row)[run] : 0);
    bytes_[i + 1] = bytes_[i] + (row ? times.rows()[*row].bytes : node.movedBytes);
    known_[i + 1] = known_[i] + (row ? 1 : 0);
    estimated_[i + 1] = estimated_[i] + (row && times.rows()[*row].estimated ? 1 : 0);
  }
}

void HeatModel::addSides() {
  const size_t count = scene_ ? scene_->nodes.size() : 0;
  for (size_t i = 0; i < count; ++i) {
    const auto found = figures_.sides.find(scene_->nodes[i].id);
    const SideTimes times = found == figures_.sides.end() ? SideTimes{} : found->second;
    a_[i + 1] = a_[i] + times.a;
    b_[i + 1] = b_[i] + times.b;
    bytes_[i + 1] = bytes_[i] + scene_->nodes[i].movedBytes;
    known_[i + 1] = known_[i] + (times.a > 0 ? 1 : 0);
    estimated_[i + 1] = estimated_[i] + (times.estimated ? 1 : 0);
  }
}

bool HeatModel::known(Span span) const { return grows(known_, span); }
bool HeatModel::estimated(Span span) const { return grows(estimated_, span); }

const NodeMeasure* HeatModel::measure(Span span) const {
  const NodeMeasure* largest = nullptr;
  for (int i = span.begin; i < span.end && scene_ && at(i) < scene_->nodes.size(); ++i) {
    const auto found = figures_.measures.nodes.find(scene_->nodes[at(i)].id);
    if (found != figures_.measures.nodes.end() && (!largest || found->second.value > largest->value))
      largest = &found->second;
  }
  return largest;
}

double HeatModel::value(Span span) const {
  if (mode_ == HeatMode::measure) {
    const NodeMeasure* measured = measure(span);
    return measured ? measured->value : kNotKnown;
  }
  if (mode_ == HeatMode::bytes) {
    const double bytes = difference(bytes_, span);
    return bytes > 0 ? bytes : kNotKnown;
  }
  if (mode_ == HeatMode::ratio) return us(span) / otherUs(span);
  return mode_ == HeatMode::share ? share(span) : us(span);
}

double HeatModel::us(Span span) const {
  if (!known(span)) return kNotKnown;
  if (!figures_.sides.empty()) return difference(a_, span);
  if (span.end == span.begin + 1 && at(span.begin) < us_.size() && us_[at(span.begin)] > 0)
    return us_[at(span.begin)];
  std::vector<int64_t> times(runs_);
  for (size_t run = 0; run < runs_; ++run)
    times[run] = times_[at(span.end) * runs_ + run] - times_[at(span.begin) * runs_ + run];
  return api::shown_us(times, figures_.profile->phase);
}

double HeatModel::otherUs(Span span) const {
  const double other = difference(b_, span);
  return other > 0 ? other : kNotKnown;
}

double HeatModel::share(Span span) const {
  if (!figures_.profile || !known(span)) return kNotKnown;
  return figures_.profile->share(us(span));
}

void HeatModel::widen() {
  widenScale();
  placeNodes();
}

void HeatModel::widenScale() {
  if (mode_ == HeatMode::measure) {
    low_ = figures_.measures.low;
    high_ = figures_.measures.high;
    return;
  }
  std::vector<double> values;
  for (int i = 0; scene_ && i < static_cast<int>(scene_->nodes.size()); ++i)
    if (const double v = value({i, i + 1}); v > 0) values.push_back(v);
  if (values.empty()) return;
  if (mode_ == HeatMode::ratio) {
    low_ = 1 / kMostRatio;
    high_ = kMostRatio;
    return;
  }
  // The coldest twentieth does not stretch the scale.
  const size_t low = values.size() / 20;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(low), values.end());
  const double least = values[low], most = *std::max_element(values.begin(), values.end());
  double bottom = roundDown(least), top = -roundDown(-most);
  if (mode_ == HeatMode::share) {
    bottom = std::max(bottom, kLeastShare);
    top = std::min(top, 1.0);
  }
  if (top <= bottom) bottom = top / 10;
  low_ = low_ > 0 ? std::min(low_, bottom) : bottom;
  high_ = std::max(high_, top);
}

void HeatModel::placeNodes() {
  places_.resize(scene_ ? scene_->nodes.size() : 0);
  for (size_t i = 0; i < places_.size(); ++i)
    places_[i] = placeOf({static_cast<int>(i), static_cast<int>(i) + 1}, 1);
}

double HeatModel::heat(Span span, int count) const {
  const bool single = count == 1 && span.end == span.begin + 1 && at(span.begin) < places_.size();
  return single ? places_[at(span.begin)] : placeOf(span, count);
}

double HeatModel::placeOf(Span span, int count) const {
  if (mode_ == HeatMode::measure) {
    const NodeMeasure* measured = measure(span);
    return measured ? measured->place : kNotKnown;
  }
  if (mode_ == HeatMode::off || !(high_ > 0)) return kNotKnown;
  const double v = mode_ == HeatMode::ratio ? value(span) : value(span) / std::max(1, count);
  if (!std::isfinite(v)) return kNotKnown;
  if (!logarithmic_ && mode_ != HeatMode::ratio) return std::clamp(v / high_, 0.0, 1.0);
  const double place = v <= low_ ? 0 : std::clamp(std::log(v / low_) / std::log(high_ / low_), 0.0, 1.0);
  return mode_ == HeatMode::ratio && turned() ? 1 - place : place;
}

QString HeatModel::text(Span span, bool brief) const {
  const double v = value(span);
  if (!std::isfinite(v)) return {};
  if (mode_ == HeatMode::measure) return format::distance(v);
  if (mode_ == HeatMode::bytes) return format::bytes(v);
  if (mode_ == HeatMode::share) return format::percent(v);
  if (mode_ == HeatMode::ratio) return format::number(v, 2) + QStringLiteral("×");
  return timeText(span, brief);
}

QString HeatModel::timeText(Span span, bool brief) const {
  return brief ? format::timeBrief(us(span), estimated(span)) : format::time(us(span), estimated(span));
}

QString HeatModel::eachText(Span span, int count) const {
  if (mode_ == HeatMode::ratio || mode_ == HeatMode::measure) return {};
  const double v = value(span) / std::max(1, count);
  if (!std::isfinite(v)) return {};
  const QString text = mode_ == HeatMode::bytes   ? format::bytes(v)
                       : mode_ == HeatMode::share ? format::percent(v)
                                                  : format::time(v);
  return text + QStringLiteral(" each");
}

QString HeatModel::bandwidthText(int position) const {
  const Span span{position, position + 1};
  if (mode_ == HeatMode::ratio || !known(span)) return {};  // of which side?
  const double bytes = difference(bytes_, span);
  return bytes > 0 ? format::bandwidth(bytes, us(span)) : QString();
}

QString HeatModel::kernel(int position) const {
  if (!scene_ || at(position) >= scene_->nodes.size()) return {};
  const auto found = figures_.kernels.find(scene_->nodes[at(position)].id);
  return found == figures_.kernels.end() ? QString() : found->second;
}

SideLooks HeatModel::ends() const { return turned() ? SideLooks{sides_[1], sides_[0]} : sides_; }

QString HeatModel::title() const {
  switch (mode_) {
    case HeatMode::off:
      return {};
    case HeatMode::time:
      return QStringLiteral("Time");
    case HeatMode::bytes:
      return QStringLiteral("Bytes");
    case HeatMode::share:
      return QStringLiteral("Share of step");
    case HeatMode::measure:
      return figures_.measures.title.isEmpty() ? QStringLiteral("Sweep") : figures_.measures.title;
    case HeatMode::ratio:
      return sides_[0].name + QStringLiteral(" : ") + sides_[1].name;
  }
  return {};
}

std::vector<QString> HeatModel::ticks() const {
  if (mode_ == HeatMode::ratio)
    return {QStringLiteral("16×"), QStringLiteral("4×"), QStringLiteral("1"), QStringLiteral("4×"),
            QStringLiteral("16×")};
  if (mode_ == HeatMode::measure)
    return {format::distance(low_), format::distance(std::sqrt(low_ * high_)), format::distance(high_)};
  const double low = logarithmic_ ? low_ : 0, middle = logarithmic_ ? std::sqrt(low_ * high_) : high_ / 2;
  const auto plain = [](double number) { return QString::number(number, 'g', 2); };  // ticks are short
  const auto text = [&](double v) {
    switch (mode_) {
      case HeatMode::bytes:
        return format::bytes(v);
      case HeatMode::share:
        return v < 0.995 ? plain(v * 100) + QStringLiteral(" %") : QStringLiteral("100 %");
      default:
        break;
    }
    if (v <= 0) return QStringLiteral("0");
    if (v < 0.0995) return plain(v * 1e3) + QStringLiteral(" ns");
    if (v < 99.5) return plain(v) + QStringLiteral(" µs");
    if (v < 999.5) return QString::number(v, 'f', 0) + QStringLiteral(" µs");
    if (v < 99.5e3) return plain(v / 1e3) + QStringLiteral(" ms");
    return v < 999.5e3 ? QString::number(v / 1e3, 'f', 0) + QStringLiteral(" ms")
                       : plain(v / 1e6) + QStringLiteral(" s");
  };
  return {text(low), text(middle), text(high_)};
}

}  // namespace orrery::ui
