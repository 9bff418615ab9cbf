// The files of an op of one's own in tabs, with what its compilers say: the lines in front of them, and the
// first of it in a strip below.
#pragma once

#include <QStackedWidget>

#include "ui/code/code_view.h"
#include "ui/own_ops/own_op_draft.h"
#include "ui/widgets/segmented.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class OwnOpEditor : public QWidget {
  Q_OBJECT
 public:
  explicit OwnOpEditor(const Theme& theme, QWidget* parent = nullptr);

  /// The texts of a draft, from its first file on.
  void show(OwnOpDraft& draft);
  /// What its report complains of.
  void showProblems(OwnOpDraft* draft);
  void goToNextError(OwnOpDraft* draft);

  CodeView* host() const { return host_; }
  CodeView* cuda() const { return cuda_; }
  Segmented* tabs() const { return tabs_; }
  Text* title() const { return title_; }
  QString problemWords() const { return problem_->text(); }

 signals:
  /// By the person, in the file of CUDA or the other.
  void textChanged(bool cuda, const QString& text);
  void tabChosen();
  /// Ctrl+Enter, F8.
  void compileAsked();
  void nextErrorAsked();

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void setupLayout();
  void showTab(int tab);

  QString declared_;
  bool filling_ = false;
  Segmented* tabs_;
  Text* title_;
  QStackedWidget* views_;
  CodeView *host_, *cuda_, *schema_;
  Ground* strip_;
  Text *problem_, *place_;
};

}  // namespace orrery::ui
