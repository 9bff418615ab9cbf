// The inputs of a graph, one a row: its name and type, what it is given, and under it what does not fit.
#pragma once

#include <QLineEdit>
#include <QScrollArea>
#include <vector>

#include "ui/session/graph_controller.h"
#include "ui/widgets/buttons.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class InputRow : public QWidget {
  Q_OBJECT
 public:
  InputRow(const Theme& theme, QWidget* parent = nullptr);
  void show(const GivenInput& given);
  QString name() const { return name_; }
  QLineEdit* field() const { return field_; }
  /// What the words make, or why they make nothing.
  QString told() const { return told_->text(); }

 signals:
  void given(const QString& input, const QString& words);
  void runAsked();

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void browse();

  QString name_;
  Text *title_, *told_;
  QLineEdit* field_;
};

class InputRows : public QScrollArea {
  Q_OBJECT
 public:
  InputRows(const Theme& theme, GraphController* graphs, QWidget* parent = nullptr);
  void setTheme(const Theme& theme) { theme_ = theme; }
  /// Null: there is no input of that name.
  InputRow* row(const QString& input) const;
  void refresh();

 private:
  Theme theme_;
  GraphController* graphs_;
  QWidget* ground_;
  Text* none_;
  std::vector<InputRow*> rows_;
};

}  // namespace orrery::ui
