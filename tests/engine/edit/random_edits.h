// Edits that a person at a graph might make, legal ones and others, of every verb that needs no file.
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "engine/edit/edit.h"

namespace orrery::edit {

class RandomEdits {
 public:
  /// A graph of more nodes is not repeated or duplicated any more.
  explicit RandomEdits(uint32_t seed, size_t most_nodes = 1500) : random_(seed), most_nodes_(most_nodes) {}

  size_t below(size_t limit) { return limit == 0 ? 0 : static_cast<size_t>(random_()) % limit; }

  Edit next(const graph::Graph& graph) {
    graph_ = &graph;
    switch (below(grows() ? 21 : 18)) {
      case 0:
      case 1:
        return {"bypass", {{"scope", scopes()}}};
      case 2:
        return {"delete", {{"scope", scopes()}, {"reconnect", below(4) == 0 ? "false" : "true"}}};
      case 3:
      case 4:
        return {"move", {{"scope", scopes()}, {below(2) == 0 ? "after" : "before", scope()}}};
      case 5:
      case 6:
        return inserted();
      case 7:
      case 8:
        return {"connect", {{"input", input()}, {"value", value()}}};
      case 9:
        return {"disconnect", {{"input", input()}}};
      case 10:
        return {"rename",
                {{"node", below(3) == 0 ? scope() : path()}, {"to", fmt::format("n{}", below(50))}}};
      case 11:
        return {"scale",
                {{"node", path()}, {"factor", fmt::format("{}", 0.25 * static_cast<double>(below(9)))}}};
      case 12:
        return {"probe", {{"as", name()}, {"value", value()}}};
      case 13:
        return set();
      case 14:
        return {"precision", {{"scope", scopes()}, {"dtype", below(2) == 0 ? "exact" : "default"}}};
      case 15:
        return {"frame", {{"nodes", scopes()}, {"title", below(3) == 0 ? "" : "a frame"}}};
      case 16:
        return {"note", {{"node", path()}, {"text", fmt::format("note {}\nof two lines", below(5))}}};
      case 17:
        return {"zero", {{"node", path()}, {below(2) == 0 ? "heads" : "rows", fmt::format("{}", below(4))}}};
      case 18:
      case 19:
        return {"repeat", {{"scope", scopes()}, {"times", fmt::format("{}", 2 + below(2))}}};
      default:
        return {"duplicate", {{"scope", scopes()}}};
    }
  }

 private:
  bool grows() const { return graph_->order().size() < most_nodes_; }

  const graph::Node& node() { return graph_->node(graph_->order()[below(graph_->order().size())]); }
  std::string path() { return below(30) == 0 ? "no.such.node" : node().path(); }
  std::string name() { return fmt::format("mine.n{}", below(1000)); }
  std::string value() { return graph_->value_path(node().outputs.front()); }
  std::string input() {
    for (int tries = 0; tries < 20; ++tries) {
      const graph::Node& reader = node();
      if (!reader.inputs.empty()) return fmt::format("{}.{}", reader.path(), below(reader.inputs.size() + 1));
    }
    return "none.0";
  }
  /// A layer, a part of one, or a node; sometimes none.
  std::string scope() {
    const std::string whole = path();
    const size_t parts = 1 + below(4);
    size_t end = 0;
    for (size_t part = 0; part < parts && end != std::string::npos; ++part)
      end = whole.find('.', end == 0 ? 0 : end + 1);
    return whole.substr(0, end);
  }
  /// One scope, a range of layers, or two of them.
  std::string scopes() {
    const size_t kind = below(10);
    if (kind == 0) return scope() + "," + scope();
    if (kind == 1) return "layers.*." + std::string(below(2) == 0 ? "mlp" : "attention");
    if (kind < 5) {
      const size_t first = below(4);
      return fmt::format("layers.{}-{}", first, first + below(3));
    }
    return scope();
  }
  Edit inserted() {
    constexpr std::string_view kUnary[] = {"silu", "relu", "tanh", "gelu", "l2_normalise", "softmax"};
    Edit edit{"insert", {{"as", name()}, {"after", value()}, {"rewire", below(3) == 0 ? "false" : "true"}}};
    std::string &op = edit.fields["op"], &inputs = edit.fields["inputs"],
                &attributes = edit.fields["attributes"];
    switch (below(6)) {
      case 0:
        op = "scale";
        attributes = R"({"factor": 0.5})";
        break;
      case 1:
        op = below(2) == 0 ? "add" : "mul";
        inputs = fmt::format(R"({{"b": "{}"}})", value());
        break;
      case 2:
        op = "concat";
        inputs = fmt::format(R"({{"parts": ["{}", "{}"]}})", value(), value());
        attributes = R"({"axis": 1})";
        break;
      case 3:
        op = "rms_norm";
        inputs = fmt::format(R"({{"weight": "{}"}})", value());
        attributes = R"({"eps": 1e-5})";
        break;
      default:
        op = kUnary[below(std::size(kUnary))];
    }
    if (inputs.empty()) edit.fields.erase("inputs");
    if (attributes.empty()) edit.fields.erase("attributes");
    return edit;
  }
  Edit set() {
    for (int tries = 0; tries < 20; ++tries) {
      const graph::Node& chosen = node();
      if (chosen.is_source() || chosen.attributes.empty()) continue;
      const auto attribute =
          std::next(chosen.attributes.begin(), static_cast<ptrdiff_t>(below(chosen.attributes.size())));
      const std::string value =
          attribute->second.index() == 0 ? (below(2) == 0 ? "true" : "false") : fmt::format("{}", below(20));
      return {"set", {{"node", chosen.path()}, {"attribute", attribute->first}, {"value", value}}};
    }
    return {"set", {{"node", "none"}, {"attribute", "a"}, {"value", "1"}}};
  }

  const graph::Graph* graph_ = nullptr;
  std::mt19937 random_;
  size_t most_nodes_;
};

}  // namespace orrery::edit
