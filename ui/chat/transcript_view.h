// The conversation. Paints the messages that are in view; a streamed token costs the layout of one paragraph
// and the repaint of what is below its top. Follows the end until the person scrolls up.
#pragma once

#include <QAbstractScrollArea>
#include <vector>

#include "ui/chat/transcript_item.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class TranscriptView : public QAbstractScrollArea, public Themed {
  Q_OBJECT
 public:
  explicit TranscriptView(const Theme& theme, QWidget* parent = nullptr);

  /// Gives the messages away, to be put back.
  std::vector<TranscriptItem> take();
  void put(std::vector<TranscriptItem> messages);
  void addMessage(TranscriptItem::Role role, const QString& text);
  void removeLast();
  void appendTokens(const std::vector<api::TokenEvent>& tokens);  // to the last message
  void setLastFigures(std::vector<Figure> figures);
  void setStreaming(bool streaming);
  size_t messageCount() const { return items_.size(); }
  const TranscriptItem& message(size_t index) const { return items_.at(index); }
  QString selectedText() const;
  void copySelection();
  /// Shows the alternatives of a token of the last reply, as if the pointer were on it.
  void pointAt(int token);
  void setTheme(const Theme& theme) override;

 signals:
  /// Null when the pointer leaves. The rectangle is the token's, in the viewport.
  void tokenPointed(const orrery::api::TokenEvent* token, int index, const QRectF& rect);
  void menuAsked(int message, const QPoint& globalPosition);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  void relayout(bool themeChanged);
  void layoutLast();
  void updateRange();
  double contentWidth() const;
  QPointF originOf(size_t index) const;  // in the viewport
  int itemAt(const QPointF& position) const;
  void setHovered(int item, int token);
  void updateFrom(size_t index, double top);

  Theme theme_;
  std::vector<TranscriptItem> items_;
  std::vector<double> tops_;
  double total_ = 0;
  bool streaming_ = false, follow_ = true, dragging_ = false;
  int hoveredItem_ = -1, hoveredToken_ = -1;
  int selectedItem_ = -1, anchor_ = 0, cursor_ = 0;
};

}  // namespace orrery::ui
