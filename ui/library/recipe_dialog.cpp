#include "ui/library/recipe_dialog.h"

#include <QPainter>
#include <QVBoxLayout>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr int kDialogWidth = 520, kDialogHeight = 380, kDialogMargin = 16, kDialogGap = 12;

}  // namespace

RecipeDialog::RecipeDialog(const Theme& theme, ShelvedRecipe recipe, const std::vector<edit::Edit>* made,
                           QWidget* parent)
    : QDialog(parent),
      theme_(theme),
      recipe_(std::move(recipe)),
      lines_(new RecipeLines(theme, this)),
      list_(new QListView(this)),
      views_(new Segmented(theme, this)) {
  if (made) made_ = *made;
  setAttribute(Qt::WA_DeleteOnClose);
  setWindowTitle(recipe_.name());
  list_->setModel(lines_);
  list_->setWordWrap(true);
  list_->setResizeMode(QListView::Adjust);
  list_->setSelectionMode(QAbstractItemView::NoSelection);
  list_->setAccessibleName("Edits");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(kDialogMargin, kDialogMargin, kDialogMargin, kDialogMargin);
  column->setSpacing(kDialogGap);
  setupHead(column);
  column->addWidget(list_, 1);
  setupFoot(column);
  resize(kDialogWidth, kDialogHeight);
  setView(View::edits);
}

void RecipeDialog::setupHead(QVBoxLayout* column) {
  column->addWidget(new Text(theme_, {Token::text, 15, QFont::DemiBold}, recipe_.name(), this));
  auto* path = new Text(theme_, {Token::text2, 11, QFont::Normal, true}, recipe_.path(), this);
  path->setElide(Qt::ElideMiddle);
  column->addWidget(path);
  if (const QString notes = QString::fromStdString(recipe_.file.recipe.notes); !notes.isEmpty()) {
    auto* text = new Text(theme_, {Token::text2, 12}, notes, this);
    text->setWrap(true);
    column->addWidget(text);
  }
  views_->addChoice("Edits");
  views_->addChoice("Beside what is applied");
  views_->setAccessibleName("What is shown");
  if (!made_) views_->setRefused(1, "Its model is not loaded");
  column->addWidget(views_, 0, Qt::AlignLeft);
  connect(views_, &Segmented::chosen, this, [this](int choice) { setView(static_cast<View>(choice)); });
}

void RecipeDialog::setupFoot(QVBoxLayout* column) {
  verdict_ = new Text(theme_, {Token::text2, 12}, {}, this);
  verdict_->setWrap(true);
  column->addWidget(verdict_);
  auto* close = new Button(theme_, "Close", Button::Kind::plain, this);
  apply_ = new Button(theme_, "Apply", Button::Kind::primary, this);
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  row->addStretch(1);
  row->addWidget(close);
  row->addWidget(apply_);
  column->addLayout(row);
  connect(close, &QAbstractButton::clicked, this, &QDialog::reject);
  connect(apply_, &QAbstractButton::clicked, this, [this] {
    emit applyAsked();
    accept();
  });
  showVerdict();
}

void RecipeDialog::showVerdict() {
  const auto edits = static_cast<qint64>(recipe_.edits());
  if (!recipe_.misfits) return verdict_->setText(recipe_.refusal);
  const auto bad = static_cast<qint64>(recipe_.misfits->size());
  verdict_->setToken(bad > 0 ? Token::error : Token::ok);
  verdict_->setText(bad == 0 ? format::counted(edits, "edit") +
                                   (edits == 1 ? ", which fits" : ", all of which fit")
                             : QString("%1 of %2 %3 not fit this model")
                                   .arg(bad)
                                   .arg(format::counted(edits, "edit"))
                                   .arg(bad == 1 ? "does" : "do"));
}

void RecipeDialog::setView(View view) {
  if (view == View::difference && !made_) view = View::edits;
  views_->setCurrent(static_cast<int>(view));
  view == View::edits ? lines_->showEdits(recipe_) : lines_->showDifference(recipe_, *made_);
}

void RecipeDialog::setAppliable(const QString& words) {
  apply_->setVisible(!words.isEmpty());
  if (!words.isEmpty()) apply_->setCaption(words);
  apply_->setEnabled(!recipe_.misfits || recipe_.misfits->empty());
}

void RecipeDialog::setTheme(const Theme& theme) {
  theme_ = theme;
  lines_->setTheme(theme);
  update();
}

void RecipeDialog::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_(Token::panel));
}

}  // namespace orrery::ui
