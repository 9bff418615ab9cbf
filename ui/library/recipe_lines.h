// The edits of a recipe as lines: sentences, with why one does not fit below it, or what is there and what is
// not beside the edits that are made.
#pragma once

#include <QAbstractListModel>

#include "ui/session/recipe_shelf.h"
#include "ui/theme/theme.h"

namespace orrery::ui {

class RecipeLines : public QAbstractListModel {
  Q_OBJECT
 public:
  enum class Kind { same, added, removed, misfit, remark };
  static constexpr int kindRole = Qt::UserRole;

  explicit RecipeLines(const Theme& theme, QObject* parent = nullptr)
      : QAbstractListModel(parent), theme_(theme) {}

  void showEdits(const ShelvedRecipe& recipe);
  /// What the recipe would bring ("+"), and what is made without it ("-").
  void showDifference(const ShelvedRecipe& recipe, const std::vector<edit::Edit>& made);
  void setTheme(const Theme& theme);

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  struct Line {
    Kind kind;
    QString text;
  };
  void setLines(std::vector<Line> lines);

  Theme theme_;
  std::vector<Line> lines_;
};

}  // namespace orrery::ui
