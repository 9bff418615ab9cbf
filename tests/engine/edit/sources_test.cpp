// The verbs that bring numbers from files: constant, weight, steer, adapter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "engine/edit/steer.h"
#include "tests/engine/edit/model_graphs.h"
#include "tests/engine/io/io_testing.h"
#include "tests/support/npy.h"

namespace orrery::edit {
namespace {

using test::npy;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Sources : public ::testing::Test {
 protected:
  std::string done(const std::string& words) {
    const auto journal = edit(graph_, words);
    return journal.ok() ? journal->name : journal.error().to_string();
  }
  const graph::Node& node(std::string_view path) const {
    const NodeId id = graph_.find_path(path);
    if (!id.valid()) throw std::runtime_error("no node " + std::string(path));
    return graph_.node(id);
  }
  std::string attribute(std::string_view path, const char* name) const {
    return graph::to_string(node(path).attributes.at(name));
  }
  std::string input(std::string_view path, size_t i) const { return graph_.value_path(node(path).inputs[i]); }
  std::string file(const char* name, const std::string& bytes) const {
    return folder_.write(name, bytes).string();
  }
  void expect_unchanged() const { EXPECT_EQ(print(graph_), before_); }

  io::TempFolder folder_;
  Graph graph_ = graph_of("smollm2");
  const std::string before_ = print(graph_);
};

TEST_F(Sources, AConstantOfAFileHoldsItsNumbers) {
  EXPECT_EQ(done("constant as=layers.3.extra file=" + file("v.npy", npy("3,", {1, 2.5F, -3}))),
            "constant layers.3.extra");
  EXPECT_EQ(attribute("layers.3.extra", "data"), "[1, 2.5, -3]");
  EXPECT_EQ(attribute("layers.3.extra", "shape"), "[3]");
  EXPECT_EQ(done("constant as=half value=0.5 shape=2,4 dtype=f16"), "constant half");
  EXPECT_EQ(attribute("half", "value"), "0.5");
  EXPECT_EQ(to_string(graph_.value(node("half").outputs[0]).type), "f16[2, 4]");
  EXPECT_TRUE(verify(graph_).empty());
}

TEST_F(Sources, ConstantsThatCannotBeAreRefused) {
  EXPECT_THAT(done("constant as=a"), HasSubstr("needs a value or a file"));
  EXPECT_THAT(done("constant as=a value=1 shape=2,x"), HasSubstr("\"2,x\" is no shape"));
  EXPECT_THAT(done("constant as=a value=300 dtype=u8"), HasSubstr("no u8"));
  EXPECT_THAT(done("constant as=a value=1 file=" + file("v.npy", npy("1,", {1}))),
              HasSubstr("value is given as well as a file"));
  EXPECT_THAT(done("constant as=a file=" + folder_.path().string() + "/gone.npy"),
              AllOf(HasSubstr("The file is not there"), HasSubstr("gone.npy")));
  EXPECT_THAT(done("constant as=a file=" + file("nan.npy", npy("1,", {NAN}))), HasSubstr("verb weight"));
  EXPECT_THAT(done("constant as=embed value=1"), HasSubstr("embed"));
  expect_unchanged();
}

TEST_F(Sources, AWeightReadsATensorOfAFile) {
  const std::string path = file("v.npy", npy("2, 2", {1, 2, 3, 4}));
  EXPECT_EQ(done("weight as=layers.3.extra.weight file=" + path), "weight layers.3.extra.weight");
  EXPECT_EQ(attribute("layers.3.extra.weight", "file"), path);
  EXPECT_EQ(attribute("layers.3.extra.weight", "tensor"), "v");
  EXPECT_NE(attribute("layers.3.extra.weight", "stamp"), "");
  EXPECT_EQ(to_string(graph_.value(node("layers.3.extra.weight").outputs[0]).type), "f32[2, 2]");
  const std::string several = (io::kData / "tiny_adapter/adapter_model.safetensors").string();
  EXPECT_THAT(done("weight as=b file=" + several),
              AllOf(HasSubstr("tensors, not one"), HasSubstr("it has ")));
  EXPECT_THAT(done("weight as=b tensor=x file=" + several), HasSubstr("no tensor \"x\""));
  EXPECT_THAT(done("weight as=b file=" + (io::kData / "tiny_adapter").string()), HasSubstr("adapter dir="));
  EXPECT_TRUE(verify(graph_).empty());
}

TEST_F(Sources, SteeringAddsAVectorToTheStreamThatLeaves) {
  const std::string path = file("v.npy", npy("576,", std::vector<float>(576, 0.5F)));
  EXPECT_EQ(done("steer scope=layers.10 strength=4 file=" + path), "steer layers.10 by 4 of v.npy");
  EXPECT_EQ(input("layers.10.steer.add", 0), "layers.10.mlp.residual:dst");
  EXPECT_EQ(input("layers.10.steer.add", 1), "layers.10.steer.scale:dst");
  EXPECT_EQ(attribute("layers.10.steer.scale", "factor"), "4");
  EXPECT_EQ(input("layers.11.attention.norm", 0), "layers.10.steer.add:dst");
  EXPECT_TRUE(verify(graph_).empty());
  EXPECT_EQ(done("steer scope=layers.10 file=" + path), "steer layers.10 by 1 of v.npy");
  EXPECT_EQ(input("layers.10.steer_2.add", 0), "layers.10.steer.add:dst");
  EXPECT_EQ(done("bypass scope=layers.10"), "bypass layers.10");
  EXPECT_EQ(input("layers.11.attention.norm", 0), "layers.9.mlp.residual:dst");
}

TEST_F(Sources, AControlVectorHasOneForEachLayer) {
  io::Bytes bytes;
  std::string header = R"({"direction.3":{"dtype":"F32","shape":[576],"data_offsets":[0,2304]},)"
                       R"("direction.5":{"dtype":"F32","shape":[576],"data_offsets":[2304,4608]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  bytes.u64(header.size()).raw(header).zeros(4608);
  const std::string path = folder_.write("c.safetensors", bytes.text).string();
  EXPECT_EQ(done("steer scope=layers.* file=" + path), "steer layers.* by 1 of c.safetensors");
  EXPECT_EQ(attribute("layers.3.steer.vector", "tensor"), "direction.3");
  EXPECT_EQ(attribute("layers.5.steer.vector", "tensor"), "direction.5");
  EXPECT_FALSE(graph_.find_path("layers.4.steer.add").valid());
  EXPECT_THAT(done("steer scope=layers.7 file=" + path), HasSubstr("no vector for any of these layers"));
  EXPECT_THAT(done("steer scope=embed file=" + path), HasSubstr("the scope is none"));
}

TEST_F(Sources, VectorsThatDoNotFitAreRefusedWithBothShapes) {
  const std::string path = file("v.npy", npy("4,", {1, 2, 3, 4}));
  EXPECT_THAT(done("steer scope=layers.3 file=" + path),
              AllOf(HasSubstr("f32[4]"), HasSubstr("layers.3.mlp.residual:dst f32[tokens, 576]")));
  EXPECT_THAT(done("steer scope=layers.3-4 as=x file=" + path), HasSubstr("One name is given for several"));
  EXPECT_THAT(done("steer scope=layers.0.attention.kv_append file=" + path), HasSubstr("leave"));
  expect_unchanged();
}

TEST_F(Sources, TwoTextsSteerByTheVectorThatTheyAreGiven) {
  const std::string words = "steer scope=layers.10 strength=4 toward=\"so glad\" from=\"so sad\"";
  auto open = parse_edit(words);
  ASSERT_TRUE(open.ok()) << open.error().to_string();
  ASSERT_TRUE(wants_vector(*open));
  const auto texts = texts_to_steer(graph_, *open);
  ASSERT_TRUE(texts.ok()) << texts.error().to_string();
  EXPECT_EQ(graph_.value_path(texts->stream), "layers.10.mlp.residual:dst");
  EXPECT_EQ(texts->toward, "so glad");
  EXPECT_EQ(texts->from, "so sad");

  std::vector<float> numbers(576, 0.25F);
  numbers[3] = 1.0F / 3;
  const Edit whole = with_vector(*open, numbers);
  EXPECT_FALSE(wants_vector(whole));
  EXPECT_EQ(done(whole.to_string()), "steer layers.10 by 4 of two texts");
  EXPECT_EQ(input("layers.10.steer.add", 0), "layers.10.mlp.residual:dst");
  const auto& data = std::get<std::vector<double>>(node("layers.10.steer.vector").attributes.at("data"));
  EXPECT_EQ(std::vector<float>(data.begin(), data.end()), numbers);
  EXPECT_TRUE(verify(graph_).empty());
  // A graph alone knows no more than that it fits.
  EXPECT_EQ(done(words), "steer layers.10 by 4 of two texts");
  EXPECT_EQ(attribute("layers.10.steer_2.vector", "value"), "0");
}

TEST_F(Sources, TextsThatMakeNoVectorAreRefused) {
  const std::string texts = " toward=a from=b";
  EXPECT_THAT(done("steer scope=layers.3"), HasSubstr("a file, or two texts"));
  EXPECT_THAT(done("steer scope=layers.3 toward=a"), HasSubstr("a file, or two texts"));
  EXPECT_THAT(done("steer scope=layers.3 toward=a from=a"), HasSubstr("Both texts are the same"));
  EXPECT_THAT(done("steer scope=layers.3-4" + texts), HasSubstr("one scope, and there are 2"));
  EXPECT_THAT(done("steer scope=layers.3 file=v.npy" + texts), HasSubstr("A file brings the vector"));
  EXPECT_THAT(done("steer scope=layers.3 vector=AAAA" + texts), HasSubstr("no base64 of 576 float32"));
  EXPECT_THAT(done("steer scope=layers.3 vector=!" + texts), HasSubstr("no base64 of 576 float32"));
  const Edit infinite = with_vector({"steer", {{"scope", "layers.3"}, {"toward", "a"}, {"from", "b"}}},
                                    std::vector<float>(576, std::numeric_limits<float>::infinity()));
  EXPECT_THAT(done(infinite.to_string()), HasSubstr("not finite"));
  expect_unchanged();
}

std::string fixture(const char* name) { return std::string(ORRERY_TEST_DATA) + "/models/" + name; }

/// Numbers are compared in models_decoder_parity_test.
class Adapters : public Sources {
 protected:
  void open(const std::string& path) {
    auto model = io::open_model(path, {}, {});
    ASSERT_TRUE(model.ok()) << model.error().to_string();
    auto built = models::build(**model, nullptr);
    ASSERT_TRUE(built.ok()) << built.error().to_string();
    graph_ = std::move(built->graph);
    opened_ = print(graph_);
  }
  std::string opened_;
};

TEST_F(Adapters, TheMatricesStandBesideTheLinears) {
  ASSERT_NO_FATAL_FAILURE(open(fixture("llama/model.gguf")));
  EXPECT_EQ(done("adapter strength=0.5 dir=" + fixture("llama/adapter")), "adapter adapter, strength 0.5");
  const std::string lora = "layers.0.attention.q_proj_lora";
  EXPECT_EQ(input(lora + ".lora_a", 0), input("layers.0.attention.q_proj", 0));
  EXPECT_EQ(input(lora + ".lora_b", 0), lora + ".lora_a:dst");
  EXPECT_EQ(attribute(lora + ".scale", "factor"), "2");  // 0.5 * 12 / 3
  EXPECT_EQ(input(lora + ".add", 0), "layers.0.attention.q_proj:dst");
  EXPECT_EQ(attribute(lora + ".lora_a.weight", "tensor"), "blk.0.attn_q.weight.lora_a");
  EXPECT_TRUE(verify(graph_).empty());
  // One more on top, in a part of it.
  EXPECT_EQ(done("adapter scope=layers.0.attention dir=" + fixture("llama/adapter")), "adapter adapter");
  EXPECT_TRUE(graph_.find_path(lora + "_2.add").valid());
  EXPECT_FALSE(graph_.find_path("layers.0.mlp.up_proj_lora_2.add").valid());
  EXPECT_TRUE(verify(graph_).empty());
}

TEST_F(Adapters, FusedAndTransposedMatricesAreTakenApartAlike) {
  ASSERT_NO_FATAL_FAILURE(open(fixture("gpt2")));
  EXPECT_EQ(done("adapter dir=" + fixture("gpt2/adapter")), "adapter adapter");
  const std::string lora = "layers.0.attention.k_proj_lora";
  EXPECT_EQ(attribute(lora + ".lora_a.weight", "transposed"), "true");
  EXPECT_EQ(attribute(lora + ".lora_b.weight", "rows"),
            attribute("layers.0.attention.k_proj.weight", "rows"));
  EXPECT_THAT(attribute(lora + ".lora_a.weight", "tensor"), HasSubstr("c_attn.weight.lora_b"));
  EXPECT_TRUE(verify(graph_).empty());
}

TEST_F(Adapters, OfAnotherModelAreRefusedByName) {
  EXPECT_THAT(done("adapter dir=" + fixture("llama/adapter")),
              AllOf(HasSubstr("changes model.layers.0."), HasSubstr("and layers.0.")));
  EXPECT_THAT(done("adapter dir=" + fixture("gpt2/adapter")), HasSubstr("which the graph does not read"));
  EXPECT_THAT(done("adapter dir=" + folder_.path().string()), HasSubstr("lacks adapter_config.json"));
  EXPECT_THAT(done("adapter dir=/nowhere"), HasSubstr("/nowhere"));
  expect_unchanged();
  ASSERT_NO_FATAL_FAILURE(open(fixture("llama")));
  EXPECT_THAT(done("adapter scope=embed dir=" + fixture("llama/adapter")),
              HasSubstr("changes nothing of it"));
  EXPECT_EQ(print(graph_), opened_);
}

TEST_F(Adapters, WholeTensorsOfAHeadThatIsNotThereAreRefused) {
  graph_ = graph_of("minilm");
  EXPECT_THAT(done(std::string("adapter dir=") + ORRERY_SOURCE_DIR + "/resources/models/sentiment"),
              AllOf(HasSubstr("which the graph does not read"), HasSubstr("--adapter")));
}

TEST(RecipeFiles, AreRelativeToTheRecipe) {
  std::vector<Edit> edits = {{"steer", {{"scope", "layers.1"}, {"file", "v.npy"}}},
                             {"adapter", {{"dir", "/else/where"}}},
                             {"bypass", {{"scope", "layers.2"}}}};
  resolve_files(edits, "/recipes/mine");
  EXPECT_EQ(edits[0].fields.at("file"), "/recipes/mine/v.npy");
  EXPECT_EQ(edits[1].fields.at("dir"), "/else/where");
  EXPECT_EQ(edits[2].fields.at("scope"), "layers.2");
}

}  // namespace
}  // namespace orrery::edit
