#include "ui/classify/rank_model.h"

#include <algorithm>

#include "engine/base/csv.h"
#include "ui/classify/classify_model.h"

namespace orrery::ui {

void RankModel::setRanking(const QStringList& documents, const std::vector<api::Relevance>& relevance) {
  beginResetModel();
  rows_.clear();
  const auto count = std::min(documents.size(), static_cast<qsizetype>(relevance.size()));
  for (qsizetype i = 0; i < count; ++i)
    rows_.push_back({static_cast<int>(i), documents[i], relevance[static_cast<size_t>(i)]});
  // By logit: scores near 1 are rounded to the same number.
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const Row& a, const Row& b) { return a.relevance.logit > b.relevance.logit; });
  endResetModel();
}

QString RankModel::csv() const {
  std::string text = csv_record({"rank", "place", "score", "logit", "text"});
  for (size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    text += csv_record({std::to_string(i + 1), std::to_string(row.place + 1),
                        QString::number(static_cast<double>(row.relevance.score), 'f', 6).toStdString(),
                        QString::number(static_cast<double>(row.relevance.logit), 'f', 6).toStdString(),
                        row.text.toStdString()});
  }
  return QString::fromStdString(text);
}

int RankModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}
int RankModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ClassifyModel::columns;
}

QVariant RankModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const Row& row = rows_[static_cast<size_t>(index.row())];
  const auto score = static_cast<double>(row.relevance.score);
  switch (role) {
    case ClassifyModel::scoreRole:
      return score;
    case ClassifyModel::doneRole:
      return true;
    case ClassifyModel::wrongRole:
      return false;
    case Qt::DisplayRole:
      if (index.column() == ClassifyModel::textColumn) return row.text;
      if (index.column() == ClassifyModel::labelColumn) return QString("line %1").arg(row.place + 1);
      return QString::number(score, 'f', 4);
    case Qt::ToolTipRole:
      return index.column() == ClassifyModel::textColumn ? row.text : QVariant();
    default:
      return {};
  }
}

QVariant RankModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole)
    return static_cast<int>((section == ClassifyModel::scoreColumn ? Qt::AlignRight : Qt::AlignLeft) |
                            Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  return section == ClassifyModel::textColumn    ? "document"
         : section == ClassifyModel::labelColumn ? "was"
                                                 : "score";
}

}  // namespace orrery::ui
