// The ops of one's own: those that are being written, then those that were added. Each has two lines: what it
// is called and how far it came; where it runs, whether it has gradients, and its content.
#pragma once

#include <QStyledItemDelegate>
#include <QTreeWidget>

#include "ui/own_ops/own_op_draft.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class OwnOpDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  OwnOpDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), theme_(theme) {}
  void setTheme(const Theme& theme) { theme_ = theme; }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  Theme theme_;
};

class OwnOpList : public QTreeWidget, public Themed {
  Q_OBJECT
 public:
  /// Of the drafts its place, else -1; the op's name; the state, its colour; the second line.
  enum Role { draftRole = Qt::UserRole, nameRole, stateRole, tokenRole, noteRole };

  explicit OwnOpList(const Theme& theme, QWidget* parent = nullptr);

  /// `chosen`: of the drafts; -1: none.
  void fill(const std::vector<OwnOpDraft>& drafts, int chosen, const std::vector<api::OwnOpEntry>& added);
  QString currentName() const;
  void setTheme(const Theme& theme) override;

 signals:
  /// By the person.
  void draftChosen(int draft);
  void addedChosen(const QString& name);

 private:
  void add(const QString& title, const QString& name, int draft, const QString& state, Token token,
           const QString& note, const QString& tip);

  OwnOpDelegate* looks_;
  bool filling_ = false;
};

/// "CPU, CUDA · gradients · 3be7b91f"
QString ownOpNote(const std::vector<std::string>& devices, bool backward, const std::string& content);

}  // namespace orrery::ui
