// The edits of a recipe, beside those that are made on the model that is loaded: what both have, what the
// recipe would add, and what it has not. Lies over the window until it is closed.
#pragma once

#include <QDialog>
#include <QPlainTextEdit>

#include "engine/api/recipes.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class RecipeView : public QDialog, public Themed {
  Q_OBJECT
 public:
  RecipeView(const Theme& theme, QWidget* window);

  /// `made`: none: another model is loaded, so that there is nothing to compare with.
  void show(const api::ListedRecipe& recipe, const std::optional<std::vector<edit::Edit>>& made);
  QString words() const { return edits_->toPlainText(); }
  void setTheme(const Theme& theme) override;

 private:
  Theme theme_;
  Text *path_, *summary_;
  QPlainTextEdit* edits_;
};

}  // namespace orrery::ui
