#include "ui/code/code_view.h"

#include <QHelpEvent>
#include <QPainter>
#include <QTextBlock>
#include <QToolTip>

#include "ui/code/code_highlighter.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kSize = 11.5, kGap = 10, kSign = 12;  // px at body size 13
constexpr double kBar = 2.5;                           // at the left of a marked line
constexpr int kIndent = 2;                             // blanks for a tab

}  // namespace

/// The numbers at the left, which scroll with the lines.
class CodeView::Gutter : public QWidget {
 public:
  explicit Gutter(CodeView* view) : QWidget(view), view_(view) {}

 protected:
  void paintEvent(QPaintEvent* event) override {
    QPainter painter(this);
    view_->paintGutter(painter, event->rect());
  }

 private:
  CodeView* view_;
};

CodeView::CodeView(const Theme& theme, QWidget* parent)
    : QPlainTextEdit(parent),
      theme_(theme),
      highlighter_(new CodeHighlighter(theme, document())),
      gutter_(new Gutter(this)) {
  setLineWrapMode(NoWrap);
  setReadOnly(true);
  setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  setAccessibleName("Source");
  setFrameShape(NoFrame);
  connect(this, &QPlainTextEdit::blockCountChanged, this, &CodeView::placeGutter);
  connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& area, int scrolled) {
    if (scrolled != 0)
      gutter_->scroll(0, scrolled);
    else
      gutter_->update(0, area.y(), gutter_->width(), area.height());
  });
  setTheme(theme);
}

void CodeView::setEditable(bool editable) {
  setTextInteractionFlags(editable ? Qt::TextInteractionFlags(Qt::TextEditorInteraction)
                                   : Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  setReadOnly(!editable);
}

void CodeView::showSource(const QString& source) {
  difference_.clear();
  problems_.clear();
  setPlainText(source);
  markLines();
}

void CodeView::showDifference(const std::vector<DiffLine>& lines) {
  problems_.clear();
  QStringList texts;
  for (const DiffLine& line : lines) texts += line.text;
  difference_ = lines;
  setPlainText(texts.join('\n'));
  markLines();
}

void CodeView::setProblems(const std::map<int, QString>& problems, const std::map<int, int>& columns) {
  problems_ = problems;
  columns_ = columns;
  markLines();
}

void CodeView::goTo(int line, int column) {
  const QTextBlock block = document()->findBlockByNumber(std::clamp(line, 1, blockCount()) - 1);
  QTextCursor caret(block);
  caret.setPosition(block.position() + std::clamp(column - 1, 0, std::max(0, block.length() - 1)));
  setTextCursor(caret);
  centerCursor();
}

/// Whole lines on the ground of what they are.
void CodeView::markLines() {
  QList<QTextEdit::ExtraSelection> marks;
  const auto mark = [&](int line, Token ground) {
    QTextEdit::ExtraSelection one;
    one.cursor = QTextCursor(document()->findBlockByNumber(line - 1));
    one.format.setBackground(theme_(ground));
    one.format.setProperty(QTextFormat::FullWidthSelection, true);
    marks += one;
  };
  for (size_t i = 0; i < difference_.size(); ++i) {
    if (difference_[i].kind == DiffLine::Kind::both) continue;
    mark(static_cast<int>(i) + 1,
         difference_[i].kind == DiffLine::Kind::added ? Token::okBg : Token::errorBg);
  }
  for (const auto& [line, words] : problems_)
    if (line >= 1 && line <= blockCount()) mark(line, Token::errorBg);
  for (const auto& [line, column] : columns_) {
    const QTextBlock block = document()->findBlockByNumber(line - 1);
    if (!problems_.contains(line) || !block.isValid() || column < 1 || column >= block.length()) continue;
    QTextEdit::ExtraSelection word;
    word.cursor = QTextCursor(block);
    word.cursor.setPosition(block.position() + column - 1);
    word.cursor.movePosition(QTextCursor::EndOfWord, QTextCursor::KeepAnchor);
    if (!word.cursor.hasSelection()) word.cursor.movePosition(QTextCursor::Right, QTextCursor::KeepAnchor);
    word.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
    word.format.setUnderlineColor(theme_(Token::error));
    marks += word;
  }
  setExtraSelections(marks);
  placeGutter();
  gutter_->update();
}

int CodeView::gutterWidth() const {
  int most = blockCount();
  for (const DiffLine& line : difference_) most = std::max(most, line.number);
  const double numbers = textWidth(QString::number(std::max(most, 10)), theme_.monoFont(kSize));
  return qRound(numbers + theme_.scaled(2 * kGap + (difference_.empty() ? 0 : kSign)));
}

void CodeView::placeGutter() {
  const int width = gutterWidth();
  setViewportMargins(width, 0, 0, 0);
  const QRect inside = contentsRect();
  gutter_->setGeometry(inside.left(), inside.top(), width, inside.height());
}

void CodeView::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  placeGutter();
}

void CodeView::paintGutter(QPainter& painter, const QRect& area) const {
  painter.fillRect(area, theme_(Token::sunken));
  painter.setFont(theme_.monoFont(kSize));
  const double right = gutter_->width() - theme_.scaled(kGap);
  for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
    const QRectF place = blockBoundingGeometry(block).translated(contentOffset());
    if (place.top() > area.bottom()) break;
    const auto index = static_cast<size_t>(block.blockNumber());
    const DiffLine::Kind kind = index < difference_.size() ? difference_[index].kind : DiffLine::Kind::both;
    const bool problem = problems_.contains(block.blockNumber() + 1);
    QRectF line(0, place.top(), right, place.height());
    if (kind != DiffLine::Kind::both || problem) {
      const bool added = kind == DiffLine::Kind::added;
      painter.fillRect(QRectF(0, place.top(), gutter_->width(), place.height()),
                       theme_(added ? Token::okBg : Token::errorBg));
      painter.fillRect(QRectF(0, place.top(), kBar, place.height()),
                       theme_(added ? Token::ok : Token::error));
    }
    painter.setPen(theme_(problem ? Token::error : Token::text3));
    if (!difference_.empty()) {
      const QRectF sign(line.right() - theme_.scaled(kSign), line.top(), theme_.scaled(kSign), line.height());
      if (kind != DiffLine::Kind::both)
        painter.drawText(sign, Qt::AlignRight | Qt::AlignVCenter,
                         kind == DiffLine::Kind::added ? QStringLiteral("+") : QStringLiteral("\u2212"));
      line.setRight(sign.left() - 2);
    }
    if (kind != DiffLine::Kind::removed)
      painter.drawText(
          line, Qt::AlignRight | Qt::AlignVCenter,
          QString::number(index < difference_.size() ? difference_[index].number : block.blockNumber() + 1));
  }
}

/// Tab and Enter as one who writes code expects them; what is only read leaves its keys to the page.
void CodeView::keyPressEvent(QKeyEvent* event) {
  if (isReadOnly()) return QPlainTextEdit::keyPressEvent(event);
  if (event->key() == Qt::Key_Tab && event->modifiers() == Qt::NoModifier) {
    const int column = textCursor().positionInBlock();
    return insertPlainText(QString(kIndent - column % kIndent, ' '));
  }
  if (event->key() == Qt::Key_Return && event->modifiers() == Qt::NoModifier) {
    const QString line = textCursor().block().text().left(textCursor().positionInBlock());
    int blanks = 0;
    while (blanks < line.size() && line[blanks] == ' ') ++blanks;
    if (line.trimmed().endsWith('{')) blanks += kIndent;
    return insertPlainText('\n' + QString(blanks, ' '));
  }
  QPlainTextEdit::keyPressEvent(event);
}

bool CodeView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip && !problems_.empty()) {
    auto* help = static_cast<QHelpEvent*>(event);
    const auto problem = problems_.find(cursorForPosition(help->pos()).blockNumber() + 1);
    QToolTip::showText(help->globalPos(), problem == problems_.end() ? QString() : problem->second, this);
    return true;
  }
  return QPlainTextEdit::viewportEvent(event);
}

void CodeView::setTheme(const Theme& theme) {
  theme_ = theme;
  const QFont font = theme.monoFont(kSize);
  setFont(font);
  document()->setDefaultFont(font);
  setStyleSheet(QString("QPlainTextEdit { background: %1; color: %2; border: none; }")
                    .arg(theme(Token::sunken).name(), theme(Token::text).name()));
  highlighter_->setTheme(theme);
  markLines();
}

}  // namespace orrery::ui
