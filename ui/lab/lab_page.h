// The kernels by themselves: which there are, what a row of one reaches under the roofs of the machine, all
// rows of it as bars and in a table, the problem that they are run on, and what the chosen row took before.
// Row, mark and bar are one choice.
#pragma once

#include <QBoxLayout>
#include <QPointer>

#include "ui/lab/kernel_list.h"
#include "ui/lab/lab_bars.h"
#include "ui/lab/lab_history.h"
#include "ui/lab/lab_table.h"
#include "ui/lab/limits_panel.h"
#include "ui/lab/problem_panel.h"
#include "ui/lab/roofline_plot.h"
#include "ui/lab/source_panel.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/ground_scroll.h"
#include "ui/widgets/meter.h"
#include "ui/widgets/segmented.h"

namespace orrery::ui {

class LabPage : public QWidget, public Themed {
  Q_OBJECT
 public:
  LabPage(const Theme& theme, LabController* labs, QWidget* parent = nullptr);

  void chooseKernel(const QString& kernel);
  QString kernel() const { return QString::fromStdString(list_->chosen()); }
  void setDevices(const std::vector<api::DeviceEntry>& devices, const std::string& used);
  void startOrStop();
  /// "softmax 4x33x1": the kernel and the problem; once the kernels are known.
  void runWords(const QString& words);
  /// The chosen row alone; nothing where none is chosen.
  void runChosen();
  bool canRunChosen() const;
  /// The rows that are shown: CSV, JSON, or PNG of the plots in the light theme, by the suffix.
  Result<void> save(const QString& path) const;
  void askSave();

  LabController* labs() const { return labs_; }
  KernelList* list() const { return list_; }
  ProblemPanel* problem() const { return problem_; }
  LabModel* rows() const { return rows_; }
  LabTable* table() const { return table_; }
  RooflinePlot* roofline() const { return roofline_; }
  LabBars* bars() const { return bars_; }
  LabHistory* history() const { return history_; }
  Segmented* side() const { return side_; }
  Segmented* below() const { return below_; }
  SourcePanel* source() const { return source_; }
  LimitsPanel* limits() const { return limits_; }
  Button* runButton() const { return run_; }
  Button* rowButton() const { return runRow_; }
  Banner* banner() const { return banner_; }
  QString stageWords() const { return stage_->text(); }
  QWidget* corner() const { return corner_; }
  void setTheme(const Theme& theme) override;

 signals:
  void saved(const QString& path);
  void saveFailed(const orrery::ui::UiError& error);
  /// Of what commands say.
  void choiceChanged();

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void setupControls();
  void setupLayout();
  void setupMiddle();
  void setupCorner();
  void shareRoom();
  void fill();
  void refresh();
  void refreshControls();
  void takeEnd();
  void tellRun();
  void pick(int number);
  void chooseNumber(int number);
  const LabRow* chosenRow() const;
  const api::LabRun* runOf(const LabRow& row) const;
  QString fileOf(const LabRow* row) const;
  /// On the same device, and with a time if that is wanted; null: there is none.
  const LabRow* rowBefore(const LabRow* row, bool timed) const;
  void showSource(const LabRow* row);
  QString refusal() const;
  QByteArray picture() const;

  Theme theme_;
  QPointer<LabController> labs_;  // goes before the page does
  KernelList* list_;
  Banner* banner_;
  Text *title_, *note_;
  Segmented *what_, *side_;
  RooflinePlot* roofline_;
  LabBars* bars_;
  LabModel* rows_;
  LabTable* table_;
  Text* detail_;  // of the chosen row
  Segmented* below_;
  SourcePanel* source_;
  LimitsPanel* limits_;
  ProblemPanel* problem_;
  Button *run_, *runRow_;
  Meter* bar_;
  Text *stage_, *historyTitle_;
  LabHistory* history_;
  QWidget *left_, *middle_, *plots_, *corner_;
  GroundScroll* right_;
  QHBoxLayout* columns_;
  QVBoxLayout* leftColumn_;
  std::string chosenName_, chosenDevice_;
  QString asked_;        // before the kernels were known
  bool picked_ = false;  // the row, by the person
  bool wasRunning_ = false, beside_ = true;
};

}  // namespace orrery::ui
