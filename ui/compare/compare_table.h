// The nodes of a comparison: a table whose rows lead to the graph.
#pragma once

#include <QStyledItemDelegate>

#include "ui/compare/compare_nodes_model.h"
#include "ui/widgets/row_table.h"

namespace orrery::ui {

/// Numbers in the font whose digits are of one width.
class NumberDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  NumberDelegate(const Theme& theme, QObject* parent)
      : QStyledItemDelegate(parent), font_(theme.monoFont(11)) {}
  void setTheme(const Theme& theme) { font_ = theme.monoFont(11); }

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

 private:
  QFont font_;
};

/// A path where it fits, else shortened so that layer and part can be told.
class PathDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

class CompareTable : public RowTable {
  Q_OBJECT
 public:
  CompareTable(const Theme& theme, CompareNodesModel* nodes, QWidget* parent = nullptr);
  /// Takes its share of the page; a narrow one has no room for how far values are apart.
  void fit(int pageWidth);
  /// Values of A were put into B: what of the difference goes away is shown in the place of how far values
  /// are apart.
  void setPatched(bool patched);
  void setTheme(const Theme& theme) override;

 signals:
  /// The chosen node's path.
  void nodeAsked(const QString& path);

 protected:
  void sizeColumns() override;

 private:
  CompareNodesModel* nodes_;
  NumberDelegate* numbers_;
  bool patched_ = false;
};

}  // namespace orrery::ui
