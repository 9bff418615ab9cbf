// The differences of two models: each row on the ground of its kind with its mark, a swatch in the heat
// colour beside each distance, rows 24 high. A click on a header sorts.
#pragma once

#include <QStyledItemDelegate>

#include "ui/diff/diff_model.h"
#include "ui/widgets/row_table.h"

namespace orrery::ui {

class DifferenceDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  DifferenceDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), theme_(theme) {}
  void setTheme(const Theme& theme) { theme_ = theme; }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

 private:
  Theme theme_;
};

class DiffTable : public RowTable {
  Q_OBJECT
 public:
  DiffTable(const Theme& theme, DiffFilter* rows, QWidget* parent = nullptr);
  /// A row of the unfiltered model, without telling it; -1: none.
  void chooseDifference(int row);
  /// The next row that is shown, or the one before; at an end the other end. And tells it.
  void step(int by);
  void setTimed(bool timed);
  void setTheme(const Theme& theme) override;

 signals:
  void pathChosen(const QString& path);

 protected:
  void sizeColumns() override;

 private:
  DiffFilter* rows_;
  DifferenceDelegate* looks_;
};

}  // namespace orrery::ui
