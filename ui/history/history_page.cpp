#include "ui/history/history_page.h"

#include <QCheckBox>
#include <QPainter>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

const QString kKeep = QStringLiteral("Keep as recipe");

}  // namespace

HistoryPage::HistoryPage(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      model_(new HistoryModel(this)),
      list_(new HistoryList(theme, model_, this)),
      banner_(new Banner(theme, this)),
      recipes_(new QWidget(this)),
      original_(new Button(theme, "Back to the original", Button::Kind::plain, this)) {
  original_->setIconName("history");
  original_->setToolTip("Undo all steps; they stay here to be made again");
  auto* rows = new QVBoxLayout(recipes_);
  rows->setContentsMargins(12, 0, 12, 0);
  rows->setSpacing(2);
  auto* foot = new QHBoxLayout;
  foot->setContentsMargins(10, 0, 10, 8);
  foot->addWidget(original_);
  foot->addStretch(1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 6, 0, 0);
  layout->setSpacing(6);
  layout->addWidget(banner_);
  layout->addWidget(list_, 1);
  layout->addWidget(recipes_);
  layout->addLayout(foot);
  setFocusProxy(list_);
  connect(list_, &HistoryList::jumpAsked, this, &HistoryPage::jumpAsked);
  connect(original_, &QAbstractButton::clicked, this, [this] { emit jumpAsked(0); });
  connect(banner_, &Banner::actionChosen, this, [this] {
    banner_->dismiss();
    emit keepAsked(replaced_);
  });
  setHistory(nullptr, {});
}

void HistoryPage::setHistory(const api::History* history, const QString& title) {
  const graph::GraphVersion opened = history ? history->opened() : nullptr;
  if (std::exchange(opened_, opened) != opened) banner_->dismiss();
  const bool walks = list_->hasFocus();
  model_->setHistory(history, title);
  original_->setEnabled(history && history->position() > 0);
  showRecipes(history ? history->recipes() : std::vector<api::StackedRecipe>());
  const QModelIndex now = model_->index(model_->now());
  if (now.isValid()) {
    list_->setCurrentIndex(now);
    list_->scrollTo(now);
  }
  if (walks) list_->setFocus();
  const int steps = std::max(0, model_->steps());
  emit wordsChanged(steps == 0 ? QString()
                    : model_->now() == steps
                        ? format::counted(steps, "step")
                        : QString("%1 of %2").arg(model_->now()).arg(format::counted(steps, "step")));
}

void HistoryPage::showRecipes(const std::vector<api::StackedRecipe>& recipes) {
  for (QCheckBox* box : recipes_->findChildren<QCheckBox*>()) {
    box->setParent(nullptr);
    box->deleteLater();
  }
  for (const api::StackedRecipe& recipe : recipes) {
    auto* box = new QCheckBox(QString("%1, %2").arg(
        QString::fromStdString(recipe.name), format::counted(static_cast<qint64>(recipe.edits), "edit")));
    box->setChecked(recipe.on);
    box->setToolTip(recipe.on ? "Leave the edits of this recipe out" : "Make the edits of this recipe again");
    connect(box, &QCheckBox::toggled, this,
            [this, name = recipe.name](bool on) { emit recipeSwitched(name, on); });
    recipes_->layout()->addWidget(box);
  }
  recipes_->setVisible(!recipes.empty());
}

void HistoryPage::offerReplaced(const std::vector<edit::Edit>& recipe, int steps) {
  replaced_ = recipe;
  banner_->showNotice(format::counted(steps, "undone step") + (steps == 1 ? " was" : " were") + " replaced",
                      {kKeep});
}

void HistoryPage::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

void HistoryPage::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_(Token::panel));
  const int top = (recipes_->isVisible() ? recipes_->y() : original_->y()) - 4;
  painter.fillRect(QRect(0, top, width(), 1), theme_(Token::border));
}

}  // namespace orrery::ui
