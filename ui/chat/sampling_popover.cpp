#include "ui/chat/sampling_popover.h"

#include <QBitmap>
#include <QGridLayout>
#include <QPainter>
#include <QScreen>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr double kSmallestStep = 0.01;  // of a number that is not whole
constexpr double kRadius = 8;

bool isWhole(std::string_view name) {
  for (const api::SamplingField& field : api::sampling_fields())
    if (field.name == name) return field.whole != nullptr;
  return false;
}

/// Of options that have it.
double numberOf(const api::SamplingOptions& options, const api::SamplingField& field) {
  return field.real ? *(options.*field.real) : *(options.*field.whole);
}

}  // namespace

SamplingPopover::SamplingPopover(const Theme& theme, QWidget* parent)
    : QWidget(parent, Qt::Popup | Qt::FramelessWindowHint),
      theme_(theme),
      drawn_(api::usual_sampling()),
      bar_(new Segmented(theme, this)),
      pages_(new QStackedWidget(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(14, 12, 14, 14);
  layout->setSpacing(8);
  layout->addWidget(bar_);
  layout->addWidget(pages_);
  addSettings("Sampling", {{"temperature", "Temperature"},
                           {"top_k", "Top k"},
                           {"top_p", "Top p"},
                           {"min_p", "Min p"},
                           {"repeat_penalty", "Repeat penalty"}});
  addSettings("Repetition", {{"frequency_penalty", "Frequency penalty"},
                             {"presence_penalty", "Presence penalty"},
                             {"penalty_range", "Penalties look back"},
                             {"dry_multiplier", "DRY multiplier"},
                             {"dry_base", "DRY base"},
                             {"dry_allowed_length", "DRY allowed length"},
                             {"dry_range", "DRY looks back"}});
  addSettings("More", {{"temperature_range", "Temperature range"},
                       {"temperature_exponent", "Temperature exponent"},
                       {"typical", "Typical"},
                       {"top_n_sigma", "Top n sigma"},
                       {"xtc_probability", "XTC probability"},
                       {"xtc_threshold", "XTC threshold"},
                       {"mirostat", "Mirostat"},
                       {"mirostat_tau", "Mirostat tau"},
                       {"mirostat_eta", "Mirostat eta"}});
  setupOrder();
  setupReply();
  setupReset();
  setSampling({});
  connect(bar_, &Segmented::chosen, pages_, &QStackedWidget::setCurrentIndex);
  hide();
}

QGridLayout* SamplingPopover::addPage(const QString& title) {
  auto* page = new QWidget(this);
  auto* grid = new QGridLayout(page);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(6);
  grid->setColumnMinimumWidth(1, 110);
  grid->setRowStretch(100, 1);
  pages_->addWidget(page);
  bar_->addChoice(title);
  return grid;
}

Text* SamplingPopover::addRow(QGridLayout* grid, const QString& label, const QString& help, QWidget* field) {
  const int row = grid->count();
  auto* text = new Text(theme_, {Token::text2, 12}, label, this);
  text->setToolTip(help);
  field->setToolTip(help);
  field->setAccessibleName(label);
  grid->addWidget(text, row, 0);
  grid->addWidget(field, row, 1);
  return text;
}

void SamplingPopover::addSettings(const QString& title,
                                  std::initializer_list<std::pair<const char*, const char*>> settings) {
  QGridLayout* grid = addPage(title);
  for (const auto& [name, label] : settings) {
    const api::SamplingFacts facts = api::sampling_facts(name);
    auto* field = new QDoubleSpinBox(this);
    field->setRange(facts.low, facts.high);
    field->setDecimals(isWhole(name) ? 0 : 2);
    field->setSingleStep(isWhole(name) ? 1 : facts.high <= 1 ? 0.01 : 0.1);
    field->setValue(facts.usual);
    connect(field, &QDoubleSpinBox::valueChanged, this, &SamplingPopover::changed);
    fields_[name] = field;
    QString help = QString::fromUtf8(facts.doc.data(), static_cast<qsizetype>(facts.doc.size()));
    if (!help.isEmpty()) help[0] = help[0].toUpper();
    labels_[name] = addRow(grid, label, help, field);
  }
}

QSpinBox* SamplingPopover::addWhole(QGridLayout* grid, const QString& label, const QString& help, int minimum,
                                    int maximum, int value) {
  auto* field = new QSpinBox(this);
  field->setRange(minimum, maximum);
  field->setValue(value);
  connect(field, &QSpinBox::valueChanged, this, &SamplingPopover::changed);
  addRow(grid, label, help, field);
  return field;
}

void SamplingPopover::setupOrder() {
  QGridLayout* grid = addPage("Order");
  order_ = new SamplerOrder(this);
  connect(order_, &SamplerOrder::changed, this, &SamplingPopover::changed);
  grid->addWidget(order_, 0, 0, 1, 2);
}

void SamplingPopover::setupReply() {
  QGridLayout* grid = addPage("Reply");
  maximum_ = addWhole(grid, "Tokens at most", "The reply ends after this many tokens", 1, 100000, 512);
  seed_ = addWhole(grid, "Seed", "The same seed and prompt give the same reply", 0, 2147483647, 7);
  fixed_ = new QCheckBox("Use this seed", this);
  seed_->setEnabled(false);
  connect(fixed_, &QCheckBox::toggled, seed_, &QWidget::setEnabled);
  connect(fixed_, &QCheckBox::toggled, this, &SamplingPopover::changed);
  grid->addWidget(fixed_, grid->count(), 1);
  shift_ = new QCheckBox("Go on when the context is full", this);
  shift_->setToolTip(
      "The oldest messages are left out, and in the middle of a reply the older half of the text");
  connect(shift_, &QCheckBox::toggled, this, &SamplingPopover::changed);
  grid->addWidget(shift_, grid->count(), 0, 1, 2);
  setupSystem(grid);
}

void SamplingPopover::setupSystem(QGridLayout* grid) {
  grid->addWidget(new Text(theme_, {Token::text, 12, QFont::DemiBold}, "System prompt", this), grid->count(),
                  0, 1, 2);
  system_ = new QPlainTextEdit(this);
  system_->setPlaceholderText("What the model is told before the conversation");
  system_->setAccessibleName("System prompt");
  system_->setFixedHeight(96);
  system_->setTabChangesFocus(true);
  connect(system_, &QPlainTextEdit::textChanged, this, &SamplingPopover::changed);
  grid->addWidget(system_, grid->count(), 0, 1, 2);
}

void SamplingPopover::setupReset() {
  reset_ = new Button(theme_, "Reset", Button::Kind::quiet, this);
  reset_->setToolTip("All samplers as the model's sampling node has them");
  connect(reset_, &QAbstractButton::clicked, this, [this] {
    api::SamplingOptions reset;
    reset.seed = sampling().seed;
    setSampling(reset);
    emit changed();
  });
  layout()->addWidget(reset_);
  static_cast<QVBoxLayout*>(layout())->setAlignment(reset_, Qt::AlignRight);
  connect(this, &SamplingPopover::changed, this, &SamplingPopover::showChanges);
}

/// Labels of what differs from the node stand out.
void SamplingPopover::showChanges() {
  const api::SamplingOptions options = sampling();
  bool any = options.samplers.has_value();
  for (const api::SamplingField& field : api::sampling_fields()) {
    const bool differs = field.real ? (options.*field.real).has_value() : (options.*field.whole).has_value();
    labels_.at(std::string(field.name))->setToken(differs ? Token::accent : Token::text2);
    any = any || differs;
  }
  reset_->setEnabled(any);
}

api::SamplingOptions SamplingPopover::sampling() const {
  api::SamplingOptions options;
  for (const api::SamplingField& field : api::sampling_fields()) {
    const double value = fields_.at(std::string(field.name))->value();
    if (std::abs(value - numberOf(drawn_, field)) < kSmallestStep / 2) continue;
    if (field.real) options.*field.real = static_cast<float>(value);
    if (field.whole) options.*field.whole = static_cast<int32_t>(value);
  }
  if (std::string order = order_->order().toStdString(); order != *drawn_.samplers)
    options.samplers = std::move(order);
  if (fixed_->isChecked()) options.seed = static_cast<uint64_t>(seed_->value());
  return options;
}

void SamplingPopover::setSampling(const api::SamplingOptions& sampling) {
  for (const api::SamplingField& field : api::sampling_fields()) {
    const bool set = field.real ? (sampling.*field.real).has_value() : (sampling.*field.whole).has_value();
    fields_.at(std::string(field.name))->setValue(numberOf(set ? sampling : drawn_, field));
  }
  order_->setOrder(QString::fromStdString(sampling.samplers.value_or(*drawn_.samplers)));
  fixed_->setChecked(sampling.seed.has_value());
  if (sampling.seed) seed_->setValue(static_cast<int>(*sampling.seed));
  showChanges();
}

void SamplingPopover::setDrawn(const api::SamplingOptions& drawn) {
  const api::SamplingOptions changes = sampling();
  drawn_ = drawn;
  drawn_.samplers = QString::fromStdString(*drawn.samplers).remove(' ').toStdString();
  setSampling(changes);
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

void SamplingPopover::popupAtSystemPrompt(QWidget* anchor) {
  for (int page = 0; page < pages_->count(); ++page)
    if (pages_->widget(page)->isAncestorOf(system_)) bar_->setCurrent(page);
  pages_->setCurrentIndex(bar_->current());
  popupAt(anchor);
  system_->setFocus();
}

void SamplingPopover::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

/// The corners are cut off, not see-through: without a compositor they would be black.
void SamplingPopover::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  QBitmap shape(size());
  shape.clear();
  QPainter painter(&shape);
  painter.setPen(Qt::NoPen);
  painter.setBrush(Qt::color1);
  painter.drawRoundedRect(rect(), theme_.scaled(kRadius), theme_.scaled(kRadius));
  painter.end();
  setMask(shape);
}

void SamplingPopover::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_(Token::border));
  paintBox(painter, rect(), theme_.scaled(kRadius), theme_(Token::raised), theme_(Token::border));
}

}  // namespace orrery::ui
