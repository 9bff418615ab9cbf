// The places of a sweep: a swatch in the heat colour beside each distance, rows 24 high.
#pragma once

#include <QStyledItemDelegate>
#include <QTableView>

#include "ui/sweep/sweep_model.h"
#include "ui/widgets/themed.h"

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

class SweepTable : public QTableView, public Themed {
  Q_OBJECT
 public:
  SweepTable(const Theme& theme, SweepModel* rows, QWidget* parent = nullptr);
  /// Without telling it.
  void choose(int row);
  void setTheme(const Theme& theme) override;

 signals:
  void rowChosen(int row);
  void rowEntered(int row);  // by Enter

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void sizeColumns();

  Theme theme_;
  SweepModel* rows_;
  SwatchDelegate* swatches_;
  bool choosing_ = false;
};

}  // namespace orrery::ui
