#include "ui/classify/token_spans.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

namespace orrery::ui {
namespace {

constexpr double kPad = 6, kGap = 4, kRowGap = 8, kMargin = 12, kSpanHeight = 24, kLabelHeight = 16;
constexpr double kTint = 0.24;  // of the label's colour on the panel
constexpr graph::OpFamily kColors[] = {graph::OpFamily::linear,    graph::OpFamily::sampling,
                                       graph::OpFamily::embedding, graph::OpFamily::attention,
                                       graph::OpFamily::norm,      graph::OpFamily::activation,
                                       graph::OpFamily::custom,    graph::OpFamily::elementwise};

}  // namespace

QString pieceText(const api::TokenLabel& token) { return QString::fromStdString(token.piece); }

double scoreOf(const api::TokenLabel& token) {
  const auto best = std::max_element(token.probabilities.begin(), token.probabilities.end());
  return best == token.probabilities.end() ? 0 : static_cast<double>(*best);
}

QString entityOf(const std::string& label) {
  const QString name = QString::fromStdString(label);
  if (name == "O") return {};
  return name.size() > 2 && (name.startsWith("B-") || name.startsWith("I-")) ? name.mid(2) : name;
}

TokenSpans::TokenSpans(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

void TokenSpans::setTokens(std::vector<api::TokenLabel> tokens, const std::vector<std::string>& labels) {
  tokens_ = std::move(tokens);
  labels_ = labels;
  entities_.clear();
  current_ = -1;
  QStringList words;
  for (const std::string& label : labels)
    if (const QString entity = entityOf(label); !entity.isEmpty() && !entities_.contains(entity))
      entities_ += entity;
  for (const api::TokenLabel& token : tokens_)
    words += pieceText(token) + " " + QString::fromStdString(token.label);
  setAccessibleName("Labelled tokens");
  setAccessibleDescription(words.join(", "));
  updateGeometry();
  update();
}

QColor TokenSpans::colorOf(int token) const {
  const qsizetype entity = entities_.indexOf(entityOf(tokens_[static_cast<size_t>(token)].label));
  if (entity < 0) return theme_(Token::text3);
  return theme_.family(kColors[static_cast<size_t>(entity) % std::size(kColors)]);
}

QString TokenSpans::below(const api::TokenLabel& token) const {
  return QString::fromStdString(token.label) + " " + QString::number(scoreOf(token), 'f', 2);
}

std::vector<QRectF> TokenSpans::layOut(double width, double* height) const {
  const QFontMetricsF text(theme_.textFont(13)), small(theme_.monoFont(9));
  const double margin = theme_.scaled(kMargin), row = theme_.scaled(kSpanHeight + kLabelHeight + kRowGap);
  double x = margin, y = margin;
  std::vector<QRectF> rects;
  for (const api::TokenLabel& token : tokens_) {
    const double wide = std::max(text.horizontalAdvance(pieceText(token)) + 2 * theme_.scaled(kPad),
                                 small.horizontalAdvance(below(token)) + 4);
    if (x + wide > width - margin && x > margin) {
      x = margin;
      y += row;
    }
    rects.emplace_back(x, y, wide, theme_.scaled(kSpanHeight));
    x += wide + theme_.scaled(kGap);
  }
  if (height) *height = tokens_.empty() ? 0 : y + row + margin;
  return rects;
}

int TokenSpans::heightForWidth(int width) const {
  double height = 0;
  layOut(width, &height);
  return static_cast<int>(height);
}

QRectF TokenSpans::rectOf(int token) const { return layOut(width(), nullptr)[static_cast<size_t>(token)]; }

int TokenSpans::tokenAt(const QPointF& position) const {
  const std::vector<QRectF> rects = layOut(width(), nullptr);
  for (size_t i = 0; i < rects.size(); ++i)
    if (rects[i].adjusted(0, 0, 0, theme_.scaled(kLabelHeight)).contains(position))
      return static_cast<int>(i);
  return -1;
}

void TokenSpans::setCurrent(int token) {
  current_ = token;
  update();
}

void TokenSpans::mousePressEvent(QMouseEvent* event) {
  if (const int token = tokenAt(event->position()); token >= 0) emit tokenClicked(token);
}

QString TokenSpans::toolTipOf(const api::TokenLabel& token) const {
  QStringList lines{pieceText(token)};
  for (size_t i = 0; i < std::min(labels_.size(), token.probabilities.size()); ++i)
    lines += QString::fromStdString(labels_[i]) + "  " +
             QString::number(static_cast<double>(token.probabilities[i]), 'f', 3);
  return lines.join('\n');
}

bool TokenSpans::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int token = tokenAt(help->pos());
  if (token < 0)
    QToolTip::hideText();
  else
    QToolTip::showText(help->globalPos(), toolTipOf(tokens_[static_cast<size_t>(token)]), this);
  return true;
}

void TokenSpans::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

void TokenSpans::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const std::vector<QRectF> rects = layOut(width(), nullptr);
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const bool nothing = entityOf(tokens_[i].label).isEmpty();
    const QColor color = colorOf(static_cast<int>(i));
    const bool current = static_cast<int>(i) == current_;
    paintBox(painter, rects[i], theme_.scaled(4),
             nothing ? QColor() : Theme::blend(theme_(Token::panel), color, kTint),
             current   ? theme_(Token::accent)
             : nothing ? theme_(Token::border)
                       : color);
    painter.setFont(theme_.textFont(13));
    painter.setPen(theme_(nothing ? Token::text2 : Token::text));
    painter.drawText(rects[i], Qt::AlignCenter, pieceText(tokens_[i]));
    painter.setFont(theme_.monoFont(9));
    painter.setPen(theme_(nothing ? Token::text3 : Token::text2));
    painter.drawText(
        QRectF(rects[i].left(), rects[i].bottom() + 1, rects[i].width(), theme_.scaled(kLabelHeight)),
        Qt::AlignHCenter | Qt::AlignTop, below(tokens_[i]));
  }
}

}  // namespace orrery::ui
