// Tiny decoders of every architecture, exported as they are and after surgery: what is opened again answers
// to the last bit as the edited graph does.
#include "engine/exporter/tensor_bytes.h"
#include "tests/engine/exporter/export_testing.h"
#include "tests/support/npy.h"

namespace orrery::exporter {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Case {
  std::string name, file;  // file: "" the folder, or "model.gguf"
  std::string text() const { return name + (file.empty() ? "_folder" : "_gguf"); }
};
void PrintTo(const Case& fixture, std::ostream* out) { *out << fixture.text(); }

std::vector<Case> cases() {
  std::vector<Case> found;
  for (const auto& entry : std::filesystem::directory_iterator(fixtures())) {
    if (!std::filesystem::exists(entry.path() / "expected.json")) continue;
    for (const char* file : {"", "model.gguf"})
      if (std::filesystem::exists(entry.path() / file)) found.push_back({entry.path().filename(), file});
  }
  return found;
}

class Exported : public testing::TestWithParam<Case> {
 protected:
  std::filesystem::path out() const {
    return folder_.path() / (GetParam().file.empty() ? "exported" : "exported.gguf");
  }
  /// Layers whose windows or rotations go by their number, which a file of this kind cannot say otherwise.
  static bool goes_by_number(const Plan& plan) {
    const auto lines = told(plan);
    return !lines.empty() && std::ranges::all_of(lines, [](const std::string& line) {
      return line.find("window") != std::string::npos || line.find("theta") != std::string::npos ||
             line.find("base") != std::string::npos || line.find("It is") != std::string::npos;
    });
  }
  void expect_same_answers(const std::vector<std::string>& edits) {
    Opened model(fixtures() / GetParam().name / GetParam().file);
    for (const std::string& words : edits) ASSERT_NO_FATAL_FAILURE(model.edit(words));
    const auto planned = model.planned();
    ASSERT_TRUE(planned.ok()) << planned.error().to_string();
    if (goes_by_number(*planned)) {
      EXPECT_THAT(GetParam().text(), testing::AnyOf("gemma2_gguf", "gemma3_gguf", "smollm3_gguf"));
      EXPECT_FALSE(model.exported(out()).ok());
      EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
      return;
    }
    ASSERT_THAT(told(*planned), IsEmpty());
    const auto bytes = model.exported(out());
    ASSERT_TRUE(bytes.ok()) << bytes.error().to_string();
    Opened again(out());
    EXPECT_EQ(again.logprobs(tokens_of(GetParam().name)), model.logprobs(tokens_of(GetParam().name)));
  }

  io::TempFolder folder_;
};

TEST_P(Exported, WithoutEditsTensorsAndMetadataAreTheSame) {
  Opened model(fixtures() / GetParam().name / GetParam().file);
  const auto planned = model.planned();
  ASSERT_TRUE(planned.ok()) << planned.error().to_string();
  ASSERT_THAT(told(*planned), IsEmpty());
  for (const PlannedTensor& tensor : planned->tensors)
    EXPECT_EQ(tensor.how, "as it is") << tensor.header.name;
  const auto bytes = model.exported(out());
  ASSERT_TRUE(bytes.ok()) << bytes.error().to_string();
  Opened again(out());
  ASSERT_EQ(again.file->tensors.size(), model.file->tensors.size());
  for (const io::Tensor& tensor : model.file->tensors) {
    const io::Tensor* written = again.file->find(tensor.name);
    ASSERT_TRUE(written) << tensor.name;
    EXPECT_TRUE(std::ranges::equal(written->data, tensor.data)) << tensor.name;
  }
  EXPECT_EQ(again.file->metadata.all(), model.file->metadata.all());
  if (!GetParam().file.empty()) {
    EXPECT_TRUE(std::ranges::equal(again.file->files.front()->bytes(), model.file->files.front()->bytes()));
  }
  EXPECT_EQ(print(*again.graph), print(*model.graph));
}

TEST_P(Exported, ALayerDeletedAndOneRepeated) {
  Opened model(fixtures() / GetParam().name / GetParam().file);
  const std::string last = std::to_string(model.layers - 1);
  expect_same_answers({"repeat scope=layers." + last + " times=2", "delete scope=layers.0"});
}

TEST_P(Exported, LayersInAnotherOrder) {
  Opened model(fixtures() / GetParam().name / GetParam().file);
  if (model.layers < 2) GTEST_SKIP() << "one layer has one order";
  expect_same_answers({"move scope=layers.0 after=layers." + std::to_string(model.layers - 1)});
}

INSTANTIATE_TEST_SUITE_P(Models, Exported, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.text(); });

/// What is told in weights: the exported model has other bytes and, within rounding, the same answers.
class FoldedIn : public testing::Test {
 protected:
  void open(const std::string& name, const std::string& file = "model.gguf") {
    name_ = name;
    out_ = folder_.path() / (file.empty() ? "exported" : "exported.gguf");
    model_.emplace(fixtures() / name / file);
    before_ = model_->logprobs(tokens_of(name));
  }
  void expect_same_answers() {
    const auto planned = model_->planned();
    ASSERT_TRUE(planned.ok()) << planned.error().to_string();
    ASSERT_THAT(told(*planned), IsEmpty());
    const auto bytes = model_->exported(out_);
    ASSERT_TRUE(bytes.ok()) << bytes.error().to_string();
    Opened again(out_);
    const auto edited = model_->logprobs(tokens_of(name_));
    EXPECT_THAT(again.logprobs(tokens_of(name_)), testing::Pointwise(testing::FloatNear(2e-5F), edited));
    EXPECT_NE(edited, before_);
  }
  std::string vector(float value) const {
    std::vector<float> values(32);
    for (size_t i = 0; i < values.size(); ++i) values[i] = value * static_cast<float>(i % 5);
    return folder_.write("vector.npy", test::npy(std::to_string(values.size()) + ",", values)).string();
  }

  io::TempFolder folder_;
  std::string name_;
  std::filesystem::path out_;
  std::optional<Opened> model_;
  std::vector<float> before_;
};

TEST_F(FoldedIn, AVectorBecomesABias) {
  ASSERT_NO_FATAL_FAILURE(open("llama"));
  model_->edit("steer scope=layers.1 strength=0.5 file=" + vector(0.2F));
  ASSERT_NO_FATAL_FAILURE(expect_same_answers());
  EXPECT_TRUE(Opened(out_).file->find("blk.1.ffn_down.bias"));
}

TEST_F(FoldedIn, AVectorIsAddedToTheBiasThatIsThere) {
  ASSERT_NO_FATAL_FAILURE(open("gpt2", ""));
  model_->edit("steer scope=layers.0 file=" + vector(0.2F));
  model_->edit("delete scope=layers.1");
  ASSERT_NO_FATAL_FAILURE(expect_same_answers());
}

TEST_F(FoldedIn, AVectorWithoutAPlaceIsTold) {
  ASSERT_NO_FATAL_FAILURE(open("llama", ""));
  model_->edit("steer scope=layers.1 file=" + vector(0.2F));
  const auto planned = model_->planned();
  ASSERT_TRUE(planned.ok());
  EXPECT_THAT(told(*planned),
              Contains(AllOf(HasSubstr("layers.1.mlp.down_proj.bias"), HasSubstr("Hugging Face folder"),
                             HasSubstr("keeps no model.layers.1.mlp.down_proj.bias"))));
  EXPECT_FALSE(model_->exported(out_).ok());
}

TEST_F(FoldedIn, FactorsAndZerosAreInTheRowsOrColumns) {
  ASSERT_NO_FATAL_FAILURE(open("llama"));
  model_->edit("scale node=layers.0.mlp.down_proj factor=0.75");
  model_->edit("scale node=layers.1.attention.sdpa factor=1.5");
  model_->edit("zero node=layers.2.attention.sdpa heads=1");
  model_->edit("zero node=layers.1.mlp.up_proj rows=3-9");
  ASSERT_NO_FATAL_FAILURE(expect_same_answers());
}

TEST_F(FoldedIn, FusedAndTransposedMatricesToo) {
  ASSERT_NO_FATAL_FAILURE(open("gpt2", ""));
  model_->edit("scale node=layers.0.attention.k_proj factor=0.5");
  model_->edit("zero node=layers.1.attention.sdpa heads=0");
  ASSERT_NO_FATAL_FAILURE(expect_same_answers());
}

TEST_F(FoldedIn, AdaptersAreMerged) {
  for (const auto& [name, file] : {std::pair("llama", "model.gguf"), std::pair("llama", ""),
                                   std::pair("gpt2", ""), std::pair("qwen3", "model.gguf")}) {
    SCOPED_TRACE(std::string(name) + "/" + file);
    ASSERT_NO_FATAL_FAILURE(open(name, file));
    out_ += name;
    if (*file) out_ += ".gguf";
    model_->edit("adapter strength=0.5 dir=" + (fixtures() / name / "adapter").string());
    ASSERT_NO_FATAL_FAILURE(expect_same_answers());
    std::filesystem::remove_all(out_);
  }
}

TEST_F(FoldedIn, AnAdapterIsMergedAsFarAsItIsOn) {
  ASSERT_NO_FATAL_FAILURE(open("llama"));
  model_->edit("adapter scope=layers.1 dir=" + (fixtures() / "llama/adapter").string());
  model_->edit("scale node=layers.1.mlp.down_proj_lora.lora_b factor=-0.5");
  ASSERT_NO_FATAL_FAILURE(expect_same_answers());
}

TEST_F(FoldedIn, AnAdapterThatTheModelWasOpenedWith) {
  name_ = "llama";
  out_ = folder_.path() / "exported.gguf";
  model_.emplace(fixtures() / "llama/model.gguf", fixtures() / "llama/adapter");
  ASSERT_NO_FATAL_FAILURE(expect_same_answers());
}

TEST_F(FoldedIn, TensorsInAnotherType) {
  ASSERT_NO_FATAL_FAILURE(open("llama"));
  model_->edit("quantise scope=layers.0.attention type=q8_0");
  model_->edit("quantise scope=layers.2.mlp type=f16");
  ASSERT_NO_FATAL_FAILURE(expect_same_answers());
  const Opened again(out_);
  EXPECT_EQ(again.file->find("blk.0.attn_q.weight")->dtype, DType::q8_0);
  EXPECT_EQ(again.file->find("blk.2.ffn_down.weight")->dtype, DType::f16);
  EXPECT_EQ(again.file->find("blk.1.attn_q.weight")->dtype, DType::f32);
}

TEST_F(FoldedIn, WhatIsFoldedIsExactOrKeepsTheType) {
  ASSERT_NO_FATAL_FAILURE(open("llama"));
  model_->edit("quantise scope=layers.0.attention type=q8_0");
  model_->edit("scale node=layers.0.attention.o_proj factor=0.7");
  ASSERT_NO_FATAL_FAILURE(expect_same_answers());
  EXPECT_EQ(Opened(out_).file->find("blk.0.attn_output.weight")->dtype, DType::f32);
  const auto bytes = model_->exported(out_, FoldedAs::stored);
  ASSERT_TRUE(bytes.ok()) << bytes.error().to_string();
  Opened rounded(out_);
  EXPECT_EQ(rounded.file->find("blk.0.attn_output.weight")->dtype, DType::q8_0);
  EXPECT_THAT(rounded.logprobs(tokens_of("llama")),
              testing::Pointwise(testing::FloatNear(2e-2F), model_->logprobs(tokens_of("llama"))));
}

/// Whole heads are whole blocks, so that the others keep theirs.
TEST_F(FoldedIn, ZeroedHeadsKeepTheType) {
  ASSERT_NO_FATAL_FAILURE(open("llama_yarn"));
  model_->edit("quantise scope=layers.0.attention type=q8_0");
  model_->edit("zero node=layers.0.attention.sdpa heads=2-3");
  ASSERT_NO_FATAL_FAILURE(expect_same_answers());
  EXPECT_EQ(Opened(out_).file->find("blk.0.attn_output.weight")->dtype, DType::q8_0);
}

TEST_F(FoldedIn, WhatIsUntouchedKeepsItsBytes) {
  ASSERT_NO_FATAL_FAILURE(open("llama"));
  model_->edit("scale node=layers.0.mlp.down_proj factor=0.75");
  const auto planned = model_->planned();
  ASSERT_TRUE(planned.ok());
  for (const PlannedTensor& tensor : planned->tensors)
    EXPECT_EQ(tensor.as_it_is, tensor.header.name != "blk.0.ffn_down.weight") << tensor.header.name;
}

TEST_F(FoldedIn, FastmaxThatWasTakenBackLeavesNothing) {
  ASSERT_NO_FATAL_FAILURE(open("llama"));
  model_->edit("attention scope=layers.* kind=fastmax");
  EXPECT_NE(model_->logprobs(tokens_of("llama")), before_);
  model_->edit("attention scope=layers.* kind=softmax");
  const auto planned = model_->planned();
  ASSERT_TRUE(planned.ok()) << planned.error().to_string();
  EXPECT_THAT(told(*planned), IsEmpty());
  for (const PlannedTensor& tensor : planned->tensors) EXPECT_TRUE(tensor.as_it_is) << tensor.header.name;
  EXPECT_EQ(model_->logprobs(tokens_of("llama")), before_);
}

/// What a file of the architecture cannot say is told, node by node, and nothing is written.
class NotExpressible : public FoldedIn {
 protected:
  std::vector<std::string> lines() {
    const auto planned = model_->planned();
    EXPECT_TRUE(planned.ok()) << planned.error().to_string();
    if (!planned.ok()) return {};
    const auto written = model_->exported(out_);
    EXPECT_FALSE(written.ok());
    EXPECT_FALSE(std::filesystem::exists(out_));
    return told(*planned);
  }
};

TEST_F(NotExpressible, AnInsertedNode) {
  ASSERT_NO_FATAL_FAILURE(open("llama"));
  model_->edit("insert op=tanh as=layers.1.squashed after=layers.1.mlp.residual:dst");
  EXPECT_THAT(lines(), Contains(AllOf(HasSubstr("layers.1.squashed"), HasSubstr("It is tanh"))));
}

TEST_F(NotExpressible, AllOfThemAreTold) {
  ASSERT_NO_FATAL_FAILURE(open("llama"));
  model_->edit("insert op=tanh as=layers.2.squashed after=layers.2.mlp.residual:dst");
  model_->edit("insert op=silu as=layers.1.gated after=layers.1.attention.o_proj:dst");
  model_->edit("attention scope=layers.0 kind=fastmax p=2");
  EXPECT_THAT(lines(), AllOf(Contains(HasSubstr("layers.2.squashed: It is tanh")),
                             Contains(HasSubstr("layers.1.gated: It is silu")),
                             Contains(HasSubstr("layers.0.attention.sdpa: kind is fastmax"))));
}

TEST_F(NotExpressible, AnotherAttribute) {
  ASSERT_NO_FATAL_FAILURE(open("llama"));
  model_->edit("set node=layers.1.mlp.norm attribute=eps value=0.5");
  EXPECT_THAT(lines(), Contains(AllOf(HasSubstr("layers.1.mlp.norm"), HasSubstr("eps is 0.5"))));
}

TEST_F(NotExpressible, ABypassedPartOfALayer) {
  ASSERT_NO_FATAL_FAILURE(open("llama"));
  model_->edit("bypass scope=layers.1.mlp");
  EXPECT_THAT(lines(), testing::Not(IsEmpty()));
}

TEST_F(NotExpressible, PartsOfOneTensorInSeveralTypes) {
  ASSERT_NO_FATAL_FAILURE(open("gpt2"));
  model_->edit("quantise scope=layers.0.attention.q_proj type=f16");
  EXPECT_THAT(lines(), Contains(AllOf(HasSubstr("layers.0.attention"), HasSubstr("store them alike"))));
}

TEST_F(NotExpressible, BlocksInAFolder) {
  ASSERT_NO_FATAL_FAILURE(open("llama", ""));
  model_->edit("quantise scope=layers.0.mlp.gate_proj type=q8_0");
  EXPECT_THAT(lines(), Contains(HasSubstr("It is Q8_0, and safetensors has f16, bf16 and f32")));
}

TEST_F(NotExpressible, WhatIsOnlyAskedOfThisSessionIsDropped) {
  ASSERT_NO_FATAL_FAILURE(open("llama"));
  model_->edit("precision scope=layers.0 dtype=int8");
  model_->edit("place scope=layers.1 device=cpu");
  model_->edit("probe as=look value=layers.1.mlp.residual:dst");
  model_->edit("bypass scope=layers.2");
  model_->edit("set node=sampler.sample attribute=top_k value=7");
  const auto planned = model_->planned();
  ASSERT_TRUE(planned.ok());
  EXPECT_THAT(told(*planned), IsEmpty());
  EXPECT_THAT(planned->dropped,
              AllOf(Contains(HasSubstr("devices")), Contains(HasSubstr("precisions")),
                    Contains(HasSubstr("probes")), Contains(HasSubstr("nodes that no output needs")),
                    Contains(HasSubstr("top_k of sampler.sample"))));
}

TEST_F(FoldedIn, AStopLeavesNothing) {
  ASSERT_NO_FATAL_FAILURE(open("llama"));
  std::stop_source source;
  const auto stopped = model_->exported(out_, FoldedAs::exact,
                                        {[&](std::string_view, uint64_t done, uint64_t) {
                                           if (done > 0) source.request_stop();
                                         },
                                         source.get_token()});
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(FoldedIn, TheModelItselfAndAFullFolderAreNotWrittenOver) {
  const auto copy = folder_.path() / "model.gguf";
  std::filesystem::copy_file(fixtures() / "llama/model.gguf", copy);
  const auto refused = Opened(copy).exported(copy);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("would replace the model"));
  const auto full = Opened(fixtures() / "llama").exported(folder_.path());
  ASSERT_FALSE(full.ok());
  EXPECT_THAT(full.error().to_string(), HasSubstr("not empty"));
}

}  // namespace
}  // namespace orrery::exporter
