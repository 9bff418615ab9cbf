// The models that can be opened: those of the library folders, and files opened lately. Under each its
// recipes.
#pragma once

#include <QAbstractListModel>
#include <QStringList>

#include "ui/session/memory_estimates.h"
#include "ui/session/recipe_shelf.h"
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
    stateRole,     // "loaded", "fits", "tight", "too large"; of a recipe also "applied", "switched off",
                   // "2 of 3 do not fit"; empty: not known
    missingRole,   // bool: a recent file that is no longer there
    metadataRole,  // bool: its metadata can be edited
    recipeRole,    // the file of a recipe; empty: it is a model. The roles above are then its model's,
                   // but for name, detail and state
    stackRole,     // what a recipe is called among those that are made on the loaded model; empty: it is not
    ownRole,       // bool: the recipe's model is loaded
  };

  explicit LibraryModel(QObject* parent = nullptr) : QAbstractListModel(parent) {}

  void setModels(Library models);
  void setRecent(const QStringList& paths);
  /// As the session was opened: a path or a library name, and its adapter.
  void setLoaded(const QString& model, const QString& adapter);
  /// Where it fits is told from these estimates, by the context that it would be opened with.
  void setEstimates(const MemoryEstimates* estimates) { estimates_ = estimates; }
  /// Some estimate has changed.
  void refreshFits();
  void setRecipes(const RecipeShelf* shelf) { shelf_ = shelf; }
  /// Other recipes are found.
  void refreshRecipes();
  /// Those that are made on the loaded model.
  void setStack(const std::vector<api::StackedRecipe>& stack);
  const Library& models() const { return found_; }
  /// With those opened lately.
  const Library& allModels() const { return models_; }
  const ShelvedRecipe* recipe(const QModelIndex& index) const;  // null: it is a model

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  QModelIndex find(const QString& pathOrName) const;
  QModelIndex findRecipe(const QString& path) const;

 signals:
  /// Other models are listed.
  void modelsChanged();
  void renameAsked(const QString& recipe, const QString& name);

 private:
  struct Row {
    size_t model;
    ShelvedRecipe recipe;
    bool isRecipe = false;
  };
  const Row& row(const QModelIndex& index) const { return rows_[static_cast<size_t>(index.row())]; }
  void merge();
  std::vector<Row> laidOut() const;
  bool isLoaded(const api::LibraryEntry& entry) const;
  const api::StackedRecipe* stacked(const Row& row) const;
  QVariant recipeData(const Row& row, int role) const;
  QString stateOf(const Row& row) const;
  QString stateOf(const api::LibraryEntry& entry) const;
  QString toolTipOf(const api::LibraryEntry& entry) const;
  Fits fitsOf(const api::LibraryEntry& entry) const;

  Library found_, models_;
  std::vector<Row> rows_;
  std::vector<api::StackedRecipe> stack_;
  const RecipeShelf* shelf_ = nullptr;
  QStringList recent_;
  QString loaded_, loadedAdapter_;
  const MemoryEstimates* estimates_ = nullptr;
};

}  // namespace orrery::ui
