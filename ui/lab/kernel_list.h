// The kernels with their rows: what became of each, and the best share of the limit.
#pragma once

#include <QSortFilterProxyModel>
#include <QStandardItemModel>
#include <QStyledItemDelegate>
#include <QTreeView>

#include "ui/lab/lab_rows.h"
#include "ui/widgets/search_field.h"

namespace orrery::ui {

class KernelDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  KernelDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), theme_(theme) {}
  void setTheme(const Theme& theme) { theme_ = theme; }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  Theme theme_;
};

class KernelList : public QWidget, public Themed {
  Q_OBJECT
 public:
  /// Name of the kernel, of the row (empty: it is a kernel); what is said beside it; share and LabMark.
  enum Role { kernelRole = Qt::UserRole, rowRole, noteRole, shareRole, markRole };

  KernelList(const Theme& theme, const LabController* labs, QWidget* parent = nullptr);

  /// What there is, anew; and what became of it.
  void fill();
  void refresh();
  /// Without telling it.
  void choose(const std::string& kernel);
  std::string chosen() const { return chosen_; }
  QTreeView* view() const { return view_; }
  SearchField* field() const { return field_; }
  const QStandardItemModel* kernels() const { return kernels_; }
  void setTheme(const Theme& theme) override;

 signals:
  /// By the person; `row` empty: of the kernel itself.
  void kernelChosen(const QString& kernel, const QString& row);

 private:
  void refreshKernel(QStandardItem* kernel);
  void tell(const QModelIndex& index);

  const LabController* labs_;
  SearchField* field_;
  QStandardItemModel* kernels_;
  QSortFilterProxyModel* shown_;
  KernelDelegate* looks_;
  QTreeView* view_;
  std::string chosen_;
  bool choosing_ = false;
};

}  // namespace orrery::ui
