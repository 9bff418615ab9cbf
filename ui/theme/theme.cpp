#include "ui/theme/theme.h"

#include <QApplication>
#include <QGuiApplication>
#include <QToolTip>

#include "ui/theme/fonts.h"
#include "ui/theme/style.h"

namespace orrery::ui {
namespace {

QFont make(const QString& family, double px, QFont::Weight weight) {
  QFont font(family);
  font.setPixelSize(std::max(1, qRound(px)));
  font.setWeight(weight);
  return font;
}

}  // namespace

Theme::Theme(Mode mode, double bodySize) : mode_(mode), bodySize_(std::clamp(bodySize, 8.0, 32.0)) {}

Theme::Mode Theme::systemMode() {
  return QGuiApplication::palette().color(QPalette::Window).lightnessF() < 0.5F ? Mode::dark : Mode::light;
}

QFont Theme::textFont(double px, QFont::Weight weight) const {
  return make(textFamily(), scaled(px), weight);
}

QFont Theme::monoFont(double px, QFont::Weight weight) const {
  QFont font = make(monoFamily(), scaled(px), weight);
  font.setStyleHint(QFont::Monospace);
  font.setStyleStrategy(
      QFont::PreferNoShaping);  // "<|" and "->" are shown as they are written, not as one sign
  return font;
}

QPalette Theme::palette() const {
  const Theme& t = *this;
  QPalette palette;
  const std::pair<QPalette::ColorRole, Token> roles[] = {
      {QPalette::Window, Token::window},
      {QPalette::WindowText, Token::text},
      {QPalette::Base, Token::panel},
      {QPalette::AlternateBase, Token::sunken},
      {QPalette::Text, Token::text},
      {QPalette::PlaceholderText, Token::text3},
      {QPalette::Button, Token::raised},
      {QPalette::ButtonText, Token::text},
      {QPalette::BrightText, Token::error},
      {QPalette::Highlight, Token::selectionBg},
      {QPalette::HighlightedText, Token::selectionText},
      {QPalette::ToolTipBase, Token::raised},
      {QPalette::ToolTipText, Token::text},
      {QPalette::Link, Token::accent},
      {QPalette::LinkVisited, Token::accent},
      {QPalette::Light, Token::hover},
      {QPalette::Midlight, Token::raised},
      {QPalette::Mid, Token::border},
      {QPalette::Dark, Token::sunken},
      {QPalette::Shadow, Token::canvas},
  };
  for (const auto& [role, token] : roles) palette.setColor(QPalette::All, role, t(token));
  for (const QPalette::ColorRole role :
       {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::HighlightedText,
        QPalette::PlaceholderText, QPalette::ToolTipText})
    palette.setColor(QPalette::Disabled, role, t(Token::disabled));
  palette.setColor(QPalette::Disabled, QPalette::Highlight, t(Token::hover));
  palette.setColor(QPalette::Disabled, QPalette::Base, t(Token::window));
  palette.setColor(QPalette::Disabled, QPalette::Button, t(Token::panel));
  return palette;
}

void applyTheme(QApplication& application, const Theme& theme) {
  application.setStyleSheet({});  // or the old sheet would polish every widget twice
  QApplication::setStyle(new OrreryStyle(theme));
  QApplication::setPalette(theme.palette());
  QApplication::setFont(theme.textFont());
  QToolTip::setPalette(theme.palette());
  QToolTip::setFont(theme.textFont(12));
  application.setStyleSheet(theme.styleSheet());
}

}  // namespace orrery::ui
