// The model that is talked to beside another: which nodes one of them lacks, how the others differ,
// how far their weights are apart and what they take. Row and graph are one choice.
#pragma once

#include <QCheckBox>

#include "ui/diff/diff_table.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/meter.h"
#include "ui/widgets/search_field.h"
#include "ui/widgets/segmented.h"

namespace orrery::ui {

class DiffPage : public QWidget, public Themed {
  Q_OBJECT
 public:
  DiffPage(const Theme& theme, SessionController* session, DiffController* diffs, QWidget* parent = nullptr);

  /// Another file of a model; empty: the model as it was opened. Starts.
  void compareWith(const QString& path);
  /// With what was chosen last; or stops what runs.
  void startOrStop();
  /// To the next difference, or the one before.
  void step(int by) { table_->step(by); }
  /// What is chosen elsewhere, by its path.
  void showChoice(const QString& path);
  /// As CSV.
  Result<void> save(const QString& path) const;

  DiffController* diffs() const { return diffs_; }
  DiffModel* rows() const { return rows_; }
  DiffFilter* shown() const { return shown_; }
  DiffTable* table() const { return table_; }
  Button* startButton() const { return start_; }
  QCheckBox* timesBox() const { return times_; }
  Segmented* kinds() const { return kinds_; }
  SearchField* field() const { return field_; }
  Banner* banner() const { return banner_; }
  QString summary() const { return summary_->text(); }
  QWidget* corner() const { return corner_; }
  void setTheme(const Theme& theme) override;

 signals:
  void pathAsked(const QString& path);
  void valuesChanged(const orrery::ui::ScopeValues& values);
  void saved(const QString& path);
  void saveFailed(const orrery::ui::UiError& error);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void setupControls();
  void setupLayout();
  void setupCorner();
  void refreshControls();
  void takeFound();
  QString summaryWords() const;
  void askFile();
  void askSave();

  Theme theme_;
  SessionController* session_;
  DiffController* diffs_;
  Banner* banner_;
  DropButton* other_;
  QCheckBox* times_;
  Button* start_;
  Segmented* kinds_;
  SearchField* field_;
  Meter* bar_;
  Text* summary_;
  DiffModel* rows_;
  DiffFilter* shown_;
  DiffTable* table_;
  QWidget* corner_;
  QString path_;  // of the other file; empty: as opened
  DifferencesPtr taken_;
};

}  // namespace orrery::ui
