#include "ui/lab/limits_panel.h"

#include <QGridLayout>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kBar = 72;  // px

}  // namespace

LimitsPanel::LimitsPanel(const Theme& theme, QWidget* parent)
    : QWidget(parent), verdict_(new Text(theme, {Token::text2, 11}, {}, this)) {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(7);
  grid->setColumnStretch(0, 1);
  int line = 0;
  grid->addWidget(new Text(theme, {Token::text2, 10.5}, "What limits it now", this), line, 0, 1, 3);
  for (RoofLine& roof : roofs_) {
    ++line;
    roof = {new Text(theme, {Token::text2, 11}, {}, this), new Meter(theme, Token::cpu, this),
            new Text(theme, {Token::text, 11, QFont::Normal, true}, {}, this)};
    roof.bar->setFixedWidth(ceilInt(theme.scaled(kBar)));
    roof.share->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    roof.share->reserve("100 %");
    grid->addWidget(roof.name, line, 0);
    grid->addWidget(roof.bar, line, 1);
    grid->addWidget(roof.share, line, 2);
  }
  verdict_->setWrap(true);
  grid->addWidget(verdict_, ++line, 0, 1, 3);
  for (FactLine& fact : facts_) {
    ++line;
    fact = {new Text(theme, {Token::text2, 11}, {}, this),
            new Text(theme, {Token::text, 11, QFont::Normal, true}, {}, this)};
    fact.value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    grid->addWidget(fact.name, line, 0);
    grid->addWidget(fact.value, line, 1, 1, 2);
  }
}

void LimitsPanel::show(const LabRow* row, const api::LabRun* run, const LabRow* before) {
  limits_ = row && run ? limitsOf(*row, *run, before) : LabLimits();
  QStringList words;
  for (size_t i = 0; i < roofs_.size(); ++i) {
    const bool there = i < limits_.roofs.size();
    const RoofLine& line = roofs_[i];
    for (QWidget* part : {static_cast<QWidget*>(line.name), static_cast<QWidget*>(line.bar),
                          static_cast<QWidget*>(line.share)})
      part->setVisible(there);
    if (!there) continue;
    const LabLimits::Roof& roof = limits_.roofs[i];
    line.name->setText(roof.name);
    line.name->setToken(roof.nearest && !limits_.far ? Token::text : Token::text2);
    line.bar->setToken(row->token());
    line.bar->setShare(roof.share);
    line.share->setText(QString("%1 %").arg(qRound(100 * roof.share)));
    words += QString("%1: %2").arg(roof.name, line.share->text());
  }
  verdict_->setText(!row                    ? QStringLiteral("Choose a row")
                    : !row->timed()         ? QStringLiteral("The row has no time yet")
                    : limits_.roofs.empty() ? QStringLiteral("What its device reaches at most is not known")
                                            : limits_.verdict);
  verdict_->setToken(limits_.far ? Token::warn : Token::text2);
  words += verdict_->text();
  for (size_t i = 0; i < facts_.size(); ++i) {
    const bool there = i < limits_.facts.size();
    facts_[i].name->setVisible(there);
    facts_[i].value->setVisible(there);
    if (!there) continue;
    facts_[i].name->setText(limits_.facts[i].name);
    facts_[i].value->setText(limits_.facts[i].value);
    words += QString("%1: %2").arg(limits_.facts[i].name, limits_.facts[i].value);
  }
  setAccessibleName(words.join(", "));
}

}  // namespace orrery::ui
