// A generator of two layers with random weights, small enough to run thousands of steps a second.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/ops/lowering.h"
#include "engine/passes/passes.h"
#include "engine/runtime/device_scheduler.h"

namespace orrery::runtime {

/// Tensors in memory, as a model file.
class TinyFile {
 public:
  TinyFile() : file_(std::make_shared<io::ModelFile>()) { file_->name = "tiny"; }

  void add(const std::string& name, int64_t rows, int64_t cols, float scale) {
    auto& values = storage_->emplace_back(static_cast<size_t>(rows * cols));
    std::normal_distribution<float> normal(0.0F, scale);
    for (float& value : values) value = normal(random_);
    io::Tensor tensor{name, DType::f32, {rows, cols}, std::as_bytes(std::span<const float>(values))};
    if (rows == 1) tensor.shape = {cols};
    file_->by_name[name] = file_->tensors.size();
    file_->tensors.push_back(tensor);
  }

  std::shared_ptr<const io::ModelFile> file() const {
    return {file_.get(), [file = file_, storage = storage_](const io::ModelFile*) {}};
  }

 private:
  std::mt19937 random_{7};
  std::shared_ptr<std::vector<std::vector<float>>> storage_ =
      std::make_shared<std::vector<std::vector<float>>>();
  std::shared_ptr<io::ModelFile> file_;
};

struct TinyModel {
  static constexpr int64_t kVocabulary = 96, kWidth = 64, kHeads = 4, kKvHeads = 2, kHeadDim = 16,
                           kInner = 96;

  int layers = 2;
  std::shared_ptr<const io::ModelFile> file;
  std::shared_ptr<weights::WeightStore> weights;

  explicit TinyModel(int layer_count = 2) : layers(layer_count) {
    TinyFile tiny;
    tiny.add("embedding", kVocabulary, kWidth, 1.0F);
    for (int l = 0; l < layers; ++l) {
      const std::string p = "layers." + std::to_string(l) + ".";
      tiny.add(p + "norm", 1, kWidth, 1.0F);
      tiny.add(p + "query", kHeads * kHeadDim, kWidth, 0.3F);
      tiny.add(p + "key", kKvHeads * kHeadDim, kWidth, 0.3F);
      tiny.add(p + "value", kKvHeads * kHeadDim, kWidth, 0.3F);
      tiny.add(p + "out", kWidth, kHeads * kHeadDim, 0.3F);
      tiny.add(p + "mlp_norm", 1, kWidth, 1.0F);
      tiny.add(p + "gate", kInner, kWidth, 0.3F);
      tiny.add(p + "up", kInner, kWidth, 0.3F);
      tiny.add(p + "down", kWidth, kInner, 0.3F);
    }
    tiny.add("norm", 1, kWidth, 1.0F);
    tiny.add("head", kVocabulary, kWidth, 0.3F);
    file = tiny.file();
    weights = std::make_shared<weights::WeightStore>(file, nullptr);
  }

  /// The model graph; layers of `without` are left out, as a bypass leaves them.
  graph::GraphVersion graph(const std::vector<int>& without = {}) const {
    Maker make{graph::Graph(ops::registry()), *this};
    ValueId ids = make.input("token_ids"), positions = make.input("positions");
    ValueId h = make.op("embedding", "", "embed", {}, {ids, make.weight("embedding")});
    std::vector<ValueId> states;
    for (int l = 0; l < layers; ++l)
      if (std::find(without.begin(), without.end(), l) == without.end())
        h = make.layer(l, h, positions, states);
    h = make.op("select_rows", "output", "rows", {}, {h, make.input("output_rows")});
    h = make.op("rms_norm", "output", "norm", {{"eps", 1e-5}}, {h, make.weight("norm")});
    const ValueId logits = make.op("linear", "output", "head", {}, {h, make.weight("head")});
    std::vector<ValueId> outputs{make.op("sample", "sampler", "sample", {}, {logits}), logits};
    outputs.insert(outputs.end(), states.begin(), states.end());
    make.graph.set_outputs(outputs);
    return std::make_shared<const graph::Graph>(std::move(make.graph));
  }

  static std::shared_ptr<const Version> version(const graph::GraphVersion& graph, bool fusion = true) {
    passes::Options options;
    options.fusion = fusion;
    auto passed = passes::run_passes(*graph, options);
    EXPECT_TRUE(passed.ok()) << (passed.ok() ? "" : passed.error().to_string());
    auto version = make_version({graph, passed.value().graph});
    EXPECT_TRUE(version.ok());
    return version.value();
  }

  static Model::Options exact_options() {
    Model::Options options;
    options.kv_dtype = DType::f32;
    options.precision = kernels::Precision::exact;
    options.threads = 2;
    options.context = 256;
    options.batch_tokens = 64;
    options.kv_tokens = 2048;
    return options;
  }

  std::shared_ptr<Model> model(const Model::Options& options = exact_options()) const {
    return std::make_shared<Model>(weights, version(graph()), options);
  }

 private:
  struct Maker {
    graph::Graph graph;
    const TinyModel& tiny;

    ValueId op(const std::string& op, const std::string& scope, const std::string& name,
               graph::Attributes attributes, std::vector<ValueId> inputs) {
      auto node = graph.add_node({op, scope, name, std::move(attributes), std::move(inputs), {}, {}});
      EXPECT_TRUE(node.ok()) << name << ": " << (node.ok() ? "" : node.error().to_string());
      return graph.node(node.value()).outputs.at(0);
    }
    ValueId input(const std::string& name) { return op("input", "inputs", name, {{"name", name}}, {}); }
    ValueId weight(const std::string& name) {
      const io::Tensor* tensor = tiny.file->find(name);
      return op("weight", "weights", name,
                {{"tensor", name}, {"dtype", std::string("f32")}, {"shape", tensor->shape}}, {});
    }
    ValueId linear(const std::string& scope, const std::string& name, ValueId src) {
      return op("linear", scope, name, {}, {src, weight(scope + "." + name)});
    }
    ValueId rope(const std::string& scope, const std::string& name, ValueId src, ValueId positions,
                 int64_t heads) {
      return op("rope", scope, name,
                {{"style", std::string("interleaved")},
                 {"heads", heads},
                 {"head_dim", kHeadDim},
                 {"rope_dims", kHeadDim},
                 {"base", 10000.0}},
                {src, positions});
    }
    ValueId layer(int l, ValueId h, ValueId positions, std::vector<ValueId>& states) {
      const std::string scope = "layers." + std::to_string(l);
      ValueId x = op("rms_norm", scope, "norm", {{"eps", 1e-5}}, {h, weight(scope + ".norm")});
      const ValueId q = rope(scope, "query_rope", linear(scope, "query", x), positions, kHeads);
      const ValueId k = rope(scope, "key_rope", linear(scope, "key", x), positions, kKvHeads);
      const ValueId v = linear(scope, "value", x);
      ValueId state =
          op("state", scope, "kv",
             {{"name", scope}, {"layer", int64_t{l}}, {"kv_heads", kKvHeads}, {"head_dim", kHeadDim}}, {});
      state = op("kv_append", scope, "append", {}, {state, k, v});
      states.push_back(state);
      const ValueId a = op("attention", scope, "attend",
                           {{"heads", kHeads}, {"kv_heads", kKvHeads}, {"scale", 0.25}}, {q, state});
      h = op("add", scope, "residual", {}, {h, linear(scope, "out", a)});
      x = op("rms_norm", scope, "mlp_norm", {{"eps", 1e-5}}, {h, weight(scope + ".mlp_norm")});
      const ValueId gate = op("silu", scope, "act", {}, {linear(scope, "gate", x)});
      const ValueId inner = op("mul", scope, "gated", {}, {gate, linear(scope, "up", x)});
      return op("add", scope, "mlp_residual", {}, {h, linear(scope, "down", inner)});
    }
  };
};

/// Tokens that a text makes.
inline std::vector<int32_t> tiny_text(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < count; ++i)
    tokens.push_back(static_cast<int32_t>(random() % TinyModel::kVocabulary));
  return tokens;
}

struct TinyReply {
  Result<DecodeOutcome> outcome = Error{};
  std::vector<int32_t> ids;
  std::vector<float> logprobs;
  std::vector<double> step_ms;  // of all tokens but the first
};

/// A greedy reply of `count` tokens.
inline DecodeRequest tiny_request(std::vector<int32_t> text, int64_t count, TinyReply* reply) {
  DecodeRequest request;
  request.tokens = std::move(text);
  request.sampling.temperature = 0;
  request.on_token = [reply, count](const TokenStep& step) {
    reply->ids.push_back(step.choice.id);
    reply->logprobs.push_back(step.choice.logprob);
    if (reply->ids.size() > 1) reply->step_ms.push_back(step.step_ms);
    return static_cast<int64_t>(reply->ids.size()) < count;
  };
  return request;
}

inline TinyReply tiny_reply(DeviceScheduler& scheduler, const std::shared_ptr<Model>& model,
                            const std::vector<int32_t>& text, int64_t count,
                            std::shared_ptr<Sequence> sequence = nullptr) {
  TinyReply reply;
  if (!sequence) sequence = DeviceScheduler::new_sequence(model);
  reply.outcome = scheduler.decode(model, sequence, tiny_request(text, count, &reply)).get();
  EXPECT_TRUE(reply.outcome.ok()) << (reply.outcome.ok() ? "" : reply.outcome.error().to_string());
  return reply;
}

}  // namespace orrery::runtime
