// The window on the real engine and the test device, when its memory does not suffice and when it is lost.

#include "support/real_services.h"
#include "support/window_fixture.h"
#include "tests/support/variable.h"

namespace orrery::ui::testing {
namespace {

class RealMemoryTest : public WindowTest {
 protected:
  std::unique_ptr<MainWindow> window() {
    Services services = realServices();
    services.cudaRefusal.clear();
    services.listDevices = api::list_devices;
    services.memoryDemand = api::memory_demand;
    return makeWindow(services, ThemeChoice::dark);
  }
  static void open(MainWindow& window, const std::string& device, int64_t context) {
    api::OpenOptions options;
    options.model = "smollm2";
    options.device = device;
    options.context = context;
    options.batch_tokens = 512;
    window.openModel(options);
    EXPECT_TRUE(waitUntil([&] { return !window.session()->loading(); }, 60000));
  }
  static void say(MainWindow& window, const QString& text) {
    window.chatPage()->sampling()->setMaximumTokens(8);
    window.chatPage()->send(text);
    EXPECT_TRUE(waitUntil([&] { return !window.session()->running(); }, 60000));
  }
  /// Clicks the banner's button whose words begin so, and waits for what it does.
  static bool accept(MainWindow& window, const QString& words) {
    const SessionPtr before = window.session()->session();
    for (Button* button : window.chatPage()->banner()->findChildren<Button*>()) {
      if (!button->text().startsWith(words)) continue;
      button->click();
      return waitUntil([&] { return window.session()->session() != before; }, 60000);
    }
    ADD_FAILURE() << window.chatPage()->banner()->body().toStdString();
    return false;
  }
};

TEST_F(RealMemoryTest, ALostDeviceGoesOnOnTheCpu) {
  const Variable lost("ORRERY_FAKE_DEVICE_LOST_AFTER", "6");
  auto shown = window();
  open(*shown, "cuda:0", 512);
  ASSERT_TRUE(shown->session()->session());
  shown->applyEdit("bypass", "layers.12");
  say(*shown, "Hello");
  ASSERT_TRUE(shown->chatPage()->banner()->isVisible());
  ASSERT_TRUE(accept(*shown, "Go on on the CPU"));
  EXPECT_EQ(shown->session()->session()->options().device, "cpu");
  EXPECT_EQ(shown->session()->session()->edits().size(), 1U);
  EXPECT_EQ(shown->chatPage()->transcript()->message(0).text(), "Hello");
  say(*shown, "Are you there?");
  EXPECT_FALSE(shown->chatPage()->banner()->isVisible());
  EXPECT_FALSE(shown->chatPage()->transcript()->message(3).text().isEmpty());
}

TEST_F(RealMemoryTest, ACacheThatCannotGrowIsMadeSmaller) {
  const Variable memory("ORRERY_FAKE_DEVICE_MB", "256");
  auto shown = window();
  open(*shown, "cuda:0", 4096);
  ASSERT_TRUE(shown->session()->session());
  say(*shown, "Hello");
  EXPECT_FALSE(shown->chatPage()->banner()->isVisible());
  {
    const Variable others("ORRERY_FAKE_DEVICE_TAKEN_MB", "135");
    say(*shown, QString("The planets move around the Sun. ").repeated(200));
    const Banner* banner = shown->chatPage()->banner();
    ASSERT_TRUE(banner->isVisible());
    EXPECT_TRUE(banner->body().contains("do not fit: Test device (cuda:0) has"))
        << banner->body().toStdString();
    ASSERT_TRUE(accept(*shown, "Use "));
  }
  EXPECT_LT(shown->session()->session()->options().context, 4096);
  EXPECT_EQ(shown->session()->session()->options().device, "cuda:0");
}

TEST_F(RealMemoryTest, AModelThatDoesNotFitIsAskedAbout) {
  const Variable little("ORRERY_FAKE_DEVICE_MB", "128");
  auto shown = window();
  open(*shown, "cuda:0", 2048);
  EXPECT_FALSE(shown->session()->session());
  const auto dialog = [&] { return shown->findChild<OpenDialog*>(); };
  ASSERT_TRUE(waitUntil([&] { return dialog() && dialog()->rows().size() == 4; }, 20000));
  EXPECT_TRUE(dialog()->fewerButton()->isVisible());
  dialog()->fewerButton()->click();
  dialog()->loadButton()->click();
  ASSERT_TRUE(waitUntil([&] { return shown->session()->session() != nullptr; }, 60000));
  EXPECT_LT(shown->session()->session()->options().context, 2048);
}

}  // namespace
}  // namespace orrery::ui::testing
