// The library: double-click or Enter opens a model, or makes the edits of a recipe.
#pragma once

#include <QListView>
#include <QMenu>
#include <QWidget>

#include "ui/library/library_delegate.h"
#include "ui/library/library_model.h"
#include "ui/library/recipe_dialog.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/buttons.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class LibraryPage : public QWidget, public Themed {
  Q_OBJECT
 public:
  LibraryPage(const Theme& theme, SessionController* session, QWidget* parent = nullptr);

  /// Shows where each model fits, and has them measured once the devices are known.
  void setEstimates(MemoryEstimates* estimates);
  /// Shows what recipes the models have, and has them looked for.
  void setRecipes(RecipeShelf* shelf);
  Banner* banner() const { return banner_; }
  RecipeDialog* showRecipe(const QModelIndex& index, RecipeDialog::View view);
  void deleteRecipe(const QModelIndex& index);
  LibraryModel* model() const { return model_; }
  QListView* list() const { return list_; }
  QWidget* corner() const { return corner_; }
  void setRecent(const QStringList& paths) { model_->setRecent(paths); }
  void setTheme(const Theme& theme) override;

 signals:
  /// `title`: of LibraryModel::titleRole.
  void openAsked(const QString& path, const QString& adapter, const QString& title);
  void optionsAsked(const QString& path, const QString& adapter, const QString& title);
  void fileAsked();
  void metadataAsked(const QString& path);
  /// `model` empty: for the one that is loaded.
  void recipeAsked(const QString& recipe, const QString& model, const QString& adapter, const QString& title);
  void recipeSwitched(const std::string& name, bool on);
  void countChanged(int models);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void ask(const QModelIndex& index);
  void showLoaded();
  void showMenu(const QPoint& position);
  void fillModelMenu(QMenu* menu, const QModelIndex& index);
  void fillRecipeMenu(QMenu* menu, const QModelIndex& index);
  void applyRecipe(const QModelIndex& index);
  void renameRecipe(const QString& path, const QString& name);
  void putBack();
  void lookForRecipes();
  void showRecipes();

  Theme theme_;
  SessionController* session_;
  LibraryModel* model_;
  LibraryDelegate* delegate_;
  QListView* list_;
  QWidget* corner_;
  Banner* banner_;
  RecipeShelf* shelf_ = nullptr;
  QString deleted_;  // the path of the recipe that was deleted last, and what it held
  QByteArray deletedText_;
};

}  // namespace orrery::ui
