#include "ui/chat/sampling_popover.h"

#include <QGridLayout>
#include <QGuiApplication>
#include <QPainter>
#include <QScreen>

#include "ui/widgets/text.h"

namespace orrery::ui {

SamplingPopover::SamplingPopover(const Theme& theme, QWidget* parent)
    : QWidget(parent, Qt::Popup | Qt::FramelessWindowHint), theme_(theme), grid_(new QGridLayout(this)) {
  setAttribute(Qt::WA_TranslucentBackground);
  grid_->setContentsMargins(14, 12, 14, 14);
  grid_->setHorizontalSpacing(12);
  grid_->setVerticalSpacing(6);
  grid_->setColumnMinimumWidth(1, 110);
  grid_->addWidget(new Text(theme, {Token::text, 12, QFont::DemiBold}, "Sampling", this), 0, 0, 1, 2);
  const api::SamplingOptions usual;
  temperature_ = addReal("Temperature", "0 takes the likeliest token every time", 5, 0.1, usual.temperature);
  topK_ = addWhole("Top k", "Only the k likeliest tokens may follow; 0: all", 0, 1000, usual.top_k);
  topP_ = addReal("Top p", "Only the likeliest tokens that together reach this probability; 1: all", 1, 0.01,
                  usual.top_p);
  minP_ = addReal("Min p", "Only tokens with this share of the likeliest one's probability", 1, 0.01,
                  usual.min_p);
  repeat_ = addReal("Repeat penalty", "Above 1 makes repetition less likely", 2, 0.05, usual.repeat_penalty);
  maximum_ = addWhole("Tokens at most", "The reply ends after this many tokens", 1, 100000, 512);
  setupSeed();
  setupSystem();
  hide();
}

void SamplingPopover::addRow(const QString& label, const QString& help, QWidget* field) {
  const int row = grid_->rowCount();
  auto* text = new Text(theme_, {Token::text2, 12}, label, this);
  text->setToolTip(help);
  field->setToolTip(help);
  field->setAccessibleName(label);
  grid_->addWidget(text, row, 0);
  grid_->addWidget(field, row, 1);
}

QDoubleSpinBox* SamplingPopover::addReal(const QString& label, const QString& help, double maximum,
                                         double step, double value) {
  auto* field = new QDoubleSpinBox(this);
  field->setRange(0, maximum);
  field->setSingleStep(step);
  field->setDecimals(2);
  field->setValue(value);
  connect(field, &QDoubleSpinBox::valueChanged, this, &SamplingPopover::changed);
  addRow(label, help, field);
  return field;
}

QSpinBox* SamplingPopover::addWhole(const QString& label, const QString& help, int minimum, int maximum,
                                    int value) {
  auto* field = new QSpinBox(this);
  field->setRange(minimum, maximum);
  field->setValue(value);
  connect(field, &QSpinBox::valueChanged, this, &SamplingPopover::changed);
  addRow(label, help, field);
  return field;
}

void SamplingPopover::setupSeed() {
  seed_ = addWhole("Seed", "The same seed and prompt give the same reply", 0, 2147483647, 7);
  fixed_ = new QCheckBox("Use this seed", this);
  seed_->setEnabled(false);
  connect(fixed_, &QCheckBox::toggled, seed_, &QWidget::setEnabled);
  connect(fixed_, &QCheckBox::toggled, this, &SamplingPopover::changed);
  grid_->addWidget(fixed_, grid_->rowCount(), 1);
}

void SamplingPopover::setupSystem() {
  grid_->addWidget(new Text(theme_, {Token::text, 12, QFont::DemiBold}, "System prompt", this),
                   grid_->rowCount(), 0, 1, 2);
  system_ = new QPlainTextEdit(this);
  system_->setPlaceholderText("What the model is told before the conversation");
  system_->setAccessibleName("System prompt");
  system_->setFixedHeight(64);
  system_->setTabChangesFocus(true);
  connect(system_, &QPlainTextEdit::textChanged, this, &SamplingPopover::changed);
  grid_->addWidget(system_, grid_->rowCount(), 0, 1, 2);
}

api::SamplingOptions SamplingPopover::sampling() const {
  api::SamplingOptions options;
  options.temperature = static_cast<float>(temperature_->value());
  options.top_k = topK_->value();
  options.top_p = static_cast<float>(topP_->value());
  options.min_p = static_cast<float>(minP_->value());
  options.repeat_penalty = static_cast<float>(repeat_->value());
  if (fixed_->isChecked()) options.seed = static_cast<uint64_t>(seed_->value());
  return options;
}

void SamplingPopover::setSampling(const api::SamplingOptions& sampling) {
  temperature_->setValue(sampling.temperature);
  topK_->setValue(sampling.top_k);
  topP_->setValue(sampling.top_p);
  minP_->setValue(sampling.min_p);
  repeat_->setValue(sampling.repeat_penalty);
  fixed_->setChecked(sampling.seed.has_value());
  if (sampling.seed) seed_->setValue(static_cast<int>(*sampling.seed));
}

QString SamplingPopover::systemPrompt() const { return system_->toPlainText().trimmed(); }

void SamplingPopover::setSystemPrompt(const QString& text) { system_->setPlainText(text); }

void SamplingPopover::popupAt(QWidget* anchor) {
  adjustSize();
  const QRect screen = anchor->screen()->availableGeometry();
  const QPoint corner = anchor->mapToGlobal(QPoint(anchor->width(), 0));
  int y = corner.y() - height() - 4;
  if (y < screen.top()) y = std::min(corner.y() + anchor->height() + 4, screen.bottom() - height());
  move(std::clamp(corner.x() - width(), screen.left(), std::max(screen.left(), screen.right() - width())), y);
  show();
}

void SamplingPopover::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

void SamplingPopover::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintBox(painter, rect(), theme_.scaled(8), theme_(Token::raised), theme_(Token::border));
}

}  // namespace orrery::ui
