// Source code in the theme's colours with the numbers of its lines: to be read, or, where it may be written
// to, edited. Lines can be marked: what was added and removed beside another version, and what a compiler
// complains of.
#pragma once

#include <QPlainTextEdit>
#include <map>

#include "ui/code/line_difference.h"
#include "ui/theme/theme.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class CodeHighlighter;

class CodeView : public QPlainTextEdit, public Themed {
  Q_OBJECT
 public:
  explicit CodeView(const Theme& theme, QWidget* parent = nullptr);

  /// It may be written to, with undo; without, it is only read.
  void setEditable(bool editable);
  void showSource(const QString& source);
  /// The new source with the lines that are gone, each kind on its ground.
  void showDifference(const std::vector<DiffLine>& lines);
  /// By line, from 1: what is wrong there. The lines stand on the ground of errors and say it in a tool tip.
  /// `columns`: where in a line, from 1; from there its word is underlined.
  void setProblems(const std::map<int, QString>& problems, const std::map<int, int>& columns = {});
  const std::map<int, QString>& problems() const { return problems_; }
  /// Puts the caret there, in sight; lines and columns from 1.
  void goTo(int line, int column = 1);
  int currentLine() const { return textCursor().blockNumber() + 1; }
  void setTheme(const Theme& theme) override;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  class Gutter;
  int gutterWidth() const;
  void placeGutter();
  void paintGutter(QPainter& painter, const QRect& area) const;
  void markLines();

  Theme theme_;
  CodeHighlighter* highlighter_;
  Gutter* gutter_;
  std::vector<DiffLine> difference_;
  std::map<int, QString> problems_;
  std::map<int, int> columns_;
};

}  // namespace orrery::ui
