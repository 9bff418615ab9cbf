#include "ui/library/library_delegate.h"

#include <QPainter>

#include "ui/library/fit_look.h"
#include "ui/library/library_model.h"
#include "ui/theme/icons.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {
namespace {

constexpr double kRow = 38, kRecipeRow = 26;  // px
constexpr double kRecipeIndent = 16;

FitLook stateLook(const QString& state) {
  if (state == "loaded" || state == "applied") return {Token::accent, u"dotc"};
  if (state == "switched off" || state == "not checked") return {Token::text3, u"minus"};
  for (const api::Fit fit : {api::Fit::fits, api::Fit::tight})
    if (state == wordOf(fit)) return lookOf(fit);
  return lookOf(api::Fit::too_large);
}

}  // namespace

QSize LibraryDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const {
  const bool recipe = !index.data(LibraryModel::recipeRole).toString().isEmpty();
  return {120, static_cast<int>(theme_.scaled(recipe ? kRecipeRow : kRow))};
}

void LibraryDelegate::updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                                           const QModelIndex&) const {
  editor->setGeometry(option.rect.adjusted(static_cast<int>(theme_.scaled(14 + kRecipeIndent)), 0, 0, 0));
}

double LibraryDelegate::paintState(QPainter& painter, const QRectF& line, const QString& state) const {
  if (state.isEmpty()) return line.right();
  const FitLook look = stateLook(state);
  painter.setFont(theme_.textFont(11));
  const double width = QFontMetricsF(painter.font()).horizontalAdvance(state);
  painter.setPen(theme_(look.token));
  painter.drawText(QRectF(line.right() - width, line.top(), width + 1, line.height()), Qt::AlignVCenter,
                   state);
  const double size = theme_.scaled(12), left = line.right() - width - theme_.scaled(17);
  paintIcon(painter, look.icon, QRectF(left, line.top() + (line.height() - size) / 2, size, size),
            theme_(look.token));
  return left - 6;
}

void LibraryDelegate::paintRecipe(QPainter& painter, const QRectF& inner, bool selected,
                                  const QModelIndex& index) const {
  const double size = theme_.scaled(12), gap = theme_.scaled(6);
  QRectF line = inner.adjusted(theme_.scaled(kRecipeIndent), 0, 0, 0);
  paintIcon(painter, u"pencil", QRectF(line.left(), line.center().y() - size / 2, size, size),
            theme_(Token::text3));
  line.setLeft(line.left() + size + gap);
  line.setRight(paintState(painter, line, index.data(LibraryModel::stateRole).toString()));
  const QFont nameFont = theme_.textFont(12), detailFont = theme_.monoFont(10);
  const QString name = QFontMetricsF(nameFont).elidedText(index.data(LibraryModel::nameRole).toString(),
                                                          Qt::ElideMiddle, line.width());
  painter.setFont(nameFont);
  painter.setPen(theme_(selected ? Token::selectionText : Token::text));
  painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft, name);
  const QString detail = index.data(LibraryModel::detailRole).toString();
  line.setLeft(line.left() + QFontMetricsF(nameFont).horizontalAdvance(name) + gap);
  if (QFontMetricsF(detailFont).horizontalAdvance(detail) > line.width()) return;
  painter.setFont(detailFont);
  painter.setPen(theme_(selected ? Token::text2 : Token::text3));
  painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft, detail);
}

void LibraryDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                            const QModelIndex& index) const {
  const QRectF box = option.rect;
  const QString state = index.data(LibraryModel::stateRole).toString();
  const bool recipe = !index.data(LibraryModel::recipeRole).toString().isEmpty();
  const bool loaded = !recipe && state == "loaded", selected = option.state & QStyle::State_Selected;
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
  if (recipe) {
    paintRecipe(*painter, inner, onSelection, index);
  } else {
    paintModel(*painter, inner, onSelection, index);
  }
  if (option.state & QStyle::State_HasFocus && option.state & QStyle::State_KeyboardFocusChange)
    paintFocus(*painter, box, 2, theme_);
  painter->restore();
}

void LibraryDelegate::paintModel(QPainter& painter, const QRectF& inner, bool selected,
                                 const QModelIndex& index) const {
  const double right =
      paintState(painter, QRectF(inner.left(), inner.top(), inner.width(), inner.height() / 2),
                 index.data(LibraryModel::stateRole).toString());
  const QFont nameFont = theme_.textFont(12.5, QFont::Medium);
  const QRectF name(inner.left(), inner.top(), right - inner.left(), inner.height() / 2);
  painter.setFont(nameFont);
  const bool missing = index.data(LibraryModel::missingRole).toBool();
  painter.setPen(theme_(missing ? Token::disabled : selected ? Token::selectionText : Token::text));
  painter.drawText(name, Qt::AlignVCenter | Qt::AlignLeft,
                   QFontMetricsF(nameFont).elidedText(index.data(LibraryModel::nameRole).toString(),
                                                      Qt::ElideMiddle, name.width()));
  const QFont detailFont = theme_.monoFont(10);
  painter.setFont(detailFont);
  painter.setPen(theme_(selected ? Token::text2 : Token::text3));
  painter.drawText(
      QRectF(inner.left(), inner.center().y(), inner.width(), inner.height() / 2),
      Qt::AlignVCenter | Qt::AlignLeft,
      QFontMetricsF(detailFont)
          .elidedText(index.data(LibraryModel::detailRole).toString(), Qt::ElideRight, inner.width()));
}

}  // namespace orrery::ui
