// A person's path through the window, on the real engine and the default model: read, drop a layer, repeat
// three, rewire, look at what it cost, sweep, compare, export. And the window's questions, each answered
// within a minute. Pictures of both, to be looked at.
#include <QElapsedTimer>

#include "engine/api/compare.h"
#include "engine/api/metadata.h"
#include "support/editing_fixture.h"
#include "ui/exporter/export_dialog.h"
#include "ui/frame/workspace.h"
#include "ui/passes/passes_page.h"
#include "ui/replies/replies_page.h"
#include "ui/shell/workspace_switch.h"
#include "ui/sweep/sweep_page.h"

namespace orrery::ui::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr int kMinute = 600000;  // instrumented code is several times slower
#else
constexpr int kMinute = 60000;
#endif
const QString kQuestion = QStringLiteral("Why is the sky dark at night?");

class TourTest : public EditingTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    Services services = realServices();
    services.compare = api::compare;
    services.listDevices = api::list_devices;
    window_ = makeWindow(services, ThemeChoice::light);
    ASSERT_TRUE(opened(*window_, "smollm2")) << window_->graphPage()->banner()->body().toStdString();
    window_->graphPage()->showTab(false);
    view()->setReducedMotion(true);
    settle();
  }
  void turnTo(const char* workspace) {
    window_->workspaces()->turnTo(workspace);
    settle();
  }
  template <class Page>
  Page* show(const QString& id) {
    window_->showPage(id);
    auto* page = window_->findChild<Page*>();
    EXPECT_TRUE(waitUntil([&] { return page->isVisible(); }));
    return page;
  }
  void say(int tokens) {
    window_->showPage("chat");
    window_->chatPage()->sampling()->setMaximumTokens(tokens);
    window_->chatPage()->send(kQuestion);
    ASSERT_TRUE(waitUntil([&] { return !window_->session()->running(); }, kMinute));
    settle();
  }
  void edit(const QString& words) {
    const size_t before = window_->session()->recipe().size();
    window_->session()->apply(*edit::parse_edit(words.toStdString()));
    ASSERT_TRUE(waitUntil([&] { return window_->session()->recipe().size() == before + 1; }, kMinute))
        << words.toStdString();
    settle();
  }
  /// All layers left out in turn.
  SweepPage* swept() {
    auto* page = show<SweepPage>("sweep");
    page->chooseKind(api::SweepKind::bypass_layers);
    page->field()->setText("The capital of France is Paris.");
    QTest::mouseClick(page->startButton(), Qt::LeftButton);
    EXPECT_TRUE(
        waitUntil([&] { return page->sweeps()->sweep().complete() && !page->sweeps()->running(); }, kMinute));
    settle();
    return page;
  }
  /// What runs as `a` against what runs as `b`, by how their titles begin.
  ComparePage* compared(const QString& a, const QString& b) {
    auto* page = show<ComparePage>("compare");
    const auto choose = [&](api::Side side, const QString& title) {
      EXPECT_TRUE(waitUntil([&] { return !page->settings().empty(); }));
      QStringList known;
      for (size_t i = 0; i < page->settings().size(); ++i) {
        known += page->settings()[i].title;
        if (known.last().startsWith(title)) return page->choose(side, static_cast<int>(i));
      }
      ADD_FAILURE() << title.toStdString() << " is not among " << known.join(", ").toStdString();
    };
    choose(api::Side::a, a);
    choose(api::Side::b, b);
    page->field()->setText(kQuestion);
    page->compare();
    EXPECT_TRUE(waitUntil([&] { return page->result() != nullptr; }, kMinute));
    settle();
    return page;
  }
  static double layersOf(const QString& file) {
    const auto info = api::inspect(file.toStdString(), "", 0, "f16");
    EXPECT_TRUE(info.ok()) << (info.ok() ? "" : info.error().to_string());
    return info.ok() ? static_cast<double>(info->layers) : 0;
  }
};

TEST_F(TourTest, APersonsPath) {
  turnTo("talk");
  ASSERT_NO_FATAL_FAILURE(say(24));
  takePicture(*window_, "tour-1-read");

  turnTo("edit");
  view()->expandScope("layers.21");
  bring("layers.21");
  emit window_->work().scopeChosen("layers.21", false);
  key(Qt::Key_B);
  ASSERT_TRUE(recipeBecomes("bypass scope=layers.21"));
  takePicture(*window_, "tour-2-drop");

  ASSERT_NO_FATAL_FAILURE(edit("repeat scope=layers.4-6 times=2"));
  bring("layers.0.mlp.gate");
  press(portAt(kGate, "dst"));
  moveTo(portAt(kMul, "b") + QPoint(60, 10));
  moveTo(portAt(kMul, "b"));
  takePicture(*window_, "tour-3-rewire");
  release(portAt(kMul, "b"));
  ASSERT_TRUE(waitUntil([&] { return window_->session()->recipe().size() == 3; }, kMinute))
      << recipe().toStdString();
  settle();

  auto* replies = show<RepliesPage>("replies");
  replies->prompt()->setText(kQuestion);
  QTest::mouseClick(replies->button(), Qt::LeftButton);
  ASSERT_TRUE(waitUntil([&] { return replies->pair()->running(); }));
  ASSERT_TRUE(waitUntil([&] { return !replies->pair()->running(); }, kMinute));
  settle();
  takePicture(*window_, "tour-4-replies");

  window_->session()->undo();
  ASSERT_TRUE(waitUntil([&] { return window_->session()->recipe().size() == 2; }, kMinute));
  turnTo("measure");
  const SweepPage* sweep = swept();
  EXPECT_EQ(sweep->rows()->rowCount(), 32) << "29 of the model's layers and three repeated ones";
  takePicture(*window_, "tour-5-sweep");

  const ComparePage* compare = compared("CPU, edited", "CPU");
  EXPECT_FALSE(compare->tile(0)->value().isEmpty());
  takePicture(*window_, "tour-6-compare");

  window_->action("model.export")->trigger();
  auto* dialog = window_->findChild<ExportDialog*>();
  ASSERT_NE(dialog, nullptr);
  ASSERT_TRUE(waitUntil([&] { return !dialog->planning() && dialog->exportButton()->isEnabled(); }, kMinute));
  takePicture(*dialog, "tour-7-export");
  dialog->writeTo(path("edited.gguf"));
  ASSERT_TRUE(waitUntil([&] { return !dialog->writing(); }, kMinute));
  EXPECT_EQ(layersOf(path("edited.gguf")), 32);
}

TEST_F(TourTest, WhichLayersCanIDrop) {
  QElapsedTimer clock;
  clock.start();
  turnTo("measure");
  const SweepPage* page = swept();
  takePicture(*window_, "question-which-layers");
  EXPECT_LT(clock.elapsed(), kMinute);
  ASSERT_EQ(page->rows()->rowCount(), 30);
  const auto& rows = page->sweeps()->sweep().rows;
  const api::SweepRow& least = rows[page->rows()->placeAt(0)];
  const api::SweepRow& most = rows[page->rows()->placeAt(29)];
  EXPECT_LT(*least.change.kl * 10, *most.change.kl) << "the first row is what the model misses least";
}

TEST_F(TourTest, WhyIsItSlowHere) {
  QElapsedTimer clock;
  clock.start();
  ASSERT_NO_FATAL_FAILURE(say(24));
  window_->graphPage()->showTab(true);
  settle();
  const graph::GraphVersion fused = window_->session()->session()->fused_graph();
  const NodeId head = fused->order()[fused->order().size() - 2];
  emit window_->work().nodeAsked(head, true);
  settle();
  const auto says = [&](const QString& words) {
    return !texts(*window_->inspectorPage()).filter(words).isEmpty();
  };
  EXPECT_TRUE(waitUntil([&] { return says("GB/s"); })) << "how near it is to what the machine can read";
  takePicture(*window_, "question-why-slow");
  EXPECT_LT(clock.elapsed(), kMinute);
}

TEST_F(TourTest, WhatRunsOfMyGraph) {
  QElapsedTimer clock;
  clock.start();
  GraphPage* graph = window_->graphPage();
  auto* page = show<PassesPage>("passes");
  ASSERT_TRUE(waitUntil([&] { return page->row("fuse_qkv") != nullptr; }, kMinute));
  QTest::mouseClick(page->row("fuse_residual_norm")->measure(), Qt::LeftButton);
  ASSERT_TRUE(waitUntil([&] { return page->row("fuse_residual_norm")->row().gain.has_value(); }, kMinute));
  ASSERT_NO_FATAL_FAILURE(say(24));
  graph->showSideBySide(true);
  settle();
  ASSERT_TRUE(graph->fusedView()->waitForLayout());
  const SessionPtr session = window_->session()->session();
  const NodeId qkv = session->fused_graph()->find_path("layers.0.attention.qkv");
  for (const auto& [path, fused] :
       {std::pair("layers.0.attention.k_proj", false), {"layers.0.attention.qkv", true}}) {
    const graph::GraphVersion of = fused ? session->fused_graph() : session->model_graph();
    emit window_->work().nodeAsked(of->find_path(path), fused);
    settle();
    ASSERT_TRUE(graph->fusedView()->waitForLayout());
  }
  EXPECT_EQ(graph->fusedView()->selectedNode(), qkv);
  EXPECT_EQ(graph->modelView()->lit().size(), 3U) << "three nodes of the model are one that runs";
  takePicture(*window_, "question-what-runs");
  EXPECT_LT(clock.elapsed(), kMinute);
}

TEST_F(TourTest, WhyDoTheTwoDisagree) {
  QElapsedTimer clock;
  clock.start();
  turnTo("measure");
  const ComparePage* page = compared("CPU", "CPU, as Q4_0");
  takePicture(*window_, "question-why-disagree");
  EXPECT_LT(clock.elapsed(), kMinute);
  const QString first = page->tile(3)->value();
  EXPECT_TRUE(!first.isEmpty() && first != "none")
      << first.toStdString() << " is the first node that differs";
  EXPECT_GT(page->nodes()->rowCount(), 0);
}

}  // namespace
}  // namespace orrery::ui::testing
