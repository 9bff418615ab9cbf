#include "engine/custom/signature.h"

#include <gmock/gmock.h>

#include "engine/base/sha256.h"

namespace orrery::custom {
namespace {

using ::testing::HasSubstr;

orrery_tensor tensor(DType dtype, std::vector<int64_t> sizes) {
  orrery_tensor made{};
  made.dtype = number_of(dtype);
  made.rank = static_cast<int32_t>(sizes.size());
  std::ranges::copy(sizes, made.sizes);
  return made;
}

/// What the outputs are for these inputs, or why they are refused.
std::string outputs(const std::string& in, const std::string& out, std::vector<orrery_tensor> inputs,
                    int64_t k = 0) {
  const auto signature = parse_signature(in, out, "k = 5: how many");
  if (!signature) return signature.error().to_string();
  orrery_call call{};
  for (orrery_tensor& input : call.inputs) input.rank = -1;
  std::ranges::copy(inputs, call.inputs);
  call.attributes[0].integer = k;
  if (const auto declared = declare_outputs(*signature, call); !declared.ok()) return declared.error().what;
  std::string text;
  for (size_t i = 0; i < signature->outputs.size(); ++i)
    text += (i > 0 ? " " : "") + to_string(call.outputs[i]);
  return text;
}

TEST(Signature, GivesOutputsTheirShapes) {
  EXPECT_EQ(outputs("src f32[...]", "dst src", {tensor(DType::f32, {2, 3})}), "f32[2, 3]");
  EXPECT_EQ(outputs("src any", "dst i64[1]", {tensor(DType::u8, {})}), "i64[1]");
  EXPECT_EQ(outputs("src f32|f16[..., cols]", "values src[..., k], indices i32[..., k]",
                    {tensor(DType::f16, {4, 3, 9})}, 2),
            "f16[4, 3, 2] i32[4, 3, 2]");
  EXPECT_EQ(outputs("src u8[h, w, 3]", "dst u8[h, w]", {tensor(DType::u8, {5, 6, 3})}), "u8[5, 6]");
  EXPECT_EQ(outputs("a f32[m, n], b? f32[n]", "c f32[n, m]", {tensor(DType::f32, {2, 7})}), "f32[7, 2]")
      << "what is optional may be left out";
}

TEST(Signature, RefusesWhatDoesNotFit) {
  EXPECT_EQ(outputs("src f32[...]", "dst src", {tensor(DType::f16, {2})}),
            "src is f16[2], and f32[...] is taken");
  EXPECT_EQ(outputs("src f32[..., cols], bias f32[cols]", "dst src",
                    {tensor(DType::f32, {2, 3}), tensor(DType::f32, {4})}),
            "bias is f32[4], and f32[cols] is taken, where cols is 3");
  EXPECT_EQ(
      outputs("a f32[...], b f32[...]", "c a", {tensor(DType::f32, {2, 3}), tensor(DType::f32, {3, 2})}),
      "b is f32[3, 2], and f32[...] is taken, where ... is [2, 3]");
  EXPECT_EQ(outputs("src u8[h, w, 3]", "dst u8[h, w]", {tensor(DType::u8, {5, 6, 4})}),
            "src is u8[5, 6, 4], and u8[h, w, 3] is taken");
}

TEST(Signature, SaysWhatIsWrongInADeclaration) {
  EXPECT_THAT(outputs("src f33", "dst src", {}), HasSubstr("\"f33\" is no type of elements"));
  EXPECT_THAT(outputs("src f32[a, ...]", "dst src", {}), HasSubstr("... only comes first"));
  EXPECT_THAT(outputs("src f32[a", "dst src", {}), HasSubstr("] is missing"));
  EXPECT_THAT(outputs("src f32[a]", "dst f32[b]", {}), HasSubstr("No input has the size b"));
  EXPECT_THAT(outputs("src f32[a]", "dst other", {}), HasSubstr("\"other\" is neither a type nor an input"));
  EXPECT_THAT(outputs("src f32[a]", "dst f32", {}), HasSubstr("An output of a type needs its sizes"));
  EXPECT_THAT(outputs("src f32[a]", "", {}), HasSubstr("There is no output"));
}

TEST(Signature, ReadsAttributes) {
  const auto signature =
      parse_signature("", "dst f32[k]", "k = 5; scale=-1.5e3: by; mode = \"a; b: c\": which; exact = true");
  ASSERT_TRUE(signature.ok()) << signature.error().to_string();
  ASSERT_EQ(signature->attributes.size(), 4U);
  EXPECT_EQ(*signature->attributes[0].fallback, graph::Attribute(int64_t{5}));
  EXPECT_EQ(*signature->attributes[1].fallback, graph::Attribute(-1500.0));
  EXPECT_EQ(signature->attributes[1].doc, "by");
  EXPECT_EQ(*signature->attributes[2].fallback, graph::Attribute(std::string("a; b: c")));
  EXPECT_EQ(signature->attributes[2].doc, "which");
  EXPECT_EQ(*signature->attributes[3].fallback, graph::Attribute(true));
  EXPECT_FALSE(parse_signature("", "dst f32[1]", "k: 3").ok());
  EXPECT_FALSE(parse_signature("", "dst f32[1]", "k = x").ok());
}

TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace
}  // namespace orrery::custom
