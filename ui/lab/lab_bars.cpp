#include "ui/lab/lab_bars.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "ui/lab/lab_model.h"
#include "ui/theme/format.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kScale = 44, kHead = 28, kFoot = 52, kFootLine = 15, kFootGap = 5, kRight = 10, kWidest = 34,
                 kCap = 3;        // px
constexpr double kOthers = 0.45;  // how much of the panel is in bars that are not chosen
constexpr int kLines = 4;

/// 1, 2 or 5 times a power of ten, not under the value.
double roundUp(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 4.0, 5.0, 8.0, 10.0})
    if (step * power >= value) return step * power;
  return value;
}

QString tickOf(double value) { return value < 100 ? QString::number(value, 'g', 3) : format::number(value); }

}  // namespace

LabBars::LabBars(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setAccessibleName("Bars of the kernel's rows");
}

QSize LabBars::sizeHint() const { return {qRound(theme_.scaled(320)), qRound(theme_.scaled(220))}; }

QSize LabBars::minimumSizeHint() const { return {qRound(theme_.scaled(140)), qRound(theme_.scaled(90))}; }

void LabBars::show(std::vector<LabRow> rows) {
  std::erase_if(rows, [](const LabRow& row) { return row.version && !row.version->refused.empty(); });
  const auto rivals = std::ranges::stable_partition(rows, [](const LabRow& row) { return !row.isRival(); });
  rivals_.assign(rivals.begin(), rivals.end());
  rows.erase(rivals.begin(), rivals.end());
  rows_ = std::move(rows);
  QStringList words;
  for (const std::vector<LabRow>* some : {&rows_, &rivals_})
    for (const LabRow& row : *some)
      if (row.timed())
        words += QString("%1 %2").arg(QString::fromStdString(row.name), format::number(valueOf(row)));
  setAccessibleDescription(words.join(QStringLiteral(", ")));
  update();
}

void LabBars::setWhat(What what) {
  what_ = what;
  update();
}

void LabBars::choose(int number) {
  chosen_ = number;
  update();
}

double LabBars::valueOf(const LabRow& row) const {
  if (!row.timed()) return 0;
  switch (what_) {
    case What::share:
      return 100 * row.version->share_of_limit;
    case What::flops:
      return row.version->gflops;
    case What::bytes:
      return row.version->gbytes_per_second;
  }
  return 0;
}

double LabBars::top() const {
  double most = what_ == What::share ? 100 : 0;
  for (const std::vector<LabRow>* some : {&rows_, &rivals_})
    for (const LabRow& row : *some) most = std::max(most, valueOf(row));
  return most > 0 ? roundUp(most) : 1;
}

QRectF LabBars::ground() const {
  return QRectF(rect()).adjusted(theme_.scaled(kScale), theme_.scaled(kHead), -theme_.scaled(kRight),
                                 -theme_.scaled(kFoot));
}

QRectF LabBars::column(size_t bar) const {
  const QRectF whole = ground();
  const double width = whole.width() / static_cast<double>(std::max<size_t>(rows_.size(), 1));
  return {whole.left() + width * static_cast<double>(bar), whole.top(), width, whole.height()};
}

int LabBars::barAt(const QPointF& position) const {
  for (size_t bar = 0; bar < rows_.size(); ++bar)
    if (const QRectF there = column(bar); position.x() >= there.left() && position.x() < there.right())
      return static_cast<int>(bar);
  return -1;
}

void LabBars::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(rect(), theme_(Token::panel));
  if (rows_.empty()) {
    painter.setPen(theme_(Token::text3));
    drawLabel(painter, QRectF(rect()), Qt::AlignHCenter, QStringLiteral("and their bars here"),
              theme_.textFont(10.5));
    return;
  }
  paintScale(painter);
  for (size_t bar = 0; bar < rows_.size(); ++bar) paintBar(painter, bar);
  for (const LabRow& rival : rivals_)
    if (valueOf(rival) > 0) paintRival(painter, rival);
}

void LabBars::paintRival(QPainter& painter, const LabRow& rival) const {
  QRectF room;
  for (size_t bar = 0; bar < rows_.size(); ++bar)
    if (rows_[bar].device == rival.device) room |= column(bar);
  if (room.isEmpty()) room = ground();
  const double y = room.bottom() - room.height() * valueOf(rival) / top();
  painter.setPen(QPen(theme_(rival.number == chosen_ ? Token::accent : Token::text), 1.4, Qt::DashLine));
  painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y));
  const QFont small = theme_.textFont(9.5);
  const QString words =
      QString("%1 %2").arg(QString::fromStdString(rival.library), format::number(valueOf(rival)));
  painter.setPen(theme_(Token::text));  // at the left, where bars are low
  drawLabel(painter, QPointF(room.left() + 2, y - 3), elided(words, small, room.width()), small);
}

void LabBars::paintScale(QPainter& painter) const {
  const QRectF whole = ground();
  const double most = top();
  const QFont ticks = theme_.monoFont(10.5);
  for (int line = 0; line <= kLines; ++line) {
    const double y = std::round(whole.bottom() - whole.height() * line / kLines) + 0.5;
    painter.setPen(QPen(theme_(line == 0 ? Token::borderStrong : Token::border), 1));
    painter.drawLine(QPointF(whole.left(), y), QPointF(whole.right(), y));
    painter.setPen(theme_(Token::text3));
    const QString words = tickOf(most * line / kLines);
    drawLabel(painter, QPointF(whole.left() - 6 - textWidth(words, ticks), y + theme_.scaled(4)), words,
              ticks);
  }
  static constexpr const char* kWords[] = {"share of the limit, %", "GFLOP/s", "GB/s"};
  const QFont small = theme_.textFont(9.5);
  const QString feet[] = {"row", what_ == What::share ? "%" : "", "gain"};
  for (int i = 0; i < 3; ++i)
    drawLabel(painter,
              QPointF(whole.left() - 6 - textWidth(feet[i], small),
                      whole.bottom() + kFootGap + theme_.scaled(kFootLine) * (i + 0.75)),
              feet[i], small);
  drawLabel(painter, QPointF(theme_.scaled(6), theme_.scaled(12)), kWords[static_cast<int>(what_)],
            theme_.textFont(10.5));
}

void LabBars::paintBar(QPainter& painter, size_t bar) const {
  const LabRow& row = rows_[bar];
  const QRectF room = column(bar);
  const double width = std::min(room.width() * 0.68, theme_.scaled(kWidest)), value = valueOf(row),
               height = room.height() * value / top();
  const QRectF box(room.center().x() - width / 2, room.bottom() - height, width, height);
  const bool chosen = row.number == chosen_;
  const QColor color = theme_(row.token()),
               fill = chosen ? color : Theme::blend(color, theme_(Token::panel), kOthers);
  if (row.stored && value > 0) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(color, 1, Qt::DashLine));
    painter.drawRect(box);
  } else if (value > 0) {
    const bool outlined = !chosen && !theme_.isDark();  // pale fills show little on a light ground
    painter.setBrush(fill);
    painter.setPen(outlined ? QPen(color, 1) : QPen(Qt::NoPen));
    painter.drawRoundedRect(outlined ? box.adjusted(0.5, 0.5, -0.5, 0) : box, 2, 2);
  }
  if (row.mark == LabMark::timing)
    painter.fillRect(QRectF(box.left(), room.bottom() - height - kCap, width, kCap), theme_(Token::accent));
  paintFoot(painter, bar);
}

/// The number of the row, its value, its gain.
void LabBars::paintFoot(QPainter& painter, size_t bar) const {
  const LabRow& row = rows_[bar];
  const QRectF room = column(bar);
  const bool chosen = row.number == chosen_, wrong = row.mark == LabMark::wrong;
  const double line = theme_.scaled(kFootLine), value = valueOf(row);
  const QFont numbers = theme_.monoFont(10.5, chosen ? QFont::DemiBold : QFont::Medium),
              small = theme_.monoFont(9.5);
  const auto write = [&](int which, const QString& words, const QFont& font, Token token) {
    if (textWidth(words, font) > room.width() - 4) return;
    painter.setPen(theme_(token));
    drawLabel(painter, QRectF(room.left(), room.bottom() + kFootGap + which * line, room.width(), line),
              Qt::AlignHCenter, words, font);
  };
  write(0, QString::number(row.number), numbers, wrong ? Token::error : chosen ? Token::accent : Token::text);
  const QString words = wrong                         ? QStringLiteral("wrong")
                        : row.mark == LabMark::timing ? QStringLiteral("…")
                        : value > 0                   ? format::number(value)
                                                      : format::dash();
  write(1, words, small, wrong ? Token::error : Token::text3);
  write(2, gainOf(bar), small, Token::text3);
}

QString LabBars::gainOf(size_t bar) const {
  const LabRow& row = rows_[bar];
  if (bar == 0 || !row.timed() || row.isReference()) return {};
  const LabRow& before = rows_[bar - 1];
  if (!before.timed() || before.device != row.device) return {};
  return format::number(before.version->us / row.version->us, 2) + QStringLiteral("×");
}

void LabBars::mousePressEvent(QMouseEvent* event) {
  const int bar = barAt(event->position());
  if (event->button() == Qt::LeftButton && bar >= 0)
    emit numberChosen(rows_[static_cast<size_t>(bar)].number);
}

bool LabBars::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  const int bar = barAt(help->pos());
  bar >= 0 ? QToolTip::showText(help->globalPos(), labTip(rows_[static_cast<size_t>(bar)]), this)
           : QToolTip::hideText();
  return true;
}

void LabBars::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

}  // namespace orrery::ui
