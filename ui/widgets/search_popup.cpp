#include "ui/widgets/search_popup.h"

#include <QApplication>
#include <QKeyEvent>
#include <QSignalBlocker>
#include <algorithm>

namespace orrery::ui {

QSize PopupRows::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const {
  return {100, static_cast<int>(theme_.scaled(height_))};
}

SearchPopup::SearchPopup(const Theme& theme, SearchField* field, int page, QWidget* over)
    : QWidget(over), theme_(theme), field_(field), list_(new QListView(this)), page_(page) {
  hide();
  field_->setParent(this);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  list_->setUniformItemSizes(true);
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setMouseTracking(true);
  connect(field_, &QLineEdit::textChanged, this, [this] { narrow(); });
  connect(list_, &QListView::entered, list_, &QListView::setCurrentIndex);
  connect(list_, &QListView::clicked, this,
          [this](const QModelIndex& row) { take(row, QApplication::keyboardModifiers()); });
  field_->installEventFilter(this);
}

void SearchPopup::setRows(QAbstractListModel* model, PopupRows* rows) {
  list_->setModel(model);
  list_->setItemDelegate(rows);
}

void SearchPopup::setTheme(const Theme& theme) {
  theme_ = theme;
  static_cast<PopupRows*>(list_->itemDelegate())->setTheme(theme);
  list_->setStyleSheet(QString("QListView { background: %1; }").arg(theme(Token::raised).name()));
  update();
}

void SearchPopup::openAt(const QRect& place) {
  if (!isVisible()) before_ = QApplication::focusWidget();
  setGeometry(place);
  show();
  raise();
  field_->setFocus(Qt::PopupFocusReason);
}

void SearchPopup::leave() {
  if (!isVisible()) return;
  putAway();
  emit left();
}

/// The focus goes back to where it was: the field loses it, but not by the person.
void SearchPopup::putAway() {
  const QSignalBlocker quiet(this);
  if (before_ && before_->isVisible()) before_->setFocus();
  hide();
}

void SearchPopup::chooseFirst() {
  list_->setCurrentIndex(list_->model()->index(0, 0));
  list_->scrollToTop();
}

bool SearchPopup::pressKey(const QKeyEvent& key) {
  const int count = list_->model()->rowCount(), row = list_->currentIndex().row();
  const auto go = [&](int to) {
    if (count > 0) list_->setCurrentIndex(list_->model()->index(std::clamp(to, 0, count - 1), 0));
  };
  switch (key.key()) {
    case Qt::Key_Escape:
      leave();
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      take(list_->currentIndex(), key.modifiers());
      return true;
    case Qt::Key_Down:
    case Qt::Key_Tab:
      go(row + 1 == count ? 0 : row + 1);
      return true;
    case Qt::Key_Up:
    case Qt::Key_Backtab:
      go(row == 0 ? count - 1 : row - 1);
      return true;
    case Qt::Key_PageDown:
      go(row + page_ - 1);
      return true;
    case Qt::Key_PageUp:
      go(row - page_ + 1);
      return true;
    default:
      return false;
  }
}

bool SearchPopup::eventFilter(QObject* object, QEvent* event) {
  if (object != field_) return false;
  if (event->type() == QEvent::FocusOut) {  // a menu of the field and another window give it back
    const Qt::FocusReason reason = static_cast<QFocusEvent*>(event)->reason();
    if (reason != Qt::PopupFocusReason && reason != Qt::ActiveWindowFocusReason && isVisible()) {
      hide();
      emit left();
    }
  }
  if (event->type() != QEvent::ShortcutOverride && event->type() != QEvent::KeyPress) return false;
  const auto* key = static_cast<QKeyEvent*>(event);
  const bool own = !(key->modifiers() & ~(Qt::ShiftModifier | Qt::AltModifier | Qt::KeypadModifier));
  if (event->type() == QEvent::KeyPress) return own && pressKey(*key);
  if (own) event->accept();  // Esc, letters and the like are the popup's while it is open
  return own;
}

int rankOf(const QString& text, const QString& word) {
  const qsizetype at = text.indexOf(word, 0, Qt::CaseInsensitive);
  if (at <= 0) return static_cast<int>(at);
  return text[at - 1] == ' ' || text[at - 1] == '_' ? 1 : 2;
}

int rankOf(const QString& title, const QStringList& beside, const QStringList& words) {
  int rank = 0;
  for (const QString& word : words) {
    const int inTitle = rankOf(title, word);
    if (inTitle < 0 && std::ranges::none_of(beside, [&](const QString& text) {
          return text.contains(word, Qt::CaseInsensitive);
        }))
      return -1;
    rank += inTitle < 0 ? 3 : inTitle;
  }
  return rank;
}

}  // namespace orrery::ui
