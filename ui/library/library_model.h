// The models that can be opened: those of the library folders, and files opened lately; below each model the
// recipes that lie beside it.
#pragma once

#include <QAbstractListModel>
#include <QStringList>

#include "ui/session/memory_estimates.h"
#include "ui/session/session_controller.h"

namespace orrery::ui {

class LibraryModel : public QAbstractListModel {
  Q_OBJECT
 public:
  enum Role {
    nameRole = Qt::UserRole,
    titleRole,     // what it is called once it is open; empty: by its file
    detailRole,    // "GGUF  Q4_1  98 MB"
    pathRole,      // what to open: a path or a library name
    adapterRole,   // PEFT folder; empty: none
    stateRole,     // "loaded", "fits", "tight", "too large"; empty: not known
    missingRole,   // bool: a recent file that is no longer there
    metadataRole,  // bool: its metadata can be edited
    recipeRole,    // of a recipe its file; path and adapter are its model's
    madeRole,      // bool: its edits are made on the model that is loaded
  };

  explicit LibraryModel(QObject* parent = nullptr) : QAbstractListModel(parent) {}

  void setModels(Library models);
  void setRecent(const QStringList& paths);
  /// As the session was opened: a path or a library name, and its adapter.
  void setLoaded(const QString& model, const QString& adapter);
  /// The recipes whose edits are made on that model, as they are called there.
  void setMade(const QStringList& recipes);
  /// Where it fits is told from these estimates, by the context that it would be opened with.
  void setEstimates(const MemoryEstimates* estimates) { estimates_ = estimates; }
  /// Some estimate has changed.
  void refreshFits();
  const Library& models() const { return found_; }
  /// With those that are only recent; recipes are rows below them.
  int modelCount() const { return static_cast<int>(entries_.size()); }
  /// Of a row of one; null: the row is a model's.
  const api::ListedRecipe* recipeAt(const QModelIndex& index) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  QModelIndex find(const QString& pathOrName) const;

 signals:
  void renameAsked(const QString& recipe, const QString& name);

 private:
  struct Row {
    size_t entry;
    int recipe = -1;  // of the entry's; -1: it is the model
  };

  void merge();
  QVariant recipeData(const Row& row, int role) const;
  bool isLoaded(const api::LibraryEntry& entry) const;
  QString stateOf(const api::LibraryEntry& entry) const;
  QString toolTipOf(const api::LibraryEntry& entry) const;
  Fits fitsOf(const api::LibraryEntry& entry) const;

  Library found_, entries_;
  std::vector<Row> rows_;
  QStringList recent_, made_;
  QString loaded_, loadedAdapter_;
  const MemoryEstimates* estimates_ = nullptr;
};

}  // namespace orrery::ui
