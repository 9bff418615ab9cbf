#include "ui/library/library_page.h"

#include <QPaintEvent>
#include <QPainter>
#include <QVBoxLayout>

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
  auto* add = new IconButton(theme, "plus", "Open a model file (Ctrl+O)", corner_);
  connect(add, &QAbstractButton::clicked, this, &LibraryPage::fileAsked);
  auto* row = new QHBoxLayout(corner_);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(add);
  connect(list_, &QListView::activated, this, &LibraryPage::ask);
  connect(list_, &QListView::doubleClicked, this, &LibraryPage::ask);
  connect(model_, &QAbstractItemModel::modelReset, this, [this] { emit countChanged(model_->rowCount()); });
  connect(session_, &SessionController::libraryScanned, model_, &LibraryModel::setModels);
  connect(session_, &SessionController::opened, this, [this] {
    const SessionPtr loaded = session_->session();
    model_->setLoaded(QString::fromStdString(loaded->options().model),
                      QString::fromStdString(loaded->options().adapter));
  });
}

void LibraryPage::ask(const QModelIndex& index) {
  if (session_->loading()) return;  // activated and doubleClicked may both come of one double click
  emit openAsked(index.data(LibraryModel::pathRole).toString(),
                 index.data(LibraryModel::adapterRole).toString());
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
