// Time and memory over the length of the text: which depths, what stands beside the model, how far it is, the
// numbers, and two plots. Row and point are one choice.
#pragma once

#include "ui/depth/depth_legend.h"
#include "ui/depth/depth_plot.h"
#include "ui/depth/depth_table.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/meter.h"
#include "ui/widgets/search_field.h"
#include "ui/widgets/segmented.h"

namespace orrery::ui {

class DepthPage : public QWidget, public Themed {
  Q_OBJECT
 public:
  DepthPage(const Theme& theme, SessionController* session, DepthController* depths,
            QWidget* parent = nullptr);

  /// As they are remembered; empty: the page's own.
  void setDepths(const QString& words);
  QString depthWords() const { return field_->text(); }
  /// By the person: it stays where it can.
  void chooseBeside(DepthBeside beside);
  DepthBeside beside() const { return beside_; }
  /// Starts, or stops what runs.
  void startOrStop();
  /// CSV, or both plots as PNG, by the suffix.
  Result<void> save(const QString& path) const;

  DepthController* depths() const { return depths_; }
  DepthModel* rows() const { return rows_; }
  DepthTable* table() const { return table_; }
  DepthPlot* timePlot() const { return time_; }
  DepthPlot* memoryPlot() const { return memory_; }
  SearchField* field() const { return field_; }
  DropButton* besideButton() const { return besideButton_; }
  Button* startButton() const { return start_; }
  Banner* banner() const { return banner_; }
  Segmented* side() const { return side_; }
  QString note() const { return note_->text(); }
  QString progressWords() const { return amount_->text(); }
  QWidget* corner() const { return corner_; }
  void setTheme(const Theme& theme) override;

 signals:
  void saved(const QString& path);
  void saveFailed(const orrery::ui::UiError& error);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void setupControls();
  void setupLayout();
  void shareRoom();
  void takeModel();
  void ask();
  void refreshBeside();
  void refreshControls();
  void refreshNote();
  void takeRun();
  void advance();
  void chooseDepth(int depth);
  std::vector<SideLook> looks() const;
  QByteArray picture() const;
  void askSave();

  Theme theme_;
  SessionController* session_;
  DepthController* depths_;
  Banner* banner_;
  DropButton* besideButton_;
  SearchField* field_;
  Button* start_;
  Meter* bar_;
  Text *amount_, *stage_, *left_, *note_;
  DepthModel* rows_;
  DepthTable* table_;
  DepthLegend* legend_;
  DepthPlot *time_, *memory_;
  Segmented* side_;  // time or memory, where there is room for one
  QBoxLayout *head_ = nullptr, *plots_ = nullptr;
  QWidget *column_, *corner_;
  Result<std::vector<int64_t>> typed_;
  DepthBeside beside_ = DepthBeside::nothing;
  bool personal_ = false;  // the person chose what stands beside
};

}  // namespace orrery::ui
