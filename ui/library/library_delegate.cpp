#include "ui/library/library_delegate.h"

#include <QPainter>

#include "ui/library/fit_look.h"
#include "ui/library/library_model.h"
#include "ui/theme/icons.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {
namespace {

constexpr double kRow = 38, kRecipeRow = 24;

FitLook stateLook(const QString& state) {
  if (state == "loaded") return {Token::accent, u"dotc"};
  for (const api::Fit fit : {api::Fit::fits, api::Fit::tight})
    if (state == wordOf(fit)) return lookOf(fit);
  return lookOf(api::Fit::too_large);
}

}  // namespace

QSize LibraryDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const {
  const bool recipe = !index.data(LibraryModel::recipeRole).toString().isEmpty();
  return {120, static_cast<int>(theme_.scaled(recipe ? kRecipeRow : kRow))};
}

void LibraryDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                            const QModelIndex& index) const {
  if (!index.data(LibraryModel::recipeRole).toString().isEmpty()) return paintRecipe(*painter, option, index);
  const QRectF box = option.rect;
  const QString state = index.data(LibraryModel::stateRole).toString();
  const bool loaded = state == "loaded", selected = option.state & QStyle::State_Selected;
  painter->save();
  if (selected || loaded) {
    painter->fillRect(box, theme_(Token::selectionBg));
    if (loaded) painter->fillRect(QRectF(box.left(), box.top(), 2.5, box.height()), theme_(Token::accent));
  } else if (option.state & QStyle::State_MouseOver) {
    painter->fillRect(box, theme_(Token::hover));
  }
  const bool onSelection = selected || loaded;
  const QRectF inner =
      box.adjusted(theme_.scaled(14), theme_.scaled(4), -theme_.scaled(11), -theme_.scaled(4));
  double right = inner.right();
  if (!state.isEmpty()) {
    const FitLook look = stateLook(state);
    painter->setFont(theme_.textFont(11));
    const double width = QFontMetricsF(painter->font()).horizontalAdvance(state);
    painter->setPen(theme_(look.token));
    painter->drawText(QRectF(right - width, inner.top(), width + 1, inner.height() / 2), Qt::AlignVCenter,
                      state);
    right -= width + theme_.scaled(17);
    const double size = theme_.scaled(12);
    paintIcon(*painter, look.icon, QRectF(right, inner.top() + (inner.height() / 2 - size) / 2, size, size),
              theme_(look.token));
    right -= 6;
  }
  const QFont nameFont = theme_.textFont(12.5, QFont::Medium);
  const QRectF name(inner.left(), inner.top(), right - inner.left(), inner.height() / 2);
  painter->setFont(nameFont);
  const bool missing = index.data(LibraryModel::missingRole).toBool();
  painter->setPen(theme_(missing ? Token::disabled : onSelection ? Token::selectionText : Token::text));
  painter->drawText(name, Qt::AlignVCenter | Qt::AlignLeft,
                    QFontMetricsF(nameFont).elidedText(index.data(LibraryModel::nameRole).toString(),
                                                       Qt::ElideMiddle, name.width()));
  const QFont detailFont = theme_.monoFont(10);
  painter->setFont(detailFont);
  painter->setPen(theme_(onSelection ? Token::text2 : Token::text3));
  painter->drawText(
      QRectF(inner.left(), inner.center().y(), inner.width(), inner.height() / 2),
      Qt::AlignVCenter | Qt::AlignLeft,
      QFontMetricsF(detailFont)
          .elidedText(index.data(LibraryModel::detailRole).toString(), Qt::ElideRight, inner.width()));
  if (option.state & QStyle::State_HasFocus && option.state & QStyle::State_KeyboardFocusChange)
    paintFocus(*painter, box, 2, theme_);
  painter->restore();
}

void LibraryDelegate::paintRecipe(QPainter& painter, const QStyleOptionViewItem& option,
                                  const QModelIndex& index) const {
  const QRectF box = option.rect;
  const bool selected = option.state & QStyle::State_Selected,
             made = index.data(LibraryModel::madeRole).toBool();
  painter.save();
  if (selected || option.state & QStyle::State_MouseOver)
    painter.fillRect(box, theme_(selected ? Token::selectionBg : Token::hover));
  const double icon = theme_.scaled(12), right = box.right() - theme_.scaled(11);
  paintIcon(painter, made ? u"check" : u"pencil",
            QRectF(box.left() + theme_.scaled(24), box.center().y() - icon / 2, icon, icon),
            theme_(made ? Token::edited : Token::text3));
  const QString detail = index.data(LibraryModel::detailRole).toString();
  painter.setFont(theme_.monoFont(10));
  const double detailWidth = QFontMetricsF(painter.font()).horizontalAdvance(detail);
  painter.setPen(theme_(selected ? Token::text2 : Token::text3));
  painter.drawText(QRectF(right - detailWidth, box.top(), detailWidth + 1, box.height()), Qt::AlignVCenter,
                   detail);
  const QFont font = theme_.textFont(12, made ? QFont::Medium : QFont::Normal);
  const QRectF name(box.left() + theme_.scaled(42), box.top(),
                    right - detailWidth - theme_.scaled(50) - box.left(), box.height());
  painter.setFont(font);
  painter.setPen(theme_(index.data(LibraryModel::missingRole).toBool() ? Token::disabled
                        : selected                                     ? Token::selectionText
                                                                       : Token::text));
  painter.drawText(name, Qt::AlignVCenter | Qt::AlignLeft,
                   QFontMetricsF(font).elidedText(index.data(LibraryModel::nameRole).toString(),
                                                  Qt::ElideMiddle, name.width()));
  if (option.state & QStyle::State_HasFocus && option.state & QStyle::State_KeyboardFocusChange)
    paintFocus(painter, box, 2, theme_);
  painter.restore();
}

}  // namespace orrery::ui
