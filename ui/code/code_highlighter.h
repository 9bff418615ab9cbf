// C++ and CUDA in the colours of the theme: keywords, types, calls, texts, numbers, directives, comments.
#pragma once

#include <QSyntaxHighlighter>

#include "ui/theme/theme.h"

namespace orrery::ui {

class CodeHighlighter : public QSyntaxHighlighter {
  Q_OBJECT
 public:
  CodeHighlighter(const Theme& theme, QTextDocument* document);
  void setTheme(const Theme& theme);

 protected:
  void highlightBlock(const QString& line) override;

 private:
  int paintComment(const QString& line, int from, int begin);
  void paintWord(const QString& line, int from, int end);
  void paint(int from, int end, Token token, QFont::Weight weight = QFont::Normal);

  Theme theme_;
};

}  // namespace orrery::ui
