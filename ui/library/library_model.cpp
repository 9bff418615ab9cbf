#include "ui/library/library_model.h"

#include <QFileInfo>
#include <algorithm>

#include "ui/library/fit_look.h"
#include "ui/session/model_title.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

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
  refreshFits();
}

int LibraryModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QString LibraryModel::stateOf(const api::LibraryEntry& entry) const {
  const bool byPath = text(entry.path) == loaded_ && text(entry.adapter) == loadedAdapter_;
  if (!loaded_.isEmpty() && (byPath || text(entry.name) == loaded_)) return "loaded";
  const std::optional<api::Fit> fit = bestFit(fitsOf(entry));
  return fit ? wordOf(*fit) : QString();
}

Fits LibraryModel::fitsOf(const api::LibraryEntry& entry) const {
  return estimates_ ? estimates_->fits(entry.path, entry.adapter, 0, api::OpenOptions{}.kv_type) : Fits{};
}

QString LibraryModel::toolTipOf(const api::LibraryEntry& entry) const {
  QStringList lines{text(entry.path)};
  for (const api::DeviceMemory& memory : fitsOf(entry)) {
    const QString device = deviceTitle(memory.device);
    lines += memory.refusal.empty()
                 ? QString("%1: %2, %3 of %4 free, estimated")
                       .arg(device, wordOf(memory.fit), format::bytes(static_cast<double>(memory.sum())),
                            format::bytes(static_cast<double>(memory.free)))
                 : QString("%1: %2").arg(device, text(memory.refusal));
  }
  return lines.join("\n");
}

void LibraryModel::refreshFits() {
  if (!rows_.empty()) emit dataChanged(index(0), index(rowCount() - 1));
}

QVariant LibraryModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const api::LibraryEntry& entry = rows_[static_cast<size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole:
    case nameRole:
      return text(entry.name);
    case titleRole:  // what is only recent is listed by its file
      return static_cast<size_t>(index.row()) < found_.size() ? text(entry.name) : QString();
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
    case metadataRole:
      return text(entry.format).compare("gguf", Qt::CaseInsensitive) == 0;
    case missingRole:
      return !QFileInfo::exists(text(entry.path));
    case Qt::ToolTipRole:
      return toolTipOf(entry);
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
