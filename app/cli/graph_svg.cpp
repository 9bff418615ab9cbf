// A picture of a graph: a node's layer is the longest way to it, places within a layer follow the nodes
// above. Enough to look at a model without the desktop program, whose own layout folds and routes.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "app/cli/graph_formats.h"

namespace orrery::cli {
namespace {

constexpr double kWidth = 216, kHeight = 40, kColumnGap = 24, kRowGap = 32, kMargin = 24;
constexpr size_t kLabel = 34;  // characters that fit a box
constexpr size_t kAloneInRow = 6;

std::string_view family_colour(graph::OpFamily family) {
  switch (family) {
    case graph::OpFamily::attention:
      return "#4F2D90";
    case graph::OpFamily::linear:
      return "#5560CC";
    case graph::OpFamily::norm:
      return "#04857A";
    case graph::OpFamily::activation:
      return "#77720A";
    case graph::OpFamily::elementwise:
      return "#4A403B";
    case graph::OpFamily::embedding:
      return "#33520F";
    case graph::OpFamily::sampling:
      return "#B93F5C";
    case graph::OpFamily::custom:
      return "#C47E4E";
    case graph::OpFamily::data_movement:
    case graph::OpFamily::source:
      break;
  }
  return "#8790B4";
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      result += c;
    }
  }
  return result;
}

/// Long names lose their middle: their ends tell layers and tensors apart. Cuts between characters.
std::string elided(const std::string& text) {
  if (text.size() <= kLabel) return text;
  const auto inside = [&](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U; };
  size_t head = kLabel / 2 - 1, tail = text.size() - kLabel / 2;
  while (head > 0 && inside(head)) --head;
  while (tail < text.size() && inside(tail)) ++tail;
  return text.substr(0, head) + "…" + text.substr(tail);
}

class Drawing {
 public:
  explicit Drawing(const graph::Graph& graph) : graph_(graph) {
    collect();
    place();
  }

  std::string write() const {
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
        "{0:.0f} {1:.0f}\" "
        "font-family=\"Inter, DejaVu Sans, sans-serif\">\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"#F7F8FA\"/>\n",
        width_, height_);
    text += "<g fill=\"none\" stroke=\"#9AA1B2\" stroke-width=\"1.2\">\n";
    for (const Box& box : boxes_)
      for (const size_t from : box.inputs)
        if (!is_distant_input(boxes_[from], box)) text += edge(boxes_[from], box);
    text += "</g>\n";
    for (const Box& box : boxes_) text += draw(box);
    return text + "</svg>\n";
  }

 private:
  struct Box {
    const graph::Node* node = nullptr;
    std::vector<size_t> inputs;
    size_t layer = 0;
    double x = 0, y = 0;  // top left
  };

  void collect() {
    const Drawn drawn(graph_);
    std::unordered_map<NodeId, size_t> index;
    size_t alone = 0;
    for (const NodeId id : graph_.order()) {
      const graph::Node& node = graph_.node(id);
      if (!drawn.contains(node)) continue;
      Box box{&node, {}, 0, 0, 0};
      if (drawn.alone(node)) box.layer = alone++ / kAloneInRow;
      for (const ValueId input : node.inputs) {
        const graph::Value* value = graph_.find_value(input);
        const auto from = value ? index.find(value->producer) : index.end();
        if (from == index.end()) continue;
        box.inputs.push_back(from->second);
        box.layer = std::max(box.layer, boxes_[from->second].layer + 1);
      }
      index.emplace(id, boxes_.size());
      boxes_.push_back(std::move(box));
    }
    // Step inputs stand right above their first user, not all in the first row.
    std::vector<size_t> first_use(boxes_.size(), SIZE_MAX);
    for (const Box& box : boxes_)
      for (const size_t from : box.inputs) first_use[from] = std::min(first_use[from], box.layer);
    for (size_t i = 0; i < boxes_.size(); ++i)
      if (boxes_[i].inputs.empty() && first_use[i] != SIZE_MAX) boxes_[i].layer = first_use[i] - 1;
  }

  double wanted_x(const Box& box) const {
    double sum = 0;
    for (const size_t from : box.inputs) sum += boxes_[from].x;
    return box.inputs.empty() ? 1e9 : sum / static_cast<double>(box.inputs.size());
  }

  void place() {
    std::map<size_t, std::vector<size_t>> layers;
    for (size_t i = 0; i < boxes_.size(); ++i) layers[boxes_[i].layer].push_back(i);
    size_t widest = 1;
    for (const auto& [layer, members] : layers) widest = std::max(widest, members.size());
    width_ = 2 * kMargin + static_cast<double>(widest) * (kWidth + kColumnGap) - kColumnGap;
    for (auto& [layer, members] : layers) {
      std::stable_sort(members.begin(), members.end(),
                       [&](size_t a, size_t b) { return wanted_x(boxes_[a]) < wanted_x(boxes_[b]); });
      const double row = static_cast<double>(members.size()) * (kWidth + kColumnGap) - kColumnGap;
      for (size_t i = 0; i < members.size(); ++i) {
        Box& box = boxes_[members[i]];
        box.x = (width_ - row) / 2 + static_cast<double>(i) * (kWidth + kColumnGap);
        box.y = kMargin + static_cast<double>(layer) * (kHeight + kRowGap);
        height_ = std::max(height_, box.y + kHeight + kMargin);
        layer_right_.resize(std::max(layer_right_.size(), layer + 1));
        layer_right_[layer] = std::max(layer_right_[layer], box.x + kWidth);
      }
    }
  }

  /// Positions and the like go to every layer: drawn to the nearest, named in the others.
  static bool is_distant_input(const Box& from, const Box& to) {
    return from.node->is_source() && to.layer > from.layer + 1;
  }

  double right_of_layers(size_t first, size_t last) const {
    double right = 0;
    for (size_t layer = first; layer <= last && layer < layer_right_.size(); ++layer)
      right = std::max(right, layer_right_[layer]);
    return right;
  }

  std::string edge(const Box& from, const Box& to) const {
    const double x1 = from.x + kWidth / 2, y1 = from.y + kHeight, x2 = to.x + kWidth / 2, y2 = to.y;
    if (to.layer == from.layer + 1)
      return fmt::format("<path d=\"M{:.1f} {:.1f} C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\"/>\n", x1, y1,
                         x1, y1 + kRowGap / 2, x2, y2 - kRowGap / 2, x2, y2);
    // Longer ways go round the boxes between, at the right.
    const double lane = right_of_layers(from.layer + 1, to.layer - 1) + kColumnGap / 2;
    return fmt::format(
        "<path stroke=\"#C3C8D4\" d=\"M{:.1f} {:.1f} C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f} "
        "V{:.1f} C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\"/>\n",
        x1, y1, x1, y1 + kRowGap / 2, lane, y1 + kRowGap / 4, lane, y1 + kRowGap, y2 - kRowGap, lane,
        y2 - kRowGap / 4, x2, y2 - kRowGap / 2, x2, y2);
  }

  std::string draw(const Box& box) const {
    const graph::Node& node = *box.node;
    std::string corner(device_of(node));
    if (const std::string_view precision = precision_of(node); !precision.empty())
      (corner += corner.empty() ? "" : ", ") += precision;
    for (const size_t from : box.inputs)
      if (is_distant_input(boxes_[from], box))
        corner += (corner.empty() ? "" : ", ") + boxes_[from].node->name;
    const std::string detail = elided(node.path());
    const std::string shape =
        node.outputs.empty() ? "" : to_string(graph_.value(node.outputs.front()).type.shape);
    return fmt::format(
        "<g transform=\"translate({:.1f} {:.1f})\"><title>{} {}</title>"
        "<rect width=\"{}\" height=\"{}\" rx=\"6\" fill=\"#FFFFFF\" stroke=\"#C9CEDA\"/>"
        "<rect width=\"4\" height=\"{}\" rx=\"2\" fill=\"{}\"/>"
        "<text x=\"12\" y=\"16\" font-size=\"12\" font-weight=\"600\" fill=\"#1D2433\">{}</text>"
        "<text x=\"12\" y=\"31\" font-size=\"10\" fill=\"#5B6478\">{}</text>"
        "<text x=\"{}\" y=\"16\" font-size=\"9\" text-anchor=\"end\" fill=\"#8790B4\">{}</text></g>\n",
        box.x, box.y, escaped(node.path()), escaped(shape), kWidth, kHeight, kHeight,
        family_colour(node.op->family), escaped(node.op->name), escaped(detail), kWidth - 8, escaped(corner));
  }

  const graph::Graph& graph_;
  std::vector<Box> boxes_;
  std::vector<double> layer_right_;  // where the last box of each layer ends
  double width_ = 0, height_ = 2 * kMargin;
};

}  // namespace

std::string graph_svg(const graph::Graph& graph) { return Drawing(graph).write(); }

}  // namespace orrery::cli
