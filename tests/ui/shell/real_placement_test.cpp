// Layers placed on a card from the window: the real engine, the default model and the test device.
#include "support/real_services.h"
#include "support/window_fixture.h"
#include "ui/graph/device_mark.h"

namespace orrery::ui::testing {
namespace {

class RealPlacementTest : public WindowTest {
 protected:
  static Services services() {
    Services services = realServices();
    services.cudaRefusal.clear();
    services.listDevices = api::list_devices;
    return services;
  }
  static QString reply(MainWindow& window, const QString& text) {
    api::SamplingOptions greedy;
    greedy.temperature = 0;
    window.chatPage()->newChat();
    window.chatPage()->sampling()->setSampling(greedy);
    window.chatPage()->sampling()->setMaximumTokens(12);
    window.chatPage()->send(text);
    EXPECT_TRUE(waitUntil([&] { return !window.session()->running(); }, 60000));
    return window.chatPage()->transcript()->message(1).text();
  }
  static int transfers(MainWindow& window) {
    const graph::GraphVersion fused = window.session()->session()->fused_graph();
    int count = 0;
    for (const NodeId id : fused->order()) count += graph::is_transfer(fused->node(id)) ? 1 : 0;
    return count;
  }
  static QAction* choice(MainWindow& window, QMenu& menu, const QString& device) {
    menu.clear();
    window.findChild<PlaceMenu*>()->fill(&menu, *window.session()->session(), "layers.0-3");
    for (QAction* action : menu.actions())
      if (action->text().startsWith(device)) return action;
    return nullptr;
  }
};

TEST_F(RealPlacementTest, LayersMoveToTheCardAndBackWithTheSameWords) {
  auto window = makeWindow(services(), ThemeChoice::dark);
  ASSERT_TRUE(opened(*window, "smollm2")) << window->graphPage()->banner()->body().toStdString();
  const QString before = reply(*window, "Why is the sky blue?");
  QMenu menu;
  ASSERT_TRUE(waitUntil([&] { return choice(*window, menu, "CUDA 0")->isEnabled(); }))
      << choice(*window, menu, "CUDA 0")->text().toStdString();
  choice(*window, menu, "CUDA 0")->trigger();
  const auto layer = [&] {
    const QModelIndex index = window->outlinePanel()->model()->indexOfScope("layers.0");
    return static_cast<DeviceMark>(index.data(OutlineModel::deviceRole).toInt());
  };
  window->graphPage()->showTab(false);
  ASSERT_TRUE(waitUntil([&] { return layer() != DeviceMark::none; }))
      << window->graphPage()->banner()->body().toStdString();
  EXPECT_EQ(reply(*window, "Why is the sky blue?"), before);
  EXPECT_GT(transfers(*window), 0);
  ASSERT_TRUE(window->graphPage()->view()->waitForLayout());
  waitUntil([] { return false; }, 500);
  takePicture(*window, "real-placed-dark");
  window->graphPage()->showTab(true);
  ASSERT_TRUE(window->graphPage()->view()->waitForLayout());
  waitUntil([] { return false; }, 500);
  takePicture(*window, "real-placed-fused-dark");

  window->action("edit.undo")->trigger();
  ASSERT_TRUE(waitUntil([&] { return layer() == DeviceMark::none; }));
  EXPECT_EQ(transfers(*window), 0);
  EXPECT_EQ(reply(*window, "Why is the sky blue?"), before);
}

}  // namespace
}  // namespace orrery::ui::testing
