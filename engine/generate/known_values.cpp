#include "engine/generate/known_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "engine/graph/op_registry.h"

namespace orrery::generate {
namespace {

bool can_be_given(const graph::Value& value) {
  return value.kind == graph::ValueKind::activation && value.type.dtype == DType::f32;
}

/// The live nodes that are no sources, in order.
std::vector<const graph::Node*> steps_of(const graph::Graph& graph) {
  std::vector<const graph::Node*> steps;
  const std::vector<bool> live = graph.live();
  for (size_t i = 0; i < live.size(); ++i)
    if (const graph::Node& node = graph.node(graph.order()[i]); live[i] && !node.is_source())
      steps.push_back(&node);
  return steps;
}

/// Where the graph could be cut in two: between a step and the next.
struct Place {
  std::vector<ValueId> crossing;  // made before it and read after it
  double width = 0;               // elements of those a row
  bool can_be_given = true;
};

double width_of(const graph::ValueType& type) {
  double width = 1;
  for (const Dim& dim : type.shape)
    if (dim.is_constant()) width *= static_cast<double>(dim.constant());
  return width;
}

std::vector<Place> places_of(const graph::Graph& graph, const std::vector<const graph::Node*>& steps) {
  std::unordered_map<ValueId, size_t> last_read;
  for (size_t i = 0; i < steps.size(); ++i)
    for (const ValueId input : steps[i]->inputs) last_read[input] = i;
  std::vector<Place> places;
  std::vector<ValueId> crossing;
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    for (const ValueId output : steps[i]->outputs) crossing.push_back(output);
    std::erase_if(crossing, [&](ValueId value) {
      const auto last = last_read.find(value);
      return last == last_read.end() || last->second <= i ||
             graph.value(value).kind == graph::ValueKind::state;
    });
    Place place{crossing};
    for (const ValueId value : crossing) {
      place.width += width_of(graph.value(value).type);
      place.can_be_given = place.can_be_given && can_be_given(graph.value(value));
    }
    if (!crossing.empty()) places.push_back(std::move(place));
  }
  return places;
}

double median_width(std::vector<Place> places) {
  if (places.empty()) return 0;
  const auto middle = places.begin() + static_cast<std::ptrdiff_t>(places.size() / 2);
  std::ranges::nth_element(places, middle, {}, &Place::width);
  return middle->width;
}

/// The values of every n-th place, each once.
std::vector<ValueId> values_of(const std::vector<Place>& places, size_t every) {
  std::vector<ValueId> values;
  std::unordered_set<ValueId> seen;
  for (size_t i = 0; i < places.size(); i += every)
    for (const ValueId value : places[i].crossing)
      if (seen.insert(value).second) values.push_back(value);
  return values;
}

std::string words_of(const Shape& shape) {
  std::string words;
  for (const Dim& dim : shape) words += (words.empty() ? "" : ", ") + dim.to_string();
  return words;
}

Result<void> remove_what_nobody_needs(graph::Graph& graph) {
  const std::vector<bool> live = graph.live();
  const std::vector<NodeId> order = graph.order();
  for (size_t i = order.size(); i-- > 0;)  // users first
    if (!live[i]) ORRERY_TRY(graph.remove_node(order[i]));
  return {};
}

}  // namespace

std::vector<ValueId> KnownValues::worth_keeping(const graph::Graph& graph, const Bindings& sizes,
                                                uint64_t most_bytes) {
  std::vector<Place> places = places_of(graph, steps_of(graph));
  const double most_width = median_width(places);
  std::erase_if(places, [&](const Place& place) { return !place.can_be_given || place.width > most_width; });
  for (size_t every = 1;; ++every) {
    std::vector<ValueId> values = values_of(places, every);
    double bytes = 0;
    for (const ValueId value : values) bytes += graph::bytes_of(graph.value(value).type, sizes);
    if (bytes <= static_cast<double>(most_bytes) || every >= places.size()) return values;
  }
}

std::vector<ValueId> KnownValues::stream(const graph::Graph& graph) {
  std::vector<ValueId> values;
  for (const Place& place : places_of(graph, steps_of(graph)))
    if (place.crossing.size() == 1 && place.can_be_given &&
        (values.empty() || values.back() != place.crossing.front()))
      values.push_back(place.crossing.front());
  return values;
}

Result<void> KnownValues::add(uint64_t hash, std::span<const std::byte> elements) {
  ORRERY_ASSIGN(weights::Buffer bytes, weights::Buffer::allocate(elements.size(), {}, "values of a text"));
  ORRERY_TRY(bytes.fill(elements.data(), elements.size()));
  values_.insert_or_assign(hash, std::move(bytes));
  return {};
}

Result<KnownValues::Rest> KnownValues::rest_of(const graph::Graph& graph,
                                               std::span<const ValueId> wanted) const {
  std::vector<ValueId> candidates;
  for (const graph::Node* step : steps_of(graph))
    for (const ValueId output : step->outputs)
      if (can_be_given(graph.value(output)) && std::ranges::find(wanted, output) == wanted.end())
        candidates.push_back(output);
  const std::vector<uint64_t> hashes = graph.feed_hashes(candidates);
  auto rest = std::make_shared<graph::Graph>(graph);
  Rest made;
  rest->set_outputs({wanted.begin(), wanted.end()});
  for (size_t i = 0; i < candidates.size(); ++i) {
    const auto known = values_.find(hashes[i]);
    if (known == values_.end()) continue;
    const std::vector<graph::Use> users = graph.users(candidates[i]);
    if (users.empty()) continue;
    const std::string name = fmt::format("known {}", made.given.size());
    graph::Graph::NewNode input{.op = "input",
                                .scope = "",
                                .name = name,
                                .attributes = {},
                                .inputs = {},
                                .origins = {},
                                .before = rest->order().front()};
    input.attributes = {{"name", name},
                        {"dtype", std::string(name_of(DType::f32))},
                        {"shape", words_of(graph.value(candidates[i]).type.shape)}};
    ORRERY_ASSIGN(const NodeId node, rest->add_node(std::move(input)));
    const ValueId value = rest->node(node).outputs.front();
    for (const graph::Use& use : users) ORRERY_TRY(rest->set_input(use.node, use.input, value));
    made.given.push_back({name, {known->second.data(), known->second.size()}});
  }
  ORRERY_TRY(remove_what_nobody_needs(*rest));
  made.graph = std::move(rest);
  return made;
}

}  // namespace orrery::generate
