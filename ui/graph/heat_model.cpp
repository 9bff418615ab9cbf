#include "ui/graph/heat_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr double kHalfLife = 0.5;  // seconds
constexpr double kMostRatio = 16;

size_t at(int index) { return static_cast<size_t>(index); }

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

}  // namespace

void HeatModel::setScene(std::shared_ptr<const SceneGraph> scene) {
  scene_ = std::move(scene);
  addUp();
  low_ = high_ = 0;
  widen();
  updateDigits();
}

void HeatModel::setFigures(const Figures& figures, double stepUs, double now) {
  const double keep = last_ < 0 ? 0 : std::exp2(-std::max(0.0, now - last_) / kHalfLife);
  last_ = now;
  Figures next = figures;
  for (auto& [id, figure] : next)
    if (const auto old = figures_.find(id); old != figures_.end() && old->second.us > 0) {
      figure.us = old->second.us * keep + figure.us * (1 - keep);
      figure.otherUs = old->second.otherUs * keep + figure.otherUs * (1 - keep);
    }
  stepUs_ = stepUs_ > 0 ? stepUs_ * keep + stepUs * (1 - keep) : stepUs;
  figures_ = std::move(next);
  const bool first = !measured_;
  addUp();
  widen();
  if (first) updateDigits();
}

void HeatModel::reset() {
  last_ = -1;
  stepUs_ = 0;
  low_ = high_ = 0;
  figures_.clear();
  addUp();
  placeNodes();
}

void HeatModel::setMode(HeatMode mode) {
  mode_ = mode;
  low_ = high_ = 0;
  widen();
}

void HeatModel::setSides(const SideLooks& sides) {
  sides_ = sides;
  placeNodes();
}

void HeatModel::setLogarithmic(bool logarithmic) {
  logarithmic_ = logarithmic;
  placeNodes();
}

void HeatModel::updateDigits() {
  digits_ = now_;
  digitsStepUs_ = stepUs_;
}

void HeatModel::addUp() {
  const size_t count = scene_ ? scene_->nodes.size() : 0;
  at_.assign(count, nullptr);
  now_ = {std::vector<double>(count + 1, 0), std::vector<double>(count + 1, 0),
          std::vector<double>(count + 1, 0), std::vector<int>(count + 1, 0), std::vector<int>(count + 1, 0)};
  measured_ = false;
  slow_ = false;
  for (size_t i = 0; i < count; ++i) {
    const SceneNode& node = scene_->nodes[i];
    const auto found = figures_.find(node.id);
    const NodeFigures* figure = found == figures_.end() ? nullptr : &found->second;
    at_[i] = figure;
    const bool known = figure && figure->us > 0;
    now_.us[i + 1] = now_.us[i] + (known ? figure->us : 0);
    now_.other[i + 1] = now_.other[i] + (known ? figure->otherUs : 0);
    now_.bytes[i + 1] = now_.bytes[i] + (figure && figure->bytes > 0 ? figure->bytes : node.movedBytes);
    now_.known[i + 1] = now_.known[i] + (known ? 1 : 0);
    now_.estimated[i + 1] = now_.estimated[i] + (known && figure->estimated ? 1 : 0);
    measured_ |= known;
    slow_ |= known && figure->us > 1e5;
  }
}

double HeatModel::sum(const std::vector<double>& prefix, Span span) const {
  return at(span.end) < prefix.size() ? prefix[at(span.end)] - prefix[at(span.begin)] : 0;
}

double HeatModel::valueOf(const Sums& sums, Span span) const {
  if (at(span.end) >= sums.known.size()) return kNotKnown;
  if (mode_ == HeatMode::bytes) return sum(sums.bytes, span) > 0 ? sum(sums.bytes, span) : kNotKnown;
  if (sums.known[at(span.end)] == sums.known[at(span.begin)]) return kNotKnown;
  const double us = sum(sums.us, span);
  if (mode_ == HeatMode::ratio) {
    const double other = sum(sums.other, span);
    return other > 0 ? us / other : kNotKnown;
  }
  if (mode_ != HeatMode::share) return us;
  const double step = &sums == &digits_ ? digitsStepUs_ : stepUs_;
  return step > 0 ? us / step : kNotKnown;
}

double HeatModel::value(Span span) const { return valueOf(now_, span); }

double HeatModel::us(Span span) const {
  if (at(span.end) >= now_.known.size() || now_.known[at(span.end)] == now_.known[at(span.begin)])
    return kNotKnown;
  return sum(now_.us, span);
}

double HeatModel::otherUs(Span span) const {
  const double other = sum(now_.other, span);
  return other > 0 ? other : kNotKnown;
}

double HeatModel::share(Span span) const { return stepUs_ > 0 ? us(span) / stepUs_ : kNotKnown; }

void HeatModel::widen() {
  widenScale();
  placeNodes();
}

void HeatModel::widenScale() {
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
  if (mode_ == HeatMode::share) top = std::min(top, 1.0);
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
  if (mode_ == HeatMode::off || !(high_ > 0)) return kNotKnown;
  const double v = mode_ == HeatMode::ratio ? value(span) : value(span) / std::max(1, count);
  if (!std::isfinite(v)) return kNotKnown;
  if (!logarithmic_ && mode_ != HeatMode::ratio) return std::clamp(v / high_, 0.0, 1.0);
  const double place = v <= low_ ? 0 : std::clamp(std::log(v / low_) / std::log(high_ / low_), 0.0, 1.0);
  return mode_ == HeatMode::ratio && turned() ? 1 - place : place;
}

QString HeatModel::text(Span span, bool shortForm) const {
  const double v = valueOf(digits_, span);
  if (!std::isfinite(v)) return {};
  if (mode_ == HeatMode::bytes) return format::bytes(v);
  if (mode_ == HeatMode::share) return format::percent(v);
  if (mode_ == HeatMode::ratio) return format::number(v, 2) + QStringLiteral("×");
  const bool estimated = digits_.estimated[at(span.end)] > digits_.estimated[at(span.begin)];
  return (estimated ? QStringLiteral("≈ ") : QString()) +
         (shortForm ? format::timeShort(v) : format::time(v));
}

QString HeatModel::eachText(Span span, int count) const {
  if (mode_ == HeatMode::ratio) return {};
  const double v = valueOf(digits_, span) / std::max(1, count);
  if (!std::isfinite(v)) return {};
  const QString text = mode_ == HeatMode::bytes   ? format::bytes(v)
                       : mode_ == HeatMode::share ? format::percent(v)
                                                  : format::time(v);
  return text + QStringLiteral(" each");
}

QString HeatModel::bandwidthText(int position) const {
  if (mode_ == HeatMode::ratio) return {};  // of which side?
  const Span span{position, position + 1};
  if (at(span.end) >= digits_.known.size() || digits_.known[at(span.end)] == digits_.known[at(span.begin)])
    return {};
  const double bytes = sum(digits_.bytes, span);
  return bytes > 0 ? format::bandwidth(bytes, sum(digits_.us, span)) : QString();
}

QString HeatModel::kernel(int position) const {
  return at(position) < at_.size() && at_[at(position)] ? at_[at(position)]->kernel : QString();
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
    case HeatMode::ratio:
      return sides_[0].name + QStringLiteral(" : ") + sides_[1].name;
  }
  return {};
}

std::vector<QString> HeatModel::ticks() const {
  if (mode_ == HeatMode::ratio)
    return {QStringLiteral("16×"), QStringLiteral("4×"), QStringLiteral("1"), QStringLiteral("4×"),
            QStringLiteral("16×")};
  const double low = logarithmic_ ? low_ : 0, middle = logarithmic_ ? std::sqrt(low_ * high_) : high_ / 2;
  const auto text = [this](double v) {
    switch (mode_) {
      case HeatMode::bytes:
        return format::bytes(v);
      case HeatMode::share:
        return format::number(v * 100) + QStringLiteral(" %");
      default:
        break;
    }
    if (v <= 0) return QStringLiteral("0");
    const auto plain = [](double number) {
      return QString::number(number, 'g', 2);
    };  // below 1000: ticks are short
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
