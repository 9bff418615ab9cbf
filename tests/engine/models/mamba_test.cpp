// Mamba's graph: its wiring, its states, and metadata that lie (tests/data/models/mamba).
#include "tests/engine/models/fake_files.h"

namespace orrery::models::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// A copy that may be changed. `file`: "" for the folder.
io::ModelFile mamba(const std::string& file) {
  const auto opened = io::open_model(std::filesystem::path(ORRERY_TEST_DATA "/models/mamba") / file, {}, {});
  EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().to_string());
  return **opened;
}

std::string gguf_with(const std::string& key, Metadata::Value value) {
  io::ModelFile file = mamba("model.gguf");
  file.metadata.set("mamba." + key, std::move(value));
  return refusal(file);
}

TEST(Mamba, FolderAndGgufAreOneGraphButForWhatTheyStore) {
  for (const char* name : {"", "model.gguf"}) {
    SCOPED_TRACE(name);
    const io::ModelFile file = mamba(name);
    const auto model = build(file, nullptr);
    ASSERT_TRUE(model.ok()) << model.error().to_string();
    const graph::Graph& graph = model->graph;
    EXPECT_TRUE(graph::verify(graph).empty());
    EXPECT_EQ(model->task, Task::generate);
    EXPECT_EQ(model->layers, 3);
    EXPECT_EQ(model->context_length, 1 << 20);
    EXPECT_THAT(inputs_at(graph, "layers.1.mixer.convolution"),
                ElementsAre("layers.1.mixer.convolution_record", "layers.1.mixer.in_proj",
                            "layers.1.mixer.convolution.weight", "layers.1.mixer.convolution.bias"));
    EXPECT_THAT(inputs_at(graph, "layers.1.mixer.scan"),
                ElementsAre("layers.1.mixer.scan_record", "layers.1.mixer.act", "layers.1.mixer.dt_proj",
                            "layers.1.mixer.b_proj", "layers.1.mixer.c_proj", "layers.1.mixer.a",
                            "layers.1.mixer.d"));
    EXPECT_THAT(inputs_at(graph, "layers.1.mixer.gate"),
                ElementsAre("layers.1.mixer.gate_act", "layers.1.mixer.scan"));
    EXPECT_THAT(inputs_at(graph, "layers.1.mixer.residual"),
                ElementsAre("layers.0.mixer.residual", "layers.1.mixer.out_proj"));
    EXPECT_EQ(type_at(graph, "layers.1.mixer.convolution_record"), "f32[3, 64]");
    EXPECT_EQ(type_at(graph, "layers.1.mixer.scan_record"), "f32[16, 64]");
    EXPECT_EQ(type_at(graph, "layers.1.mixer.dt_proj"), "f32[tokens, 64]");
    EXPECT_EQ(node_at(graph, "layers.1.mixer.scan").attributes.at("log_a"), graph::Attribute(*name == '\0'));
    ASSERT_EQ(graph.outputs().size(), 2U + 2 * 3);
    EXPECT_EQ(graph.value_path(graph.outputs()[2]), "layers.0.mixer.convolution:state");
    EXPECT_EQ(graph.value_path(graph.outputs()[7]), "layers.2.mixer.scan:state");
  }
}

TEST(Mamba, MetadataThatLieAreRefused) {
  for (const char* key : {"ssm.inner_size", "ssm.conv_kernel", "ssm.state_size", "ssm.time_step_rank"}) {
    EXPECT_THAT(gguf_with(key, int64_t{0}), AllOf(HasSubstr(key), HasSubstr("is 0; it must be 1 to")));
    EXPECT_THAT(gguf_with(key, int64_t{7}), HasSubstr("but the metadata ask for"));
    EXPECT_NE(gguf_with(key, int64_t{2147483647}), "");
    io::ModelFile file = mamba("model.gguf");
    file.metadata.set(std::string("mamba.") + key, std::string("16"));
    EXPECT_THAT(refusal(file), HasSubstr("no single whole number"));
  }
  EXPECT_THAT(gguf_with("ssm.conv_kernel", int64_t{1}), HasSubstr("see one token only"));
  EXPECT_THAT(gguf_with("ssm.dt_b_c_rms", true), HasSubstr("Falcon Mamba"));
  EXPECT_THAT(gguf_with("block_count", int64_t{4}), HasSubstr("The file has no tensor blk.3."));
  io::ModelFile folder = mamba("");
  folder.metadata.set("time_step_rank", std::string("auto"));
  EXPECT_THAT(refusal(folder), HasSubstr("time_step_rank"));
}

TEST(Mamba, TensorsThatAreMissingAreNamed) {
  for (const char* name : {"ssm_in.weight", "ssm_conv1d.weight", "ssm_x.weight", "ssm_dt.weight", "ssm_a",
                           "ssm_d", "ssm_out.weight", "attn_norm.weight"}) {
    io::ModelFile file = mamba("model.gguf");
    remove_tensor(file, std::string("blk.1.") + name);
    EXPECT_THAT(refusal(file), HasSubstr(std::string("The file has no tensor blk.1.") + name));
  }
}

}  // namespace
}  // namespace orrery::models::test
