// The ops that nodes can be made of, by family. Typing narrows them; QtCore and QtGui only.
#pragma once

#include <QAbstractItemModel>
#include <vector>

#include "engine/graph/op_schema.h"

namespace orrery::ui {

class OpsModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  enum Role { helpRole = Qt::UserRole, familyRole, opRole };  // opRole: the op's name; empty: a family
  using QAbstractItemModel::QAbstractItemModel;

  /// In the order in which a family shows them. Sources are no ops to put down.
  void setOps(const std::vector<graph::OpPtr>& ops);
  void setWords(const QString& typed);
  int count() const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& = {}) const override { return 1; }
  QVariant data(const QModelIndex& index, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  QStringList mimeTypes() const override;
  QMimeData* mimeData(const QModelIndexList& indexes) const override;

 private:
  struct Op {
    QString name, help, doc;
  };
  struct Family {
    graph::OpFamily family;
    std::vector<Op> ops;
  };
  void narrow();

  std::vector<Family> all_, shown_;
  QString typed_;
};

}  // namespace orrery::ui
