// Decode speed of one greedy reply: alone, alone with the profiler on, and in the window with heat and plot
// on; alternating rounds in one process.
//
//   window_speed [MODEL] [TOKENS] [ROUNDS]
#include <sys/resource.h>
#include <unistd.h>

#include <QApplication>
#include <QEventLoop>
#include <QTemporaryDir>
#include <QTimer>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "ui/chat/chat_page.h"
#include "ui/session/session_controller.h"
#include "ui/shell/main_window.h"
#include "ui/shell/window_options.h"

namespace orrery::ui {
namespace {

constexpr const char* kQuestion = "Tell me a long story about a fox.";

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Runs the event loop as the program does, without polling.
void rest(int milliseconds) {
  QEventLoop loop;
  QTimer::singleShot(milliseconds, &loop, &QEventLoop::quit);
  loop.exec();
}

template <class Signal>
void waitFor(SessionController* session, Signal signal) {
  QEventLoop loop;
  QObject::connect(session, signal, &loop, &QEventLoop::quit);
  loop.exec();
}

int run(const std::string& model, int tokens, int rounds) {
  Services services;
  services.open = api::Session::open;
  services.listModels = api::list_models;
  api::OpenOptions options;
  options.model = model;
  auto opened = api::Session::open(options, {}, {});
  if (!opened.ok()) return std::fprintf(stderr, "error: %s\n", opened.error().what.c_str()), 1;
  api::Session& alone = **opened;
  api::ChatRequest request;
  request.messages = {{"user", kQuestion}};
  request.sampling.temperature = 0;
  request.max_tokens = tokens;

  QTemporaryDir folder;
  WindowOptions look;
  look.configFolder = folder.path();
  MainWindow window(services, look);
  window.resize(1920, 1080);
  window.show();
  window.openModel(QString::fromStdString(model));
  waitFor(window.session(), &SessionController::loadEnded);
  if (!window.session()->session()) return std::fprintf(stderr, "error: the window did not open it\n"), 1;
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 10);  // as the program does
  double speed = 0;
  QObject::connect(window.session(), &SessionController::replyFinished,
                   [&](const api::ChatResult& result) { speed = result.decode_tokens_per_second; });
  window.chatPage()->sampling()->setSampling(request.sampling);
  window.chatPage()->sampling()->setMaximumTokens(tokens);

  const auto reply = [&](bool profiled) {
    alone.forget_context();
    alone.set_profiling(profiled);
    const auto result = alone.chat(request, {}, {});
    return result.ok() ? result->decode_tokens_per_second : 0;
  };
  std::vector<double> bare, measured, shown;
  std::vector<double> measuredShare, shownShare;  // a round's runs meet the same machine
  for (int round = 0; round < rounds; ++round) {
    bare.push_back(reply(false));
    measured.push_back(reply(true));
    window.chatPage()->newChat();
    rest(500);
    window.chatPage()->send(kQuestion);
    waitFor(window.session(), &SessionController::replyFinished);
    shown.push_back(speed);
    measuredShare.push_back(100 * measured.back() / bare.back());
    shownShare.push_back(100 * shown.back() / bare.back());
    std::printf("round %d: alone %.0f tokens/s, with profiler %.0f, in the window %.0f\n", round + 1,
                bare.back(), measured.back(), shown.back());
  }
  std::printf(
      "%s, %d tokens, medians of %d rounds: alone %.0f tokens/s, with profiler %.0f (%.1f %%), in the window "
      "%.0f (%.1f %%)\n",
      model.c_str(), tokens, rounds, median(bare), median(measured), median(measuredShare), median(shown),
      median(shownShare));
  return 0;
}

}  // namespace
}  // namespace orrery::ui

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("DISPLAY")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  const auto number = [&](int at, int otherwise) { return argc > at ? std::atoi(argv[at]) : otherwise; };
  return orrery::ui::run(argc > 1 ? argv[1] : "smollm2", number(2, 256), number(3, 5));
}
