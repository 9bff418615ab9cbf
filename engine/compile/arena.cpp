#include "engine/compile/arena.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

namespace orrery::compile {
namespace {

constexpr size_t align(size_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

/// The free blocks below the arena's end, by offset; neighbours are always merged.
class FreeBlocks {
 public:
  size_t take(size_t bytes) {
    auto best = blocks_.end();
    for (auto it = blocks_.begin(); it != blocks_.end(); ++it)
      if (it->second >= bytes && (best == blocks_.end() || it->second < best->second)) best = it;
    if (best != blocks_.end()) return cut(best, bytes);
    return grow(bytes);
  }

  void give(size_t offset, size_t bytes) {
    auto it = blocks_.emplace(offset, bytes).first;
    if (auto next = std::next(it); next != blocks_.end() && it->first + it->second == next->first) {
      it->second += next->second;
      blocks_.erase(next);
    }
    if (it == blocks_.begin()) return;
    if (auto before = std::prev(it); before->first + before->second == it->first) {
      before->second += it->second;
      blocks_.erase(it);
    }
  }

  size_t end() const { return end_; }

 private:
  size_t cut(std::map<size_t, size_t>::iterator block, size_t bytes) {
    const size_t offset = block->first, rest = block->second - bytes;
    blocks_.erase(block);
    if (rest > 0) blocks_.emplace(offset + bytes, rest);
    return offset;
  }

  /// A free block at the end is stretched before the arena is.
  size_t grow(size_t bytes) {
    size_t offset = end_;
    if (!blocks_.empty()) {
      const auto last = std::prev(blocks_.end());
      if (last->first + last->second == end_) {
        offset = last->first;
        blocks_.erase(last);
      }
    }
    end_ = offset + bytes;
    return offset;
  }

  std::map<size_t, size_t> blocks_;
  size_t end_ = 0;
};

Error too_large(const graph::Node& node, const graph::Value& value) {
  return {ErrorCode::unsupported,
          fmt::format("The shape {} of \"{}\" cannot be laid out in memory", to_string(value.type.shape),
                      value.name),
          fmt::format("node {}", node.path()),
          "use smaller steps (--batch-tokens) or undo the edit that made it"};
}

Result<size_t> value_bytes(const graph::Node& node, const graph::Value& value, const Bindings& bindings) {
  const auto elements = element_count(value.type.shape, bindings);
  if (!elements || *elements < 0) return too_large(node, value);
  if (*elements > std::numeric_limits<int64_t>::max() / 16) return too_large(node, value);
  const DTypeInfo info = dtype_info(value.type.dtype);
  const int64_t blocks = (*elements + info.block_elements - 1) / info.block_elements;
  return static_cast<size_t>(blocks) * static_cast<size_t>(info.block_bytes);
}

}  // namespace

ArenaLayout lay_out(std::span<const Lifetime> lifetimes) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].first < lifetimes[b].first; });
  ArenaLayout layout;
  layout.offsets.resize(lifetimes.size());
  FreeBlocks free;
  std::multimap<int, size_t> ends;  // last step -> lifetime
  for (const size_t index : order) {
    const Lifetime& lifetime = lifetimes[index];
    while (!ends.empty() && ends.begin()->first < lifetime.first) {
      const size_t over = ends.begin()->second;
      free.give(layout.offsets[over], align(std::max<size_t>(lifetimes[over].bytes, 1)));
      ends.erase(ends.begin());
    }
    layout.offsets[index] = free.take(align(std::max<size_t>(lifetime.bytes, 1)));
    ends.emplace(lifetime.last, index);
  }
  layout.bytes = free.end();
  return layout;
}

DeviceArenas lay_out(std::span<const Lifetime> lifetimes, std::span<const kernels::DeviceId> devices) {
  DeviceArenas arenas;
  arenas.offsets.resize(lifetimes.size());
  for (const kernels::DeviceId device : devices) arenas.bytes.emplace(device, 0);
  for (auto& [device, bytes] : arenas.bytes) {
    std::vector<Lifetime> own;
    std::vector<size_t> indices;
    for (size_t i = 0; i < lifetimes.size(); ++i)
      if (devices[i] == device) {
        own.push_back(lifetimes[i]);
        indices.push_back(i);
      }
    const ArenaLayout layout = lay_out(own);
    for (size_t k = 0; k < indices.size(); ++k) arenas.offsets[indices[k]] = layout.offsets[k];
    bytes = layout.bytes;
  }
  return arenas;
}

Result<Liveness> liveness(const graph::Graph& graph, const Bucket& bucket) {
  const Bindings bindings{
      {kTokens, bucket.max_tokens}, {kSequences, bucket.max_sequences}, {kOutputs, bucket.max_outputs}};
  Liveness result;
  std::unordered_map<ValueId, size_t> known;
  const std::vector<bool> live = graph.live();
  for (size_t i = 0; i < graph.order().size(); ++i) {
    const graph::Node& node = graph.node(graph.order()[i]);
    if (!live[i] || node.is_source()) continue;
    const int step = static_cast<int>(result.steps.size());
    result.steps.push_back(node.id);
    for (const ValueId input : node.inputs)
      if (const auto it = known.find(input); it != known.end()) result.lifetimes[it->second].last = step;
    for (const ValueId output : node.outputs) {
      const graph::Value& value = graph.value(output);
      if (value.kind == graph::ValueKind::state) continue;
      if (const auto seen = known.find(node.op->view ? node.inputs.front() : ValueId{});
          seen != known.end()) {
        result.views.emplace_back(output, result.values[seen->second]);
        known.emplace(output, seen->second);
        continue;
      }
      ORRERY_ASSIGN(const size_t bytes, value_bytes(node, value, bindings));
      known.emplace(output, result.values.size());
      result.values.push_back(output);
      result.lifetimes.push_back({bytes, step, step});
    }
  }
  const int end = static_cast<int>(result.steps.size());
  for (const ValueId output : graph.outputs())
    if (const auto it = known.find(output); it != known.end()) result.lifetimes[it->second].last = end;
  return result;
}

}  // namespace orrery::compile
