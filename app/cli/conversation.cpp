#include "app/cli/conversation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "app/cli/output.h"

namespace orrery::cli {
namespace {

constexpr std::string_view kHelp =
    "/new    a new conversation\n"
    "/stats  figures of the last reply, context and memory\n"
    "/help   this\n"
    "/quit   leave (also Ctrl+D; Ctrl+C stops a reply, and leaves when none runs)\n";

/// Lines of stdin; a wait for one can be interrupted.
class LineReader {
 public:
  explicit LineReader(const Interrupts& interrupts) : interrupts_(interrupts) {}
  bool interrupted() const { return interrupted_; }

  std::optional<std::string> next() {
    for (;;) {
      const size_t end = pending_.find('\n');
      if (end != std::string::npos) return take(end, end + 1);
      if (!interrupts_.wait_readable(STDIN_FILENO)) {
        interrupted_ = true;
        return std::nullopt;
      }
      char buffer[4096];
      const ssize_t count = read(STDIN_FILENO, buffer, sizeof buffer);
      if (count <= 0)
        return pending_.empty() ? std::nullopt : std::optional(take(pending_.size(), pending_.size()));
      pending_.append(buffer, static_cast<size_t>(count));
    }
  }

 private:
  std::string take(size_t length, size_t erase) {
    std::string line = pending_.substr(0, length);
    pending_.erase(0, erase);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return line;
  }
  const Interrupts& interrupts_;
  std::string pending_;
  bool interrupted_ = false;
};

class Conversation {
 public:
  Conversation(api::Session& session, api::ChatRequest settings, Context& context)
      : session_(session), request_(std::move(settings)), opening_(request_.messages), context_(context) {}

  Result<int> run() {
    LineReader lines(context_.interrupts);
    note(context_, fmt::format("{}. Type a message, or /help.", session_.info().name));
    for (;;) {
      if (stdout_is_terminal()) print_now("> ");
      const std::optional<std::string> line = lines.next();
      if (!line) break;
      if (line->find_first_not_of(" \t") == std::string::npos) continue;
      if (line->front() == '/') {
        if (!command(*line)) return kExitDone;
      } else {
        ORRERY_TRY(reply(*line));
      }
    }
    if (stdout_is_terminal()) print_now("\n");
    return lines.interrupted() ? kExitInterrupted : kExitDone;
  }

 private:
  /// False to leave.
  bool command(const std::string& line) {
    if (line == "/quit" || line == "/exit") return false;
    if (line == "/new") {
      request_.messages = opening_;
      session_.forget_context();
      note(context_, "A new conversation.");
    } else if (line == "/stats") {
      stats();
    } else {
      if (line != "/help") note(context_, fmt::format("There is no command {}.", line.substr(0, 40)));
      fmt::print(stderr, "{}", kHelp);
    }
    return true;
  }

  void stats() const {
    if (last_) fmt::print(stderr, "{}\n", figures_of(*last_));
    fmt::print(stderr, "{} messages, {} tokens of context, {} of memory\n", request_.messages.size(),
               session_.context_used(), readable_bytes(session_.memory_use().session()));
  }

  Result<void> reply(const std::string& line) {
    request_.messages.push_back({"user", line});
    api::ChatEvents events;
    events.on_token = [](const api::TokenEvent& token) { print_now(token.text); };
    auto result = session_.chat(request_, events, context_.stop());
    print_now("\n");
    const bool stopped = context_.stop().stop_requested();
    if (stopped) context_.interrupts.rearm();
    if (!result.ok()) {
      request_.messages.pop_back();
      if (result.error().code == ErrorCode::cancelled) return {};
      print_error(result.error());  // the conversation goes on: the person may shorten or start anew
      return {};
    }
    request_.messages.push_back({"assistant", result->text});
    last_ = *result;
    if (stdout_is_terminal()) note(context_, figures_of(*last_));
    return {};
  }

  api::Session& session_;
  api::ChatRequest request_;
  std::vector<api::Message> opening_;
  Context& context_;
  std::optional<api::ChatResult> last_;
};

}  // namespace

Result<int> converse(api::Session& session, api::ChatRequest settings, Context& context) {
  return Conversation(session, std::move(settings), context).run();
}

std::string figures_of(const api::ChatResult& result) {
  std::string figures = fmt::format("{} tokens, {:.3g} tokens/s, first after {:.3g} ms", result.tokens.size(),
                                    result.decode_tokens_per_second, result.time_to_first_token_ms);
  if (result.stop_reason == "context") figures += "; the context is full (--context-shift goes on)";
  if (result.left_out_messages > 0)
    figures += fmt::format("; {} old messages left out", result.left_out_messages);
  if (result.forgotten_tokens > 0)
    figures += fmt::format("; {} old tokens forgotten", result.forgotten_tokens);
  return figures;
}

}  // namespace orrery::cli
