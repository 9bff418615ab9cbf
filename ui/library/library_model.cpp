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
  models_ = found_;
  for (const QString& path : recent_) {
    const std::string raw = path.toStdString();
    const bool known = std::any_of(models_.begin(), models_.end(),
                                   [&](const auto& model) { return model.path == raw || model.name == raw; });
    const QFileInfo info(path);
    if (known || !info.isAbsolute()) continue;
    api::LibraryEntry entry;
    entry.name = info.fileName().toStdString();
    entry.path = raw;
    entry.format = info.isDir() ? "folder" : info.suffix().toStdString();
    entry.bytes = info.isFile() ? static_cast<uint64_t>(info.size()) : 0;
    models_.push_back(std::move(entry));
  }
  beginResetModel();
  rows_ = laidOut();
  endResetModel();
  emit modelsChanged();
}

std::vector<LibraryModel::Row> LibraryModel::laidOut() const {
  std::vector<Row> rows;
  for (size_t model = 0; model < models_.size(); ++model) {
    rows.push_back({model, {}});
    if (!shelf_) continue;
    for (const ShelvedRecipe& recipe : shelf_->of({models_[model].path, models_[model].adapter}))
      rows.push_back({model, recipe, true});
  }
  return rows;
}

void LibraryModel::refreshRecipes() {
  std::vector<Row> rows = laidOut();
  const bool same = std::ranges::equal(rows, rows_, [](const Row& a, const Row& b) {
    return a.model == b.model && a.isRecipe == b.isRecipe && a.recipe.file.path == b.recipe.file.path;
  });
  if (same) {
    rows_ = std::move(rows);
    return refreshFits();
  }
  beginResetModel();
  rows_ = std::move(rows);
  endResetModel();
}

void LibraryModel::setStack(const std::vector<api::StackedRecipe>& stack) {
  stack_ = stack;
  refreshFits();
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

const ShelvedRecipe* LibraryModel::recipe(const QModelIndex& index) const {
  return index.isValid() && row(index).isRecipe ? &row(index).recipe : nullptr;
}

/// By the file's name, as the window makes it, or as a model that was opened with it has it.
const api::StackedRecipe* LibraryModel::stacked(const Row& row) const {
  if (!isLoaded(models_[row.model])) return nullptr;
  const QFileInfo file(row.recipe.path());
  for (const api::StackedRecipe& one : stack_)
    if (const QString name = text(one.name);
        name == file.fileName() || name == file.completeBaseName() || name == row.recipe.name())
      return &one;
  return nullptr;
}

QString LibraryModel::stateOf(const Row& row) const {
  if (row.recipe.file.problem) return "cannot be read";
  if (const api::StackedRecipe* one = stacked(row)) return one->on ? "applied" : "switched off";
  if (!row.recipe.refusal.isEmpty()) return "not checked";
  if (!row.recipe.misfits) return {};
  if (row.recipe.misfits->empty()) return "fits";
  const auto bad = static_cast<qint64>(row.recipe.misfits->size()),
             all = static_cast<qint64>(row.recipe.edits());
  if (bad == all) return "does not fit";
  return QString("%1 of %2 %3 not fit").arg(bad).arg(all).arg(bad == 1 ? "does" : "do");
}

QVariant LibraryModel::recipeData(const Row& row, int role) const {
  const api::StackedRecipe* one = stacked(row);
  switch (role) {
    case Qt::DisplayRole:
    case Qt::EditRole:
    case nameRole:
      return row.recipe.name();
    case detailRole:
      return row.recipe.file.problem ? QString()
                                     : format::counted(static_cast<qint64>(row.recipe.edits()), "edit");
    case stateRole:
      return stateOf(row);
    case recipeRole:
      return row.recipe.path();
    case stackRole:
      return one ? text(one->name) : QString();
    case Qt::ToolTipRole: {
      QStringList lines{row.recipe.path()};
      if (row.recipe.file.problem) lines += text(row.recipe.file.problem->to_string());
      if (!row.recipe.refusal.isEmpty()) lines += row.recipe.refusal;
      if (!row.recipe.file.recipe.notes.empty()) lines += text(row.recipe.file.recipe.notes);
      for (const edit::Misfit& misfit : row.recipe.misfits.value_or(std::vector<edit::Misfit>()))
        lines += QString("Edit %1: %2").arg(misfit.index + 1).arg(text(misfit.error.to_string()));
      return lines.join("\n");
    }
    case Qt::AccessibleTextRole:
      return QString("recipe %1, %2, %3")
          .arg(row.recipe.name(), recipeData(row, detailRole).toString(), stateOf(row));
    default:
      return {};
  }
}

QVariant LibraryModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const api::LibraryEntry& entry = models_[row(index).model];
  if (row(index).isRecipe)
    if (const QVariant own = recipeData(row(index), role); own.isValid()) return own;
  switch (role) {
    case Qt::DisplayRole:
    case nameRole:
      return text(entry.name);
    case titleRole:  // what is only recent is listed by its file
      return row(index).model < found_.size() ? text(entry.name) : QString();
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
    case ownRole:
      return isLoaded(entry);
    case Qt::ToolTipRole:
      return toolTipOf(entry);
    case Qt::AccessibleTextRole:
      return text(entry.name) + ", " + data(index, detailRole).toString() + ", " + stateOf(entry);
    default:
      return {};
  }
}

Qt::ItemFlags LibraryModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags flags = QAbstractListModel::flags(index);
  const ShelvedRecipe* one = recipe(index);
  return one && !one->file.problem ? flags | Qt::ItemIsEditable : flags;
}

bool LibraryModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  const ShelvedRecipe* one = recipe(index);
  const QString name = value.toString().trimmed();
  if (!one || role != Qt::EditRole || name.isEmpty() || name == one->name()) return false;
  emit renameAsked(one->path(), name);
  return true;
}

QModelIndex LibraryModel::find(const QString& pathOrName) const {
  for (int at = 0; at < rowCount(); ++at) {
    const Row& row = rows_[static_cast<size_t>(at)];
    const api::LibraryEntry& entry = models_[row.model];
    if (!row.isRecipe && (text(entry.path) == pathOrName || text(entry.name) == pathOrName)) return index(at);
  }
  return {};
}

QModelIndex LibraryModel::findRecipe(const QString& path) const {
  for (int at = 0; at < rowCount(); ++at)
    if (const ShelvedRecipe* one = recipe(index(at)); one && one->path() == path) return index(at);
  return {};
}

}  // namespace orrery::ui
