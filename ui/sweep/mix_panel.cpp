#include "ui/sweep/mix_panel.h"

#include <QHBoxLayout>
#include <QVBoxLayout>
#include <map>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kFirstShare = 0.6;  // of the sizes that there are

/// "q4_0 96 · q8_0 71 · as it is 44".
QString typesOf(const api::MixTable& table, const api::Mix& mix) {
  std::map<QString, int> counts;
  for (size_t t = 0; t < table.tensors.size(); ++t) {
    const std::string& type = table.tensors[t].choices[mix.choices[t]].type;
    ++counts[type.empty() ? QStringLiteral("as it is") : QString::fromStdString(type).toUpper()];
  }
  QStringList words;
  for (const auto& [type, count] : counts) words += type + QStringLiteral(" ") + format::count(count);
  return words.join(QStringLiteral(" · "));
}

}  // namespace

MixPanel::MixPanel(const Theme& theme, SweepController* sweeps, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      sweeps_(sweeps),
      title_(new Text(theme, {Token::text, 12, QFont::DemiBold}, "Mix for this size", this)),
      size_(new Text(theme, {Token::text, 18, QFont::Medium, true}, {}, this)),
      cost_(new Text(theme, {Token::text2, 11}, {}, this)),
      types_(new Text(theme, {Token::text2, 11, QFont::Normal, true}, {}, this)),
      note_(new Text(theme, {Token::text3, 11}, {}, this)),
      slider_(new MixSlider(theme, this)),
      make_(new Button(theme, "Make mix", Button::Kind::primary, this)),
      measure_(new Button(theme, "Measure", Button::Kind::plain, this)) {
  setupLayout();
  connect(slider_, &MixSlider::bytesChosen, this, [this](quint64 bytes) { show(bytes); });
  connect(make_, &QAbstractButton::clicked, this,
          [this] { emit mixAsked(edits_, "mix " + format::bytes(static_cast<double>(mix_.bytes))); });
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
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(12, 8, 12, 8);
  layout->setSpacing(4);
  for (QWidget* part : std::initializer_list<QWidget*>{title_, size_, cost_}) layout->addWidget(part);
  layout->addWidget(slider_, 1);
  layout->addWidget(types_);
  layout->addWidget(note_);
  layout->addLayout(buttons);
  note_->setWrap(true);
}

void MixPanel::refresh() {
  const std::optional<api::MixTable> before = std::exchange(table_, sweeps_->mixTable());
  const size_t choices = table_ ? api::mix_curve(*table_).size() : 0;
  const bool another = std::exchange(tables_, choices) != choices || table_.has_value() != before.has_value();
  const bool any = table_.has_value() && choices > 1;
  for (QWidget* part : std::initializer_list<QWidget*>{size_, cost_, types_, slider_, make_, measure_})
    part->setVisible(any);
  if (!any)
    return note_->setText(
        "Sweep \"Quantise each tensor\" in one type or in several: from what each tensor "
        "costs in each, the types for a size are chosen here");
  if (!another) return show(slider_->bytes());
  std::vector<api::Mix> curve = api::mix_curve(*table_);
  const uint64_t least = curve.front().bytes, most = curve.back().bytes;
  const uint64_t kept = slider_->bytes();
  slider_->setCurve(std::move(curve));
  const auto first = least + static_cast<uint64_t>(kFirstShare * static_cast<double>(most - least));
  slider_->setBytes(kept >= least && kept <= most ? kept : first);
  show(slider_->bytes());
}

void MixPanel::show(uint64_t bytes) {
  auto mix = api::mix_for(*table_, bytes);
  if (!mix.ok()) return;
  mix_ = std::move(mix).value();
  edits_ = api::edits_of(*table_, mix_);
  const bool measured = !edits_.empty() && edits_ == measuredEdits_;
  const double whole = static_cast<double>(table_->most_bytes());
  size_->setText(format::bytes(static_cast<double>(mix_.bytes)));
  cost_->setText(QString("%1 of the largest, %2 bits an element, %3 KL %4")
                     .arg(format::percent(static_cast<double>(mix_.bytes) / whole),
                          format::number(table_->bits_of(mix_.bytes)), measured ? "measured" : "predicted",
                          format::number(measured ? measured_ : mix_.distance)));
  types_->setText(typesOf(*table_, mix_));
  note_->setText(
      sweeps_->measuring() ? QStringLiteral("Measuring the mix")
      : measured
          ? QString("Measured over the sweep's text; %1 was predicted").arg(format::number(mix_.distance))
          : QStringLiteral("Predicted: what its edits cost alone, added up"));
  make_->setEnabled(!edits_.empty());
  measure_->setEnabled(!edits_.empty() && !measured && !sweeps_->running() && !sweeps_->measuring());
}

void MixPanel::setTheme(const Theme& theme) { theme_ = theme; }

}  // namespace orrery::ui
