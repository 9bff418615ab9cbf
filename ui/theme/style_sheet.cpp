// theme.qss with its @words replaced: @token, @textFont, @monoFont, @px(12).
#include <QFile>
#include <QRegularExpression>

#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace orrery::ui {
namespace {

struct Named {
  const char* name;
  Token token;
};
constexpr Named kNames[] = {
    {"canvas", Token::canvas},
    {"window", Token::window},
    {"panel", Token::panel},
    {"raised", Token::raised},
    {"sunken", Token::sunken},
    {"hover", Token::hover},
    {"border", Token::border},
    {"borderStrong", Token::borderStrong},
    {"text", Token::text},
    {"text2", Token::text2},
    {"text3", Token::text3},
    {"disabled", Token::disabled},
    {"accent", Token::accent},
    {"onAccent", Token::onAccent},
    {"selectionBg", Token::selectionBg},
    {"selectionText", Token::selectionText},
    {"cpu", Token::cpu},
    {"cuda", Token::cuda},
    {"ok", Token::ok},
    {"warn", Token::warn},
    {"error", Token::error},
    {"edited", Token::edited},
    {"okBg", Token::okBg},
    {"warnBg", Token::warnBg},
    {"errorBg", Token::errorBg},
    {"editedBg", Token::editedBg},
    {"edge", Token::edge},
    {"wireF32", Token::wireF32},
    {"wireF16", Token::wireF16},
    {"wireInt", Token::wireInt},
    {"wireQ", Token::wireQ},
    {"synKeyword", Token::synKeyword},
    {"synType", Token::synType},
    {"synFunction", Token::synFunction},
    {"synString", Token::synString},
    {"synNumber", Token::synNumber},
    {"synDirective", Token::synDirective},
};
static_assert(std::size(kNames) == kTokenCount);

/// What a word stands for; nothing for a word that is not ours (the sheet keeps it, and Qt complains of it by
/// line).
QString meaning(const Theme& theme, const QString& word) {
  if (word == QLatin1String("textFont")) return theme.textFont().family();
  if (word == QLatin1String("monoFont")) return theme.monoFont().family();
  if (word == QLatin1String("buttonBorder"))
    return Theme::blend(theme(Token::raised), theme(Token::borderStrong), theme.isDark() ? 0.28 : 0.35)
        .name();
  if (word == QLatin1String("accentHover"))
    return Theme::blend(theme(Token::accent), theme(Token::text), 0.14).name();
  for (const Named& named : kNames)
    if (word == QLatin1String(named.name)) return theme(named.token).name();
  return {};
}

}  // namespace

QString Theme::styleSheet() const {
  static const QRegularExpression words(QStringLiteral(R"(@px\((\d+(?:\.\d+)?)\)|@([A-Za-z]\w*))"));
  icon(u"check", *this);  // makes sure that the resources are there
  QFile file(QStringLiteral(":/orrery/theme.qss"));
  if (!file.open(QIODevice::ReadOnly)) return {};
  const QString source = QString::fromUtf8(file.readAll());
  QString sheet;
  qsizetype done = 0;
  for (auto matches = words.globalMatch(source); matches.hasNext();) {
    const QRegularExpressionMatch match = matches.next();
    sheet += QStringView(source).mid(done, match.capturedStart() - done);
    done = match.capturedEnd();
    if (!match.captured(1).isEmpty())
      sheet += QString::number(qRound(scaled(match.captured(1).toDouble()))) + QLatin1String("px");
    else
      sheet += meaning(*this, match.captured(2));
  }
  sheet += QStringView(source).mid(done);
  return sheet;
}

}  // namespace orrery::ui
