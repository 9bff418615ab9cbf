#include "tests/engine/ops/bench.h"

#include <cstring>

#include "kernels/quantise.h"

namespace orrery::ops::test {
namespace {

constexpr size_t kArenaBytes = 1 << 20;
constexpr int64_t kPageTokens = 4, kPages = 16;

Attributes weight_attributes(const std::string& name, DType dtype, const std::vector<int64_t>& shape) {
  return {{"tensor", name}, {"dtype", std::string(name_of(dtype))}, {"shape", shape}};
}

}  // namespace

Floats noise(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Floats data(count);
  for (float& value : data) value = static_cast<float>(static_cast<double>(random()) / 2147483648.0 - 1.0);
  return data;
}

Bench::Bench(int64_t tokens, int64_t sequences, int64_t outputs)
    : tokens_(tokens), sequences_(sequences), outputs_(outputs), graph_(registry()) {
  arena_.resize(kArenaBytes / sizeof(std::max_align_t));
  for (int32_t i = 0; i < tokens; ++i) positions.push_back(i);
  sequence_starts = {0, static_cast<int32_t>(tokens)};
  kv_lengths = {static_cast<int32_t>(tokens)};
  for (int32_t i = 0; i < outputs; ++i) output_rows.push_back(i);
}

ValueId Bench::source(const std::string& op, const std::string& name, Attributes attributes) {
  const auto node = graph_.add_node({op, "", name, std::move(attributes), {}, {}, {}});
  EXPECT_TRUE(node.ok()) << node.error().to_string();
  return graph_.node(*node).outputs.front();
}

Slot Bench::place(ValueId value, size_t bytes) {
  const Slot slot{Slot::Kind::arena, arena_used_, nullptr};
  arena_used_ += (bytes + 63) / 64 * 64;
  EXPECT_LE(arena_used_, kArenaBytes);
  return slots_[value] = slot;
}

ValueId Bench::rows(const std::string& name, const Symbol& rows, Floats data) {
  const int64_t count = rows == kTokens ? tokens_ : rows == kSequences ? sequences_ : outputs_;
  const auto cols = static_cast<int64_t>(data.size()) / count;
  const ValueId value = source("constant", name, {{"value", 0.0}});
  EXPECT_TRUE(graph_.set_value_type(value, {DType::f32, {rows, cols}}).ok());
  std::memcpy(step().data<float>(place(value, data.size() * sizeof(float))), data.data(),
              data.size() * sizeof(float));
  return value;
}

ValueId Bench::vector(const std::string& name, Floats data) {
  const ValueId value =
      source("constant", name, {{"value", 0.0}, {"shape", std::vector{static_cast<int64_t>(data.size())}}});
  std::memcpy(step().data<float>(place(value, data.size() * sizeof(float))), data.data(),
              data.size() * sizeof(float));
  return value;
}

ValueId Bench::tensor(const std::string& name, DType dtype, Shape shape, const Floats& data) {
  const ValueId value = source("constant", name, {{"dtype", std::string(name_of(dtype))}});
  EXPECT_TRUE(graph_.set_value_type(value, {dtype, std::move(shape)}).ok());
  const auto count = static_cast<int64_t>(data.size());
  const Slot slot = place(value, *row_bytes(dtype, count));
  kernels::quantise_row(dtype, data.data(), count, step().data<void>(slot));
  return value;
}

ValueId Bench::weight(const std::string& name, DType dtype, std::vector<int64_t> shape, const Floats& data) {
  const ValueId value = source("weight", name, weight_attributes(name, dtype, shape));
  const int64_t cols = shape.back(), count = static_cast<int64_t>(data.size()) / cols;
  const size_t stride = *row_bytes(dtype, cols);
  std::vector<std::byte>& bytes = weights_[value];
  bytes.resize(stride * static_cast<size_t>(count));
  for (int64_t row = 0; row < count; ++row)
    kernels::quantise_row(dtype, data.data() + row * cols, cols,
                          bytes.data() + static_cast<size_t>(row) * stride);
  return value;
}

Floats Bench::weight_values(ValueId weight) const {
  const graph::ValueType& type = graph_.value(weight).type;
  const int64_t cols = type.shape.back().constant();
  const size_t stride = *row_bytes(type.dtype, cols), count = weights_.at(weight).size() / stride;
  Floats values(count * static_cast<size_t>(cols));
  for (size_t row = 0; row < count; ++row)
    kernels::dequantise_row(type.dtype, weights_.at(weight).data() + row * stride, cols,
                            values.data() + row * static_cast<size_t>(cols));
  return values;
}

ValueId Bench::input(std::string_view name) {
  const ValueId value = source("input", std::string(name), {{"name", std::string(name)}});
  if (const auto known = find_step_input(name)) slots_[value] = {Slot::Kind::input, *known, nullptr};
  return value;
}

ValueId Bench::state(int64_t kv_heads, int64_t head_dim) {
  const ValueId value = source(
      "state", "kv",
      {{"name", std::string("kv")}, {"layer", int64_t{0}}, {"kv_heads", kv_heads}, {"head_dim", head_dim}});
  const size_t bytes = kernels::kv_page_bytes(kv, kPageTokens, kv_heads, head_dim);
  return make_pages(value, bytes, {nullptr, bytes, kv, kPageTokens, kv_heads, head_dim});
}

ValueId Bench::record(const std::vector<int64_t>& shape) {
  const ValueId value = source("state", "record" + std::to_string(count_++),
                               {{"name", std::string("record")},
                                {"layer", int64_t{0}},
                                {"kind", std::string("record")},
                                {"shape", shape}});
  const auto bytes =
      static_cast<size_t>(element_count(graph_.value(value).type.shape, {}).value()) * sizeof(float);
  return make_pages(value, bytes, {nullptr, bytes, DType::f32, kPageTokens, 0, 0});
}

ValueId Bench::make_pages(ValueId state, size_t bytes, const kernels::PagedKv& pages) {
  slots_[state] = {Slot::Kind::state, 0, nullptr};
  pages_.resize(bytes * kPages / sizeof(std::max_align_t) + 1);
  kv_pages_ = pages;
  kv_pages_.base = reinterpret_cast<std::byte*>(pages_.data());
  page_table_.clear();
  for (int64_t i = 0; i < sequences_ * 4; ++i)
    page_table_.push_back(static_cast<int32_t>((i * 5 + 3) % kPages));
  return state;
}

Result<const void*> Bench::weight(ValueId value, const kernels::WeightPacking* packing) {
  const std::vector<std::byte>& stored = weights_.at(value);
  if (!packing) return static_cast<const void*>(stored.data());
  const graph::ValueType& type = graph_.value(value).type;
  const int64_t cols = type.shape.back().constant(),
                count = type.shape.size() == 1 ? 1 : type.shape[0].constant();
  packed_.emplace_back(packing->bytes(type.dtype, count, cols) / sizeof(float) + 16);
  packing->pack(stored.data(), type.dtype, count, cols, packed_.back().data(), team_);
  return static_cast<const void*>(packed_.back().data());
}

Result<NodeId> Bench::add(const std::string& op, std::vector<ValueId> inputs, Attributes attributes) {
  return graph_.add_node(
      {op, "", "node" + std::to_string(count_++), std::move(attributes), std::move(inputs), {}, {}});
}

Result<Lowered> Bench::lower(NodeId id) {
  const graph::Node& node = graph_.node(id);
  for (const ValueId output : node.outputs) {
    const graph::Value& value = graph_.value(output);
    if (value.kind == graph::ValueKind::state)
      slots_[output] = slots_.at(node.inputs[0]);
    else
      place(output, static_cast<size_t>(graph::bytes_of(value.type, step().bindings())));
  }
  return lower_node(*this, node);
}

StepContext Bench::step() {
  StepContext step;
  step.tokens = tokens_;
  step.sequences = sequences_;
  step.outputs = outputs_;
  step.token_ids = token_ids.data();
  step.positions = positions.data();
  step.sequence_starts = sequence_starts.data();
  step.kv_lengths = kv_lengths.data();
  step.output_rows = output_rows.data();
  step.page_table = page_table_.data();
  step.max_pages = 4;
  step.sampling = requests.data();
  step.choices = choices.data();
  step.records = &record_;
  step.states = {&kv_pages_, 1};
  step.arena = reinterpret_cast<std::byte*>(arena_.data());
  step.workspace = reinterpret_cast<std::byte*>(workspace_.data());
  step.team = &team_;
  return step;
}

Floats Bench::floats(ValueId value, const StepContext& step) const {
  const graph::ValueType& type = graph_.value(value).type;
  const auto count = static_cast<size_t>(*element_count(type.shape, step.bindings()));
  Floats data(count);
  kernels::dequantise_row(type.dtype, step.address(slots_.at(value)), static_cast<int64_t>(count),
                          data.data());
  return data;
}

std::vector<Floats> Bench::run(NodeId id) {
  if (graph_.outputs().empty()) graph_.set_outputs(graph_.node(id).outputs);
  auto lowered = lower(id);
  graph_.set_outputs({});
  EXPECT_TRUE(lowered.ok()) << lowered.error().to_string();
  if (!lowered.ok()) return {};
  EXPECT_FALSE(lowered->kernel.empty());
  workspace_.assign(lowered->workspace_bytes / sizeof(std::max_align_t) + 64, {});
  lowered->run(step());
  std::vector<Floats> outputs;
  for (const ValueId output : graph_.node(id).outputs)
    if (graph_.value(output).kind != graph::ValueKind::state) outputs.push_back(floats(output, step()));
  return outputs;
}

std::vector<Floats> Bench::run(const std::string& op, std::vector<ValueId> inputs, Attributes attributes) {
  auto node = add(op, std::move(inputs), std::move(attributes));
  EXPECT_TRUE(node.ok()) << node.error().to_string();
  return node.ok() ? run(*node) : std::vector<Floats>{};
}

graph::Cost Bench::cost(NodeId node, Bindings more) const {
  more.insert({{kTokens, tokens_}, {kSequences, sequences_}, {kOutputs, outputs_}});
  return graph_.cost(node, more);
}

void expect_near(const Floats& got, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i]))) << "element " << i;
}

}  // namespace orrery::ops::test
