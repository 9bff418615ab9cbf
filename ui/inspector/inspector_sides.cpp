#include "ui/inspector/inspector_sides.h"

#include <QGridLayout>
#include <QPainter>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

/// A side's mark and name, at the right of its column.
class SideName : public QWidget, public Themed {
 public:
  SideName(const Theme& theme, const SideLook& side, QWidget* parent)
      : QWidget(parent), theme_(theme), side_(side) {
    setFixedHeight(static_cast<int>(theme.scaled(18)));
    setToolTip(side.name);
    setAccessibleName(side.name);
  }
  void setTheme(const Theme& theme) override {
    theme_ = theme;
    update();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QFont font = theme_.textFont(11.5, QFont::Medium);
    const QFontMetricsF metrics(font);
    const QString name = metrics.elidedText(side_.name, Qt::ElideMiddle, width() - 14);
    painter.setFont(font);
    painter.setPen(theme_(side_.token));
    painter.drawText(rect(), Qt::AlignVCenter | Qt::AlignRight, name);
    paintMark(painter, side_, QPointF(width() - metrics.horizontalAdvance(name) - 9, height() / 2.0), 7,
              theme_);
  }

 private:
  Theme theme_;
  SideLook side_;
};

}  // namespace

void fillSides(const Theme& theme, const SideLooks& sides, const SideFacts& facts, Section* section) {
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(10);
  grid->setVerticalSpacing(4);
  grid->setColumnStretch(1, 1);
  grid->setColumnStretch(2, 1);
  const auto mono = [&](const QString& text) {
    auto* cell = new Text(theme, {Token::text, 11, QFont::Normal, true}, text, section->body());
    cell->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    return cell;
  };
  const auto row = [&](const QString& name, const QStringList& values) {
    const int at = grid->rowCount();
    grid->addWidget(new Text(theme, {Token::text2, 11.5}, name, section->body()), at, 0);
    for (qsizetype i = 0; i < values.size(); ++i)
      grid->addWidget(mono(values[i]), at, values.size() == 1 ? 2 : 1 + static_cast<int>(i));
  };
  for (const size_t side : {0, 1})
    grid->addWidget(new SideName(theme, sides[side], section->body()), 0, 1 + static_cast<int>(side));
  const auto time = [&](double us) {
    return us > 0 ? (facts.estimated ? QStringLiteral("≈ ") : QString()) + format::time(us) : format::dash();
  };
  row("time p50", {time(facts.aUs), time(facts.bUs)});
  if (const auto& apart = facts.difference) {
    row("max-abs", {QString::number(apart->max_abs, 'e', 2)});
    row("NMSE", {QString::number(apart->nmse, 'e', 2)});
    row("cosine", {QString::number(apart->cosine, 'f', 7)});
  }
  section->content()->addLayout(grid);
  if (facts.aUs > 0 && facts.bUs > 0)
    section->setFigures(format::number(facts.aUs / facts.bUs) + QStringLiteral("×"));
}

}  // namespace orrery::ui
