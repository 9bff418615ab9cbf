// The keys of a GGUF file and what the person has changed of them, as a table. Knows what is wrong with a
// change before it is saved.
#pragma once

#include <QAbstractTableModel>
#include <functional>
#include <vector>

#include "engine/api/metadata.h"

namespace orrery::ui {

class MetadataModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { keyColumn, typeColumn, valueColumn, columns };
  enum Role { changedRole = Qt::UserRole, problemRole };
  /// Whether an edit's value is one of its type.
  using Check = std::function<Result<void>(const MetadataEdit&)>;

  struct Row {
    api::MetadataKey source;  // as the file has it; no name: added here
    QString key, type, text;  // as they shall be
    QString problem;          // why it cannot be saved; empty: it can
    bool added() const { return source.name.empty(); }
    bool editable() const { return added() || source.text.has_value(); }
    bool changed() const;
  };

  explicit MetadataModel(Check check, QObject* parent = nullptr);

  /// Begins anew: nothing is changed.
  void setKeys(std::vector<api::MetadataKey> keys);
  const Row& row(int index) const { return rows_[static_cast<size_t>(index)]; }
  void setKey(int row, const QString& key);
  void setType(int row, const QString& type);
  void setText(int row, const QString& text);
  /// A new key after the others; its row.
  int add();
  void remove(int row);

  /// Keys that were changed, added or removed.
  int changeCount() const;
  /// The first row that cannot be saved, -1 when all can.
  int firstProblem() const;
  /// What makes the file's keys these: removals, then names, then values.
  std::vector<MetadataEdit> edits() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 signals:
  void edited();

 private:
  Row& at(int row) { return rows_[static_cast<size_t>(row)]; }
  QString problemOf(const Row& row) const;
  void changed();
  QString shownValue(const Row& row) const;

  Check check_;
  std::vector<Row> rows_;
  std::vector<std::string> removed_;
};

}  // namespace orrery::ui
