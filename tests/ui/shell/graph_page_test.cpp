// The page around the graph: what comes and goes over it leaves the graph where it is.
#include <QTest>

#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

class GraphPageTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    window_ = makeWindow();
    ASSERT_TRUE(opened(*window_, "chat"));
    ASSERT_TRUE(view()->waitForLayout());
    waitUntil([] { return false; }, 50);
  }
  GraphPage* page() const { return window_->graphPage(); }
  GraphView* view() const { return page()->view(); }
  /// Where a point of the drawing is on the window.
  QPoint place() const {
    return view()->viewport()->mapTo(window_.get(), view()->mapFromScene(QPointF(0, 0)));
  }
  static void settle() {
    waitUntil([] { return false; }, 30);
  }

  std::unique_ptr<MainWindow> window_;
};

TEST_F(GraphPageTest, NoticesAndProgressDoNotMoveTheGraph) {
  const QPoint before = place();
  const QSize size = view()->size();
  page()->banner()->showNotice("Saved skip-21.json beside the model");
  settle();
  ASSERT_TRUE(page()->banner()->isVisible());
  EXPECT_EQ(place(), before);
  page()->banner()->showWarning("2 layers run on the CPU", "The cache took 5.1 GB.", {"Show them"});
  page()->progress()->begin("Loading");
  settle();
  EXPECT_EQ(place(), before);
  EXPECT_EQ(view()->size(), size);
  EXPECT_LT(page()->progress()->geometry().bottom(), page()->banner()->y());
  EXPECT_GT(page()->banner()->y(), view()->mapTo(page(), QPoint(0, 0)).y()) << "over the graph";
  page()->banner()->dismiss();
  page()->progress()->hide();
  settle();
  EXPECT_EQ(place(), before);
}

TEST_F(GraphPageTest, WhatIsOnTheGraphCanBePressed) {
  page()->banner()->showWarning("2 layers run on the CPU", "The cache took 5.1 GB.", {"Show them"});
  settle();
  const QPoint middle = page()->banner()->mapTo(page(), page()->banner()->rect().center());
  EXPECT_TRUE(page()->childAt(middle) == page()->banner() ||
              page()->banner()->isAncestorOf(page()->childAt(middle)))
      << "it lies above the graph";
}

TEST_F(GraphPageTest, BothGraphsShowTheSameParts) {
  const GraphView::Parts before = view()->parts();
  QTest::keyClick(view(), Qt::Key_M);
  for (const GraphView* each : {page()->modelView(), page()->fusedView()})
    EXPECT_EQ(each->parts(), before & ~GraphView::Parts(GraphView::Part::minimap));
}

}  // namespace
}  // namespace orrery::ui::testing
