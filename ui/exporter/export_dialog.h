// The edited model as a file that other programs load. What the file cannot say, what it leaves out and which
// tensors change is shown before anything is written; then it is written on a thread of its own.
#pragma once

#include <QCheckBox>
#include <QDialog>
#include <QStandardItemModel>
#include <QTableView>
#include <QVBoxLayout>
#include <memory>
#include <optional>

#include "engine/base/worker.h"
#include "ui/session/services.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/progress_strip.h"

namespace orrery::ui {

class ExportDialog : public QDialog, public Themed {
  Q_OBJECT
 public:
  /// Plans at once. `title`: what the model is called.
  ExportDialog(const Theme& theme, ExportCalls calls, SessionPtr session, const QString& title,
               QWidget* parent = nullptr);
  ~ExportDialog() override;

  /// Looks at the model again: it was edited.
  void plan();
  /// Writes the file, or for the model of a folder the new folder.
  void writeTo(const QString& path);
  /// False while a file is being written: then says so.
  bool mayClose();
  bool planning() const { return planning_ > 0; }
  bool writing() const { return writing_; }

  const api::Session* session() const { return session_.get(); }
  QAbstractItemModel* rows() const { return rows_; }
  QString summary() const { return summary_->text(); }
  QCheckBox* keepTypes() const { return keepTypes_; }
  Banner* banner() const { return banner_; }
  ProgressStrip* progress() const { return progress_; }
  Button* exportButton() const { return export_; }
  void setTheme(const Theme& theme) override;

 signals:
  void exported(const QString& path, const QString& words);

 public slots:
  void reject() override;  // Esc, the close button and Close

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void setup(const QString& title);
  void setupTable();
  void takePlan(quint64 number, Result<api::ExportReport> report);
  void showRows();
  void showState();
  void askPath();
  void finishWrite(const QString& path, const Result<api::ExportReport>& result);
  bool isFolder() const;
  QString suggested() const;
  api::ExportOptions options() const { return {.keep_types = keepTypes_->isChecked()}; }

  Theme theme_;
  ExportCalls calls_;
  SessionPtr session_;
  std::optional<api::ExportReport> report_;  // none: not known yet, or it cannot be planned
  QStandardItemModel* rows_;
  QTableView* table_ = nullptr;
  Text *summary_ = nullptr, *path_ = nullptr;
  QCheckBox* keepTypes_ = nullptr;
  Banner* banner_ = nullptr;
  ProgressStrip* progress_ = nullptr;
  Button *export_ = nullptr, *close_ = nullptr;
  int planning_ = 0;      // plans that are being made
  quint64 lastPlan_ = 0;  // the one that is shown
  bool writing_ = false;
  std::stop_source stop_{std::nostopstate};
  std::unique_ptr<Worker> worker_;  // last: joined before what its jobs use is gone
};

}  // namespace orrery::ui
