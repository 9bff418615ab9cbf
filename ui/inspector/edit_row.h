// One field of the form: its name, what is typed, its range at the right, and below what it does or why it
// cannot be that.
#pragma once

#include <QLineEdit>

#include "ui/inspector/edit_fields.h"
#include "ui/inspector/head_toggles.h"
#include "ui/widgets/buttons.h"
#include "ui/widgets/segmented.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class EditRow : public QWidget, public Themed {
  Q_OBJECT
 public:
  EditRow(const Theme& theme, const FormField& field, QWidget* parent = nullptr);

  const FormField& field() const { return field_; }
  QString text() const;
  void setText(const QString& text);
  bool isChanged() const { return text() != field_.before; }
  /// Why it cannot be what it is; empty: it can.
  QString problem() const;
  /// What is written at the right, and below.
  QString range() const { return range_->text(); }
  QString help() const { return help_->text(); }
  QLineEdit* line() const { return line_; }          // null: it is no text
  Segmented* segments() const { return segments_; }  // null: it is no choice of a few
  HeadToggles* heads() const { return heads_; }      // null: it is no list of heads
  void setTheme(const Theme& theme) override;

 signals:
  void changed();
  void entered();
  void escaped();

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  QWidget* makeEditor();
  void refresh();

  Theme theme_;
  FormField field_;
  Text *label_, *range_, *help_;
  QLineEdit* line_ = nullptr;
  Segmented* segments_ = nullptr;
  DropButton* drop_ = nullptr;
  QString chosen_;  // of drop_
  HeadToggles* heads_ = nullptr;
};

}  // namespace orrery::ui
