// The metadata of one GGUF file, to be looked at, changed and saved as a new file. The file itself is never
// written to. Changes that were not saved are asked about before they are lost.
#pragma once

#include <QComboBox>
#include <QDialog>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

#include "engine/base/worker.h"
#include "ui/metadata/metadata_model.h"
#include "ui/session/services.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/progress_strip.h"
#include "ui/widgets/search_field.h"

namespace orrery::ui {

class MetadataEditor : public QDialog, public Themed {
  Q_OBJECT
 public:
  /// `model`: a path or a name of the library; it is read on a thread of its own.
  MetadataEditor(const Theme& theme, MetadataCalls calls, const QString& model, QWidget* parent = nullptr);
  ~MetadataEditor() override;

  /// False while there are changes: then asks what to do with them.
  bool mayClose();
  /// Saves to a file that is not there yet; then goes on with that file.
  void saveAs(const QString& path);
  bool busy() const { return busy_; }
  bool changed() const { return model_->changeCount() > 0; }

  QString file() const { return file_; }
  MetadataModel* model() const { return model_; }
  QTableView* table() const { return table_; }
  SearchField* search() const { return search_; }
  QLineEdit* keyField() const { return key_; }
  QComboBox* typeField() const { return type_; }
  QPlainTextEdit* valueField() const { return value_; }
  QString problem() const { return problem_->text(); }
  Banner* banner() const { return banner_; }
  Button* addButton() const { return add_; }
  Button* removeButton() const { return remove_; }
  Button* saveButton() const { return save_; }
  void setTheme(const Theme& theme) override;

 signals:
  void saved(const QString& path);

 public slots:
  void reject() override;  // Esc, the close button and Close

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  // metadata_editor_setup.cpp
  void setupHead(QVBoxLayout* column);
  void setupTable(QVBoxLayout* column);
  void setupFields(QVBoxLayout* column);
  void setupFoot(QVBoxLayout* column);
  void setupKeys();

  void read(const QString& model);
  void askSave(bool close);  // close: once it is saved
  void finishSave(const QString& path, const Result<void>& result);
  void addKey();
  void removeKey();
  void choose(int row);
  int chosen() const;  // row of the model, -1: none
  void showFields();
  void showState();
  void setBusy(bool busy);

  Theme theme_;
  MetadataCalls calls_;
  QString file_;
  MetadataModel* model_;
  QSortFilterProxyModel* filter_;
  Text *title_ = nullptr, *path_ = nullptr, *problem_ = nullptr, *state_ = nullptr;
  SearchField* search_ = nullptr;
  QTableView* table_ = nullptr;
  QLineEdit* key_ = nullptr;
  QComboBox* type_ = nullptr;
  QPlainTextEdit* value_ = nullptr;
  Button *add_ = nullptr, *remove_ = nullptr, *save_ = nullptr, *close_ = nullptr;
  Banner* banner_ = nullptr;
  ProgressStrip* progress_ = nullptr;
  bool busy_ = false, discard_ = false, closing_ = false, filling_ = false;
  std::stop_source saving_{std::nostopstate};
  std::unique_ptr<Worker> worker_;  // last: joined before what its jobs use is gone
};

}  // namespace orrery::ui
