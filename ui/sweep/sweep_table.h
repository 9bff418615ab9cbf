// The places of a sweep: a swatch in the heat colour beside each distance, rows 24 high.
#pragma once

#include <QStyledItemDelegate>

#include "ui/sweep/sweep_model.h"
#include "ui/widgets/row_table.h"

namespace orrery::ui {

class SwatchDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  SwatchDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), theme_(theme) {}
  void setTheme(const Theme& theme) { theme_ = theme; }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

 private:
  Theme theme_;
};

class SweepTable : public RowTable {
  Q_OBJECT
 public:
  SweepTable(const Theme& theme, SweepModel* rows, QWidget* parent = nullptr);
  void setTheme(const Theme& theme) override;

 signals:
  void rowEntered(int row);  // by Enter

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void sizeColumns() override;

 private:
  SwatchDelegate* swatches_;
};

}  // namespace orrery::ui
