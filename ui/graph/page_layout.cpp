#include "ui/graph/page_layout.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ui/graph/scene_graph.h"

namespace orrery::ui {
namespace {

constexpr double kStem = 16;       // between what stands above or under a page and the page
constexpr double kLabelRise = 39;  // from a column's turn up to its head line
constexpr double kLabelRoom = 36;  // of the head line, at the scale that it is read at
constexpr double kLabelClear = 15;
constexpr double kLaneGap = 8;  // of lines beside the stream in a gutter
constexpr int kMostLanes = 5;   // beyond, lanes are shared

/// Items that stand above or under a page, laid out as any group is.
struct Block {
  std::vector<int> items;
  LayoutResult layout;
  std::vector<int> edges;  // of the problem, by edge of the layout
  double width = 0, height = 0;
};

/// A core with what stands around it.
struct Part {
  Block above, below;
  double left = 0, width = 0;
  double headsAt = 0, footAt = 0;  // y of the first row's top, of the last one's foot
  PageLayout page;
};

class Builder {
 public:
  Builder(const PageProblem& problem, const LayoutMetrics& metrics, std::stop_token stop)
      : problem_(problem), metrics_(metrics), stop_(std::move(stop)) {}

  PageResult run() {
    partItems();
    for (Part& part : parts_) layBlocks(part);
    if ((result_.layout.stopped = stop_.stop_requested())) return std::move(result_);
    result_.layout.boxes.resize(problem_.items.size());
    placeParts();
    for (size_t i = 0; i < parts_.size(); ++i) placePart(i);
    centre();
    drawBlocks();
    for (size_t i = 0; i < parts_.size(); ++i)
      if (problem_.cores[i].paged) drawStream(parts_[i]);
    drawOthers();
    finish();
    return std::move(result_);
  }

  PageMargins margins() {
    partItems();
    PageMargins margins;
    for (Part& part : parts_) {
      layBlocks(part);
      margins.above = std::max(margins.above, headRoom(part));
      margins.below = std::max(margins.below, footRoom(part));
    }
    return margins;
  }

 private:
  // ---- What belongs to which page

  /// What is computed from a page stands under it, anything else above the page that takes it.
  void partItems() {
    const size_t count = problem_.items.size();
    parts_.resize(problem_.cores.size());
    coreOf_.assign(count, -1);
    for (size_t core = 0; core < problem_.cores.size(); ++core)
      for (const auto& column : problem_.cores[core].columns)
        for (const int item : column)
          if (item >= 0) coreOf_[at(item)] = static_cast<int>(core);
    // Items come in an order in which few edges go back: two passes see nearly all.
    std::vector<int> after(count, -1), before(count, static_cast<int>(parts_.size()));
    for (int pass = 0; pass < 2; ++pass)
      for (const LayoutEdge& edge : problem_.edges) {
        if (edge.from < 0 || edge.to < 0) continue;
        const int from = coreOf_[at(edge.from)];
        after[at(edge.to)] = std::max({after[at(edge.to)], from, from < 0 ? after[at(edge.from)] : -1});
      }
    for (int pass = 0; pass < 2; ++pass)
      for (auto edge = problem_.edges.rbegin(); edge != problem_.edges.rend(); ++edge) {
        if (edge->from < 0 || edge->to < 0) continue;
        const int to = coreOf_[at(edge->to)];
        before[at(edge->from)] = std::min(before[at(edge->from)], to >= 0 ? to : before[at(edge->to)]);
      }
    placeOf_.assign(count, {0, false});
    for (size_t item = 0; item < count; ++item) {
      if (coreOf_[item] >= 0) continue;
      const bool below = after[item] >= 0;
      const int last = static_cast<int>(parts_.size()) - 1;
      const int part = below ? after[item] : before[item] <= last ? before[item] : 0;
      (below ? parts_[at(part)].below : parts_[at(part)].above).items.push_back(static_cast<int>(item));
      placeOf_[item] = {part, below};
    }
  }

  bool isIn(int item, const Block& block) const {
    if (item < 0 || coreOf_[at(item)] >= 0) return false;
    const auto [part, below] = placeOf_[at(item)];
    return &block == (below ? &parts_[at(part)].below : &parts_[at(part)].above);
  }

  void layBlock(Block& block) {
    if (block.items.empty()) return;
    std::vector<LayoutItem> items;
    std::vector<int> local(problem_.items.size(), -1);
    for (const int item : block.items) {
      local[at(item)] = static_cast<int>(items.size());
      items.push_back(problem_.items[at(item)]);
      items.back().alone = std::max(items.back().alone, problem_.cellWidth);
      items.back().left = items.back().right = 0;  // a page has no room for pills
    }
    std::vector<LayoutEdge> edges;
    for (size_t i = 0; i < problem_.edges.size(); ++i) {
      const LayoutEdge& edge = problem_.edges[i];
      if (!isIn(edge.from, block) || !isIn(edge.to, block)) continue;
      edges.push_back({local[at(edge.from)], local[at(edge.to)], edge.drawn});
      block.edges.push_back(static_cast<int>(i));
    }
    LayoutMetrics metrics = metrics_;
    metrics.top = 4;  // layoutLayers begins its first row so far down
    metrics.bottom = metrics.side = 0;
    block.layout = layoutLayers(items, edges, metrics, stop_);
    block.width = block.layout.halfWidth * 2;
    for (const Rect& box : block.layout.boxes) block.height = std::max(block.height, box.bottom());
    const double top = topOf(block);
    block.height -= top;
  }

  static double topOf(const Block& block) {
    double top = 1e9;
    for (const Rect& box : block.layout.boxes) top = std::min(top, box.y);
    return block.layout.boxes.empty() ? 0 : top;
  }

  void layBlocks(Part& part) {
    layBlock(part.above);
    layBlock(part.below);
  }

  // ---- Places

  double labelRise(const Part& part) const {
    const double plain = kTurnAbove + kLabelRise;
    return part.above.height > 0 ? std::max(plain, kStem + part.above.height + kLabelClear) : plain;
  }
  double headRoom(const Part& part) const { return labelRise(part) + kLabelRoom; }
  double footRoom(const Part& part) const {
    const double below = part.below.height > 0 ? kStem + part.below.height : 0;
    return std::max(kTurnBelow, below) + kStem;
  }

  double widthOf(const PageCore& core, const std::vector<int>& column) const {
    double width = core.paged ? problem_.cellWidth : 0;
    for (const int item : column)
      if (item >= 0) width = std::max(width, problem_.items[at(item)].width);
    return width;
  }

  /// From left to right; blocks that are wider than their column push the next page aside.
  void placeParts() {
    double x = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      if (i > 0) x += 2 * kPageGutter;
      part.left = x;
      for (const auto& column : problem_.cores[i].columns)
        part.width += widthOf(problem_.cores[i], column) + kPageGutter;
      part.width -= kPageGutter;
      const double last = widthOf(problem_.cores[i], problem_.cores[i].columns.back());
      x += std::max({part.width, part.above.width, part.width - last + part.below.width});
    }
    width_ = x;
  }

  void placePart(size_t index) {
    const PageCore& core = problem_.cores[index];
    Part& part = parts_[index];
    double room = 0;
    for (const Part& each : parts_) room = std::max(room, headRoom(each));
    part.headsAt = metrics_.top + room;
    placeCells(core, part);
    placeBlock(part.above, part.left, part.headsAt - kStem - part.above.height);
    const double x = part.page.columns.back().area.x, foot = part.page.cells.back().area.bottom();
    placeBlock(part.below, x, std::max(foot, footOf(core, part)) + kStem);
    height_ = std::max({height_, part.footAt + kTurnBelow, foot + footRoom(part)});
  }

  /// The foot of the last layer, whose cell may be followed by free ones.
  double footOf(const PageCore& core, const Part& part) const {
    for (auto cell = part.page.cells.rbegin(); cell != part.page.cells.rend(); ++cell)
      if (cell->item >= 0)
        return core.paged ? cell->area.bottom() : result_.layout.boxes[at(cell->item)].bottom();
    return part.headsAt;
  }

  void placeCells(const PageCore& core, Part& part) {
    PageLayout& page = part.page;
    page.stem = core.stem;
    page.stream = problem_.streamInset;
    for (const auto& column : core.columns) page.rows = std::max(page.rows, static_cast<int>(column.size()));
    std::vector<double> heights(at(page.rows), core.paged ? problem_.cellHeight : 0);
    for (const auto& column : core.columns)
      for (size_t row = 0; row < column.size(); ++row)
        if (column[row] >= 0) heights[row] = std::max(heights[row], problem_.items[at(column[row])].height);
    double x = part.left;
    for (size_t c = 0; c < core.columns.size(); ++c) {
      PageColumn column;
      const double width = widthOf(core, core.columns[c]);
      column.first = static_cast<int>(page.cells.size());
      column.count = static_cast<int>(core.columns[c].size());
      double y = part.headsAt;
      column.area = {x, y, width, 0};
      for (size_t row = 0; row < core.columns[c].size(); ++row) {
        const int item = core.columns[c][row];
        page.cells.push_back({item, static_cast<int>(c), static_cast<int>(row), {x, y, width, heights[row]}});
        if (item >= 0) result_.layout.boxes[at(item)] = {x, y, width, problem_.items[at(item)].height};
        column.area.h = y + heights[row] - part.headsAt;
        y += heights[row] + kCellGap;
      }
      // All labels stand in one line, unless what is above the first column would lift them far off.
      constexpr double kFar = 150;
      const double rise = labelRise(part);
      column.label = {x, part.headsAt - (c == 0 || rise < kFar ? rise : kTurnAbove + kLabelRise)};
      part.footAt = std::max(part.footAt, column.area.bottom());
      page.columns.push_back(column);
      x += width + kPageGutter;
    }
  }

  void placeBlock(const Block& block, double left, double top) {
    const double dx = left + block.layout.halfWidth, dy = top - topOf(block);
    for (size_t i = 0; i < block.items.size(); ++i)
      result_.layout.boxes[at(block.items[i])] = block.layout.boxes[i].moved(dx, dy);
  }

  /// The frame's middle is x = 0.
  void centre() {
    const double dx = -width_ / 2;
    for (Rect& box : result_.layout.boxes) box = box.moved(dx, 0);
    for (Part& part : parts_) {
      part.left += dx;
      for (PageColumn& column : part.page.columns) {
        column.area = column.area.moved(dx, 0);
        column.label.x += dx;
      }
      for (PageCell& cell : part.page.cells) cell.area = cell.area.moved(dx, 0);
    }
  }

  // ---- Lines

  const Rect& box(int item) const { return result_.layout.boxes[at(item)]; }

  void add(int edge, WireKind kind, std::vector<Point> points) {
    Wire wire;
    wire.edge = edge;
    wire.kind = kind;
    wire.points = std::move(points);
    result_.layout.wires.push_back(std::move(wire));
  }

  void drawBlocks() {
    for (const Part& part : parts_)
      for (const Block* block : {&part.above, &part.below}) {
        if (block->items.empty()) continue;
        const Rect &placed = box(block->items.front()), &own = block->layout.boxes.front();
        const double dx = placed.x - own.x, dy = placed.y - own.y;
        for (Wire wire : block->layout.wires) {
          wire.edge = block->edges[at(wire.edge)];
          for (Point& point : wire.points) point = {point.x + dx, point.y + dy};
          result_.layout.wires.push_back(std::move(wire));
        }
      }
  }

  /// Through which edge the stream flows between a cell and the next one: by the place of its ends among the
  /// cells, what feeds the page being before the first and what it feeds after the last.
  std::vector<int> flowOf(const Part& part) const {
    const std::vector<PageCell>& cells = part.page.cells;
    const int count = static_cast<int>(cells.size());
    std::map<int, int> cellOf;
    for (int i = 0; i < count; ++i)
      if (cells[at(i)].item >= 0) cellOf[cells[at(i)].item] = i;
    const auto placeOf = [&](int end, int outside) {
      const auto cell = cellOf.find(end);
      return cell == cellOf.end() ? outside : cell->second;
    };
    std::vector<int> flow(at(count) + 1, -1), reach(at(count) + 1, count + 2);
    for (size_t i = 0; i < problem_.edges.size(); ++i) {
      const LayoutEdge& edge = problem_.edges[i];
      if (!edge.stream) continue;
      const int from = placeOf(edge.from, -1), to = placeOf(edge.to, count);
      if (from >= to || (from < 0 && to == count)) continue;
      for (int gap = from + 1; gap <= to; ++gap)
        if (to - from < reach[at(gap)]) {
          reach[at(gap)] = to - from;
          flow[at(gap)] = static_cast<int>(i);
        }
    }
    return flow;
  }

  double streamX(const Part& part, const PageCell& cell) const { return cell.area.x + part.page.stream; }
  /// Where a layer's own drawing of the stream ends.
  double footOf(const PageCell& cell) const { return cell.item >= 0 ? box(cell.item).bottom() : cell.area.y; }

  void drawStream(const Part& part) {
    const std::vector<int> flow = flowOf(part);
    const std::vector<PageCell>& cells = part.page.cells;
    for (size_t i = 1; i < cells.size(); ++i) {
      if (flow[i] < 0) continue;
      const PageCell &above = cells[i - 1], &below = cells[i];
      const double x = streamX(part, above), next = streamX(part, below);
      if (above.column == below.column)
        add(flow[i], WireKind::stream, {{x, footOf(above)}, {x, below.area.y}});
      else
        add(flow[i], WireKind::stream, turn(part, above, below, x, next));
    }
    if (flow.front() >= 0) drawFirst(part, flow.front());
    if (flow.back() >= 0) drawLast(part, flow.back());
  }

  /// From the foot of a column through the gutter to the head of the next one.
  std::vector<Point> turn(const Part& part, const PageCell& above, const PageCell& below, double x,
                          double next) const {
    const Rect& column = part.page.columns[at(above.column)].area;
    const double foot = column.bottom() + kTurnBelow, middle = column.right() + kPageGutter / 2,
                 head = below.area.y - kTurnAbove;
    return {{x, footOf(above)}, {x, foot},    {middle, foot},
            {middle, head},     {next, head}, {next, below.area.y}};
  }

  /// The straight way where the box reaches over the stream, else from its middle.
  static bool reaches(const Rect& box, double x) { return x > box.x + 4 && x < box.right() - 4; }

  void drawFirst(const Part& part, int edge) {
    const PageCell& first = part.page.cells.front();
    const int from = problem_.edges[at(edge)].from;
    const double x = streamX(part, first), y = first.area.y;
    if (from < 0) {
      const double top = metrics_.top - 6, aside = part.left - kPageGutter / 2, turn = y - kTurnAbove;
      besidePages_ = true;
      return add(edge, WireKind::stream, {{0, 0}, {0, top}, {aside, top}, {aside, turn}, {x, turn}, {x, y}});
    }
    const Rect& source = box(from);
    if (reaches(source, x) && isClear(part.above, source, x))
      return add(edge, WireKind::stream, {{x, source.bottom()}, {x, y}});
    const double middle = source.x + source.w / 2, channel = y - kStem / 2;
    add(edge, WireKind::stream, {{middle, source.bottom()}, {middle, channel}, {x, channel}, {x, y}});
  }

  /// Nothing of the block stands between the box and the page.
  bool isClear(const Block& block, const Rect& source, double x) const {
    return std::none_of(block.items.begin(), block.items.end(),
                        [&](int item) { return box(item).y > source.y + 1 && reaches(box(item), x); });
  }

  void drawLast(const Part& part, int edge) {
    const PageCell* last = nullptr;
    for (const PageCell& cell : part.page.cells)
      if (cell.item >= 0) last = &cell;
    if (!last) return;
    const int to = problem_.edges[at(edge)].to;
    const double x = streamX(part, *last), y = footOf(*last);
    if (to < 0) {
      const double foot = height_ + metrics_.bottom / 2;
      return add(edge, WireKind::stream, {{x, y}, {x, foot}, {0, foot}, {0, height_ + metrics_.bottom}});
    }
    const Rect& target = box(to);
    if (reaches(target, x)) return add(edge, WireKind::stream, {{x, y}, {x, target.y}});
    const double middle = target.x + target.w / 2, channel = target.y - kStem / 2;
    add(edge, WireKind::stream, {{x, y}, {x, channel}, {middle, channel}, {middle, target.y}});
  }

  /// What is neither the stream nor within a block goes along the rows' gaps and down the gutters, each
  /// source in a lane of its own.
  void drawOthers() {
    for (size_t i = 0; i < problem_.edges.size(); ++i) {
      const LayoutEdge& edge = problem_.edges[i];
      if (edge.stream || !edge.drawn || inOneBlock(edge)) continue;
      add(static_cast<int>(i), WireKind::plain, way(edge));
    }
  }

  bool inOneBlock(const LayoutEdge& edge) const {
    if (edge.from < 0 || edge.to < 0 || coreOf_[at(edge.from)] >= 0 || coreOf_[at(edge.to)] >= 0)
      return false;
    return placeOf_[at(edge.from)] == placeOf_[at(edge.to)];
  }

  double laneOf(int source) {
    const auto [known, fresh] = lanes_.try_emplace(source, static_cast<int>(lanes_.size()) % kMostLanes);
    return kLaneGap * (known->second + 1);
  }

  double middleOf(int item) const { return box(item).x + box(item).w / 2 + problem_.items[at(item)].spine; }

  /// The gutter at the left of the column that holds the point.
  double gutterLeftOf(double x) const {
    double best = -1e9;
    for (const Part& part : parts_)
      for (const PageColumn& column : part.page.columns)
        if (column.area.x <= x) best = std::max(best, column.area.x);
    return (best > -1e8 ? best : parts_.front().left) - kPageGutter / 2;
  }

  std::vector<Point> way(const LayoutEdge& edge) {
    const double lane = laneOf(edge.from);
    const double sourceX = edge.from < 0 ? 0 : middleOf(edge.from),
                 targetX = edge.to < 0 ? 0 : middleOf(edge.to);
    const double sourceY = edge.from < 0 ? 0 : box(edge.from).bottom(),
                 targetY = edge.to < 0 ? height_ + metrics_.bottom : box(edge.to).y;
    const auto away = [&](int item) {  // what stands above or under a page is nearer to it
      const bool cell = item >= 0 && coreOf_[at(item)] >= 0;
      return cell ? 4 + lane / 2 : std::min(4 + lane / 2, kStem - 4);
    };
    const double out = sourceY + away(edge.from), in = targetY - away(edge.to);
    besidePages_ = true;
    const double gutter = gutterLeftOf(targetX) + lane;
    return {{sourceX, sourceY}, {sourceX, out}, {gutter, out},
            {gutter, in},       {targetX, in},  {targetX, targetY}};
  }

  void finish() {
    LayoutResult& layout = result_.layout;
    layout.alone.assign(problem_.items.size(), false);
    layout.leftFree = layout.rightFree = layout.alone;
    layout.rank.assign(problem_.items.size(), 0);
    layout.halfWidth = width_ / 2 + metrics_.side + (besidePages_ ? kPageGutter : 0);
    layout.height = height_ + metrics_.bottom;
    for (size_t i = 0; i < parts_.size(); ++i)
      if (problem_.cores[i].paged) result_.pages.push_back(std::move(parts_[i].page));
  }

  const PageProblem& problem_;
  const LayoutMetrics& metrics_;
  std::stop_token stop_;
  std::vector<Part> parts_;
  std::vector<int> coreOf_;
  std::vector<std::pair<int, bool>>
      placeOf_;               // by item beside the cores: its part, and whether it is under it
  std::map<int, int> lanes_;  // by source
  double width_ = 0, height_ = 0;
  bool besidePages_ = false;  // lines go down there
  PageResult result_;
};

}  // namespace

PageMargins marginsOf(const PageProblem& problem, const LayoutMetrics& metrics) {
  return Builder(problem, metrics, {}).margins();
}

PageResult layoutPages(const PageProblem& problem, const LayoutMetrics& metrics, std::stop_token stop) {
  return Builder(problem, metrics, std::move(stop)).run();
}

}  // namespace orrery::ui
