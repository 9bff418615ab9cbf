// Merkle hash over SSA: a value's hash is of its op, attributes, type and the hashes of its inputs.
#include <bit>
#include <cstring>

#include "engine/graph/graph.h"
#include "engine/graph/hash.h"

namespace orrery::graph {
namespace {

class Hash {
 public:
  void add(uint64_t word) { state_ = mix(state_, word); }
  void add(std::string_view text) {
    add(static_cast<uint64_t>(text.size()));
    for (size_t i = 0; i < text.size(); i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, text.data() + i, std::min<size_t>(8, text.size() - i));
      add(word);
    }
  }
  void add(const Attribute& attribute) {
    add(static_cast<uint64_t>(attribute.index()));
    std::visit([this](const auto& value) { add_value(value); }, attribute);
  }
  uint64_t value() const { return state_; }

 private:
  void add_value(bool value) { add(static_cast<uint64_t>(value)); }
  void add_value(int64_t value) { add(static_cast<uint64_t>(value)); }
  void add_value(double value) { add(std::bit_cast<uint64_t>(value)); }
  void add_value(const std::string& value) { add(std::string_view(value)); }
  void add_value(const std::vector<int64_t>& values) {
    add(static_cast<uint64_t>(values.size()));
    for (const int64_t value : values) add(static_cast<uint64_t>(value));
  }
  void add_value(const std::vector<double>& values) {
    add(static_cast<uint64_t>(values.size()));
    for (const double value : values) add_value(value);
  }
  uint64_t state_ = 0;
};

/// What says nothing about the numbers: where a node runs and what is drawn on it; and a state's name and
/// layer number, as the state before the step is what earlier steps put there.
bool is_beside_numbers(const Node& node, std::string_view attribute) {
  if (!node.is_source()) return attribute == kDeviceAttribute || is_drawing_attribute(attribute);
  return node.op->name == "state" && (attribute == "name" || attribute == "layer");
}

uint64_t hash_of(const Graph& graph, const Node& node, const std::unordered_map<ValueId, uint64_t>& hashes) {
  Hash hash;
  hash.add(std::string_view(node.op->name));
  hash.add(uint64_t{node.op->revision});
  for (const auto& [name, value] : node.attributes) {
    if (is_beside_numbers(node, name)) continue;
    hash.add(std::string_view(name));
    hash.add(value);
  }
  for (const ValueId output : node.outputs) {
    const ValueType& type = graph.value(output).type;
    hash.add(static_cast<uint64_t>(type.dtype));
    hash.add(std::string_view(to_string(type.shape)));
  }
  for (const ValueId input : node.inputs) {
    const auto known = hashes.find(input);
    hash.add(known == hashes.end() ? 0 : known->second);
  }
  return hash.value();
}

}  // namespace

uint64_t Graph::feed_hash(ValueId value) const { return feed_hashes(std::span(&value, 1)).front(); }

std::vector<uint64_t> Graph::feed_hashes(std::span<const ValueId> values) const {
  std::unordered_set<NodeId> wanted;
  for (const ValueId value : values)
    if (const Value* known = find_value(value)) wanted.insert(known->producer);
  std::unordered_map<ValueId, uint64_t> hashes;
  for (const NodeId id : order_) {  // producers come first, so one walk will do
    if (wanted.empty()) break;
    const Node& node = nodes_.at(id);
    wanted.erase(id);
    if (node.op->identity) {
      const auto fed = hashes.find(node.inputs.front());
      hashes.emplace(node.outputs.front(), fed == hashes.end() ? 0 : fed->second);
      continue;
    }
    const uint64_t own = hash_of(*this, node, hashes);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Hash output;
      output.add(own);
      output.add(static_cast<uint64_t>(i));
      hashes.emplace(node.outputs[i], output.value());
    }
  }
  std::vector<uint64_t> found;
  for (const ValueId value : values) {
    const auto known = hashes.find(value);
    found.push_back(known == hashes.end() ? 0 : known->second);
  }
  return found;
}

}  // namespace orrery::graph
