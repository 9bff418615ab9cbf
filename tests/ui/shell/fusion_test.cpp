// Fusion seen: the passes switched and measured, both graphs side by side and linked, and fused nodes opened
// into what they compute; on the real engine and the default model.
#include <QApplication>
#include <QDockWidget>
#include <QMouseEvent>
#include <QTest>
#include <algorithm>
#include <cstdio>
#include <set>

#include "support/real_model_fixture.h"
#include "ui/frame/workspace.h"
#include "ui/graph/graph_editor.h"
#include "ui/graph/opened_nodes.h"
#include "ui/passes/passes_page.h"

namespace orrery::ui::testing {
namespace {

constexpr int kPatience = 120000;  // ms

class FusionTest : public RealModelTest {
 protected:
  void SetUp() override {
    RealModelTest::SetUp();
    open(ThemeChoice::dark);
  }
  void open(ThemeChoice theme, const QString& model = "smollm2") {
    window_ = makeWindow(realServices(), theme);
    ASSERT_TRUE(opened(*window_, model)) << graph()->banner()->body().toStdString();
    for (GraphView* view : {graph()->modelView(), graph()->fusedView()}) view->setReducedMotion(true);
    settle();
  }
  GraphPage* graph() const { return window_->graphPage(); }
  SessionPtr session() const { return window_->session()->session(); }
  NodeId inModel(const char* path) const { return session()->model_graph()->find_path(path); }
  NodeId inFused(const char* path) const { return session()->fused_graph()->find_path(path); }
  void settle() {
    EXPECT_TRUE(waitUntil([&] { return window_->session()->idle(); }, kPatience));
    for (GraphView* view : {graph()->modelView(), graph()->fusedView()}) EXPECT_TRUE(view->waitForLayout());
    QApplication::processEvents();
  }
  PassesPage* passes() {
    window_->showPage("passes");
    auto* page = window_->findChild<PassesPage*>();
    EXPECT_TRUE(waitUntil([&] { return page->rows().size() == 10; }, kPatience));
    return page;
  }
  static int computing(const graph::Graph& graph) {
    int count = 0;
    for (const NodeId id : graph.order()) count += graph.node(id).is_source() ? 0 : 1;
    return count;
  }
  bool fusedBecomes(int nodes) {
    const bool so = waitUntil([&] { return computing(*session()->fused_graph()) == nodes; }, kPatience);
    EXPECT_TRUE(so) << computing(*session()->fused_graph());
    settle();
    return so;
  }
  /// Where it is drawn, at 100 %.
  QPoint bring(GraphView* view, NodeId node) {
    view->select(node);
    settle();
    view->zoomTo(1);
    view->select(node);
    settle();
    return placeOf(view, node);
  }
  static QPoint placeOf(GraphView* view, NodeId node) {
    const auto ports = view->editor()->portsAt(node);
    EXPECT_FALSE(ports.empty());
    if (ports.empty()) return {};
    const Rect& box = ports.front().first.thing.box;
    const QPointF foot = ports.front().second;
    return {qRound(foot.x() - (ports.front().first.at.x - box.x) * view->zoom() + 40),
            qRound(foot.y() - box.h * view->zoom() + 12)};
  }
  void drag(GraphView* view, QPoint from, QPoint to) {
    QWidget* ground = view->viewport();
    QTest::mousePress(ground, Qt::LeftButton, {}, from);
    for (const QPoint at : {from + (to - from) / 2, to}) {
      QMouseEvent move(QEvent::MouseMove, QPointF(at), QPointF(ground->mapToGlobal(at)), Qt::NoButton,
                       Qt::LeftButton, {});
      QApplication::sendEvent(ground, &move);
    }
    QTest::mouseRelease(ground, Qt::LeftButton, {}, to);
    settle();
  }
  void click(GraphView* view, QPoint at, Qt::KeyboardModifiers keys = {}) {
    QTest::mouseClick(view->viewport(), Qt::LeftButton, keys, at);
    settle();
  }
  void doubleClick(GraphView* view, QPoint at) {
    QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, at);
    QTest::mouseDClick(view->viewport(), Qt::LeftButton, {}, at);
    settle();
  }
  static std::set<NodeId> litIn(const GraphView* view) { return {view->lit().begin(), view->lit().end()}; }
  std::set<NodeId> originsIn(NodeId fused) const {
    std::set<NodeId> origins;
    for (const graph::Origin& origin : session()->fused_graph()->node(fused).origins)
      origins.insert(origin.node);
    return origins;
  }
};

TEST_F(FusionTest, APassIsSwitchedOffAndTheStepStillRuns) {
  PassesPage* page = passes();
  const int before = computing(*session()->fused_graph());
  ASSERT_TRUE(page->row("fuse_qkv"));
  EXPECT_EQ(page->row("fuse_qkv")->row().report.rewrites, 30);
  EXPECT_TRUE(page->row("fuse_qkv")->toggle()->isChecked());
  page->row("fuse_qkv")->toggle()->click();
  page->row("fuse_gate_up")->toggle()->click();  // while the first is being prepared
  EXPECT_FALSE(page->row("fuse_qkv")->toggle()->isChecked()) << "at once";
  ASSERT_TRUE(fusedBecomes(before + 60 + 60)) << "the activation goes into its linear then";
  EXPECT_FALSE(inFused("layers.0.attention.qkv").valid());
  EXPECT_TRUE(waitUntil([&] { return page->row("fuse_qkv")->row().report.disabled; }));
  api::SamplingOptions greedy;
  greedy.temperature = 0;
  window_->chatPage()->sampling()->setSampling(greedy);
  window_->chatPage()->sampling()->setMaximumTokens(4);
  window_->chatPage()->send("Hello");
  ASSERT_TRUE(waitUntil([&] { return !window_->session()->running(); }, kPatience));
  EXPECT_FALSE(window_->chatPage()->transcript()->message(1).text().isEmpty());
  window_->applyEdit("bypass", "layers.3");
  ASSERT_TRUE(recipeIs(*window_, {"bypass scope=layers.3"}));
  EXPECT_EQ(session()->state()->disabled_passes, (std::set<std::string>{"fuse_qkv", "fuse_gate_up"}))
      << "kept through edits";
  window_->showPage("passes");
  settle();
  for (const char* pass : {"fuse_qkv", "fuse_gate_up"}) page->row(pass)->toggle()->click();
  ASSERT_TRUE(waitUntil([&] { return session()->state()->disabled_passes.empty(); }, kPatience));
  EXPECT_TRUE(inFused("layers.0.attention.qkv").valid());
  window_->action("model.fuse")->trigger();
  ASSERT_TRUE(waitUntil([&] { return !page->row("fuse_qkv")->toggle()->isEnabled(); }, kPatience));
  EXPECT_TRUE(waitUntil([&] { return !page->row("fuse_qkv")->toggle()->isChecked(); }, kPatience));
  EXPECT_TRUE(page->row("fold_constants")->toggle()->isEnabled());
  quit(*window_);
}

TEST_F(FusionTest, APassIsMeasuredInTheBackground) {
  open(ThemeChoice::dark, firstLayers(4));
  PassesPage* page = passes();
  EXPECT_FALSE(page->row("split_weights")->measure()->isEnabled()) << "it finds nothing";
  QTest::mouseClick(page->all(), Qt::LeftButton);
  ASSERT_TRUE(page->row("fuse_residual_norm")->row().measuring);
  EXPECT_TRUE(page->row("fuse_qkv")->row().waits);
  EXPECT_FALSE(page->row("split_weights")->row().waits);
  QTest::mouseClick(page->all(), Qt::LeftButton);  // stop
  EXPECT_FALSE(page->row("fuse_residual_norm")->row().measuring || page->row("fuse_qkv")->row().waits);
  QTest::mouseClick(page->row("fuse_gate_up")->measure(), Qt::LeftButton);
  ASSERT_TRUE(waitUntil([&] { return page->row("fuse_gate_up")->row().gain.has_value(); }, kPatience));
  const PassRowView* row = page->row("fuse_gate_up");
  ASSERT_EQ(row->gains().size(), 2U);
  for (const GainWords& words : row->gains()) {
    EXPECT_TRUE(words.text == "within noise" || words.text.endsWith('%')) << words.text.toStdString();
    EXPECT_TRUE(words.tip.contains("without: ")) << words.tip.toStdString();
    std::printf("fuse_gate_up: %s\n%s\n", qPrintable(words.text), qPrintable(words.tip));
  }
  EXPECT_FALSE(row->row().otherwise);
  page->row("fuse_qkv")->toggle()->click();
  ASSERT_TRUE(waitUntil([&] { return row->row().otherwise; }, kPatience)) << "of other conditions";
  quit(*window_);
}

TEST(PassWords, SayWhatAGainIs) {
  const GainWords faster = gainWords(api::StepGain{{96, 95, 97}, {100, 99, 101}}, "A token", 7);
  EXPECT_EQ(faster.text, QString::fromUtf8("\u22124.0 %"));
  EXPECT_EQ(faster.token, Token::ok);
  EXPECT_TRUE(faster.tip.contains("7 rounds"));
  const GainWords slower = gainWords(api::StepGain{{104, 103, 105}, {100, 99, 101}}, "A token", 7);
  EXPECT_EQ(slower.text, "+4.0 %");
  EXPECT_EQ(slower.token, Token::warn);
  EXPECT_EQ(gainWords(api::StepGain{{99, 97, 101}, {100, 98, 102}}, "A token", 7).text, "within noise");
  EXPECT_EQ(gainWords(std::nullopt, "A token", 0).token, Token::text3);
}

TEST_F(FusionTest, WhatIsChosenInOneGraphIsLitInTheOther) {
  graph()->showSideBySide(true);
  settle();
  GraphView *model = graph()->modelView(), *fused = graph()->fusedView();
  ASSERT_TRUE(model->isVisible() && fused->isVisible());
  const NodeId gate = inModel("layers.0.mlp.gate_proj"), up = inModel("layers.0.mlp.up_proj"),
               query = inModel("layers.0.attention.q_proj"), qkv = inFused("layers.0.attention.qkv");
  ASSERT_TRUE(gate.valid() && up.valid() && query.valid() && qkv.valid());
  const std::vector<NodeId> gateUp = session()->fused_graph()->in_scope("layers.0.mlp");
  const auto owner = std::ranges::find_if(gateUp, [&](NodeId id) { return originsIn(id).contains(gate); });
  ASSERT_NE(owner, gateUp.end());
  // Several of the model are one that runs.
  click(model, bring(model, gate));
  EXPECT_FALSE(graph()->fusedShown()) << "the one that was clicked is worked in";
  EXPECT_EQ(model->selectedNode(), gate);
  EXPECT_EQ(litIn(fused), std::set<NodeId>{*owner});
  click(model, bring(model, up));
  EXPECT_EQ(litIn(fused), std::set<NodeId>{*owner});
  // One that runs is several, and two are their union.
  click(fused, bring(fused, qkv));
  EXPECT_TRUE(graph()->fusedShown());
  EXPECT_TRUE(model->selection().empty()) << "one choice for both";
  EXPECT_EQ(litIn(model), originsIn(qkv));
  EXPECT_EQ(litIn(model).size(), 3U);
  EXPECT_TRUE(litIn(fused).empty());
  const QPoint down = bring(fused, inFused("layers.0.attention.o_proj"));
  click(fused, bring(fused, qkv));
  click(fused, down, Qt::ControlModifier);
  ASSERT_EQ(fused->selection().size(), 2U);
  EXPECT_EQ(litIn(model).size(), 4U);
  // A scope is all that is in it.
  model->setFocus();
  graph()->showTab(false);
  model->selectScope("layers.5.attention");
  settle();
  EXPECT_GT(litIn(fused).size(), 3U);
  EXPECT_TRUE(litIn(fused).contains(inFused("layers.5.attention.qkv")));
  // Where it is folded away, the group is lit, and Enter brings it into view.
  fused->collapseAll();
  settle();
  click(model, bring(model, query));
  EXPECT_EQ(litIn(fused), std::set<NodeId>{qkv});
  QTest::keyClick(model, Qt::Key_Return);
  settle();
  // Nothing chosen lights nothing, and one graph alone neither.
  QTest::keyClick(model, Qt::Key_Escape);  // Enter also began at a port
  QTest::keyClick(model, Qt::Key_Escape);
  EXPECT_TRUE(litIn(fused).empty());
  click(model, bring(model, query));
  graph()->showSideBySide(false);
  settle();
  EXPECT_FALSE(fused->isVisible());
  EXPECT_TRUE(litIn(fused).empty());
  quit(*window_);
}

TEST_F(FusionTest, WhatIsLitIsNotTakenAlong) {
  graph()->showSideBySide(true);
  settle();
  GraphView *model = graph()->modelView(), *fused = graph()->fusedView();
  const NodeId query = inModel("layers.0.attention.q_proj"), key = inModel("layers.0.attention.k_proj");
  bring(model, query);
  click(fused, bring(fused, inFused("layers.0.attention.qkv")));
  ASSERT_TRUE(litIn(model).contains(query) && litIn(model).contains(key));
  const QPoint before = placeOf(model, query), beside = placeOf(model, key);
  drag(model, before, before + QPoint(0, 70));
  EXPECT_EQ((placeOf(model, query) - before).x(), (placeOf(model, key) - beside).x());
  EXPECT_GT((placeOf(model, query) - before).y(), (placeOf(model, key) - beside).y() + 40)
      << "only what the hand is on moves";
  quit(*window_);
}

TEST_F(FusionTest, BothGraphsHaveHeatAndAreSearched) {
  graph()->showSideBySide(true);
  settle();
  GraphView *model = graph()->modelView(), *fused = graph()->fusedView();
  window_->toolBar()->find()->setText("q_proj");
  settle();
  EXPECT_EQ(model->matchCount() > 0, true);
  window_->toolBar()->find()->setText("norm");
  settle();
  EXPECT_GT(model->matchCount(), 0);
  EXPECT_GT(fused->matchCount(), 0);
  window_->toolBar()->find()->clear();
  graph()->setHeatMode(HeatMode::bytes);
  EXPECT_EQ(model->heatMode(), HeatMode::bytes);
  EXPECT_EQ(fused->heatMode(), HeatMode::bytes);
  quit(*window_);
}

TEST_F(FusionTest, APassShowsWhatItMade) {
  graph()->showSideBySide(true);
  PassesPage* page = passes();
  settle();
  PassRowView* row = page->row("fuse_qkv");
  QTest::mouseClick(row, Qt::LeftButton, {}, QPoint(row->width() / 2, row->height() / 2));
  EXPECT_TRUE(row->isChosen());
  EXPECT_EQ(litIn(graph()->fusedView()).size(), 30U);
  EXPECT_EQ(litIn(graph()->modelView()).size(), 90U);
  EXPECT_TRUE(litIn(graph()->modelView()).contains(inModel("layers.7.attention.k_proj")));
  QTest::mouseClick(row, Qt::LeftButton, {}, QPoint(row->width() / 2, row->height() / 2));
  EXPECT_FALSE(row->isChosen());
  EXPECT_TRUE(litIn(graph()->fusedView()).empty());
  QTest::mouseClick(row, Qt::LeftButton, {}, QPoint(row->width() / 2, row->height() / 2));
  click(graph()->modelView(), bring(graph()->modelView(), inModel("layers.0.mlp.up_proj")));
  EXPECT_FALSE(row->isChosen()) << "something else is";
  EXPECT_EQ(litIn(graph()->fusedView()).size(), 1U);
  quit(*window_);
}

TEST_F(FusionTest, AFusedNodeOpensIntoWhatItComputes) {
  graph()->showTab(true);
  settle();
  GraphView* view = graph()->fusedView();
  const NodeId qkv = inFused("layers.0.attention.qkv");
  doubleClick(view, bring(view, qkv));
  const NodeId query = inModel("layers.0.attention.q_proj");
  EXPECT_EQ(view->selectedScope(), "layers.0.attention.qkv") << "a frame in its place";
  EXPECT_TRUE(view->isExpanded("layers.0.attention.qkv"));
  bool ofFused = true;
  QObject::connect(&window_->work(), &Workspace::nodeChosen, &window_->work(),
                   [&](NodeId, bool fused) { ofFused = fused; });
  click(view, bring(view, query));
  EXPECT_EQ(view->selectedNode(), query);
  EXPECT_FALSE(ofFused) << "it is a node of the model graph";
  EXPECT_EQ(graph()->chosenScopes(), "layers.0.attention.q_proj");
  view->selectScope("layers.0.attention.qkv");
  EXPECT_EQ(graph()->chosenScopes().count("_proj"), 3) << graph()->chosenScopes().toStdString();
  view->clearSelection();
  emit window_->work().nodeAsked(qkv, true);
  EXPECT_EQ(view->selectedScope(), "layers.0.attention.qkv") << "the frame is chosen for the node";
  view->collapseAll();
  settle();
  view->expandScope("layers.0");
  settle();
  bring(view, query);  // is still there
  EXPECT_EQ(view->selectedNode(), query);
  // An edit elsewhere leaves it open; folding brings the node back.
  window_->applyEdit("bypass", "layers.20");
  ASSERT_TRUE(recipeIs(*window_, {"bypass scope=layers.20"}));
  settle();
  bring(view, query);
  view->selectScope("layers.0.attention.qkv");
  settle();
  QTest::keyClick(view, Qt::Key_Return);
  settle();
  EXPECT_EQ(view->selectedNode(), inFused("layers.0.attention.qkv"));
  view->select(query);
  EXPECT_TRUE(view->editor()->portsAt(query).empty()) << "folded";
  quit(*window_);
}

/// Whoever opens all of the fused graph sees the model graph again: every wire leads where it led.
TEST_F(FusionTest, AllThatIsOpenedIsTheModelGraph) {
  const graph::GraphVersion model = session()->model_graph(), fused = session()->fused_graph();
  std::set<std::string> paths;
  for (const NodeId id : fused->order())
    if (canOpen(*model, fused->node(id))) paths.insert(fused->node(id).path());
  EXPECT_EQ(paths.size(), 59U + 30 + 30);
  const OpenedNodes opened = openedNodes(fused, *model, paths);
  EXPECT_EQ(computing(*opened.graph), computing(*model));
  EXPECT_EQ(opened.scopes.size(), paths.size());
  ASSERT_EQ(opened.graph->outputs().size(), model->outputs().size());
  EXPECT_EQ(opened.graph->feed_hashes(opened.graph->outputs()), model->feed_hashes(model->outputs()));
  double shares = 0;
  for (const graph::Origin& origin : fused->node(inFused("layers.4.attention.qkv")).origins)
    shares += opened.shares.at(origin.node);
  EXPECT_NEAR(shares, 1, 1e-9);
  const OpenedNodes none = openedNodes(fused, *model, {"layers.0.attention.sdpa", "no.such.node"});
  EXPECT_EQ(none.graph, fused) << "what stands for itself stays";
  for (const std::string& path : paths) {  // each alone is wired as well
    const OpenedNodes one = openedNodes(fused, *model, {path});
    for (const NodeId id : one.graph->order())
      if (const graph::Node* was = fused->find(id)) {
        ASSERT_EQ(std::ranges::count(one.graph->node(id).inputs, ValueId()),
                  std::ranges::count(was->inputs, ValueId()))
            << path << " leaves an input of " << was->path() << " open";
      }
  }
  quit(*window_);
}

TEST_F(FusionTest, SideBySideIsRemembered) {
  graph()->showSideBySide(true);
  settle();
  auto* splitter = qobject_cast<QSplitter*>(graph()->modelView()->parentWidget());
  ASSERT_TRUE(splitter);
  const int half = splitter->sizes()[0];
  EXPECT_NEAR(half, splitter->sizes()[1], 4);
  const QPoint handle = splitter->handle(1)->rect().center();
  QTest::mousePress(splitter->handle(1), Qt::LeftButton, {}, handle);
  QTest::mouseMove(splitter->handle(1), handle - QPoint(100, 0));
  QTest::mouseRelease(splitter->handle(1), Qt::LeftButton, {}, handle - QPoint(100, 0));
  const QList<int> sizes = splitter->sizes();
  EXPECT_LT(sizes[0], half - 50);
  quit(*window_);
  window_.reset();
  open(ThemeChoice::light);
  EXPECT_TRUE(graph()->sideBySide());
  splitter = qobject_cast<QSplitter*>(graph()->modelView()->parentWidget());
  EXPECT_NEAR(splitter->sizes()[0], sizes[0], 4);
  quit(*window_);
}

TEST_F(FusionTest, Pictures) {
  for (const ThemeChoice theme : {ThemeChoice::dark, ThemeChoice::light}) {
    const QString name = theme == ThemeChoice::dark ? "dark" : "light";
    open(theme, firstLayers(4));
    graph()->showSideBySide(true);
    PassesPage* page = passes();
    QTest::mouseClick(page->row("fuse_residual_norm")->measure(), Qt::LeftButton);
    ASSERT_TRUE(
        waitUntil([&] { return page->row("fuse_residual_norm")->row().gain.has_value(); }, kPatience));
    page->row("fuse_gate_up")->toggle()->click();
    ASSERT_TRUE(waitUntil([&] { return page->row("fuse_gate_up")->row().report.disabled; }, kPatience));
    QTest::mouseClick(page->row("fuse_gate_up")->measure(), Qt::LeftButton);
    ASSERT_TRUE(waitUntil([&] { return page->row("fuse_gate_up")->row().gain.has_value(); }, kPatience));
    window_->chatPage()->sampling()->setMaximumTokens(8);
    window_->chatPage()->send("Hello");
    ASSERT_TRUE(waitUntil([&] { return !window_->session()->running(); }, kPatience));
    ASSERT_TRUE(waitUntil([&] { return window_->session()->profile(api::Phase::decode) != nullptr; }));
    settle();
    for (GraphView* view : {graph()->modelView(), graph()->fusedView()}) {
      view->expandScope("layers.0");
      settle();
    }
    const QPoint at = bring(graph()->fusedView(), inFused("layers.0.attention.qkv"));
    bring(graph()->modelView(), inModel("layers.0.attention.q_proj"));
    click(graph()->fusedView(), at);
    takePicture(*window_, "fusion-linked-" + name);
    PassRowView* row = page->row("fuse_qkv");
    QTest::mouseClick(row, Qt::LeftButton, {}, QPoint(row->width() / 2, row->height() / 2));
    takePicture(*window_, "fusion-pass-" + name);
    QDockWidget* dock = nullptr;
    for (QWidget* around = page; around && !dock; around = around->parentWidget())
      dock = qobject_cast<QDockWidget*>(around);
    ASSERT_TRUE(dock);
    dock->setFloating(true);
    dock->resize(980, 340);
    settle();
    takePicture(*page, "fusion-passes-" + name);
    dock->setFloating(false);
    graph()->showSideBySide(false);
    graph()->showTab(true);
    doubleClick(graph()->fusedView(), bring(graph()->fusedView(), inFused("layers.0.attention.qkv")));
    settle();
    takePicture(*window_, "fusion-opened-" + name);
    graph()->fusedView()->openPage("layers.0");
    settle();
    takePicture(*window_, "fusion-page-" + name);
    quit(*window_);
    window_.reset();
  }
}

}  // namespace
}  // namespace orrery::ui::testing
