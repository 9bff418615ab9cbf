// One message of the transcript: its text laid out by paragraph, so that a streamed token lays out only the
// paragraph it joins, and the tokens' places in the text.
#pragma once

#include <QTextLayout>
#include <memory>
#include <vector>

#include "ui/chat/chat_figures.h"

class QPainter;

namespace orrery::ui {

class TranscriptItem {
 public:
  enum class Role { person, model };
  struct Marks {
    int hoveredToken = -1;
    int selectionFrom = 0, selectionTo = 0;  // characters; equal: nothing
    bool caret = false;
  };

  TranscriptItem(Role role, const QString& text);

  Role role() const { return role_; }
  const QString& text() const { return text_; }
  const std::vector<api::TokenEvent>& tokens() const { return tokens_; }
  void append(const api::TokenEvent& token);
  void setFigures(std::vector<Figure> figures) { figures_ = std::move(figures); }

  /// Lays out what changed; all of it when the width or the theme differ. Returns the height.
  double layout(double width, const Theme& theme, bool themeChanged = false);
  double height() const { return height_; }
  /// Top of the last line: nothing above it changes while tokens are appended.
  double lastLineTop() const;
  /// Lines outside `exposed`, in the painter's coordinates, are left out.
  void paint(QPainter& painter, const QPointF& origin, const QRectF& exposed, const Theme& theme,
             const Marks& marks) const;

  /// The character at a point of the item, -1 beside the text. With `nearest`, always one.
  int characterAt(const QPointF& point, bool nearest = false) const;
  int tokenAt(int character) const;  // -1: none
  /// The first line of a token's text, in the item's coordinates.
  QRectF tokenRect(int token) const;

 private:
  struct Paragraph {
    int start = 0;  // first character in text_
    QString text;
    std::unique_ptr<QTextLayout> layout;
    double top = 0, height = 0;
    bool dirty = true;
  };
  void appendText(const QString& text);
  void layoutParagraph(Paragraph& paragraph, const Theme& theme);
  void paintFigures(QPainter& painter, const QPointF& at, const Theme& theme) const;
  void paintCaret(QPainter& painter, const QPointF& origin, const Theme& theme) const;
  std::vector<QRectF> rangeRects(int from, int to) const;

  Role role_;
  QString text_;
  std::vector<Paragraph> paragraphs_;
  std::vector<api::TokenEvent> tokens_;
  std::vector<int> tokenEnds_;  // character after each token
  std::vector<Figure> figures_;
  double width_ = -1, height_ = 0, textWidth_ = 0, lineHeight_ = 20;
};

}  // namespace orrery::ui
