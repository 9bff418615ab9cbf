#include "ui/library/library_model.h"

#include <QFileInfo>
#include <algorithm>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

// Share of the machine's memory that a model's file may take and still leave room for its context and the
// desktop.
constexpr double kFits = 0.6, kTight = 0.9;

QString text(const std::string& value) { return QString::fromStdString(value); }

}  // namespace

void LibraryModel::setModels(Library models) {
  found_ = std::move(models);
  merge();
}

void LibraryModel::setRecent(const QStringList& paths) {
  recent_ = paths;
  merge();
}

void LibraryModel::merge() {
  beginResetModel();
  rows_ = found_;
  for (const QString& path : recent_) {
    const std::string raw = path.toStdString();
    const bool known = std::any_of(rows_.begin(), rows_.end(),
                                   [&](const auto& row) { return row.path == raw || row.name == raw; });
    const QFileInfo info(path);
    if (known || !info.isAbsolute()) continue;
    api::LibraryEntry entry;
    entry.name = info.fileName().toStdString();
    entry.path = raw;
    entry.format = info.isDir() ? "folder" : info.suffix().toStdString();
    entry.bytes = info.isFile() ? static_cast<uint64_t>(info.size()) : 0;
    rows_.push_back(std::move(entry));
  }
  endResetModel();
}

void LibraryModel::setLoaded(const QString& model, const QString& adapter) {
  loaded_ = model;
  loadedAdapter_ = adapter;
  if (!rows_.empty()) emit dataChanged(index(0), index(rowCount() - 1));
}

int LibraryModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QString LibraryModel::stateOf(const api::LibraryEntry& entry) const {
  const bool byPath = text(entry.path) == loaded_ && text(entry.adapter) == loadedAdapter_;
  if (!loaded_.isEmpty() && (byPath || text(entry.name) == loaded_)) return "loaded";
  if (memory_ == 0 || entry.bytes == 0) return {};
  const double share = static_cast<double>(entry.bytes) / static_cast<double>(memory_);
  return share < kFits ? "fits" : share < kTight ? "tight" : "too large";
}

QVariant LibraryModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const api::LibraryEntry& entry = rows_[static_cast<size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole:
    case nameRole:
      return text(entry.name);
    case detailRole: {
      QStringList parts = {text(entry.format).toUpper(), text(entry.dtype)};
      if (entry.bytes > 0) parts += format::bytes(static_cast<double>(entry.bytes));
      if (!entry.adapter.empty()) parts += "+ LoRA";
      parts.removeAll(QString());
      return parts.join("  ");
    }
    case pathRole:
      return text(entry.path);
    case adapterRole:
      return text(entry.adapter);
    case stateRole:
      return stateOf(entry);
    case missingRole:
      return !QFileInfo::exists(text(entry.path));
    case Qt::ToolTipRole:
      return text(entry.path);
    case Qt::AccessibleTextRole:
      return text(entry.name) + ", " + data(index, detailRole).toString() + ", " + stateOf(entry);
    default:
      return {};
  }
}

QModelIndex LibraryModel::find(const QString& pathOrName) const {
  for (int row = 0; row < rowCount(); ++row) {
    const api::LibraryEntry& entry = rows_[static_cast<size_t>(row)];
    if (text(entry.path) == pathOrName || text(entry.name) == pathOrName) return index(row);
  }
  return {};
}

}  // namespace orrery::ui
