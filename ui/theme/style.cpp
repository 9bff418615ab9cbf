#include "ui/theme/style.h"

#include <QComboBox>
#include <QPainter>
#include <QPainterPath>
#include <QStyleFactory>
#include <QStyleOption>

#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

constexpr int kBox = 16;  // check boxes and radio buttons
constexpr int kControlHeight = 28;
constexpr int kComboArrow = 26;  // width of the arrow's field

bool has(const QStyleOption* option, QStyle::StateFlag flag) { return option->state.testFlag(flag); }

QRectF centred(const QRect& rect, double side) {
  const QPointF centre = QRectF(rect).center();
  return {std::floor(centre.x() - side / 2) + 0.5, std::floor(centre.y() - side / 2) + 0.5, side - 1,
          side - 1};
}

void paintBox(const Theme& theme, const QStyleOption* option, QPainter* painter, bool round) {
  const bool enabled = has(option, QStyle::State_Enabled);
  const bool some = has(option, QStyle::State_NoChange);
  const bool on = has(option, QStyle::State_On) || some;
  const QRectF box = centred(option->rect, kBox);
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  const QColor fill = on ? theme(enabled ? Token::accent : Token::disabled) : theme(Token::sunken);
  const QColor line = !enabled                                    ? theme(Token::border)
                      : on || has(option, QStyle::State_HasFocus) ? theme(Token::accent)
                      : has(option, QStyle::State_MouseOver)      ? theme(Token::text2)
                                                                  : theme(Token::borderStrong);
  painter->setPen(QPen(line, 1));
  painter->setBrush(fill);
  round ? painter->drawEllipse(box) : painter->drawRoundedRect(box, 3.5, 3.5);
  const QColor mark = enabled ? theme(Token::onAccent) : theme(Token::panel);
  painter->setPen(Qt::NoPen);
  painter->setBrush(mark);
  if (on && round) painter->drawEllipse(box.center(), 3, 3);
  if (some && !round)
    painter->drawRoundedRect(QRectF(box.left() + 3.5, box.center().y() - 1, box.width() - 7, 2), 1, 1);
  if (on && !some && !round) paintIcon(*painter, u"check", box.adjusted(1, 1, -1, -1), mark);
  if (has(option, QStyle::State_HasFocus) && has(option, QStyle::State_KeyboardFocusChange)) {
    painter->setPen(QPen(theme(Token::accent), 2));
    painter->setBrush(Qt::NoBrush);
    round ? painter->drawEllipse(box.adjusted(-2.5, -2.5, 2.5, 2.5))
          : painter->drawRoundedRect(box.adjusted(-2.5, -2.5, 2.5, 2.5), 5, 5);
  }
  painter->restore();
}

void paintCombo(const Theme& theme, const QStyleOptionComboBox* option, QPainter* painter) {
  const bool enabled = has(option, QStyle::State_Enabled);
  const bool focus = has(option, QStyle::State_HasFocus);
  const bool hover = has(option, QStyle::State_MouseOver);
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  const QColor ground = option->editable ? theme(Token::sunken)
                        : !enabled       ? theme(Token::panel)
                        : hover          ? theme(Token::hover)
                                         : theme(Token::raised);
  const QColor line = !enabled ? theme(Token::border)
                      : focus  ? theme(Token::accent)
                      : option->editable
                          ? theme(Token::borderStrong)
                          : Theme::blend(theme(Token::raised), theme(Token::borderStrong), 0.35);
  painter->setPen(QPen(line, focus ? 1.5 : 1));
  painter->setBrush(ground);
  if (option->frame) painter->drawRoundedRect(QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5), 4.5, 4.5);
  const QRectF arrow(option->rect.right() - kComboArrow + 6, option->rect.center().y() - 6.5, 14, 14);
  paintIcon(*painter, u"down", arrow, theme(enabled ? Token::text3 : Token::disabled));
  painter->restore();
}

/// The chevron of a tree's row.
void paintBranch(const Theme& theme, const QStyleOption* option, QPainter* painter) {
  if (!has(option, QStyle::State_Children)) return;
  const QStringView name = has(option, QStyle::State_Open) ? u"down" : u"right";
  paintIcon(*painter, name, centred(option->rect, 15).adjusted(-0.5, -0.5, 0.5, 0.5),
            theme(has(option, QStyle::State_MouseOver) ? Token::text2 : Token::text3));
}

}  // namespace

OrreryStyle::OrreryStyle(const Theme& theme)
    : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))), theme_(theme) {}

void OrreryStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                                const QWidget* widget) const {
  switch (element) {
    case PE_IndicatorCheckBox:
    case PE_IndicatorItemViewItemCheck:
      return paintBox(theme_, option, painter, false);
    case PE_IndicatorRadioButton:
      return paintBox(theme_, option, painter, true);
    case PE_IndicatorBranch:
      return paintBranch(theme_, option, painter);
    case PE_FrameFocusRect:
      return;  // every control shows its focus by its own outline
    default:
      QProxyStyle::drawPrimitive(element, option, painter, widget);
  }
}

void OrreryStyle::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option,
                                     QPainter* painter, const QWidget* widget) const {
  if (control == CC_ComboBox)
    if (const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(option))
      return paintCombo(theme_, combo, painter);
  QProxyStyle::drawComplexControl(control, option, painter, widget);
}

int OrreryStyle::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const {
  switch (metric) {
    case PM_IndicatorWidth:
    case PM_IndicatorHeight:
    case PM_ExclusiveIndicatorWidth:
    case PM_ExclusiveIndicatorHeight:
      return kBox;
    case PM_CheckBoxLabelSpacing:
    case PM_RadioButtonLabelSpacing:
      return 8;
    case PM_DockWidgetSeparatorExtent:
      return 5;
    case PM_SmallIconSize:
    case PM_ButtonIconSize:
    case PM_ToolBarIconSize:
      return 16;
    case PM_TreeViewIndentation:
      return 14;
    case PM_ScrollBarExtent:
      return 10;
    default:
      return QProxyStyle::pixelMetric(metric, option, widget);
  }
}

QSize OrreryStyle::sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                                    const QWidget* widget) const {
  QSize result = QProxyStyle::sizeFromContents(type, option, size, widget);
  if (type == CT_ComboBox) {
    result.setWidth(size.width() + kComboArrow + 14);
    result.setHeight(std::max(kControlHeight, size.height() + 8));
  }
  if (type == CT_CheckBox || type == CT_RadioButton) result.setHeight(std::max(result.height(), 24));
  return result;
}

QRect OrreryStyle::subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl sub,
                                  const QWidget* widget) const {
  if (control == CC_ComboBox) {
    const QRect& rect = option->rect;
    if (sub == SC_ComboBoxArrow) return rect.adjusted(rect.width() - kComboArrow, 0, 0, 0);
    if (sub == SC_ComboBoxEditField) return rect.adjusted(6, 1, -kComboArrow, -1);
  }
  return QProxyStyle::subControlRect(control, option, sub, widget);
}

int OrreryStyle::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                           QStyleHintReturn* data) const {
  switch (hint) {
    case SH_ComboBox_Popup:
      return 0;  // a list below the field, not a menu over it
    case SH_EtchDisabledText:
    case SH_DitherDisabledText:
    case SH_UnderlineShortcut:  // the menu bar stays quiet; Alt still opens it
      return 0;
    case SH_Menu_SubMenuPopupDelay:
      return 120;
    default:
      return QProxyStyle::styleHint(hint, option, widget, data);
  }
}

}  // namespace orrery::ui
