// The library: double-click or Enter opens a model.
#pragma once

#include <QListView>
#include <QWidget>

#include "ui/library/library_delegate.h"
#include "ui/library/library_model.h"
#include "ui/widgets/buttons.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class LibraryPage : public QWidget, public Themed {
  Q_OBJECT
 public:
  LibraryPage(const Theme& theme, SessionController* session, QWidget* parent = nullptr);

  /// Shows where each model fits, and has them measured once the devices are known.
  void setEstimates(MemoryEstimates* estimates);
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
  /// The edits of a recipe, on the model that is loaded (empty `path`) or on that one, opened for it.
  void recipeAsked(const QString& recipe, const QString& path, const QString& adapter);
  /// The edits that it made are to be left out.
  void recipeLeftOut(const QString& recipe);
  /// Would be made by Enter, on the model that is loaded; empty: nothing.
  void considered(const std::vector<orrery::edit::Edit>& edits);
  void renameAsked(const QString& recipe, const QString& name);
  void trashAsked(const QString& recipe);
  void countChanged(int models);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void askRecipe(const QModelIndex& index);
  void consider(const QModelIndex& index);
  void showRecipe(const QModelIndex& index);
  void addRecipeEntries(QMenu& menu, const QModelIndex& index);
  void ask(const QModelIndex& index);
  void showLoaded();
  void showMenu(const QPoint& position);

  Theme theme_;
  SessionController* session_;
  LibraryModel* model_;
  LibraryDelegate* delegate_;
  QListView* list_;
  QWidget* corner_;
};

}  // namespace orrery::ui
