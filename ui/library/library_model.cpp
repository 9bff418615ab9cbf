#include "ui/library/library_model.h"

#include <QFileInfo>
#include <algorithm>
#include <utility>

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
  entries_ = found_;
  for (const QString& path : recent_) {
    const std::string raw = path.toStdString();
    const bool known = std::ranges::any_of(
        entries_, [&](const auto& entry) { return entry.path == raw || entry.name == raw; });
    const QFileInfo info(path);
    if (known || !info.isAbsolute()) continue;
    api::LibraryEntry entry;
    entry.name = info.fileName().toStdString();
    entry.path = raw;
    entry.format = info.isDir() ? "folder" : info.suffix().toStdString();
    entry.bytes = info.isFile() ? static_cast<uint64_t>(info.size()) : 0;
    entries_.push_back(std::move(entry));
  }
  rows_.clear();
  for (size_t i = 0; i < entries_.size(); ++i) {
    rows_.push_back({i});
    for (int recipe = 0; recipe < static_cast<int>(entries_[i].recipes.size()); ++recipe)
      rows_.push_back({i, recipe});
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

bool LibraryModel::isLoaded(const api::LibraryEntry& entry) const {
  const bool byPath = text(entry.path) == loaded_ && text(entry.adapter) == loadedAdapter_;
  return !loaded_.isEmpty() && (byPath || text(entry.name) == loaded_);
}

QString LibraryModel::stateOf(const api::LibraryEntry& entry) const {
  if (isLoaded(entry)) return "loaded";
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
  const Row& row = rows_[static_cast<size_t>(index.row())];
  if (row.recipe >= 0) return recipeData(row, role);
  const api::LibraryEntry& entry = entries_[row.entry];
  switch (role) {
    case Qt::DisplayRole:
    case nameRole:
      return text(entry.name);
    case titleRole:  // what is only recent is listed by its file
      return row.entry < found_.size() ? text(entry.name) : QString();
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

QVariant LibraryModel::recipeData(const Row& row, int role) const {
  const api::LibraryEntry& entry = entries_[row.entry];
  const api::ListedRecipe& recipe = entry.recipes[static_cast<size_t>(row.recipe)];
  const QString edits = format::counted(static_cast<qint64>(recipe.edits.size()), "edit");
  const bool made = isLoaded(entry) && (made_.contains(text(recipe.name)) ||
                                        made_.contains(QFileInfo(text(recipe.path)).fileName()));
  switch (role) {
    case Qt::DisplayRole:
    case Qt::EditRole:
    case nameRole:
      return text(recipe.name);
    case detailRole:
      return edits;
    case pathRole:
      return text(entry.path);
    case adapterRole:
      return text(entry.adapter);
    case titleRole:
      return row.entry < found_.size() ? text(entry.name) : QString();
    case stateRole:
      return isLoaded(entry) ? QStringLiteral("loaded") : QString();
    case recipeRole:
      return text(recipe.path);
    case madeRole:
      return made;
    case missingRole:
      return !QFileInfo::exists(text(recipe.path));
    case Qt::ToolTipRole:
      return text(recipe.path) + "\n" +
             (made ? "Its edits are made; Enter leaves them out"
                   : "Enter makes its edits on " + text(entry.name));
    case Qt::AccessibleTextRole:
      return QString("recipe %1 of %2, %3%4")
          .arg(text(recipe.name), text(entry.name), edits, made ? ", made" : "");
    default:
      return {};
  }
}

const api::ListedRecipe* LibraryModel::recipeAt(const QModelIndex& index) const {
  if (!index.isValid() || index.row() >= rowCount()) return nullptr;
  const Row& row = rows_[static_cast<size_t>(index.row())];
  return row.recipe < 0 ? nullptr : &entries_[row.entry].recipes[static_cast<size_t>(row.recipe)];
}

void LibraryModel::setMade(const QStringList& recipes) {
  if (std::exchange(made_, recipes) != recipes) refreshFits();
}

Qt::ItemFlags LibraryModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags usual = QAbstractListModel::flags(index);
  return recipeAt(index) ? usual | Qt::ItemIsEditable : usual;
}

bool LibraryModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  const api::ListedRecipe* recipe = recipeAt(index);
  const QString name = value.toString().trimmed();
  if (!recipe || role != Qt::EditRole || name.isEmpty() || name == text(recipe->name)) return false;
  emit renameAsked(text(recipe->path), name);
  return true;
}

QModelIndex LibraryModel::find(const QString& pathOrName) const {
  for (int row = 0; row < rowCount(); ++row) {
    const Row& listed = rows_[static_cast<size_t>(row)];
    const api::LibraryEntry& entry = entries_[listed.entry];
    if (listed.recipe < 0 && (text(entry.path) == pathOrName || text(entry.name) == pathOrName))
      return index(row);
  }
  return {};
}

}  // namespace orrery::ui
