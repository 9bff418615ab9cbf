// Ctrl+K: all commands by name. Typing narrows the list, Enter runs what is chosen, Esc closes. Lies over the
// window and goes with the focus.
#pragma once

#include "ui/frame/command.h"
#include "ui/widgets/search_popup.h"

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

class CommandPalette : public SearchPopup {
  Q_OBJECT
 public:
  CommandPalette(const Theme& theme, const Commands& commands, QWidget* window);

  void open();
  PaletteModel* model() const { return model_; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void narrow() override;
  void take(const QModelIndex& row, Qt::KeyboardModifiers modifiers) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  QRect place() const;

  const Commands& commands_;
  PaletteModel* model_;
};

}  // namespace orrery::ui
