// After a CSV was opened: which column holds the texts, which the labels.
#pragma once

#include <QWidget>

#include "ui/classify/csv_texts.h"
#include "ui/widgets/buttons.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class CsvBar : public QWidget {
  Q_OBJECT
 public:
  explicit CsvBar(const Theme& theme, QWidget* parent = nullptr);
  void show(const QString& name, CsvTexts table);
  bool active() const { return isVisibleTo(parentWidget()); }
  QStringList texts() const;
  QStringList truths() const;
  int textColumn() const { return textColumn_; }
  int labelColumn() const { return labelColumn_; }
  void choose(int textColumn, int labelColumn);
  /// Until its texts have run, the bar says how they are.
  void setRun(bool run);
  QString title() const { return title_->text(); }

 signals:
  void changed();
  void closed();

 private:
  QStringList cells(int column) const;

  CsvTexts table_;
  QString name_;
  Text* title_;
  DropButton *textButton_, *labelButton_;
  int textColumn_ = 0, labelColumn_ = -1;
};

}  // namespace orrery::ui
