// The look as a value: colours by role, fonts, maps from numbers to colours. Every colour of the program
// comes from here. Colours are sRGB; sizes are pixels at body size 13 and scale with the body size that the
// theme was made with.
#pragma once

#include <QColor>
#include <QFont>
#include <QPalette>
#include <QString>
#include <QStringView>

#include "engine/graph/op_schema.h"

class QApplication;

namespace orrery::ui {

/// Roles of colours. okBg to editedBg are the grounds of chips and banners of that state; wireF32 to wireQ
/// are what wires carry, where they are coloured by it; synKeyword to synDirective are the words of source
/// code.
enum class Token : uint8_t {
  canvas,
  window,
  panel,
  raised,
  sunken,
  hover,
  border,
  borderStrong,
  text,
  text2,
  text3,
  disabled,
  accent,
  onAccent,
  selectionBg,
  selectionText,
  cpu,
  cuda,
  ok,
  warn,
  error,
  edited,
  okBg,
  warnBg,
  errorBg,
  editedBg,
  edge,
  wireF32,
  wireF16,
  wireInt,
  wireQ,
  synKeyword,
  synType,
  synFunction,
  synString,
  synNumber,
  synDirective
};
inline constexpr int kTokenCount = 37;

class Theme {
 public:
  enum class Mode : uint8_t { dark, light };

  explicit Theme(Mode mode = Mode::dark, double bodySize = 13);
  /// Dark or light as the desktop is: call before applyTheme() changes the application's palette.
  static Mode systemMode();

  Mode mode() const { return mode_; }
  bool isDark() const { return mode_ == Mode::dark; }
  double bodySize() const { return bodySize_; }
  /// Pixels of a length given at body size 13.
  double scaled(double px) const { return px * bodySize_ / 13.0; }

  QColor color(Token token) const;
  QColor operator()(Token token) const { return color(token); }
  QColor family(graph::OpFamily family) const;
  /// Cold (0) to hot (1), mixed in OKLab; clamped.
  QColor heat(double t) const;
  /// Few bits (0) to many (1): greys, since heat is what things cost.
  QColor bits(double t) const;
  /// log2(t_CPU / t_CUDA), -4 to 4: the colour of the faster device; clamped.
  QColor ratio(double log2) const;
  /// White or black, whichever contrasts more.
  static QColor textOn(const QColor& ground);
  /// `top` over `ground` with opacity 0 to 1.
  static QColor blend(const QColor& ground, const QColor& top, double opacity);

  /// px at body 13, of the families of fonts.h.
  QFont textFont(double px = 13, QFont::Weight weight = QFont::Normal) const;
  QFont monoFont(double px = 11, QFont::Weight weight = QFont::Normal) const;

  QPalette palette() const;
  /// resources/theme.qss with @token, @textFont, @monoFont and @px(N) replaced.
  QString styleSheet() const;

 private:
  Mode mode_;
  double bodySize_;
};

/// Style, palette, font and style sheet of the whole application.
void applyTheme(QApplication& application, const Theme& theme);

}  // namespace orrery::ui
