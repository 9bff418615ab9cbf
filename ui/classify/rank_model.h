// Documents by how well they answer a query, the best first. Has the columns of ClassifyModel, so that it is
// drawn the same.
#pragma once

#include <QAbstractTableModel>
#include <QStringList>
#include <vector>

#include "engine/api/types.h"

namespace orrery::ui {

class RankModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  struct Row {
    int place = 0;  // among the documents as they were given, from 0
    QString text;
    api::Relevance relevance;
  };

  explicit RankModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  /// As many relevances as documents; of equals the first stays first.
  void setRanking(const QStringList& documents, const std::vector<api::Relevance>& relevance);
  void clear() { setRanking({}, {}); }
  const std::vector<Row>& rows() const { return rows_; }
  QString csv() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<Row> rows_;
};

}  // namespace orrery::ui
