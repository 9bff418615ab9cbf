#include "ui/chat/chat_figures.h"

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

QString stopText(const std::string& reason) {
  if (reason == "end" || reason.empty()) return {};
  if (reason == "length") return "stopped at the token limit";
  if (reason == "stop") return "stop text";
  if (reason == "cancelled") return "stopped";
  if (reason == "context") return "context full";
  return QString::fromStdString(reason);
}

QString countOf(size_t tokens) {
  return format::count(static_cast<qint64>(tokens)) + (tokens == 1 ? " token" : " tokens");
}

Token deviceToken(const QString& device) { return device.startsWith("CUDA") ? Token::cuda : Token::cpu; }

}  // namespace

QString deviceName(const std::string& device) {
  QString text = QString::fromStdString(device).toUpper();
  return text.replace(':', ' ');
}

std::vector<Figure> replyFigures(const api::ChatResult& result, size_t tokens, const QString& device) {
  std::vector<Figure> figures;
  if (result.decode_tokens_per_second > 0)
    figures.push_back({format::rate(result.decode_tokens_per_second, "tok/s"), Token::text});
  if (result.time_to_first_token_ms > 0)
    figures.push_back({"first token " + format::time(result.time_to_first_token_ms * 1e3)});
  figures.push_back({countOf(tokens)});
  if (result.prompt_tokens > 0) {
    QString prompt = "prompt " + format::count(result.prompt_tokens);
    if (result.reused_tokens > 0) prompt += " (" + format::count(result.reused_tokens) + " reused)";
    if (result.prefill_tokens_per_second > 0)
      prompt += " at " + format::rate(result.prefill_tokens_per_second, "tok/s");
    figures.push_back({prompt});
  }
  if (result.left_out_messages > 0)
    figures.push_back({format::count(result.left_out_messages) + " messages left out", Token::warn});
  if (result.forgotten_tokens > 0)
    figures.push_back({format::count(result.forgotten_tokens) + " tokens forgotten", Token::warn});
  if (const QString stop = stopText(result.stop_reason); !stop.isEmpty())
    figures.push_back({stop, Token::text2});
  figures.push_back({device, deviceToken(device)});
  return figures;
}

std::vector<Figure> liveFigures(size_t tokens, double decodeMs, double firstTokenMs, const QString& device) {
  std::vector<Figure> figures;
  if (tokens > 1 && decodeMs > 0)
    figures.push_back({format::rate(static_cast<double>(tokens - 1) / decodeMs * 1e3, "tok/s"), Token::text});
  if (firstTokenMs > 0) figures.push_back({"first token " + format::time(firstTokenMs * 1e3)});
  figures.push_back({countOf(tokens)});
  figures.push_back({device, deviceToken(device)});
  return figures;
}

}  // namespace orrery::ui
