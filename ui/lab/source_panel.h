// The source of a row: its file as it is, or what of it is new beside the row before. A kernel's file begins
// with what it computes, what changed, and what limits it now.
#pragma once

#include "ui/code/code_view.h"
#include "ui/lab/lab_rows.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class SourcePanel : public QWidget {
  Q_OBJECT
 public:
  explicit SourcePanel(const Theme& theme, QWidget* parent = nullptr);

  /// Files below the project's folder, or whole paths; empty: there is none. `previous` is what the
  /// difference is to.
  void show(const QString& file, const QString& previous);
  void showDifference(bool difference);
  bool showsDifference() const { return difference_; }
  /// Why there is no difference to show; empty: there is one.
  QString refusal() const;
  CodeView* view() const { return view_; }
  QString words() const { return words_->text(); }

 private:
  void fill();

  Text* words_;
  CodeView* view_;
  QString file_, previous_;
  bool difference_ = false;
};

/// The text of a file of kernels, which come with the program, or of one of a person's own by its whole path;
/// empty where there is none.
QString kernelSource(const QString& file);

}  // namespace orrery::ui
