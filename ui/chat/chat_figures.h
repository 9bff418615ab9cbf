// What is measured of a reply, as the words of the line below it.
#pragma once

#include <QString>
#include <vector>

#include "engine/api/types.h"
#include "ui/theme/theme.h"

namespace orrery::ui {

struct Figure {
  QString text;
  Token token = Token::text3;
};

/// Speed, time to first token, tokens, prompt speed, why it ended, device.
std::vector<Figure> replyFigures(const api::ChatResult& result, size_t tokens, const QString& device);
/// While the reply streams: speed of the tokens so far, count, device.
std::vector<Figure> liveFigures(size_t tokens, double decodeMs, double firstTokenMs, const QString& device);
/// "cpu" -> "CPU", "cuda:0" -> "CUDA 0".
QString deviceName(const std::string& device);

}  // namespace orrery::ui
