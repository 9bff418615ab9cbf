// A field over the list that it narrows: arrow keys walk the rows while the person types, Enter takes one,
// Esc leaves. Lies over a part of the window and goes with the focus, which it gives back.
#pragma once

#include <QAbstractListModel>
#include <QListView>
#include <QPointer>
#include <QStyledItemDelegate>

#include "ui/widgets/search_field.h"

namespace orrery::ui {

/// The look of the rows.
class PopupRows : public QStyledItemDelegate {
 public:
  PopupRows(const Theme& theme, double height, QObject* parent)
      : QStyledItemDelegate(parent), theme_(theme), height_(height) {}
  void setTheme(const Theme& theme) { theme_ = theme; }
  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override;

 protected:
  Theme theme_;

 private:
  double height_;  // px at body 13
};

class SearchPopup : public QWidget, public Themed {
  Q_OBJECT
 public:
  SearchField* field() const { return field_; }
  QListView* list() const { return list_; }
  void setTheme(const Theme& theme) override;

 signals:
  /// By Esc, or because the focus went elsewhere; nothing was taken.
  void left();

 protected:
  /// `page`: rows that are seen at once.
  SearchPopup(const Theme& theme, SearchField* field, int page, QWidget* over);

  void setRows(QAbstractListModel* model, PopupRows* rows);
  const Theme& theme() const { return theme_; }
  int page() const { return page_; }
  void openAt(const QRect& place);
  void leave();
  /// Without a word: something was taken.
  void putAway();
  /// The first row is chosen.
  void chooseFirst();

  /// The list as the field's text narrows it.
  virtual void narrow() = 0;
  virtual void take(const QModelIndex& row, Qt::KeyboardModifiers modifiers) = 0;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  bool pressKey(const QKeyEvent& key);

  Theme theme_;
  SearchField* field_;
  QListView* list_;
  int page_;
  QPointer<QWidget> before_;  // what had the focus
};

/// Where `word` stands in `text`: 0: it begins with it, 1: a word of it does, 2: it holds it; -1: it does
/// not.
int rankOf(const QString& text, const QString& word);
/// Of all the words typed; those that stand in one of `beside` alone count 3 each. -1: one is nowhere.
int rankOf(const QString& title, const QStringList& beside, const QStringList& words);

}  // namespace orrery::ui
