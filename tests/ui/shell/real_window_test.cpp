// The window on the real engine and the default models.
#include <QElapsedTimer>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTimer>
#include <cstdio>

#include "support/real_services.h"
#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

class RealWindowTest : public WindowTest {
 protected:
  static Services services() {
    Services services = realServices();
    services.writeTrace = api::write_trace;
    return services;
  }
  static bool idle(MainWindow& window) {
    return waitUntil([&] { return !window.session()->running(); }, 60000);
  }
  static void say(MainWindow& window, const QString& text, int tokens) {
    api::SamplingOptions greedy;
    greedy.temperature = 0;
    window.chatPage()->sampling()->setSampling(greedy);
    window.chatPage()->sampling()->setMaximumTokens(tokens);
    window.chatPage()->send(text);
  }
};

TEST_F(RealWindowTest, OpenChatBypassAndUndo) {
  auto window = makeWindow(services(), ThemeChoice::dark);
  ASSERT_TRUE(opened(*window, "smollm2")) << window->graphPage()->banner()->body().toStdString();
  ASSERT_TRUE(window->graphPage()->fusedView()->waitForLayout());
  say(*window, "Why do planets farther from the Sun move more slowly?", 24);
  ASSERT_TRUE(idle(*window));
  const QString first = window->chatPage()->transcript()->message(1).text();
  EXPECT_GT(first.size(), 20);
  EXPECT_EQ(window->chatPage()->transcript()->message(1).tokens().front().top.size(), 5U);
  ASSERT_TRUE(waitUntil([&] {
    return window->session()->profile(api::Phase::decode) &&
           window->session()->profile(api::Phase::decode)->step.runs > 0;
  }));
  EXPECT_GT(window->session()->vitals().contextUsed, 24);

  window->traces()->save(path("trace.json"));
  QFile trace(path("trace.json"));
  ASSERT_TRUE(waitUntil([&] { return trace.exists(); }));
  ASSERT_TRUE(trace.open(QIODevice::ReadOnly));
  EXPECT_GT(QJsonDocument::fromJson(trace.readAll())["traceEvents"].toArray().size(), 24 * 300);

  window->graphPage()->showTab(false);
  ASSERT_TRUE(window->graphPage()->modelView()->waitForLayout());
  window->graphPage()->view()->expandScope("layers");
  window->applyEdit("bypass", "layers.3");
  const auto layer = [&](OutlineModel::Role role) {
    return window->outlinePanel()->model()->indexOfScope("layers.3").data(role).toBool();
  };
  ASSERT_TRUE(waitUntil([&] { return layer(OutlineModel::bypassedRole); }))
      << window->graphPage()->banner()->body().toStdString();
  EXPECT_TRUE(layer(OutlineModel::editedRole));
  say(*window, "And why is that?", 16);
  ASSERT_TRUE(idle(*window));
  EXPECT_EQ(window->latencyPage()->series().marks().size(), 1U);
  EXPECT_EQ(window->latencyPage()->series().replies(), 2);
  window->graphPage()->view()->selectScope("layers.3");
  waitUntil([] { return false; }, 500);
  takePicture(*window, "real-edit-dark");

  window->action("edit.undo")->trigger();
  ASSERT_TRUE(waitUntil([&] { return !layer(OutlineModel::bypassedRole); }));
  EXPECT_FALSE(window->session()->canUndo());
  window->chatPage()->newChat();
  say(*window, "Why do planets farther from the Sun move more slowly?", 24);
  ASSERT_TRUE(idle(*window));
  EXPECT_EQ(window->chatPage()->transcript()->message(1).text(),
            first);  // greedy: the unedited model says the same again
}

TEST_F(RealWindowTest, ClassifiesACsvWhileTheChatModelStays) {
  auto window = makeWindow(services(), ThemeChoice::light);
  ASSERT_TRUE(opened(*window, "smollm2"));
  window->showPage("classify");
  ClassifyPage* page = window->classifyPage();
  page->openCsv(writeFile(path("reviews.csv"),
                          "text,label\n\"A small, warm film that earns every one of its tears.\",positive\n"
                          "The plot never leaves the ground and neither does the cast.,negative\n"
                          "I loved every minute of it.,positive\nTwo hours I will not get back.,negative\n"));
  page->classifyButton()->click();
  ASSERT_TRUE(
      waitUntil([&] { return page->model()->doneCount() == 4 && !window->classifier()->running(); }, 60000))
      << page->banner()->body().toStdString();
  EXPECT_GE(page->model()->confusion().accuracy(), 0.75);
  EXPECT_EQ(window->session()->session()->info().task, api::Task::generate);
  EXPECT_EQ(window->windowTitle(), "sentiment - Orrery");
  EXPECT_EQ(window->toolBar()->modelButton()->text(), "sentiment");
  EXPECT_EQ(window->graphPage()->source(), window->classifier());
  ASSERT_TRUE(window->graphPage()->view()->waitForLayout());
  waitUntil([] { return false; }, 300);
  takePicture(*window, "real-classify-light");
}

#if defined(__SANITIZE_ADDRESS__)
constexpr int kLongestGap = 400;  // ms; instrumented code is several times slower
#else
constexpr int kLongestGap = 50;  // ms
#endif

TEST_F(RealWindowTest, TheWindowAnswersWhileTheModelLoadsAndRuns) {
  qint64 longest = 0;
  // Another program may take the cores for a while; what the window itself does would show each time.
  for (int attempt = 0; attempt < 3; ++attempt) {
    auto window = makeWindow(services(), ThemeChoice::dark);
    QElapsedTimer clock;
    qint64 last = 0;
    longest = 0;
    QTimer beat;
    beat.setInterval(2);
    QObject::connect(&beat, &QTimer::timeout, [&] {
      longest = std::max(longest, clock.elapsed() - last);
      last = clock.elapsed();
    });
    clock.start();
    beat.start();
    ASSERT_TRUE(opened(*window, "smollm2"));
    say(*window, "Why do planets farther from the Sun move more slowly?", 32);
    ASSERT_TRUE(idle(*window));
    std::printf("longest gap between two turns of the event loop: %lld ms\n",
                static_cast<long long>(longest));
    if (longest <= kLongestGap) break;
  }
  RecordProperty("longest_gap_ms", static_cast<int>(longest));
  EXPECT_LE(longest, kLongestGap);
}

TEST_F(RealWindowTest, ARecipeIsMadeOrItIsToldWhatDoesNotFit) {
  auto window = makeWindow(services(), ThemeChoice::dark);
  ASSERT_TRUE(opened(*window, "smollm2"));
  const auto recipe = [&](const char* name, const char* scope) {
    return writeFile(path(name),
                     QByteArray(R"({"orrery_recipe": 1, "edits": [{"op": "bypass", "scope": "layers.3"},)") +
                         R"({"op": "bypass", "scope": ")" + scope + R"("}]})");
  };
  window->openPaths({recipe("other.json", "layers.77")});
  const Banner* banner = window->graphPage()->banner();
  ASSERT_TRUE(waitUntil([&] { return banner->isVisible() && banner->kind() == Banner::Kind::error; }));
  EXPECT_EQ(banner->title(), "Could not make the edits of other.json");
  EXPECT_TRUE(banner->body().startsWith("Edit 2, \"bypass scope=layers.77\": "))
      << banner->body().toStdString();
  EXPECT_TRUE(window->session()->session()->recipe().empty());
  window->openPaths({recipe("mine.json", "layers.5-6")});
  ASSERT_TRUE(waitUntil([&] { return window->session()->recipe().size() == 2; }))
      << banner->body().toStdString();
  say(*window, "Hello", 4);
  ASSERT_TRUE(idle(*window));
  window->session()->undo();
  window->session()->undo();
  EXPECT_TRUE(waitUntil([&] { return !window->session()->canUndo(); }));
}

TEST_F(RealWindowTest, AnotherModelGoesOnWithTheConversation) {
  auto window = makeWindow(services(), ThemeChoice::dark);
  if (!QFileInfo::exists(QString::fromStdString(api::default_models_folder()) + "/gemma3"))
    GTEST_SKIP() << "there is no gemma3: ./bootstrap.sh test fetches it";
  ASSERT_TRUE(opened(*window, "smollm2"));
  say(*window, "My name is Ada. Say hello.", 8);
  ASSERT_TRUE(idle(*window));
  ASSERT_TRUE(opened(*window, "gemma3")) << window->graphPage()->banner()->body().toStdString();
  EXPECT_EQ(window->session()->vitals().contextUsed, 0);
  say(*window, "What is my name?", 12);
  ASSERT_TRUE(idle(*window));
  ASSERT_EQ(window->chatPage()->transcript()->messageCount(), 4U);
  EXPECT_TRUE(window->chatPage()->transcript()->message(3).text().contains("Ada"))
      << window->chatPage()->transcript()->message(3).text().toStdString();
}

TEST_F(RealWindowTest, ATruncatedModelIsRefusedWithAReason) {
  auto window = makeWindow(services(), ThemeChoice::dark);
  window->openModel(writeFile(path("cut.gguf"), QByteArray("GGUF\3\0\0\0\377\377\0\0", 12)));
  ASSERT_TRUE(waitUntil([&] { return window->graphPage()->banner()->isVisible(); }));
  EXPECT_EQ(window->graphPage()->banner()->title(), "Could not open cut.gguf");
  EXPECT_EQ(window->session()->session(), nullptr);
}

}  // namespace
}  // namespace orrery::ui::testing
