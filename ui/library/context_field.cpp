#include "ui/library/context_field.h"

#include <QHBoxLayout>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr int kLeast = 256, kPerDoubling = 16, kUnit = 32;  // tokens; slider steps; a page of the KV cache

}  // namespace

ContextField::ContextField(QWidget* parent)
    : QWidget(parent), slider_(new QSlider(Qt::Horizontal, this)), number_(new QSpinBox(this)) {
  slider_->setAccessibleName("Context");
  slider_->setSingleStep(kPerDoubling / 4);
  slider_->setPageStep(kPerDoubling);
  number_->setAccessibleName("Context in tokens");
  number_->setSingleStep(kUnit);
  number_->setKeyboardTracking(false);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(12);
  row->addWidget(slider_, 1);
  row->addWidget(number_);
  connect(slider_, &QSlider::valueChanged, this, [this](int position) {
    const QSignalBlocker quiet(number_);
    number_->setValue(tokensAt(position));
    emit changed(value());
  });
  connect(number_, &QSpinBox::valueChanged, this, [this](int tokens) {
    const QSignalBlocker quiet(slider_);
    slider_->setValue(positionOf(tokens));
    emit changed(tokens);
  });
  setMaximum(kLeast);
}

void ContextField::setMaximum(int tokens) {
  const QSignalBlocker quietSlider(slider_), quietNumber(number_);
  number_->setRange(1, std::max(tokens, 1));
  slider_->setRange(0, positionOf(number_->maximum()));
}

void ContextField::setValue(int tokens) {
  const QSignalBlocker quietSlider(slider_), quietNumber(number_);
  number_->setValue(tokens);
  slider_->setValue(positionOf(number_->value()));
  emit changed(value());
}

/// Powers of two lie on whole doublings; the last position is the model's own length.
int ContextField::tokensAt(int position) const {
  if (position >= slider_->maximum()) return number_->maximum();
  const double tokens = kLeast * std::exp2(static_cast<double>(position) / kPerDoubling);
  return std::min(static_cast<int>(std::lround(tokens / kUnit)) * kUnit, number_->maximum());
}

int ContextField::positionOf(int tokens) const {
  if (tokens <= kLeast) return 0;
  return static_cast<int>(std::ceil(std::log2(static_cast<double>(tokens) / kLeast) * kPerDoubling - 1e-9));
}

}  // namespace orrery::ui
