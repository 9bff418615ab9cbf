// A line to type in with an icon at the left and a key's name at the right.
#pragma once

#include <QLineEdit>

#include "ui/widgets/themed.h"

namespace orrery::ui {

class SearchField : public QLineEdit, public Themed {
  Q_OBJECT
 public:
  SearchField(const Theme& theme, const QString& icon, const QString& placeholder, const QString& key,
              QWidget* parent = nullptr);
  void setKey(const QString& key);
  /// Mono text in place of the key's name: "3 of 12".
  void setNote(const QString& note);
  void setTheme(const Theme& theme) override;

 signals:
  void escaped();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  Theme theme_;
  QString icon_, key_, note_;
};

}  // namespace orrery::ui
