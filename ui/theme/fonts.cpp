#include "ui/theme/fonts.h"

#include <QFontDatabase>
#include <QFontInfo>

// Resources of a static library are dropped by the linker unless they are named; outside any namespace.
static void registerFonts() { Q_INIT_RESOURCE(fonts); }

namespace orrery::ui {
namespace {

QString added(const QString& family, std::initializer_list<const char*> files) {
  registerFonts();
  for (const char* file : files) QFontDatabase::addApplicationFont(QStringLiteral(":/orrery/fonts/") + file);
  return family;
}

/// Whether a desktop chose the font, and has it. Without one Qt asks for "Sans Serif", and shows what it
/// finds: DejaVu Sans, or a serif.
bool isChosen(const QFont& font) {
  const QString shown = QFontInfo(font).family();
  return shown.compare(font.family(), Qt::CaseInsensitive) == 0 &&
         !shown.startsWith(QLatin1String("DejaVu")) && shown != QLatin1String("Sans Serif");
}

}  // namespace

const QString& textFamily() {
  static const QString family = [] {
    const QFont desktop = QFontDatabase::systemFont(QFontDatabase::GeneralFont);
    if (isChosen(desktop)) return desktop.family();
    return added(QStringLiteral("Inter"),
                 {"Inter-Regular.otf", "Inter-Medium.otf", "Inter-SemiBold.otf", "Inter-Bold.otf"});
  }();
  return family;
}

const QString& monoFamily() {
  static const QString family =
      added(QStringLiteral("JetBrains Mono"), {"JetBrainsMono-Regular.ttf", "JetBrainsMono-Medium.ttf"});
  return family;
}

}  // namespace orrery::ui
