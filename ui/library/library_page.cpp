#include "ui/library/library_page.h"

#include <QApplication>
#include <QKeyEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QVBoxLayout>

namespace orrery::ui {
namespace {

const QString kUndo = QStringLiteral("Undo");

bool isRecipe(const QModelIndex& index) { return !index.data(LibraryModel::recipeRole).toString().isEmpty(); }

}  // namespace

LibraryPage::LibraryPage(const Theme& theme, SessionController* session, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      session_(session),
      model_(new LibraryModel(this)),
      delegate_(new LibraryDelegate(theme, this)),
      list_(new QListView(this)),
      corner_(new QWidget(this)),
      banner_(new Banner(theme, this)) {
  list_->setModel(model_);
  list_->setItemDelegate(delegate_);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setMouseTracking(true);
  list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setAccessibleName("Library");
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 4, 0, 4);
  layout->addWidget(banner_);
  layout->addWidget(list_);
  setFocusProxy(list_);
  auto* add = new IconButton(theme, "plus", "Open a model file", corner_);
  connect(add, &QAbstractButton::clicked, this, &LibraryPage::fileAsked);
  auto* row = new QHBoxLayout(corner_);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(add);
  list_->setEditTriggers(QAbstractItemView::EditKeyPressed);
  list_->installEventFilter(this);
  list_->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(list_, &QWidget::customContextMenuRequested, this, &LibraryPage::showMenu);
  connect(list_, &QListView::activated, this, &LibraryPage::ask);
  connect(list_, &QListView::doubleClicked, this, &LibraryPage::ask);
  connect(model_, &QAbstractItemModel::modelReset, this,
          [this] { emit countChanged(static_cast<int>(model_->allModels().size())); });
  connect(session_, &SessionController::libraryScanned, model_, &LibraryModel::setModels);
  connect(model_, &QAbstractItemModel::modelReset, this, &LibraryPage::showLoaded);
  connect(session_, &SessionController::opened, this, [this] {
    const SessionPtr loaded = session_->session();
    model_->setLoaded(QString::fromStdString(loaded->options().model),
                      QString::fromStdString(loaded->options().adapter));
    showLoaded();
  });
  connect(session_, &SessionController::graphChanged, this, [this] {
    const api::History* history = session_->history();
    model_->setStack(history ? history->recipes() : std::vector<api::StackedRecipe>());
  });
  connect(model_, &LibraryModel::renameAsked, this, &LibraryPage::renameRecipe, Qt::QueuedConnection);
  connect(
      delegate_, &QAbstractItemDelegate::closeEditor, this,
      [this] {
        if (shelf_) showRecipes();
      },
      Qt::QueuedConnection);
  connect(banner_, &Banner::actionChosen, this, &LibraryPage::putBack);
}

void LibraryPage::setRecipes(RecipeShelf* shelf) {
  shelf_ = shelf;
  model_->setRecipes(shelf);
  connect(model_, &LibraryModel::modelsChanged, this, &LibraryPage::lookForRecipes);
  connect(shelf_, &RecipeShelf::listed, this, &LibraryPage::showRecipes);
  connect(shelf_, &RecipeShelf::checked, this, &LibraryPage::showRecipes);
}

void LibraryPage::lookForRecipes() {
  std::vector<RecipeShelf::Model> models;
  for (const api::LibraryEntry& entry : model_->allModels()) models.emplace_back(entry.path, entry.adapter);
  shelf_->look(std::move(models));
}

/// The row that was current stays so; a name that is being written is not taken away.
void LibraryPage::showRecipes() {
  if (list_->viewport()->isAncestorOf(QApplication::focusWidget())) return;  // comes when it is written
  const QModelIndex current = list_->currentIndex();
  const QString recipe = current.data(LibraryModel::recipeRole).toString(),
                model = current.data(LibraryModel::pathRole).toString();
  model_->refreshRecipes();
  const QModelIndex again = recipe.isEmpty() ? model_->find(model) : model_->findRecipe(recipe);
  if (again.isValid()) list_->setCurrentIndex(again);
}

/// The whole row of the model that is loaded, with its recipes as far as there is room.
void LibraryPage::showLoaded() {
  for (int row = 0; row < model_->rowCount(); ++row) {
    const QModelIndex index = model_->index(row);
    if (index.data(LibraryModel::stateRole) != "loaded") continue;
    int last = row;
    while (isRecipe(model_->index(last + 1))) ++last;
    list_->scrollTo(model_->index(last));
    list_->scrollTo(index);
  }
}

void LibraryPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  showLoaded();
}

void LibraryPage::ask(const QModelIndex& index) {
  // activated and doubleClicked may both come of one double click
  if (session_->loading() || session_->changing()) return;
  if (isRecipe(index)) return applyRecipe(index);
  emit openAsked(index.data(LibraryModel::pathRole).toString(),
                 index.data(LibraryModel::adapterRole).toString(),
                 index.data(LibraryModel::titleRole).toString());
}

void LibraryPage::setEstimates(MemoryEstimates* estimates) {
  model_->setEstimates(estimates);
  const auto measure = [this, estimates] {
    if (estimates->devices().empty()) return;
    for (const api::LibraryEntry& entry : model_->models()) {
      api::OpenOptions options;
      options.model = entry.path;
      options.adapter = entry.adapter;
      estimates->measure(options);
    }
  };
  connect(model_, &QAbstractItemModel::modelReset, estimates, measure);
  connect(estimates, &MemoryEstimates::devicesChanged, this, measure);
  connect(estimates, &MemoryEstimates::devicesChanged, model_, &LibraryModel::refreshFits);
  connect(estimates, &MemoryEstimates::measured, model_, &LibraryModel::refreshFits);
}

void LibraryPage::showMenu(const QPoint& position) {
  const QModelIndex index = list_->indexAt(position);
  if (!index.isValid()) return;
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  isRecipe(index) ? fillRecipeMenu(menu, index) : fillModelMenu(menu, index);
  menu->popup(list_->viewport()->mapToGlobal(position));
}

void LibraryPage::fillModelMenu(QMenu* menu, const QModelIndex& index) {
  const QString path = index.data(LibraryModel::pathRole).toString(),
                adapter = index.data(LibraryModel::adapterRole).toString(),
                title = index.data(LibraryModel::titleRole).toString();
  menu->addAction("Load", this, [=, this] { emit openAsked(path, adapter, title); });
  menu->addAction("Load with options...", this, [=, this] { emit optionsAsked(path, adapter, title); });
  if (index.data(LibraryModel::metadataRole).toBool())
    menu->addAction("Edit metadata...", this, [this, path] { emit metadataAsked(path); });
}

void LibraryPage::fillRecipeMenu(QMenu* menu, const QModelIndex& index) {
  const QPersistentModelIndex row(index);
  const QString stacked = index.data(LibraryModel::stackRole).toString();
  const bool readable = !model_->recipe(index)->file.problem,
             own = index.data(LibraryModel::ownRole).toBool();
  if (!stacked.isEmpty()) {
    const bool on = index.data(LibraryModel::stateRole) == "applied";
    menu->addAction(on ? "Switch off" : "Switch on", this,
                    [this, stacked, on] { emit recipeSwitched(stacked.toStdString(), !on); });
  } else {
    menu->addAction(own ? "Apply" : "Load the model with it", this, [this, row] { applyRecipe(row); })
        ->setEnabled(readable);
  }
  menu->addAction("Show...", this, [this, row] { showRecipe(row, RecipeDialog::View::edits); })
      ->setEnabled(readable);
  menu->addAction("Compare with what is applied...", this,
                  [this, row] { showRecipe(row, RecipeDialog::View::difference); })
      ->setEnabled(readable && own);
  menu->addSeparator();
  menu->addAction("Rename", this, [this, row] { list_->edit(row); })->setEnabled(readable);
  menu->addAction("Delete", this, [this, row] { deleteRecipe(row); });
}

/// One that is applied is shown: it would not fit twice.
void LibraryPage::applyRecipe(const QModelIndex& index) {
  const ShelvedRecipe* recipe = model_->recipe(index);
  if (!recipe) return;
  if (recipe->file.problem)
    return banner_->showWarning(recipe->name() + " cannot be read",
                                QString::fromStdString(recipe->file.problem->to_string()));
  if (!index.data(LibraryModel::stackRole).toString().isEmpty()) {
    showRecipe(index, RecipeDialog::View::edits);
  } else if (index.data(LibraryModel::ownRole).toBool()) {
    emit recipeAsked(recipe->path(), {}, {}, {});
  } else {
    emit recipeAsked(recipe->path(), index.data(LibraryModel::pathRole).toString(),
                     index.data(LibraryModel::adapterRole).toString(),
                     index.data(LibraryModel::titleRole).toString());
  }
}

RecipeDialog* LibraryPage::showRecipe(const QModelIndex& index, RecipeDialog::View view) {
  const ShelvedRecipe* recipe = model_->recipe(index);
  if (!recipe || recipe->file.problem) return nullptr;
  const bool own = index.data(LibraryModel::ownRole).toBool(),
             stacked = !index.data(LibraryModel::stackRole).toString().isEmpty();
  auto* dialog = new RecipeDialog(theme_, *recipe, own ? &session_->recipe() : nullptr, this);
  dialog->setAppliable(stacked ? QString() : own ? "Apply" : "Load the model with it");
  dialog->setView(view);
  connect(dialog, &RecipeDialog::applyAsked, this, [this, path = recipe->path()] {
    if (const QModelIndex row = model_->findRecipe(path); row.isValid()) applyRecipe(row);
  });
  dialog->show();
  return dialog;
}

void LibraryPage::renameRecipe(const QString& path, const QString& name) {
  if (const Result<void> renamed = shelf_->rename(path, name); !renamed.ok())
    banner_->showError(describeError("Could not rename the recipe", renamed.error()));
}

void LibraryPage::deleteRecipe(const QModelIndex& index) {
  const ShelvedRecipe* recipe = model_->recipe(index);
  if (!recipe || !shelf_) return;
  const QString path = recipe->path(), name = recipe->name();
  const Result<QByteArray> text = shelf_->remove(path);
  if (!text.ok()) return banner_->showError(describeError("Could not delete " + name, text.error()));
  deleted_ = path;
  deletedText_ = *text;
  banner_->showNotice("Deleted " + name, {kUndo});
}

void LibraryPage::putBack() {
  banner_->dismiss();
  if (const Result<void> back = shelf_->putBack(deleted_, deletedText_); !back.ok())
    banner_->showError(describeError("Could not put the recipe back", back.error()));
}

/// Delete is the list's while a recipe is current, whatever the window does with it.
bool LibraryPage::eventFilter(QObject* watched, QEvent* event) {
  const bool key = event->type() == QEvent::ShortcutOverride || event->type() == QEvent::KeyPress;
  if (!key || static_cast<QKeyEvent*>(event)->key() != Qt::Key_Delete || !isRecipe(list_->currentIndex()))
    return QWidget::eventFilter(watched, event);
  event->accept();
  if (event->type() == QEvent::KeyPress) deleteRecipe(list_->currentIndex());
  return true;
}

void LibraryPage::setTheme(const Theme& theme) {
  theme_ = theme;
  delegate_->setTheme(theme);
  list_->doItemsLayout();
  update();
}

void LibraryPage::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), theme_(Token::panel));
}

}  // namespace orrery::ui
