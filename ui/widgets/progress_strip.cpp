#include "ui/widgets/progress_strip.h"

#include <QGridLayout>
#include <QPainter>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

/// Totals this large are bytes; smaller ones are counts of steps or nodes.
constexpr quint64 kBytesFrom = 100'000;

QString amount(const LoadProgress& progress) {
  if (progress.total == 0) return {};
  const auto done = static_cast<double>(progress.done), total = static_cast<double>(progress.total);
  if (progress.total < kBytesFrom)
    return format::count(static_cast<qint64>(progress.done)) + " / " +
           format::count(static_cast<qint64>(progress.total));
  QString text = format::bytes(done) + " / " + format::bytes(total);
  if (progress.seconds < 0.2 || done <= 0) return text;
  const double rate = done / progress.seconds;
  text += "   " + format::bytes(rate) + "/s";
  if (total > done) text += "   " + format::number((total - done) / rate, 2) + " s left";
  return text;
}

}  // namespace

ProgressStrip::ProgressStrip(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      title_(new Text(theme, {Token::text, 12.5, QFont::Medium}, {}, this)),
      figures_(new Text(theme, {Token::text2, 11, QFont::Normal, true}, {}, this)),
      meter_(new Meter(theme, Token::accent, this)) {
  auto* cancel = new Button(theme, "Cancel", Button::Kind::plain, this);
  connect(cancel, &QAbstractButton::clicked, this, &ProgressStrip::cancelled);
  figures_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  auto* layout = new QGridLayout(this);
  layout->setContentsMargins(14, 8, 10, 8);
  layout->setHorizontalSpacing(12);
  layout->setVerticalSpacing(4);
  layout->addWidget(title_, 0, 0);
  layout->addWidget(figures_, 0, 1);
  layout->addWidget(meter_, 1, 0, 1, 2);
  layout->addWidget(cancel, 0, 2, 2, 1);
  layout->setColumnStretch(0, 1);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  hide();
}

void ProgressStrip::begin(const QString& title) {
  title_->setText(title);
  figures_->setText({});
  meter_->setShare(0);
  show();
}

void ProgressStrip::setProgress(const LoadProgress& progress) {
  title_->setText(progress.stage);
  figures_->setText(amount(progress));
  if (progress.total > 0)
    meter_->setShare(static_cast<double>(progress.done) / static_cast<double>(progress.total));
}

void ProgressStrip::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

void ProgressStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintBox(painter, rect(), theme_.scaled(5), theme_(Token::raised), theme_(Token::border));
}

}  // namespace orrery::ui
