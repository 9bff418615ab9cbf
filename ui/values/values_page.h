// What a graph of one's own is given and makes: its inputs as a person types them, the run, every value with
// its range, and the chosen one as a table.
#pragma once

#include <QBoxLayout>
#include <QCheckBox>
#include <QSpinBox>
#include <QSplitter>
#include <QTableView>

#include "ui/values/array_model.h"
#include "ui/values/input_rows.h"
#include "ui/values/value_list.h"
#include "ui/widgets/banner.h"

namespace orrery::ui {

class ValuesPage : public QWidget, public Themed {
  Q_OBJECT
 public:
  ValuesPage(const Theme& theme, GraphController* graphs, QWidget* parent = nullptr);

  /// Starts, or stops what runs.
  void runOrStop();
  /// What is shown as a table.
  void showValue(ValueId value);
  /// The first output of a node.
  void showNode(NodeId node);
  /// Of what is shown, as a .npy file.
  Result<void> save(const QString& path) const;

  InputRows* inputs() const { return inputs_; }
  ValueList* values() const { return values_; }
  ArrayModel* elements() const { return elements_; }
  QTableView* table() const { return table_; }
  Button* runButton() const { return run_; }
  QCheckBox* keepBox() const { return keep_; }
  Banner* banner() const { return banner_; }
  QString told() const { return told_->text(); }
  QString shownWords() const { return shown_->text(); }
  void setTheme(const Theme& theme) override;

 signals:
  /// The node of that path makes what was chosen.
  void pathAsked(const QString& path);
  void saved(const QString& path);
  void failed(const orrery::ui::UiError& error);

 private:
  QWidget* makeInputs();
  QWidget* makeValues();
  QWidget* makeTable();
  void refresh();
  void takeRun();
  void tellFailure(const Error& error);
  void refreshShown();
  void askSave();

  Theme theme_;
  GraphController* graphs_;
  Banner* banner_;
  InputRows* inputs_;
  Button *run_, *save_;
  QCheckBox* keep_;
  Text *told_, *shown_;
  ValueList* values_;
  QTableView *list_, *table_;
  ArrayModel* elements_;
  QHBoxLayout* slices_;
  std::vector<QSpinBox*> places_;  // one a dim that is not shown whole
  std::optional<ValueId> chosen_;
};

}  // namespace orrery::ui
