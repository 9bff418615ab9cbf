// The layout of one flat set of boxes: what must hold for every input, and how long it may take.
#include "ui/graph/layout.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <random>

namespace orrery::ui {
namespace {

struct Problem {
  std::vector<LayoutItem> items;
  std::vector<LayoutEdge> edges;
};

/// Forks, joins and long edges, from a fixed seed.
Problem randomProblem(int count, unsigned seed) {
  std::mt19937 random(seed);
  Problem problem;
  for (int i = 0; i < count; ++i) {
    LayoutItem item;
    item.width = 160 + static_cast<double>(random() % 100);
    item.alone = 222;
    item.left = random() % 3 == 0 ? 140 : 0;
    item.right = random() % 5 == 0 ? 120 : 0;
    item.block = random() % 11 == 0;
    if (random() % 13 == 0) {
      item.open = item.block = true;
      item.height = 200;
      item.width = 500;
    }
    problem.items.push_back(item);
    if (i == 0 || random() % 17 == 0) problem.edges.push_back({kLayoutEntry, i, true});
    for (unsigned k = 0; i > 0 && k < 1 + random() % 3; ++k) {
      const int reach = random() % 10 == 0 ? i : std::min(i, 5);
      problem.edges.push_back({i - 1 - static_cast<int>(random() % static_cast<unsigned>(reach)), i, true});
    }
  }
  problem.edges.push_back({count - 1, kLayoutExit, true});
  return problem;
}

class RandomLayout : public testing::TestWithParam<unsigned> {};

TEST_P(RandomLayout, BoxesDoNotOverlapAndStayInTheFrame) {
  const Problem problem = randomProblem(120, GetParam());
  const LayoutResult result = layoutLayers(problem.items, problem.edges, {});
  ASSERT_EQ(result.boxes.size(), problem.items.size());
  for (size_t a = 0; a < result.boxes.size(); ++a) {
    EXPECT_GE(result.boxes[a].x, -result.halfWidth);
    EXPECT_LE(result.boxes[a].right(), result.halfWidth);
    EXPECT_GE(result.boxes[a].y, 22.0) << "under the header";
    EXPECT_LE(result.boxes[a].bottom(), result.height);
    for (size_t b = a + 1; b < result.boxes.size(); ++b)
      EXPECT_FALSE(result.boxes[a].grown(-0.01).intersects(result.boxes[b])) << a << " and " << b;
  }
}

TEST_P(RandomLayout, EdgesGoDown) {
  const Problem problem = randomProblem(120, GetParam());
  const LayoutResult result = layoutLayers(problem.items, problem.edges, {});
  for (const LayoutEdge& edge : problem.edges) {
    if (edge.from < 0 || edge.to < 0) continue;
    const auto from = static_cast<size_t>(edge.from), to = static_cast<size_t>(edge.to);
    EXPECT_LT(result.rank[from], result.rank[to]);
    EXPECT_LT(result.boxes[from].bottom(), result.boxes[to].y);
  }
}

TEST_P(RandomLayout, WiresAreOrthogonalAndEndAtTheirBoxes) {
  const Problem problem = randomProblem(120, GetParam());
  const LayoutResult result = layoutLayers(problem.items, problem.edges, {});
  ASSERT_EQ(result.wires.size(), problem.edges.size());
  for (const Wire& wire : result.wires) {
    ASSERT_GE(wire.points.size(), 2U);
    for (size_t i = 1; i < wire.points.size(); ++i) {
      const double dx = std::abs(wire.points[i].x - wire.points[i - 1].x),
                   dy = std::abs(wire.points[i].y - wire.points[i - 1].y);
      EXPECT_TRUE(dx < 0.51 || dy < 0.51) << "a slanted piece of edge " << wire.edge;
    }
    const LayoutEdge& edge = problem.edges[static_cast<size_t>(wire.edge)];
    if (edge.to < 0) continue;
    const Rect& target = result.boxes[static_cast<size_t>(edge.to)];
    const Point end = wire.points.back();
    if (wire.atSide) {
      EXPECT_NEAR(end.x, target.right(), 0.01);
      EXPECT_TRUE(end.y > target.y && end.y < target.bottom());
    } else {
      EXPECT_NEAR(end.y, target.y, 0.01);
      const double inset = problem.items[static_cast<size_t>(edge.to)].open ? target.w / 2 - 0.6 : 10;
      EXPECT_TRUE(end.x > target.x + inset && end.x < target.right() - inset)
          << end.x << " of " << target.x << " to " << target.right();
    }
  }
}

TEST_P(RandomLayout, EveryWireHasAnArrowheadOfItsOwn) {
  const Problem problem = randomProblem(60, GetParam());
  const LayoutResult result = layoutLayers(problem.items, problem.edges, {});
  const auto target = [&](const Wire& wire) { return problem.edges[static_cast<size_t>(wire.edge)].to; };
  const auto source = [&](const Wire& wire) { return problem.edges[static_cast<size_t>(wire.edge)].from; };
  int together = 0;
  for (size_t a = 0; a < result.wires.size(); ++a)
    for (size_t b = a + 1; b < result.wires.size(); ++b) {
      const int to = target(result.wires[a]);
      if (to < 0 || to != target(result.wires[b]) || problem.items[static_cast<size_t>(to)].open) continue;
      if (source(result.wires[a]) == source(result.wires[b])) continue;
      if (result.wires[a].atSide && result.wires[b].atSide) continue;  // from one lane
      const Point x = result.wires[a].points.back(), y = result.wires[b].points.back();
      EXPECT_GT(std::hypot(x.x - y.x, x.y - y.y), 9) << "into " << to;
      ++together;
    }
  EXPECT_GT(together, 10);
}

TEST_P(RandomLayout, AWireIsStraightWhereItsTargetIsBelowItsSource) {
  const Problem problem = randomProblem(60, GetParam());
  const LayoutResult result = layoutLayers(problem.items, problem.edges, {});
  int straight = 0;
  for (const Wire& wire : result.wires) {
    const LayoutEdge& edge = problem.edges[static_cast<size_t>(wire.edge)];
    if (edge.from < 0 || edge.to < 0 || problem.items[static_cast<size_t>(edge.to)].open) continue;
    const auto from = static_cast<size_t>(edge.from), to = static_cast<size_t>(edge.to);
    if (result.rank[to] != result.rank[from] + 1) continue;
    const double x = result.boxes[from].x + result.boxes[from].w / 2;
    if (x < result.boxes[to].x + 26 || x > result.boxes[to].right() - 26) continue;
    const bool taken = std::any_of(result.wires.begin(), result.wires.end(), [&](const Wire& other) {
      return &other != &wire && std::abs(other.points.back().x - x) < 12.01 &&
             problem.edges[static_cast<size_t>(other.edge)].to == edge.to;
    });
    if (taken) continue;
    EXPECT_EQ(wire.points.size(), 2U) << from << " to " << to;
    ++straight;
  }
  EXPECT_GT(straight, 5);
}

TEST_P(RandomLayout, WiresDoNotRunThroughBoxes) {
  const Problem problem = randomProblem(60, GetParam());
  const LayoutResult result = layoutLayers(problem.items, problem.edges, {});
  for (const Wire& wire : result.wires)
    for (size_t i = 1; i < wire.points.size(); ++i) {
      const Point a = wire.points[i - 1], b = wire.points[i];
      const Rect piece{std::min(a.x, b.x), std::min(a.y, b.y), std::abs(a.x - b.x) + 0.01,
                       std::abs(a.y - b.y) + 0.01};
      for (const Rect& box : result.boxes)
        EXPECT_FALSE(box.grown(-1).intersects(piece)) << "edge " << wire.edge << ", piece " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLayout, testing::Range(1U, 9U));

TEST(Layout, SameInputSamePlaces) {
  const Problem problem = randomProblem(200, 3);
  const LayoutResult a = layoutLayers(problem.items, problem.edges, {}),
                     b = layoutLayers(problem.items, problem.edges, {});
  for (size_t i = 0; i < a.boxes.size(); ++i) {
    EXPECT_EQ(a.boxes[i].x, b.boxes[i].x);
    EXPECT_EQ(a.boxes[i].y, b.boxes[i].y);
  }
}

TEST(Layout, AChainIsOnTheSpine) {
  std::vector<LayoutItem> items(5);
  std::vector<LayoutEdge> edges{{kLayoutEntry, 0, true}};
  for (int i = 1; i < 5; ++i) edges.push_back({i - 1, i, true});
  const LayoutResult result = layoutLayers(items, edges, {});
  for (const Rect& box : result.boxes) EXPECT_NEAR(box.x + box.w / 2, 0, 1e-9);
  for (const Wire& wire : result.wires) EXPECT_EQ(wire.points.size(), 2U) << "straight";
}

/// What projections, rotary embeddings, a cache and attention are.
TEST(Layout, ColumnsOfSingleWiresStandBelowEachOther) {
  enum { norm, q, k, v, qRope, kRope, append, attend, items };
  const std::vector<LayoutEdge> edges{{kLayoutEntry, norm, true},
                                      {norm, q, true},
                                      {norm, k, true},
                                      {norm, v, true},
                                      {q, qRope, true},
                                      {k, kRope, true},
                                      {kRope, append, true},
                                      {v, append, true},
                                      {qRope, attend, true},
                                      {append, attend, true},
                                      {attend, kLayoutExit, true}};
  std::vector<LayoutItem> boxes(items);
  for (LayoutItem& box : boxes) box.alone = 222;
  const LayoutResult result = layoutLayers(boxes, edges, {});
  const auto middle = [&](int item) {
    return result.boxes[static_cast<size_t>(item)].x + result.boxes[static_cast<size_t>(item)].w / 2;
  };
  for (const int item : {k, kRope, append, attend}) EXPECT_NEAR(middle(item), 0, 0.5) << item;
  EXPECT_NEAR(middle(qRope), middle(q), 0.5);
  EXPECT_NEAR(middle(v), -middle(q), 0.5) << "a fork is even";
  size_t corners = 0;
  for (const Wire& wire : result.wires) corners += wire.points.size() - 2;
  EXPECT_EQ(corners, 2U * 4) << "two out of the fork, q into the attention, v into the cache";
}

TEST(Layout, AResidualTakesALaneAndLeavesTheSpineAlone) {
  std::vector<LayoutItem> items(4);
  const std::vector<LayoutEdge> edges{
      {kLayoutEntry, 0, true}, {0, 1, true}, {1, 2, true}, {2, 3, true}, {0, 3, true}};
  const LayoutResult result = layoutLayers(items, edges, {});
  for (const Rect& box : result.boxes) EXPECT_NEAR(box.x + box.w / 2, 0, 1e-9);
  const Wire& residual = result.wires.back();
  EXPECT_TRUE(residual.lane);
  EXPECT_TRUE(residual.atSide);
  EXPECT_GT(residual.points[1].x, result.boxes[1].right());
}

TEST(Layout, ACycleIsDrawnAndEnds) {
  std::vector<LayoutItem> items(3);
  const std::vector<LayoutEdge> edges{{0, 1, true}, {1, 2, true}, {2, 0, true}, {1, 1, true}};
  const LayoutResult result = layoutLayers(items, edges, {});
  EXPECT_EQ(result.boxes.size(), 3U);
  EXPECT_LT(result.rank[0], result.rank[2]);
}

TEST(Layout, NothingAtAll) {
  const LayoutResult result = layoutLayers({}, {}, {});
  EXPECT_TRUE(result.boxes.empty());
  EXPECT_TRUE(result.wires.empty());
}

TEST(Layout, StopsWhenAsked) {
  std::stop_source stop;
  stop.request_stop();
  const Problem problem = randomProblem(50, 1);
  EXPECT_TRUE(layoutLayers(problem.items, problem.edges, {}, stop.get_token()).stopped);
}

TEST(LayoutSpeed, TenThousandBoxesUnderASecond) {
  const Problem problem = randomProblem(10000, 5);
  const auto start = std::chrono::steady_clock::now();
  const LayoutResult result = layoutLayers(problem.items, problem.edges, {});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("milliseconds", static_cast<int>(seconds * 1e3));
  EXPECT_EQ(result.boxes.size(), 10000U);
  EXPECT_LT(seconds, 1.0);
}

}  // namespace
}  // namespace orrery::ui
