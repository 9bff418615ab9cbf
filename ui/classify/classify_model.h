// The classified texts as a table, and what follows from them when the true labels are known.
#pragma once

#include <QAbstractTableModel>
#include <QStringList>
#include <optional>

#include "ui/session/run_feed.h"

namespace orrery::ui {

struct ConfusionMatrix {
  QStringList labels;
  std::vector<std::vector<int>> counts;  // [true][predicted]
  int known = 0, right = 0;              // rows with a result and a known true label
  double accuracy() const { return known > 0 ? static_cast<double>(right) / known : 0; }
};

class ClassifyModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { textColumn, labelColumn, scoreColumn, columns };
  enum Role { scoreRole = Qt::UserRole, doneRole, wrongRole };
  struct Row {
    QString text, truth;
    std::optional<api::Classification> result;
  };

  explicit ClassifyModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

  void setLabels(const QStringList& labels);
  const QStringList& labels() const { return labels_; }
  /// Truths may be empty, or one for each text: a label's name or its number.
  void setTexts(const QStringList& texts, const QStringList& truths);
  void setResults(const std::vector<IndexedClassification>& batch);
  /// For two labels: the second one is predicted from this probability on.
  void setThreshold(double threshold);
  double threshold() const { return threshold_; }

  const std::vector<Row>& rows() const { return rows_; }
  int predicted(const Row& row) const;  // label index, -1 without a result
  double score(const Row& row) const;   // probability of the predicted label
  bool hasTruths() const;
  /// Each token of a text has a label, not the text.
  bool labelsTokens() const;
  int doneCount() const { return done_; }
  ConfusionMatrix confusion() const;
  QString csv() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  QString tokensCsv() const;
  int truthOf(const Row& row) const;  // label index, -1 when not known

  QStringList labels_;
  std::vector<Row> rows_;
  double threshold_ = 0.5;
  int done_ = 0;
};

}  // namespace orrery::ui
