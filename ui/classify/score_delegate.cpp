#include "ui/classify/score_delegate.h"

#include <QPainter>

#include "ui/classify/classify_model.h"
#include "ui/theme/icons.h"
#include "ui/widgets/meter.h"

namespace orrery::ui {

QSize ScoreDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const {
  return {60, static_cast<int>(theme_.scaled(26))};
}

void ScoreDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const {
  const QRectF box = option.rect;
  const bool selected = option.state & QStyle::State_Selected;
  painter->save();
  if (selected)
    painter->fillRect(box, theme_(Token::selectionBg));
  else if (option.state & QStyle::State_MouseOver)
    painter->fillRect(box, theme_(Token::hover));
  if (selected && index.column() == ClassifyModel::textColumn)
    painter->fillRect(QRectF(box.left(), box.top(), 2.5, box.height()), theme_(Token::accent));
  const bool done = index.data(ClassifyModel::doneRole).toBool();
  const QString text = index.data().toString();
  QRectF area = box.adjusted(theme_.scaled(index.column() == ClassifyModel::textColumn ? 14 : 6), 0,
                             -theme_.scaled(8), 0);
  painter->setPen(theme_(!done ? Token::text3 : selected ? Token::selectionText : Token::text));
  if (index.column() == ClassifyModel::scoreColumn) {
    const double score = index.data(ClassifyModel::scoreRole).toDouble();
    if (done) {
      const QColor fill = score >= kSureFrom ? theme_(Token::accent)
                                             : Theme::blend(theme_(Token::panel), theme_(Token::text3), 0.75);
      paintMeter(*painter, QRectF(area.left(), area.center().y() - 2.5, theme_.scaled(34), 5), score, fill,
                 theme_);
    }
    painter->setFont(theme_.monoFont(11.5));
    painter->setPen(theme_(!done ? Token::text3 : selected ? Token::selectionText : Token::text));
    painter->drawText(area, Qt::AlignVCenter | Qt::AlignRight, done ? text : QString(QChar(0x2013)));
  } else {
    if (index.column() == ClassifyModel::labelColumn && index.data(ClassifyModel::wrongRole).toBool()) {
      const double size = theme_.scaled(11);
      paintIcon(*painter, u"x", QRectF(area.right() - size, area.center().y() - size / 2, size, size),
                theme_(Token::error));
      area.adjust(0, 0, -size - 4, 0);
    }
    painter->setFont(theme_.textFont(12.5));
    painter->drawText(area, Qt::AlignVCenter | Qt::AlignLeft,
                      QFontMetricsF(painter->font()).elidedText(text, Qt::ElideRight, area.width()));
  }
  painter->restore();
}

}  // namespace orrery::ui
