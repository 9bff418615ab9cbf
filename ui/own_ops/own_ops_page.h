// Ops of one's own: those that were added and those that are being written at the left, the files of the
// chosen one, what its compilers say by line, and what its trial found. It is compiled while it is written;
// it is tried in a process of its own before it can be added.
#pragma once

#include <QHBoxLayout>
#include <QPointer>
#include <QTimer>
#include <QVBoxLayout>

#include "ui/own_ops/own_op_editor.h"
#include "ui/own_ops/own_op_list.h"
#include "ui/own_ops/own_op_results.h"
#include "ui/widgets/banner.h"

namespace orrery::ui {

class OwnOpsPage : public QWidget, public Themed {
  Q_OBJECT
 public:
  OwnOpsPage(const Theme& theme, OwnOpController* ops, QWidget* parent = nullptr);

  /// A draft of an example, under a name that none of the drafts has.
  void begin(const QString& example);
  void openFiles(const QStringList& paths) { ops_->open(paths); }
  /// The chosen draft's files into a folder.
  bool save(const QString& folder);
  /// A draft, by its place in the list.
  void choose(int draft);
  void compile();
  void verify();
  void add();
  void goToNextError();
  /// The names of drafts with text that is in no file.
  QStringList unsaved() const;

  OwnOpController* ops() const { return ops_; }
  OwnOpList* list() const { return list_; }
  CodeView* host() const { return editor_->host(); }
  CodeView* cuda() const { return editor_->cuda(); }
  Segmented* tabs() const { return editor_->tabs(); }
  Banner* banner() const { return banner_; }
  Button* compileButton() const { return compile_; }
  Button* verifyButton() const { return verify_; }
  Button* addButton() const { return add_; }
  Button* removeButton() const { return remove_; }
  QString problemWords() const { return editor_->problemWords(); }
  QString stateWords() const { return state_->text(); }
  QStringList checkWords() const { return results_->words(); }
  void setTheme(const Theme& theme) override;

 signals:
  void saved(const QString& folder);
  void draftsChanged();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void setupLayout();
  void setupActions();
  void shareRoom();
  OwnOpDraft* chosen();
  void takeText(bool cuda, const QString& words);
  void takeReport(OwnOpStep step, const SourceFiles& files, const api::OwnOpReport& report);
  void takeOpened(const SourceFiles& files, const QString& folder);
  void start(OwnOpStep step);
  void fillList();
  void refresh();
  void askSave();
  void openAdded(const QString& name);
  const api::OwnOpEntry* entry(const QString& name) const;

  Theme theme_;
  QPointer<OwnOpController> ops_;
  std::vector<OwnOpDraft> drafts_;
  int chosen_ = -1;
  QTimer typing_;
  DropButton* new_;
  Button *open_, *save_;
  OwnOpList* list_;
  Banner* banner_;
  OwnOpEditor* editor_;
  Text* state_;
  Button *compile_, *verify_, *add_, *remove_;
  OwnOpResults* results_;
  QHBoxLayout* columns_ = nullptr;
  QVBoxLayout* middle_ = nullptr;
};

}  // namespace orrery::ui
