#include "ui/library/recipe_lines.h"

#include "engine/api/recipes.h"
#include "ui/session/step_words.h"

namespace orrery::ui {
namespace {

Token tokenOf(RecipeLines::Kind kind) {
  switch (kind) {
    case RecipeLines::Kind::added:
      return Token::ok;
    case RecipeLines::Kind::removed:
    case RecipeLines::Kind::misfit:
      return Token::error;
    case RecipeLines::Kind::remark:
      return Token::text3;
    case RecipeLines::Kind::same:
      break;
  }
  return Token::text;
}

}  // namespace

void RecipeLines::showEdits(const ShelvedRecipe& recipe) {
  std::vector<Line> lines;
  const auto misfits = recipe.misfits.value_or(std::vector<edit::Misfit>());
  for (size_t i = 0; i < recipe.edits(); ++i) {
    lines.push_back(
        {Kind::same, QString("%1   %2").arg(i + 1).arg(editSentence(recipe.file.recipe.edits[i]))});
    for (const edit::Misfit& misfit : misfits)
      if (misfit.index == i)
        lines.push_back({Kind::misfit, QString(6, ' ') + QString::fromStdString(misfit.error.to_string())});
  }
  if (lines.empty()) lines.push_back({Kind::remark, "It holds no edits"});
  setLines(std::move(lines));
}

void RecipeLines::showDifference(const ShelvedRecipe& recipe, const std::vector<edit::Edit>& made) {
  const api::RecipeDiff difference = api::diff_recipes(made, recipe.file.recipe.edits);
  std::vector<Line> lines;
  for (const edit::Edit& edit : difference.removed)
    lines.push_back({Kind::removed, "-   " + editSentence(edit)});
  for (const edit::Edit& edit : difference.added) lines.push_back({Kind::added, "+   " + editSentence(edit)});
  if (difference.reordered) lines.push_back({Kind::remark, "The same edits in another order"});
  if (difference.same()) lines.push_back({Kind::remark, "The same edits"});
  setLines(std::move(lines));
}

void RecipeLines::setLines(std::vector<Line> lines) {
  beginResetModel();
  lines_ = std::move(lines);
  endResetModel();
}

void RecipeLines::setTheme(const Theme& theme) {
  theme_ = theme;
  if (!lines_.empty()) emit dataChanged(index(0), index(rowCount() - 1));
}

int RecipeLines::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(lines_.size());
}

QVariant RecipeLines::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const Line& line = lines_[static_cast<size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole:
      return line.text;
    case Qt::ForegroundRole:
      return theme_(tokenOf(line.kind));
    case kindRole:
      return static_cast<int>(line.kind);
    default:
      return {};
  }
}

}  // namespace orrery::ui
