#include "ui/library/recipe_view.h"

#include <QVBoxLayout>
#include <algorithm>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr int kViewWidth = 560, kViewHeight = 340;  // px at body 13

QString line(QChar mark, const edit::Edit& edit) {
  return QString(mark) + QStringLiteral("  ") + QString::fromStdString(edit.to_string()) +
         QStringLiteral("\n");
}

QString counted(size_t edits) { return format::counted(static_cast<qint64>(edits), QStringLiteral("edit")); }

}  // namespace

RecipeView::RecipeView(const Theme& theme, QWidget* window)
    : QDialog(window),
      theme_(theme),
      path_(new Text(theme, {Token::text3, 11}, {}, this)),
      summary_(new Text(theme, {Token::text2, 11.5}, {}, this)),
      edits_(new QPlainTextEdit(this)) {
  edits_->setReadOnly(true);
  edits_->setLineWrapMode(QPlainTextEdit::NoWrap);
  edits_->setAccessibleName("Edits");
  path_->setElide(Qt::ElideMiddle);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(14, 12, 14, 14);
  layout->setSpacing(6);
  layout->addWidget(path_);
  layout->addWidget(edits_, 1);
  layout->addWidget(summary_);
  resize(static_cast<int>(theme.scaled(kViewWidth)), static_cast<int>(theme.scaled(kViewHeight)));
  setTheme(theme);
}

void RecipeView::show(const api::ListedRecipe& recipe, const std::optional<std::vector<edit::Edit>>& made) {
  setWindowTitle(QString::fromStdString(recipe.name));
  path_->setText(QString::fromStdString(recipe.path));
  QString words;
  if (!made) {
    for (const edit::Edit& edit : recipe.edits) words += line(' ', edit);
    summary_->setText(counted(recipe.edits.size()));
  } else {
    const edit::RecipeDifference told = edit::difference(*made, recipe.edits);
    std::vector<edit::Edit> added = told.added;
    for (const edit::Edit& edit : recipe.edits) {
      const auto found = std::ranges::find(added, edit);
      words += line(found == added.end() ? QChar(' ') : QChar('+'), edit);
      if (found != added.end()) added.erase(found);
    }
    for (const edit::Edit& edit : told.removed) words += line(QChar(0x2212), edit);
    summary_->setText(
        told.added.empty() && told.removed.empty()
            ? (told.reordered ? QStringLiteral("The same edits are made, in another order")
                              : QStringLiteral("The same edits are made"))
            : QString("%1 of it are not made (+); %2 are made that it has not (%3)")
                  .arg(counted(told.added.size()), counted(told.removed.size()), QChar(0x2212)));
  }
  edits_->setPlainText(words);
  QDialog::show();
}

void RecipeView::setTheme(const Theme& theme) {
  theme_ = theme;
  edits_->setFont(theme.monoFont(12));
}

}  // namespace orrery::ui
