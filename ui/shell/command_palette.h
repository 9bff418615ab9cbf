// Ctrl+K: all commands by name. Typing narrows the list, Enter runs what is chosen, Esc closes. Lies over the
// window and goes with the focus.
#pragma once

#include <QAbstractListModel>
#include <QListView>
#include <QPointer>

#include "ui/frame/command.h"
#include "ui/widgets/search_field.h"

namespace orrery::ui {

class Commands;

/// The commands whose titles or menus hold all the words typed; titles that begin with them first, and what
/// is not possible now last.
class PaletteModel : public QAbstractListModel {
  Q_OBJECT
 public:
  enum Role { titleRole = Qt::UserRole, placeRole, iconRole, keysRole, enabledRole, checkedRole, idRole };
  explicit PaletteModel(const Commands& commands, QObject* parent = nullptr);

  void setWords(const QString& typed);
  const QStringList& words() const { return words_; }
  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  const Commands& commands_;
  QStringList words_;
  std::vector<const Command*> rows_;
};

class CommandPalette : public QWidget, public Themed {
  Q_OBJECT
 public:
  CommandPalette(const Theme& theme, const Commands& commands, QWidget* window);

  void open();
  SearchField* field() const { return field_; }
  QListView* list() const { return list_; }
  PaletteModel* model() const { return model_; }
  void setTheme(const Theme& theme) override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void narrow();
  void place();
  void leave();
  bool pressKey(int key);
  void run(const QModelIndex& index);

  Theme theme_;
  const Commands& commands_;
  SearchField* field_;
  PaletteModel* model_;
  QListView* list_;
  QPointer<QWidget> before_;  // what had the focus
};

}  // namespace orrery::ui
