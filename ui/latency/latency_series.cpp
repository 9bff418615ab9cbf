#include "ui/latency/latency_series.h"

#include <algorithm>

#include "engine/api/profile.h"

namespace orrery::ui {
namespace {

/// Nearest-rank percentile; `values` is not empty.
double percentile(std::vector<double> values, double share) {
  const auto rank = static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(rank), values.end());
  return values[rank];
}

}  // namespace

void LatencySeries::beginReply() {
  ++reply_;
  starts_.push_back(x_);
  prefillOpen_ = false;
  firstToken_ = true;
}

void LatencySeries::addPrefill(const api::PrefillEvent& event) {
  if (!prefillOpen_) {
    blocks_.push_back({x_, 0, 0});
    prefillOpen_ = true;
  }
  Block& block = blocks_.back();
  block.tokens = std::max<int64_t>(event.done, 0);
  block.ms = event.ms;
  x_ = std::max(x_, block.x + static_cast<double>(block.tokens));
}

void LatencySeries::addToken(const api::TokenEvent& token) {
  prefillOpen_ = false;
  if (firstToken_) {  // it came out of the prefill: its time is the block's
    firstToken_ = false;
    return;
  }
  addSample(token.step_ms);
}

void LatencySeries::addText(double ms) { addSample(ms); }

void LatencySeries::addSample(double ms) {
  window_.push_back(ms);
  if (window_.size() > api::kProfileRuns) window_.pop_front();
  const std::vector<double> values(window_.begin(), window_.end());
  samples_.push_back({x_, ms, percentile(values, 0.5), percentile(values, 0.95), reply_});
  x_ += 1;
}

void LatencySeries::addEdit(const QString& name, double p50Before) {
  marks_.push_back({x_, name, p50Before});
  window_.clear();  // the edited model is another model: its percentiles start afresh
}

void LatencySeries::clear() { *this = {}; }

double LatencySeries::decodeStart(int reply) const {
  const auto first = std::lower_bound(samples_.begin(), samples_.end(), reply,
                                      [](const Sample& sample, int value) { return sample.reply < value; });
  if (first != samples_.end() && first->reply == reply) return first->x;
  return reply >= 1 && reply <= static_cast<int>(starts_.size()) ? starts_[static_cast<size_t>(reply) - 1]
                                                                 : 0;
}

QString LatencySeries::csv() const {
  QString text = "kind,reply,token,tokens,ms,p50_ms,p95_ms,name\n";
  const auto number = [](double value) { return QString::number(value, 'g', 6); };
  for (const Block& block : blocks_)
    text += QString("prefill,,%1,%2,%3,,,\n").arg(number(block.x)).arg(block.tokens).arg(number(block.ms));
  for (const Sample& sample : samples_)
    text += QString("decode,%1,%2,1,%3,%4,%5,\n")
                .arg(sample.reply)
                .arg(number(sample.x), number(sample.ms), number(sample.p50), number(sample.p95));
  for (const Mark& mark : marks_) {
    QString name = mark.name;
    text += QString("edit,,%1,,,,,\"%2\"\n").arg(number(mark.x), name.replace('"', "\"\""));
  }
  return text;
}

}  // namespace orrery::ui
