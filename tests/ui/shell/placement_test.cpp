// Nodes on several devices: the menus that place them, and what the window shows of it.
#include <QApplication>
#include <QTimer>
#include <QTreeView>

#include "support/window_fixture.h"
#include "ui/graph/device_mark.h"

namespace orrery::ui::testing {
namespace {

const std::vector<api::DeviceEntry> kCard = {{"cpu", "AVX2", "", 0, 0}, {"cuda:0", "NVIDIA H200", "", 0, 0}};

class PlacementTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    engine_.devices = kCard;
  }
  std::unique_ptr<MainWindow> started(ThemeChoice theme = ThemeChoice::dark) {
    auto window = makeWindow(theme);
    EXPECT_TRUE(opened(*window, "chat"));
    window->graphPage()->showTab(false);
    EXPECT_TRUE(window->graphPage()->view()->waitForLayout());
    window->graphPage()->view()->setReducedMotion(true);
    EXPECT_TRUE(waitUntil([&] { return actionIn(*window, "layers.1", "CUDA 0")->isEnabled(); }));
    return window;
  }
  QAction* actionIn(MainWindow& window, const QString& scope, const QString& device) {
    menu_ = std::make_unique<QMenu>();
    window.findChild<PlaceMenu*>()->fill(menu_.get(), *window.session()->session(), scope);
    return actionOf(menu_.get(), device);
  }
  /// Opens the menu that `ask` opens and chooses a device of its "Run on".
  static QString chooseIn(const std::function<void()>& ask, const QString& device) {
    QString title;
    QTimer::singleShot(0, [&] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      if (!menu) return;
      QAction* places = actionOf(menu, "Run");
      title = places ? places->text() : "no Run on";
      if (places) actionOf(places->menu(), device)->trigger();
      menu->close();
    });
    ask();
    return title;
  }
  static DeviceMark mark(MainWindow& window, const QString& scope) {
    return static_cast<DeviceMark>(
        window.outlinePanel()->model()->indexOfScope(scope).data(OutlineModel::deviceRole).toInt());
  }
  std::unique_ptr<QMenu> menu_;
};

TEST_F(PlacementTest, TheGraphsMenuPlacesALayerAndUndoTakesItBack) {
  auto window = started();
  GraphView* view = window->graphPage()->view();
  view->selectScope("layers.1");
  EXPECT_EQ(chooseIn([&] { emit view->contextMenuAsked({}); }, "CUDA 0"), "Run on");
  ASSERT_TRUE(recipeIs(*window, {"place device=cuda:0 scope=layers.1"}));
  ASSERT_TRUE(waitUntil([&] { return mark(*window, "layers.1") == DeviceMark::mixed; }));  // its norm stays
  EXPECT_TRUE(
      window->outlinePanel()->model()->indexOfScope("layers.1").data(OutlineModel::editedRole).toBool());
  EXPECT_TRUE(actionIn(*window, "layers.1", "CUDA 0")->isChecked());
  EXPECT_TRUE(window->graphPage()->banner()->body().contains("the next message runs on it") ||
              window->graphPage()->banner()->title().contains("the next message runs on it"));
  window->action("edit.undo")->trigger();
  ASSERT_TRUE(recipeIs(*window, {}));
  EXPECT_TRUE(waitUntil([&] { return mark(*window, "layers.1") == DeviceMark::none; }));
}

TEST_F(PlacementTest, SeveralAreOneEdit) {
  auto window = started();
  QTreeView* tree = window->outlinePanel()->tree();
  const OutlineModel* model = window->outlinePanel()->model();
  tree->setCurrentIndex(model->indexOfScope("layers.1"));
  tree->selectionModel()->select(
      model->indexOf(window->session()->session()->model_graph()->find_path("layers.3.proj")),
      QItemSelectionModel::Select | QItemSelectionModel::Rows);
  EXPECT_EQ(chooseIn([&] { emit window->outlinePanel()->menuAsked({}); }, "CUDA 0"), "Run 2 on");
  EXPECT_TRUE(recipeIs(*window, {"place device=cuda:0 scope=layers.3.proj,layers.1"}));
}

TEST_F(PlacementTest, AsTheModelTakesThePlaceAway) {
  auto window = started();
  EXPECT_FALSE(actionIn(*window, "layers.1", "As the model (CPU)")->isEnabled());  // it is so already
  window->applyEdit("place", "layers.0-2", "cuda:0");
  ASSERT_TRUE(recipeIs(*window, {"place device=cuda:0 scope=layers.0-2"}));
  QAction* own = actionIn(*window, "layers.1", "As the model (CPU)");
  ASSERT_TRUE(own->isEnabled());
  own->trigger();
  EXPECT_TRUE(
      recipeIs(*window, {"place device=cuda:0 scope=layers.0-2", "place device=home scope=layers.1"}));
  EXPECT_TRUE(waitUntil([&] { return mark(*window, "layers.1") == DeviceMark::none; }));
}

TEST_F(PlacementTest, WithoutACardTheChoiceSaysWhy) {
  engine_.devices.clear();
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  const QAction* card = actionIn(*window, "layers.1", "CUDA 0");
  ASSERT_NE(card, nullptr);
  EXPECT_FALSE(card->isEnabled());
  EXPECT_EQ(card->text(), "CUDA 0: This build has no CUDA module");
  EXPECT_EQ(card->toolTip(), "This build has no CUDA module");
}

TEST_F(PlacementTest, TheInspectorTellsAskedDeviceAndReason) {
  auto window = started();
  window->applyEdit("place", "layers.1", "cuda:0");
  ASSERT_TRUE(waitUntil([&] { return mark(*window, "layers.1") == DeviceMark::mixed; }));
  const graph::GraphVersion model = window->session()->session()->model_graph();
  InspectorPage* inspector = window->inspectorPage();
  inspector->showNode(model->find_path("layers.1.norm"), false);
  EXPECT_TRUE(waitUntil([&] {
    return texts(*inspector)
        .contains("asked for CUDA 0; runs on CPU: cuda.rms_norm takes no rows of 64 columns");
  })) << texts(*inspector).join("\n").toStdString();
  inspector->showNode(model->find_path("layers.1.proj"), false);
  EXPECT_TRUE(texts(*inspector).contains("CUDA 0"));
  inspector->showScope("layers.1", false);
  EXPECT_TRUE(texts(*inspector).contains("2 of 3 nodes")) << texts(*inspector).join("\n").toStdString();
}

TEST_F(PlacementTest, TransfersAreNodesOfTheFusedGraph) {
  auto window = started(ThemeChoice::light);
  window->applyEdit("place", "layers.1-2", "cuda:0");
  ASSERT_TRUE(waitUntil([&] { return mark(*window, "layers.1") == DeviceMark::mixed; }));
  window->graphPage()->view()->expandScope("layers.1");
  window->chatPage()->send("One");
  ASSERT_TRUE(waitUntil([&] { return !window->session()->running(); }));
  ASSERT_TRUE(window->graphPage()->view()->waitForLayout());
  waitUntil([] { return false; }, 400);
  takePicture(*window, "placed-light");
  window->graphPage()->showTab(true);
  GraphView* view = window->graphPage()->view();
  ASSERT_TRUE(view->waitForLayout());
  view->expandScope("layers.1");
  ASSERT_TRUE(view->waitForLayout());
  const graph::GraphVersion fused = window->session()->session()->fused_graph();
  NodeId transfer;
  for (const NodeId id : fused->order())
    if (graph::is_transfer(fused->node(id))) transfer = id;
  ASSERT_TRUE(transfer.valid());
  view->select(transfer);
  window->inspectorPage()->showNode(transfer, true);
  waitUntil([] { return false; }, 400);
  takePicture(*window, "placed-fused-light");
  const QStringList shown = texts(*window->inspectorPage());
  EXPECT_TRUE(shown.contains("carries, a token")) << shown.join("\n").toStdString();
  EXPECT_TRUE(shown.contains("256 B"));  // 64 columns of f32
  EXPECT_EQ(chooseIn([&] { emit view->contextMenuAsked({}); }, "CPU"), "no Run on");
}

}  // namespace
}  // namespace orrery::ui::testing
