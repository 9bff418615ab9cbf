// Encoders say what transformers says: tests/data/encoders has tiny ones with random weights and what three
// texts of them give alone; one also with an adapter, against peft. Here the texts are packed into one step.
// On the device that ORRERY_TEST_DEVICE names, else on the CPU.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/models/builder.h"
#include "engine/passes/passes.h"
#include "engine/runtime/device_scheduler.h"
#include "engine/runtime/devices.h"

namespace orrery::models {
namespace {

using Rows = std::vector<std::vector<float>>;

struct Case {
  const char* folder;
  Task task;
  bool classifies_tokens;
  const char* adapter = "";  // a folder beside
};

std::ostream& operator<<(std::ostream& out, const Case& tried) { return out << tried.folder; }

template <class T>
T must(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().to_string());
  return std::move(result).value();
}

nlohmann::json expected_of(const std::string& folder) {
  return nlohmann::json::parse(std::ifstream(ORRERY_TEST_DATA "/encoders/" + folder + "/expected.json"));
}

/// The device under test; null: the CPU.
weights::DevicePtr device() {
  const char* name = std::getenv("ORRERY_TEST_DEVICE");
  if (!name || !*name) return {};
  return must(runtime::open_device(std::atoi(std::string(name).substr(std::string("cuda:").size()).c_str())));
}

std::filesystem::path path_of(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path(ORRERY_TEST_DATA "/encoders") / folder;
  return folder.ends_with("_gguf") ? path / "model.gguf" : path;
}

struct Encoder {
  std::shared_ptr<const io::ModelFile> file;
  std::shared_ptr<const io::Adapter> adapter;
  BuiltModel built;
  std::shared_ptr<runtime::Model> model;

  Encoder(const std::string& folder, const std::string& adapter_folder, const weights::DevicePtr& on)
      : file(must(io::open_model(path_of(folder), {}, {}))),
        adapter(adapter_folder.empty()
                    ? nullptr
                    : must(io::fit_adapter(*file, must(io::open_adapter(path_of(adapter_folder)))))),
        built(must(build(*file, adapter.get()))) {
    const auto graph = std::make_shared<const graph::Graph>(built.graph);
    auto version = must(runtime::make_version({graph, must(passes::run_passes(*graph, {})).graph}));
    runtime::Model::Options options;
    options.precision = kernels::Precision::exact;
    options.device = on;
    model = std::make_shared<runtime::Model>(std::make_shared<weights::WeightStore>(file, adapter),
                                             std::move(version), options);
  }
};

Rows encode(const Encoder& encoder, const nlohmann::json& expected, const weights::DevicePtr& on) {
  runtime::DeviceScheduler scheduler(2, on);
  runtime::EncodeRequest request;
  request.texts = expected["tokens"].get<std::vector<std::vector<int32_t>>>();
  request.types = expected["types"].get<std::vector<std::vector<int32_t>>>();
  for (size_t i = 0; i < request.types.size(); ++i)
    if (request.types[i].empty()) request.types[i].resize(request.texts[i].size());
  Rows rows;
  request.on_result = [&](size_t, std::span<const float> values, double) {
    rows.emplace_back(values.begin(), values.end());
    return true;
  };
  const size_t done = must(scheduler.encode(encoder.model, std::move(request)).get());
  EXPECT_EQ(done, rows.size());
  return rows;
}

void expect_near(const Rows& got, const Rows& expected, float tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t text = 0; text < got.size(); ++text) {
    ASSERT_EQ(got[text].size(), expected[text].size()) << "text " << text;
    for (size_t i = 0; i < got[text].size(); ++i)
      ASSERT_NEAR(got[text][i], expected[text][i], tolerance) << "text " << text << ", value " << i;
  }
}

class EncoderParity : public testing::TestWithParam<Case> {};

TEST_P(EncoderParity, PackedTextsGiveWhatEachGivesAlone) {
  const auto& [folder, task, classifies_tokens, adapter] = GetParam();
  const nlohmann::json expected = expected_of(*adapter ? adapter : folder);
  const weights::DevicePtr on = device();
  const Encoder encoder(folder, adapter, on);
  EXPECT_EQ(encoder.built.task, task);
  EXPECT_EQ(encoder.built.classifies_tokens, classifies_tokens);
  expect_near(encode(encoder, expected, on), expected["outputs"].get<Rows>(), 1e-4F);
}

constexpr Task kEmbed = Task::embed, kClassify = Task::classify;
INSTANTIATE_TEST_SUITE_P(
    Models, EncoderParity,
    testing::Values(Case{"bert", kEmbed, false}, Case{"bert_cls", kEmbed, false},
                    Case{"bert_last", kEmbed, false}, Case{"bert_texts", kClassify, false},
                    Case{"bert_pairs", kClassify, false}, Case{"bert_tokens", kClassify, true},
                    Case{"distilbert", kEmbed, false}, Case{"distilbert_texts", kClassify, false},
                    Case{"distilbert_tokens", kClassify, true}, Case{"roberta_texts", kClassify, false},
                    Case{"roberta_tokens", kClassify, true}, Case{"xlm_roberta", kEmbed, false},
                    Case{"mpnet", kEmbed, false}, Case{"mpnet_texts", kClassify, false},
                    Case{"bert_texts_gguf", kClassify, false}, Case{"bert_cls_gguf", kEmbed, false},
                    Case{"modernbert", kEmbed, false}, Case{"modernbert_gguf", kEmbed, false},
                    Case{"modernbert_texts", kClassify, false}, Case{"modernbert_tokens", kClassify, true},
                    Case{"roberta_texts_gguf", kClassify, false},
                    Case{"bert_texts", kClassify, false, "bert_texts/adapter"},
                    Case{"bert_texts_gguf", kClassify, false, "bert_texts/adapter"}),
    [](const auto& tested) {
      return std::string(tested.param.folder) + (*tested.param.adapter ? "_adapted" : "");
    });

/// The two ways in which implementations of DistilBERT hide padding differ for a text of padding alone; a
/// packed step has no padding, and what it gives is what both give.
TEST(DistilBert, BothWaysOfMaskingPaddingGiveWhatPackedTextsGive) {
  const nlohmann::json expected = expected_of("distilbert_texts");
  const weights::DevicePtr on = device();
  const Rows packed = encode(Encoder("distilbert_texts", "", on), expected, on);
  for (const char* hidden : {"-10000", "-inf"})
    expect_near(packed, expected["padded"][hidden].get<Rows>(), 1e-4F);
}

}  // namespace
}  // namespace orrery::models
