#include "ui/sweep/mix_panel.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kLeastCurve = 60, kLeastBars = 46, kAbreast = 350;  // px
constexpr double kFirstShare = 0.6;                                  // of the sizes that there are

/// The mixes of sizes that are evenly apart, each with the size that it is for.
std::vector<api::Mix> curveOf(const api::MixTable& table) {
  constexpr uint64_t kSizes = 96;
  const uint64_t least = table.least_bytes(), range = table.most_bytes() - least;
  std::vector<api::Mix> curve;
  for (uint64_t i = 0; i <= kSizes; ++i) {
    const uint64_t bytes = least + range / kSizes * i + range % kSizes * i / kSizes;
    if (auto mix = api::mix_for(table, bytes); mix.ok()) {
      curve.push_back(std::move(mix).value());
      curve.back().bytes = bytes;
    }
  }
  return curve;
}

}  // namespace

MixPanel::MixPanel(const Theme& theme, SweepController* sweeps, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      sweeps_(sweeps),
      title_(new Text(theme, {Token::text, 12, QFont::DemiBold}, "Mix for this size", this)),
      size_(new Text(theme, {Token::text, 18, QFont::Medium, true}, {}, this)),
      cost_(new Text(theme, {Token::text, 12, QFont::Medium, true}, {}, this)),
      share_(new Text(theme, {Token::text2, 11}, {}, this)),
      note_(new Text(theme, {Token::text3, 11}, {}, this)),
      slider_(new MixSlider(theme, this)),
      bars_(new BitBars(theme, this)),
      scroll_(new GroundScroll(theme, Token::panel, this)),
      make_(new Button(theme, "Make mix", Button::Kind::primary, this)),
      measure_(new Button(theme, "Measure", Button::Kind::plain, this)),
      recipe_(new IconButton(theme, "save", "Save the mix as a recipe", this)) {
  setupLayout();
  connect(slider_, &MixSlider::bytesChosen, this, [this](quint64 bytes) { show(bytes); });
  connect(make_, &QAbstractButton::clicked, this,
          [this] { emit mixAsked(edits_, "mix " + format::bytes(static_cast<double>(mix_.bytes))); });
  connect(recipe_, &QAbstractButton::clicked, this, [this] { emit recipeAsked(edits_); });
  connect(measure_, &QAbstractButton::clicked, this, [this] { sweeps_->measureMix(edits_); });
  connect(sweeps_, &SweepController::mixMeasured, this,
          [this](const std::vector<edit::Edit>& edits, double distance) {
            measuredEdits_ = edits;
            measured_ = distance;
            if (table_) show(slider_->bytes());
          });
  refresh();
}

void MixPanel::setupLayout() {
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(8);
  buttons->addWidget(make_, 1);
  buttons->addWidget(measure_, 1);
  buttons->addWidget(recipe_);
  auto* figures = new QGridLayout;
  figures->setHorizontalSpacing(12);
  figures->setVerticalSpacing(0);
  figures->addWidget(size_, 0, 0, 2, 1);
  figures->addWidget(cost_, 0, 1);
  figures->addWidget(share_, 1, 1);
  figures->setColumnStretch(1, 1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(12, 4, 12, 6);
  layout->setSpacing(3);
  layout->addWidget(title_);
  layout->addLayout(figures);
  scroll_->column()->addWidget(bars_);
  scroll_->column()->addStretch(1);
  scroll_->setMinimumHeight(static_cast<int>(theme_.scaled(kLeastBars)));
  body_ = new QBoxLayout(QBoxLayout::TopToBottom);
  body_->addWidget(slider_, 1);
  body_->addWidget(scroll_, 1);
  layout->addLayout(body_, 1);
  layout->addWidget(note_);
  layout->addLayout(buttons);
  slider_->setMinimumHeight(static_cast<int>(theme_.scaled(kLeastCurve)));
}

/// Curve and bars stand beside each other where there is the width for both.
void MixPanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const bool abreast = width() >= theme_.scaled(kAbreast);
  body_->setDirection(abreast ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  body_->setSpacing(abreast ? 14 : 4);
}

void MixPanel::refresh() {
  const std::optional<api::MixTable> before = std::exchange(table_, sweeps_->mixTable());
  const size_t choices = table_ ? api::mix_curve(*table_).size() : 0;
  const bool another = std::exchange(tables_, choices) != choices || table_.has_value() != before.has_value();
  const bool any = table_.has_value() && choices > 1;
  for (QWidget* part :
       std::initializer_list<QWidget*>{size_, cost_, share_, slider_, scroll_, make_, measure_, recipe_})
    part->setVisible(any);
  note_->setWrap(!any);
  if (!any)
    return note_->setText(
        "Sweep \"Quantise tensors\" in one type or in several: from what each tensor "
        "costs in each, the types for a size are chosen here");
  if (!another) return show(slider_->bytes());
  const uint64_t least = table_->least_bytes(), most = table_->most_bytes(), kept = slider_->bytes();
  slider_->setCurve(curveOf(*table_));
  const auto first = least + static_cast<uint64_t>(kFirstShare * static_cast<double>(most - least));
  show(kept >= least && kept <= most ? kept : first);
}

void MixPanel::show(uint64_t bytes) {
  auto mix = api::mix_for(*table_, bytes);
  if (!mix.ok()) return;
  mix_ = std::move(mix).value();
  edits_ = api::edits_of(*table_, mix_);
  const bool measured = !edits_.empty() && edits_ == measuredEdits_;
  const auto bytesNow = static_cast<double>(mix_.bytes), whole = static_cast<double>(table_->most_bytes());
  size_->setText(format::bytes(bytesNow));
  cost_->setText((measured ? "measured KL " : "predicted KL ") +
                 format::distance(measured ? measured_ : mix_.distance));
  share_->setText(QString("%2 bits an element, %1 of all")
                      .arg(format::percent(bytesNow / whole), format::number(table_->bits_of(mix_.bytes))));
  slider_->setMix(bytes, measured ? measured_ : mix_.distance);
  bars_->show(bitCounts(*table_, mix_));
  const bool edited = sweeps_->edited();
  note_->setText(
      edited                 ? QStringLiteral("The model was edited since: undo that to make another mix")
      : sweeps_->measuring() ? QStringLiteral("Measuring the mix")
      : measured
          ? QString("Measured over the sweep's text; %1 was predicted").arg(format::distance(mix_.distance))
          : QStringLiteral("Predicted: what its edits cost alone, added up"));
  make_->setEnabled(!edits_.empty() && !edited);
  recipe_->setEnabled(!edits_.empty() && !edited);
  measure_->setEnabled(!edits_.empty() && !measured && !edited && !sweeps_->running() &&
                       !sweeps_->measuring());
}

void MixPanel::setTheme(const Theme& theme) { theme_ = theme; }

}  // namespace orrery::ui
