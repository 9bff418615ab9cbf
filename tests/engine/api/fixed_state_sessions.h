// Sessions of models whose states have a fixed size: records of the whole text (Mamba), and summaries of it
// (Fastmax, in all layers or beside keys and values in others).
#pragma once

#include <gtest/gtest.h>

#include "engine/models/builder.h"
#include "tests/engine/api/tiny_session.h"

namespace orrery::api {

inline std::shared_ptr<const io::ModelFile> mamba_file() {
  auto file = io::open_model(ORRERY_TEST_DATA "/models/mamba", {}, {});
  EXPECT_TRUE(file.ok()) << (file.ok() ? "" : file.error().to_string());
  return *file;
}

inline graph::Graph mamba_graph(const io::ModelFile& file) {
  auto built = models::build(file, nullptr);
  EXPECT_TRUE(built.ok()) << (built.ok() ? "" : built.error().to_string());
  return std::move(built->graph);
}

struct MambaSession : GraphSession {
  explicit MambaSession(int64_t batch_tokens = 64, int64_t kv_tokens = 2048)
      : MambaSession(mamba_file(), batch_tokens, kv_tokens) {}
  MambaSession(const std::shared_ptr<const io::ModelFile>& file, int64_t batch_tokens, int64_t kv_tokens)
      : MambaSession(file, mamba_graph(*file), batch_tokens, kv_tokens) {}
  MambaSession(const std::shared_ptr<const io::ModelFile>& file, graph::Graph graph, int64_t batch_tokens,
               int64_t kv_tokens)
      : GraphSession(std::make_shared<const graph::Graph>(std::move(graph)), file,
                     std::make_shared<weights::WeightStore>(file, nullptr),
                     options(batch_tokens, kv_tokens)) {}

  static runtime::Model::Options options(int64_t batch_tokens, int64_t kv_tokens) {
    runtime::Model::Options options = runtime::TinyModel::exact_options();
    options.batch_tokens = batch_tokens;
    options.kv_tokens = kv_tokens;
    return options;
  }
};

inline constexpr const char* kAllLayers = "attention scope=layers.* kind=fastmax";
inline constexpr const char* kOneLayer = "attention scope=layers.1 kind=fastmax p=1";

struct FastmaxSession : GraphSession {
  explicit FastmaxSession(const char* edit = kAllLayers, int64_t batch_tokens = 64, int64_t kv_tokens = 4096)
      : FastmaxSession(runtime::TinyModel(3), edit, batch_tokens, kv_tokens) {}
  FastmaxSession(const runtime::TinyModel& tiny, const char* edit, int64_t batch_tokens, int64_t kv_tokens)
      : GraphSession(tiny.graph(), tiny.file, tiny.weights, options(batch_tokens, kv_tokens)) {
    const auto edited = session->apply(edit_of(edit));
    EXPECT_TRUE(edited.ok()) << (edited.ok() ? "" : edited.error().to_string());
  }
  static runtime::Model::Options options(int64_t batch_tokens, int64_t kv_tokens) {
    runtime::Model::Options options = runtime::TinyModel::exact_options();
    options.batch_tokens = batch_tokens;
    options.kv_tokens = kv_tokens;
    options.context = 2048;
    return options;
  }
};

inline std::vector<int32_t> text_of(int64_t count, uint32_t seed = 5) {
  return runtime::tiny_text(count, seed);
}

/// `tolerance` of each log-probability; 0: bit for bit.
inline void expect_same(const runtime::TinyReply& reply, const runtime::TinyReply& expected,
                        double tolerance) {
  EXPECT_EQ(reply.ids, expected.ids);
  ASSERT_EQ(reply.logprobs.size(), expected.logprobs.size());
  for (size_t i = 0; i < reply.logprobs.size(); ++i)
    EXPECT_NEAR(reply.logprobs[i], expected.logprobs[i], tolerance) << i;
}

}  // namespace orrery::api
