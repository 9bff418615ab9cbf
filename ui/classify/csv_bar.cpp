#include "ui/classify/csv_bar.h"

#include <QHBoxLayout>

#include "ui/theme/format.h"

namespace orrery::ui {

CsvBar::CsvBar(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      title_(new Text(theme, {Token::text2, 12}, {}, this)),
      textButton_(new DropButton(theme, this)),
      labelButton_(new DropButton(theme, this)) {
  title_->setWrap(true);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(8);
  auto* close = new IconButton(theme, "close", "Leave the file", this);
  layout->addWidget(title_, 1, Qt::AlignVCenter);
  layout->addWidget(new Text(theme, {Token::text3, 11}, "texts", this));
  layout->addWidget(textButton_);
  layout->addWidget(new Text(theme, {Token::text3, 11}, "labels", this));
  layout->addWidget(labelButton_);
  layout->addWidget(close);
  connect(close, &QAbstractButton::clicked, this, [this] {
    hide();
    emit closed();
  });
  hide();
}

void CsvBar::show(const QString& name, CsvTexts table) {
  table_ = std::move(table);
  name_ = name;
  textButton_->menu()->clear();
  labelButton_->menu()->clear();
  labelButton_->menu()->addAction("none", this, [this] { choose(textColumn_, -1); });
  for (int column = 0; column < table_.columns.size(); ++column) {
    textButton_->menu()->addAction(table_.columns[column], this,
                                   [this, column] { choose(column, labelColumn_); });
    labelButton_->menu()->addAction(table_.columns[column], this,
                                    [this, column] { choose(textColumn_, column); });
  }
  setVisible(true);
  choose(table_.guessTextColumn(), table_.guessLabelColumn());
}

void CsvBar::choose(int textColumn, int labelColumn) {
  textColumn_ = textColumn;
  labelColumn_ = labelColumn;
  textButton_->setCaption(table_.columns.value(textColumn));
  labelButton_->setCaption(labelColumn < 0 ? "none" : table_.columns.value(labelColumn));
  setRun(false);
  emit changed();
}

void CsvBar::setRun(bool run) {
  const auto count = static_cast<qint64>(table_.rows.size());
  title_->setText(QString("%1 %2 from %3").arg(format::count(count), count == 1 ? "text" : "texts", name_) +
                  (run ? "" : ". Press Classify (Ctrl+Return) to run"));
}

QStringList CsvBar::cells(int column) const {
  QStringList cells;
  if (column < 0) return cells;
  for (const QStringList& row : table_.rows) cells += row.value(column);
  return cells;
}

QStringList CsvBar::texts() const { return cells(textColumn_); }
QStringList CsvBar::truths() const { return cells(labelColumn_); }

}  // namespace orrery::ui
