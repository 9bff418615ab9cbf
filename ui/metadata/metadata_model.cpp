#include "ui/metadata/metadata_model.h"

#include <algorithm>

namespace orrery::ui {
namespace {

constexpr qsizetype kShownLetters = 400;

QString text(const std::string& value) { return QString::fromStdString(value); }

}  // namespace

bool MetadataModel::Row::changed() const {
  return added() || key.toStdString() != source.name ||
         (source.text && this->text != QString::fromStdString(*source.text));
}

MetadataModel::MetadataModel(Check check, QObject* parent)
    : QAbstractTableModel(parent), check_(std::move(check)) {}

void MetadataModel::setKeys(std::vector<api::MetadataKey> keys) {
  beginResetModel();
  rows_.clear();
  removed_.clear();
  for (api::MetadataKey& key : keys) {
    Row row;
    row.key = text(key.name);
    row.type = text(key.type);
    row.text = text(key.text.value_or(""));
    row.source = std::move(key);
    rows_.push_back(std::move(row));
  }
  endResetModel();
  emit edited();
}

void MetadataModel::setKey(int row, const QString& key) {
  at(row).key = key.trimmed();
  changed();
}

void MetadataModel::setType(int row, const QString& type) {
  if (at(row).added()) at(row).type = type;
  changed();
}

void MetadataModel::setText(int row, const QString& text) {
  if (at(row).editable()) at(row).text = text;
  changed();
}

int MetadataModel::add() {
  const int row = rowCount();
  beginInsertRows({}, row, row);
  rows_.push_back({{}, {}, "string", {}, {}});
  endInsertRows();
  changed();
  return row;
}

void MetadataModel::remove(int row) {
  beginRemoveRows({}, row, row);
  if (!at(row).added()) removed_.push_back(at(row).source.name);
  rows_.erase(rows_.begin() + row);
  endRemoveRows();
  changed();
}

QString MetadataModel::problemOf(const Row& row) const {
  if (!row.changed()) return {};
  if (row.key.isEmpty()) return "A key needs a name";
  const auto same = [&](const Row& other) { return other.key == row.key; };
  if (std::count_if(rows_.begin(), rows_.end(), same) > 1) return "There is already a key " + row.key;
  if (!row.editable()) return {};
  const auto fits = check_(
      {MetadataEdit::Action::set, row.key.toStdString(), row.text.toStdString(), row.type.toStdString()});
  if (fits.ok()) return {};
  return text(fits.error().what) + "; " + text(fits.error().advice);
}

/// Names are compared with all others, so that every problem is found anew.
void MetadataModel::changed() {
  for (Row& row : rows_) row.problem = problemOf(row);
  if (!rows_.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, columns - 1));
  emit edited();
}

int MetadataModel::changeCount() const {
  const auto changes =
      std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.changed(); });
  return static_cast<int>(changes) + static_cast<int>(removed_.size());
}

int MetadataModel::firstProblem() const {
  for (int row = 0; row < rowCount(); ++row)
    if (!rows_[static_cast<size_t>(row)].problem.isEmpty()) return row;
  return -1;
}

std::vector<MetadataEdit> MetadataModel::edits() const {
  using Action = MetadataEdit::Action;
  std::vector<MetadataEdit> edits;
  for (const std::string& key : removed_) edits.push_back({Action::remove, key});
  for (const Row& row : rows_)
    if (!row.added() && row.key.toStdString() != row.source.name)
      edits.push_back({Action::rename, row.source.name, row.key.toStdString()});
  for (const Row& row : rows_)
    if (row.added() || (row.source.text && row.text != text(*row.source.text)))
      edits.push_back({Action::set, row.key.toStdString(), row.text.toStdString(), row.type.toStdString()});
  return edits;
}

int MetadataModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}
int MetadataModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : columns; }

QString MetadataModel::shownValue(const Row& row) const {
  QString shown = row.changed() && row.editable() ? row.text : text(row.source.value);
  if (shown.size() > kShownLetters) shown = shown.left(kShownLetters) + "…";
  return shown.replace('\n', ' ');
}

QVariant MetadataModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const Row& row = this->row(index.row());
  switch (role) {
    case Qt::DisplayRole:
      return index.column() == keyColumn    ? row.key
             : index.column() == typeColumn ? row.type
                                            : shownValue(row);
    case Qt::ToolTipRole:
      return row.problem.isEmpty() ? QVariant() : row.problem;
    case changedRole:
      return row.changed();
    case problemRole:
      return row.problem;
    default:
      return {};
  }
}

QVariant MetadataModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) return static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  return section == keyColumn ? "key" : section == typeColumn ? "type" : "value";
}

}  // namespace orrery::ui
