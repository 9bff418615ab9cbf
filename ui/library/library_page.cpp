#include "ui/library/library_page.h"

#include <QPaintEvent>
#include <QPainter>
#include <QVBoxLayout>

#include "ui/library/recipe_view.h"

namespace orrery::ui {

LibraryPage::LibraryPage(const Theme& theme, SessionController* session, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      session_(session),
      model_(new LibraryModel(this)),
      delegate_(new LibraryDelegate(theme, this)),
      list_(new QListView(this)),
      corner_(new QWidget(this)) {
  list_->setModel(model_);
  list_->setItemDelegate(delegate_);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setMouseTracking(true);
  list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setAccessibleName("Library");
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 4, 0, 4);
  layout->addWidget(list_);
  setFocusProxy(list_);
  auto* add = new IconButton(theme, "plus", "Open a model file", corner_);
  connect(add, &QAbstractButton::clicked, this, &LibraryPage::fileAsked);
  auto* row = new QHBoxLayout(corner_);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(add);
  list_->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(list_, &QWidget::customContextMenuRequested, this, &LibraryPage::showMenu);
  connect(list_, &QListView::activated, this, &LibraryPage::ask);
  connect(list_, &QListView::doubleClicked, this, &LibraryPage::ask);
  connect(model_, &QAbstractItemModel::modelReset, this, [this] { emit countChanged(model_->modelCount()); });
  list_->setEditTriggers(QAbstractItemView::EditKeyPressed);  // F2, of recipes
  connect(model_, &LibraryModel::renameAsked, this, &LibraryPage::renameAsked);
  connect(list_->selectionModel(), &QItemSelectionModel::currentChanged, this, &LibraryPage::consider);
  connect(session_, &SessionController::graphChanged, this, [this] {
    QStringList made;
    if (const api::History* history = session_->history())
      for (const api::StackedRecipe& recipe : history->recipes())
        if (recipe.on) made += QString::fromStdString(recipe.name);
    model_->setMade(made);
  });
  connect(session_, &SessionController::libraryScanned, model_, &LibraryModel::setModels);
  connect(model_, &QAbstractItemModel::modelReset, this, &LibraryPage::showLoaded);
  connect(session_, &SessionController::opened, this, [this] {
    const SessionPtr loaded = session_->session();
    model_->setLoaded(QString::fromStdString(loaded->options().model),
                      QString::fromStdString(loaded->options().adapter));
    showLoaded();
  });
}

/// The whole row of the model that is loaded.
void LibraryPage::showLoaded() {
  for (int row = 0; row < model_->rowCount(); ++row)
    if (const QModelIndex index = model_->index(row); index.data(LibraryModel::stateRole) == "loaded")
      list_->scrollTo(index);
}

void LibraryPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  showLoaded();
}

void LibraryPage::ask(const QModelIndex& index) {
  if (session_->loading()) return;  // activated and doubleClicked may both come of one double click
  if (model_->recipeAt(index)) return askRecipe(index);
  emit openAsked(index.data(LibraryModel::pathRole).toString(),
                 index.data(LibraryModel::adapterRole).toString(),
                 index.data(LibraryModel::titleRole).toString());
}

/// Made, or left out where it is made.
void LibraryPage::askRecipe(const QModelIndex& index) {
  if (session_->changing()) return;  // of the same double click
  const QString recipe = index.data(LibraryModel::recipeRole).toString();
  if (index.data(LibraryModel::madeRole).toBool()) return emit recipeLeftOut(recipe);
  const bool loaded = index.data(LibraryModel::stateRole) == "loaded";
  emit recipeAsked(recipe, loaded ? QString() : index.data(LibraryModel::pathRole).toString(),
                   index.data(LibraryModel::adapterRole).toString());
}

void LibraryPage::consider(const QModelIndex& index) {
  const api::ListedRecipe* recipe = model_->recipeAt(index);
  const bool possible = recipe && index.data(LibraryModel::stateRole) == "loaded" &&
                        !index.data(LibraryModel::madeRole).toBool();
  emit considered(possible ? recipe->edits : std::vector<edit::Edit>());
}

/// Beside what is made on the model that is loaded.
void LibraryPage::showRecipe(const QModelIndex& index) {
  const api::ListedRecipe* recipe = model_->recipeAt(index);
  if (!recipe) return;
  const bool loaded = index.data(LibraryModel::stateRole) == "loaded";
  auto* view = new RecipeView(theme_, window());
  view->setAttribute(Qt::WA_DeleteOnClose);
  view->show(*recipe, loaded ? std::optional(session_->recipe()) : std::nullopt);
}

void LibraryPage::addRecipeEntries(QMenu& menu, const QModelIndex& index) {
  const QPersistentModelIndex row(index);
  const QString recipe = index.data(LibraryModel::recipeRole).toString(),
                model = index.model()->data(index, LibraryModel::titleRole).toString();
  const bool loaded = index.data(LibraryModel::stateRole) == "loaded",
             made = index.data(LibraryModel::madeRole).toBool();
  menu.addAction(made     ? QStringLiteral("Leave its edits out")
                 : loaded ? QStringLiteral("Make its edits")
                          : "Open " + model + " with it",
                 this, [this, row] { askRecipe(row); });
  menu.addAction("Show its edits", this, [this, row] { showRecipe(row); });
  menu.addSeparator();
  menu.addAction("Rename", QKeySequence("F2"), this, [this, row] { list_->edit(row); });
  menu.addAction("Move to the trash", this, [this, recipe] { emit trashAsked(recipe); });
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
  const QString path = index.data(LibraryModel::pathRole).toString(),
                adapter = index.data(LibraryModel::adapterRole).toString(),
                title = index.data(LibraryModel::titleRole).toString();
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  if (model_->recipeAt(index)) {
    addRecipeEntries(*menu, index);
    return menu->popup(list_->viewport()->mapToGlobal(position));
  }
  menu->addAction("Load", this, [=, this] { emit openAsked(path, adapter, title); });
  menu->addAction("Load with options...", this, [=, this] { emit optionsAsked(path, adapter, title); });
  if (index.data(LibraryModel::metadataRole).toBool())
    menu->addAction("Edit metadata...", this, [this, path] { emit metadataAsked(path); });
  menu->popup(list_->viewport()->mapToGlobal(position));
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
