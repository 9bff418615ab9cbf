#include "ui/classify/classify_model.h"

#include <algorithm>

#include "engine/base/csv.h"

namespace orrery::ui {

void ClassifyModel::setLabels(const QStringList& labels) {
  beginResetModel();
  labels_ = labels;
  endResetModel();
}

void ClassifyModel::setTexts(const QStringList& texts, const QStringList& truths) {
  beginResetModel();
  rows_.clear();
  done_ = 0;
  for (qsizetype i = 0; i < texts.size(); ++i) rows_.push_back({texts[i], truths.value(i), std::nullopt});
  endResetModel();
}

void ClassifyModel::setResults(const std::vector<IndexedClassification>& batch) {
  int first = rowCount(), last = -1;
  for (const IndexedClassification& entry : batch) {
    if (entry.index >= rows_.size()) continue;
    if (!rows_[entry.index].result) ++done_;
    rows_[entry.index].result = entry.result;
    first = std::min(first, static_cast<int>(entry.index));
    last = std::max(last, static_cast<int>(entry.index));
  }
  if (last >= first) emit dataChanged(index(first, 0), index(last, columns - 1));
}

void ClassifyModel::setThreshold(double threshold) {
  threshold_ = threshold;
  if (!rows_.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, columns - 1));
}

int ClassifyModel::predicted(const Row& row) const {
  if (!row.result || row.result->probabilities.empty()) return -1;
  const std::vector<float>& p = row.result->probabilities;
  if (p.size() == 2) return p[1] >= static_cast<float>(threshold_) ? 1 : 0;
  return static_cast<int>(std::max_element(p.begin(), p.end()) - p.begin());
}

double ClassifyModel::score(const Row& row) const {
  const int label = predicted(row);
  return label < 0 ? 0 : static_cast<double>(row.result->probabilities[static_cast<size_t>(label)]);
}

int ClassifyModel::truthOf(const Row& row) const {
  const QString truth = row.truth.trimmed();
  if (truth.isEmpty()) return -1;
  for (int i = 0; i < labels_.size(); ++i)
    if (labels_[i].compare(truth, Qt::CaseInsensitive) == 0) return i;
  bool number = false;
  const int index = truth.toInt(&number);
  return number && index >= 0 && index < labels_.size() ? index : -1;
}

bool ClassifyModel::labelsTokens() const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [](const Row& row) { return row.result && !row.result->tokens.empty(); });
}

bool ClassifyModel::hasTruths() const {
  return std::any_of(rows_.begin(), rows_.end(), [this](const Row& row) { return truthOf(row) >= 0; });
}

ConfusionMatrix ClassifyModel::confusion() const {
  ConfusionMatrix matrix;
  matrix.labels = labels_;
  const auto count = static_cast<size_t>(labels_.size());
  matrix.counts.assign(count, std::vector<int>(count, 0));
  for (const Row& row : rows_) {
    const int truth = truthOf(row), label = predicted(row);
    if (truth < 0 || label < 0 || label >= labels_.size()) continue;
    ++matrix.counts[static_cast<size_t>(truth)][static_cast<size_t>(label)];
    ++matrix.known;
    matrix.right += truth == label;
  }
  return matrix;
}

QString ClassifyModel::tokensCsv() const {
  std::vector<std::string> head = {"text", "token", "label"};
  for (const QString& label : labels_) head.push_back("p_" + label.toStdString());
  std::string text = csv_record(head);
  for (size_t row = 0; row < rows_.size(); ++row) {
    if (!rows_[row].result) continue;
    for (const api::TokenLabel& token : rows_[row].result->tokens) {
      std::vector<std::string> cells = {rows_[row].text.toStdString(), token.piece, token.label};
      for (const float p : token.probabilities) cells.push_back(QString::number(p, 'f', 6).toStdString());
      text += csv_record(cells);
    }
  }
  return QString::fromStdString(text);
}

QString ClassifyModel::csv() const {
  if (labelsTokens()) return tokensCsv();
  std::vector<std::string> head = {"text", "label", "score"};
  for (const QString& label : labels_) head.push_back("p_" + label.toStdString());
  const bool truths = hasTruths();
  if (truths) head.emplace_back("true_label");
  std::string text = csv_record(head);
  for (const Row& row : rows_) {
    if (!row.result) continue;
    std::vector<std::string> cells = {row.text.toStdString(), labels_.value(predicted(row)).toStdString(),
                                      QString::number(score(row), 'f', 6).toStdString()};
    for (const float p : row.result->probabilities) cells.push_back(QString::number(p, 'f', 6).toStdString());
    if (truths) cells.push_back(row.truth.toStdString());
    text += csv_record(cells);
  }
  return QString::fromStdString(text);
}

int ClassifyModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}
int ClassifyModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : columns; }

QVariant ClassifyModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const Row& row = rows_[static_cast<size_t>(index.row())];
  switch (role) {
    case scoreRole:
      return score(row);
    case doneRole:
      return row.result.has_value();
    case wrongRole:
      return truthOf(row) >= 0 && predicted(row) >= 0 && truthOf(row) != predicted(row);
    case Qt::DisplayRole:
      if (index.column() == textColumn) return QString(row.text).replace('\n', ' ');
      if (!row.result) return {};
      if (!row.result->tokens.empty())
        return index.column() == labelColumn ? QString("%1 tokens").arg(row.result->tokens.size())
                                             : QString();
      return index.column() == labelColumn ? labels_.value(predicted(row))
                                           : QString::number(score(row), 'f', 3);
    case Qt::ToolTipRole:
      return index.column() == textColumn ? row.text : QVariant();
    default:
      return {};
  }
}

QVariant ClassifyModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole)
    return static_cast<int>((section == scoreColumn ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  return section == textColumn ? "text" : section == labelColumn ? "label" : "score";
}

}  // namespace orrery::ui
