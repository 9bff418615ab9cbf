// What a recipe holds: its edits as sentences, and what is otherwise in the edits that are made now.
#pragma once

#include <QDialog>
#include <QListView>

#include "ui/library/recipe_lines.h"
#include "ui/widgets/buttons.h"
#include "ui/widgets/segmented.h"
#include "ui/widgets/text.h"

class QVBoxLayout;

namespace orrery::ui {

class RecipeDialog : public QDialog, public Themed {
  Q_OBJECT
 public:
  enum class View { edits, difference };
  /// `made`: the edits of the recipe's model; null: it is not loaded.
  RecipeDialog(const Theme& theme, ShelvedRecipe recipe, const std::vector<edit::Edit>* made,
               QWidget* parent = nullptr);

  void setView(View view);
  /// What the button says; empty: it cannot be applied.
  void setAppliable(const QString& words);
  RecipeLines* lines() const { return lines_; }
  Segmented* views() const { return views_; }
  Button* applyButton() const { return apply_; }
  QString verdict() const { return verdict_->text(); }
  void setTheme(const Theme& theme) override;

 signals:
  void applyAsked();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void setupHead(QVBoxLayout* column);
  void setupFoot(QVBoxLayout* column);
  void showVerdict();

  Theme theme_;
  ShelvedRecipe recipe_;
  std::optional<std::vector<edit::Edit>> made_;
  RecipeLines* lines_;
  QListView* list_;
  Segmented* views_;
  Text* verdict_ = nullptr;
  Button* apply_ = nullptr;
};

}  // namespace orrery::ui
