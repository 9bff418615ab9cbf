// One edit at a time over all places of the model, each measured: what is tried, how far it is, the places by
// what they cost, their chart, and the mix of types that follows. Row, point and graph are one choice.
#pragma once

#include <map>

#include "ui/sweep/cheapest_row.h"
#include "ui/sweep/mix_panel.h"
#include "ui/sweep/sweep_plot.h"
#include "ui/sweep/sweep_table.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/meter.h"
#include "ui/widgets/search_field.h"
#include "ui/widgets/segmented.h"

namespace orrery::ui {

class SweepPage : public QWidget, public Themed {
  Q_OBJECT
 public:
  SweepPage(const Theme& theme, SessionController* session, SweepController* sweeps,
            QWidget* parent = nullptr);

  void chooseKind(api::SweepKind kind);
  /// Of a kind that has one: a type, or a device.
  void chooseTo(const QString& to);
  api::SweepKind kind() const { return kind_; }
  QString to() const;
  void setDevices(const Devices& devices);
  /// Starts, or stops what runs.
  void startOrStop();
  /// What is chosen elsewhere, by its path; empty: nothing.
  void showChoice(const QString& path);
  /// CSV or JSON by the suffix.
  Result<void> save(const QString& path) const;

  SweepController* sweeps() const { return sweeps_; }
  SweepModel* rows() const { return rows_; }
  SweepTable* table() const { return table_; }
  SweepPlot* plot() const { return plot_; }
  MixPanel* mix() const { return mix_; }
  CheapestRow* cheapest() const { return cheapest_; }
  Button* startButton() const { return start_; }
  Button* resumeButton() const { return resume_; }
  DropButton* kindButton() const { return kindButton_; }
  SearchField* field() const { return field_; }
  Banner* banner() const { return banner_; }
  QString progressWords() const { return amount_->text(); }
  QWidget* corner() const { return corner_; }
  Segmented* side() const { return side_; }
  void setTheme(const Theme& theme) override;

 signals:
  void pathAsked(const QString& path);
  void valuesChanged(const orrery::ui::ScopeValues& values);
  /// To be made as one step of that name.
  void editsAsked(const std::vector<orrery::edit::Edit>& edits, const QString& name);
  void recipeAsked(const std::vector<orrery::edit::Edit>& edits);
  void saved(const QString& path);
  void saveFailed(const orrery::ui::UiError& error);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void setupControls();
  void setupLayout();
  void setupCorner();
  void shareWidth();
  void refreshControls();
  void refreshProgress();
  void refreshTypes();
  void takeSweep();
  void advance();
  void choosePlace(int place);
  void makeRow(int row);
  void askSave();

  Theme theme_;
  SessionController* session_;
  SweepController* sweeps_;
  Banner* banner_;
  DropButton *kindButton_, *toButton_;
  SearchField* field_;
  Button *start_, *resume_;
  Meter* bar_;
  Text *amount_, *rate_, *left_;
  SweepModel* rows_;
  SweepTable* table_;
  SweepPlot* plot_;
  MixPanel* mix_;
  CheapestRow* cheapest_;
  Text* series_;     // what the chart draws
  Segmented* side_;  // chart or mix, where there is room for one
  QWidget *column_, *corner_;
  api::SweepKind kind_ = api::SweepKind::bypass_layers;
  std::map<api::SweepKind, QString> chosenTo_;
  QStringList devices_;
};

/// "Bypass layers".
QString titleOf(api::SweepKind kind);

}  // namespace orrery::ui
