// Edits that a person at a graph might make, legal ones and others, of every verb.
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "engine/edit/steer.h"

namespace orrery::edit {

/// What edits bring numbers from. Verbs whose file is not given are left out.
struct FilesOfEdits {
  std::string tensors;  // a file of one tensor
  std::string adapter;  // a folder
};

class RandomEdits {
 public:
  /// A graph of more nodes is not repeated or duplicated any more.
  explicit RandomEdits(uint32_t seed, size_t most_nodes = 1500, FilesOfEdits files = {})
      : random_(seed), most_nodes_(most_nodes), files_(std::move(files)) {}

  size_t below(size_t limit) { return limit == 0 ? 0 : static_cast<size_t>(random_()) % limit; }

  Edit next(const graph::Graph& graph) {
    graph_ = &graph;
    switch (below(grows() ? 31 : 28)) {
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
        return connect();
      case 9:
        return {"disconnect", {{"input", input()}}};
      case 10:
        return {"rename", {{"node", below(3) == 0 ? scope() : path()}, {"to", new_name()}}};
      case 11:
        return {"scale", {{"node", path()}, {"factor", number()}}};
      case 12:
        return {"probe", {{"as", name()}, {"value", value()}}};
      case 13:
        return set();
      case 14:
        return {"precision", {{"scope", scopes()}, {"dtype", below(2) == 0 ? "exact" : "default"}}};
      case 15:
        return {"frame", {{"nodes", scopes()}, {"title", text()}}};
      case 16:
        return {"note", {{"node", path()}, {"text", text()}}};
      case 17:
        return {"zero", {{"node", path()}, {below(2) == 0 ? "heads" : "rows", fmt::format("{}", below(4))}}};
      case 18:
        return attention();
      case 19:
        return {"quantise", {{"scope", scopes()}, {"type", one_of({"q8_0", "q4_0", "f16", "file"})}}};
      case 20:
        return {"place", {{"scope", scopes()}, {"device", one_of({"cpu", "cuda:0", "home"})}}};
      case 21:
        return steer();
      case 22:
        return {"constant", {{"as", name()}, {"value", number()}, {"shape", shape()}}};
      case 23:
        return {"input", {{"as", name()}, {"dtype", one_of({"f32", "f16", "i32"})}, {"shape", shape()}}};
      case 24:
        return {"output", {{"value", value()}, {"remove", below(3) == 0 ? "true" : "false"}}};
      case 25:
        if (files_.tensors.empty()) return next(graph);
        return {"weight", {{"as", name()}, {"file", files_.tensors}}};
      case 26:
        if (files_.adapter.empty() || !grows()) return next(graph);
        return adapter();
      case 27:
        return {"custom", {{"op", one_of({"own_twice", "silu"})}, {"as", name()}, {"after", value()}}};
      case 28:
      case 29:
        return {"repeat", {{"scope", scopes()}, {"times", fmt::format("{}", 2 + below(2))}}};
      default:
        return below(3) == 0 ? Edit{"duplicate", {{"scope", scopes()}, {"as", one_of({"_b", "@7", "x.y"})}}}
                             : Edit{"duplicate", {{"scope", scopes()}}};
    }
  }

  /// A layer of the graph, a part of one, or a node; sometimes none.
  std::string scope_of(const graph::Graph& graph) {
    graph_ = &graph;
    return scope();
  }

 private:
  bool grows() const { return graph_->order().size() < most_nodes_; }

  const graph::Node& node() { return graph_->node(graph_->order()[below(graph_->order().size())]); }
  std::string path() { return below(30) == 0 ? "no.such.node" : node().path(); }
  std::string name() {
    return below(3) == 0 ? fmt::format("{}.n{}", scope(), below(9)) : fmt::format("mine.n{}", below(1000));
  }
  std::string new_name() {
    return below(4) == 0 ? one_of({"norm", "1", "x@2", "mlp@3"}) : fmt::format("n{}", below(50));
  }
  std::string number() { return one_of({"0", "1", "-0.0", "0.1", "2.5", "1e-7", "1e400"}); }
  std::string text() {
    return one_of(
        {"", "a note", "two\nlines", R"(a "quoted" \ one)", R"({"a": 1, "b": [2]})", "{a", "\xC3\xA9"});
  }
  std::string one_of(std::initializer_list<const char*> words) { return words.begin()[below(words.size())]; }
  std::string shape() { return one_of({"1", "32", "64", "tokens,64", "2,x"}); }
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
        attributes = fmt::format(R"({{"factor": {}}})", number());
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
  /// Mostly to a value of the same type as what is read there.
  Edit connect() {
    const std::string place = input();
    std::string read = value();
    const graph::Node* reader = graph_->find(graph_->find_path(place.substr(0, place.rfind('.'))));
    const size_t at = static_cast<size_t>(std::atoll(place.c_str() + place.rfind('.') + 1));
    if (reader && at < reader->inputs.size() && reader->inputs[at].valid())
      for (int tries = 0; tries < 20; ++tries) {
        const graph::Value& other = graph_->value(node().outputs.front());
        if (other.type != graph_->value(reader->inputs[at]).type) continue;
        read = graph_->value_path(other.id);
        break;
      }
    return {"connect", {{"input", place}, {"value", read}}};
  }
  Edit attention() {
    Edit edit{"attention", {{"scope", scopes()}}};
    if (below(2) == 0) edit.fields["kind"] = one_of({"softmax", "fastmax"});
    if (below(3) == 0) edit.fields["p"] = one_of({"1", "2"});
    if (below(3) == 0) edit.fields["window"] = fmt::format("{}", below(4));
    if (below(3) == 0) edit.fields["heads"] = fmt::format("{}", below(5));
    if (below(3) == 0) edit.fields["normalise"] = one_of({"true", "false"});
    return edit;
  }
  /// By two texts, sometimes with what they made.
  Edit steer() {
    Edit edit{"steer",
              {{"scope", scopes()},
               {"toward", "so glad"},
               {"from", below(5) == 0 ? "so glad" : "so \"sad\""},
               {"strength", number()}}};
    if (below(2) == 0) return edit;
    return with_vector(std::move(edit), std::vector<float>(below(2) == 0 ? 32 : 64, 1.0F / 3));
  }
  Edit adapter() {
    Edit edit{"adapter", {{"dir", files_.adapter}, {"strength", one_of({"1", "0.5"})}}};
    if (below(2) == 0) edit.fields["scope"] = scopes();
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
  FilesOfEdits files_;
};

}  // namespace orrery::edit
