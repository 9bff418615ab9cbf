#include "ui/sweep/cheapest_row.h"

#include <QHBoxLayout>
#include <QSignalBlocker>
#include <algorithm>

namespace orrery::ui {
namespace {

constexpr int kFirst = 3;
constexpr double kNumberWidth = 64;  // px

}  // namespace

QString wordsOf(const api::SweepRequest& request, const QString& place) {
  const QString to = QString::fromStdString(request.to);
  switch (request.what) {
    case api::SweepKind::bypass_layers:
      return QStringLiteral("Bypass ") + place;
    case api::SweepKind::quantise_tensors:
      return QString("Store %1 in %2").arg(place, to.toUpper());
    case api::SweepKind::zero_heads:
      return QStringLiteral("Zero ") + place;
    case api::SweepKind::precision:
      return QString("Round %1 to %2").arg(place, to);
    case api::SweepKind::place_layers:
      return QString("Place %1 on %2").arg(place, to);
  }
  return {};
}

CheapestRow::CheapestRow(const Theme& theme, SweepController* sweeps, QWidget* parent)
    : QWidget(parent),
      sweeps_(sweeps),
      number_(new QSpinBox(this)),
      make_(new Button(theme, {}, Button::Kind::plain, this)) {
  number_->setAccessibleName("How many of the cheapest");
  number_->setRange(1, kFirst);
  number_->setValue(kFirst);
  number_->setFixedWidth(static_cast<int>(theme.scaled(kNumberWidth)));
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(8);
  layout->addWidget(number_);
  layout->addWidget(make_);
  layout->addStretch(1);
  connect(number_, &QSpinBox::valueChanged, this, &CheapestRow::refresh);
  connect(make_, &QAbstractButton::clicked, this, &CheapestRow::make);
  refresh();
}

void CheapestRow::refresh() {
  const api::Sweep& sweep = sweeps_->sweep();
  const auto measured = static_cast<int>(
      std::ranges::count_if(sweep.rows, [](const api::SweepRow& row) { return row.refusal.empty(); }));
  setVisible(sweep.places > 0);
  if (measured > 0) {
    const QSignalBlocker quiet(number_);
    number_->setMaximum(std::max(measured, kFirst));
  }
  const int wanted = number_->value();
  make_->setCaption(wordsOf(
      sweep.request, wanted == 1 ? QStringLiteral("the cheapest") : QString("the %1 cheapest").arg(wanted)));
  const QString refusal = measured < wanted ? QString("%1 of them are measured so far").arg(measured)
                          : sweeps_->edited()
                              ? QStringLiteral("The model was edited since: undo that, or sweep again")
                              : QString();
  make_->setEnabled(refusal.isEmpty());
  make_->setToolTip(refusal);
}

void CheapestRow::make() {
  const QString name = make_->text();
  emit editsAsked(api::cheapest_edits(sweeps_->sweep(), static_cast<size_t>(number_->value())),
                  name.left(1).toLower() + name.mid(1));
}

}  // namespace orrery::ui
