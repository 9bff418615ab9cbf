// A model's file, edits of its graph, the file that is exported of it, and what both answer.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/edit/edit.h"
#include "engine/exporter/write.h"
#include "engine/models/builder.h"
#include "engine/passes/passes.h"
#include "engine/runtime/device_scheduler.h"
#include "tests/engine/io/io_testing.h"

namespace orrery::exporter {

inline std::filesystem::path fixtures() { return std::filesystem::path(ORRERY_TEST_DATA) / "models"; }

/// Throws where the file cannot be opened: a test has nothing to say then.
struct Opened {
  explicit Opened(const std::filesystem::path& path, const std::filesystem::path& adapter_folder = {}) {
    auto read = io::open_model(path, {}, {});
    if (!read.ok()) throw std::runtime_error(read.error().to_string());
    file = *read;
    if (!adapter_folder.empty()) {
      auto opened_adapter = io::open_adapter(adapter_folder);
      if (!opened_adapter.ok()) throw std::runtime_error(opened_adapter.error().to_string());
      auto fitted = io::fit_adapter(*file, *opened_adapter);
      if (!fitted.ok()) throw std::runtime_error(fitted.error().to_string());
      adapter = *fitted;
    }
    auto built = models::build(*file, adapter.get());
    if (!built.ok()) throw std::runtime_error(built.error().to_string());
    context = built->context_length;
    layers = built->layers;
    graph = std::make_shared<graph::Graph>(std::move(built->graph));
    opened = std::make_shared<graph::Graph>(*graph);
    store = std::make_shared<weights::WeightStore>(file, adapter);
  }

  void edit(const std::string& words) {
    const auto parsed = edit::parse_edit(words);
    ASSERT_TRUE(parsed.ok()) << words << ": " << parsed.error().to_string();
    const auto made = edit::apply(*graph, *parsed);
    ASSERT_TRUE(made.ok()) << words << ": " << made.error().to_string();
  }

  Result<Plan> planned(FoldedAs folded_as = FoldedAs::exact) {
    return plan({*graph, *opened, adapter.get()}, *store, folded_as, team);
  }
  Result<uint64_t> exported(const std::filesystem::path& out, FoldedAs folded_as = FoldedAs::exact,
                            const Watch& watch = {}) {
    ORRERY_ASSIGN(const Plan made, planned(folded_as));
    return write(made, *store, out, team, watch);
  }

  /// Log-probabilities of the tokens after the first, in float32.
  std::vector<float> logprobs(const std::vector<int32_t>& tokens) {
    const auto passed = passes::run_passes(*graph, {});
    EXPECT_TRUE(passed.ok());
    runtime::Model::Options options;
    options.kv_dtype = DType::f32;
    options.precision = kernels::Precision::exact;
    options.threads = 2;
    options.context = context;
    options.batch_tokens = 64;
    options.kv_tokens = 256;
    auto version = runtime::make_version({std::make_shared<const graph::Graph>(*graph), passed->graph});
    EXPECT_TRUE(version.ok());
    const auto model = std::make_shared<runtime::Model>(store, *version, options);
    runtime::DeviceScheduler scheduler(2);
    runtime::DecodeRequest request;
    request.tokens = tokens;
    request.score = true;
    const auto outcome =
        scheduler.decode(model, runtime::DeviceScheduler::new_sequence(model), std::move(request)).get();
    EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.error().to_string());
    return outcome.ok() ? outcome->logprobs : std::vector<float>();
  }

  std::shared_ptr<const io::ModelFile> file;
  std::shared_ptr<const io::Adapter> adapter;
  std::shared_ptr<graph::Graph> graph, opened;
  std::shared_ptr<weights::WeightStore> store;
  kernels::ThreadTeam team{2};
  int64_t context = 0, layers = 0;
};

inline std::vector<int32_t> tokens_of(const std::string& fixture) {
  std::ifstream stream(fixtures() / fixture / "expected.json");
  return nlohmann::json::parse(stream).at("texts").at(0);
}

/// "layers.0.mlp.down_proj: It is ..." of each difference.
inline std::vector<std::string> told(const Plan& plan) {
  std::vector<std::string> lines;
  for (const Difference& difference : plan.differences)
    lines.push_back(difference.where + ": " + difference.what);
  return lines;
}

}  // namespace orrery::exporter
