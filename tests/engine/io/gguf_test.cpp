#include "engine/io/gguf_types.h"
#include "tests/engine/io/io_testing.h"

namespace orrery::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Gguf, ReadsWhatTheReferenceWriterWrote) {
  auto opened = open(kData / "tiny.gguf");
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  const ModelFile& file = **opened;
  EXPECT_EQ(file.format, Format::gguf);
  EXPECT_EQ(file.name, "Tiny");
  EXPECT_EQ(file.architecture, "llama");
  EXPECT_EQ(file.chat_template, "{{ messages }}");
  const Metadata& metadata = file.metadata;
  EXPECT_EQ(metadata.integer("test.u8"), 200);
  EXPECT_EQ(metadata.integer("test.i8"), -5);
  EXPECT_EQ(metadata.integer("test.u16"), 60000);
  EXPECT_EQ(metadata.integer("test.i16"), -300);
  EXPECT_EQ(metadata.integer("test.i32"), -70000);
  EXPECT_EQ(metadata.number("test.f32"), 0.5);
  EXPECT_EQ(metadata.flag("test.bool"), true);
  EXPECT_EQ(metadata.integer("test.u64"), int64_t{1} << 40);
  EXPECT_EQ(metadata.integer("test.i64"), -(int64_t{1} << 40));
  EXPECT_EQ(metadata.number("test.f64"), 1e300);
  EXPECT_THAT(*metadata.integers("test.ints"), ElementsAre(1, -2, 3));
  EXPECT_THAT(*metadata.numbers("test.reals"), ElementsAre(0.5, 1.5));
  EXPECT_THAT(*metadata.texts("tokenizer.ggml.tokens"), ElementsAre("a", "b", "<|end|>"));
}

TEST(Gguf, ShapesAreOutermostFirstAndBytesAreTheFiles) {
  auto opened = open(kData / "tiny.gguf");
  ASSERT_TRUE(opened.ok());
  const ModelFile& file = **opened;
  const Tensor* embedding = file.find("token_embd.weight");
  ASSERT_TRUE(embedding);
  EXPECT_EQ(embedding->dtype, DType::f32);
  EXPECT_THAT(embedding->shape, ElementsAre(3, 32));
  float last = 0;
  std::memcpy(&last, embedding->data.data() + 95 * sizeof(float), sizeof(last));
  EXPECT_EQ(last, 95.0F);
  EXPECT_THAT(file.find("half.weight")->shape, ElementsAre(2, 4));
  const Tensor* quantised = file.find("blk.0.ffn_up.weight");
  ASSERT_TRUE(quantised);
  EXPECT_EQ(quantised->dtype, DType::q4_1);
  EXPECT_THAT(quantised->shape, ElementsAre(2, 64));
  EXPECT_EQ(quantised->data.size(), 80U);
  EXPECT_EQ(static_cast<int>(quantised->data[79]), 79);
  EXPECT_EQ(file.find("nothing"), nullptr);
  EXPECT_EQ(file.parameters(), 96U + 32 + 8 + 128);
}

TEST(Gguf, EveryQuantisedTypeOfTheReferenceWriterIsRun) {
  auto opened = open(kData / "tiny_types.gguf");
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  EXPECT_EQ((*opened)->tensors.size(), 16U);
  for (const Tensor& tensor : (*opened)->tensors) {
    EXPECT_TRUE(check_runnable(tensor, "f").ok()) << tensor.name;
    EXPECT_THAT(tensor.shape, ElementsAre(2, 256)) << tensor.name;
    const bool is_float = tensor.name == "BF16" || tensor.name == "F16" || tensor.name == "F32";
    if (!is_float) {
      EXPECT_EQ(name_of(tensor.dtype), tensor.name);
    }
    EXPECT_EQ(static_cast<size_t>(tensor.data.back()), (tensor.data.size() - 1) % 251) << tensor.name;
  }
}

TEST(Gguf, ATokenizerAloneOpens) {
  const TempFolder folder;
  const auto path = folder.write("v.gguf", Bytes()
                                               .gguf(0, 2)
                                               .text_key("general.architecture", "llama")
                                               .text_key("tokenizer.ggml.model", "gpt2")
                                               .text);
  auto opened = open(path);
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  EXPECT_TRUE((*opened)->tensors.empty());
  EXPECT_EQ((*opened)->name, "v");
}

TEST(Gguf, ListsTensorsOfEveryKnownType) {
  const TempFolder folder;
  for (const GgufTensorType& type : kGgufTensorTypes) {
    SCOPED_TRACE(type.name);
    const auto file = [&](size_t bytes) {
      const auto cols = static_cast<uint64_t>(type.block_elements);
      return folder.write("a.gguf", Bytes()
                                        .gguf(1, 1)
                                        .text_key("general.architecture", "llama")
                                        .tensor("t", {cols, 3}, type.id, 0)
                                        .pad(32)
                                        .zeros(bytes)
                                        .text);
    };
    const auto bytes = 3 * static_cast<size_t>(type.block_bytes);
    auto opened = open(file(bytes));
    ASSERT_TRUE(opened.ok()) << opened.error().to_string();
    const Tensor& tensor = (*opened)->tensors.at(0);
    EXPECT_EQ(tensor.data.size(), bytes);
    EXPECT_EQ(tensor.foreign_type, type.dtype ? "" : type.name);
    EXPECT_EQ(tensor.type_name(), type.dtype ? name_of(*type.dtype) : type.name);
    EXPECT_EQ(check_runnable(tensor, "a.gguf").ok(), type.dtype.has_value());
    EXPECT_FALSE(open(file(bytes - 1)).ok());
  }
  EXPECT_EQ(find_gguf_type(16)->block_bytes, 66);   // IQ2_XXS: 2.0625 bits an element
  EXPECT_EQ(find_gguf_type(11)->block_bytes, 110);  // Q3_K: 3.4375
}

/// One tensor of 32 floats, whatever a case changes about it.
struct Attack {
  const char* name;
  std::string bytes;
  ErrorCode code;
  const char* words;
};

Bytes with_keys(std::initializer_list<std::string> keys, uint64_t tensors = 1) {
  Bytes bytes;
  bytes.gguf(tensors, keys.size() + 1).text_key("general.architecture", "llama");
  for (const std::string& key : keys) bytes.raw(key);
  return bytes;
}
std::string finished(Bytes bytes, size_t data = 128) { return bytes.pad(32).zeros(data).text; }
std::string one_tensor(std::initializer_list<uint64_t> dims, uint32_t type, uint64_t offset) {
  return finished(with_keys({}).tensor("t", dims, type, offset));
}
std::string one_key(const Bytes& key) { return finished(with_keys({key.text}).tensor("t", {32}, 0, 0)); }

std::vector<Attack> header_attacks() {
  const auto corrupt = ErrorCode::corrupt_file, unsupported = ErrorCode::unsupported;
  return {
      {"only magic", "GGUF", corrupt, "version"},
      {"version 1", Bytes().gguf(0, 0, 1).text, unsupported, "version 1"},
      {"version 4", Bytes().gguf(0, 0, 4).text, unsupported, "version 4"},
      {"big endian", Bytes().gguf(0, 0, 0x03000000).text, unsupported, "big-endian"},
      {"no counts", Bytes().raw("GGUF").u32(3).text, corrupt, "counts"},
      {"keys 2^63", Bytes().gguf(0, uint64_t{1} << 63).text, corrupt, "keys are declared"},
      {"tensors 2^64-1", Bytes().gguf(UINT64_MAX, 0).text, corrupt, "tensors are declared"},
      {"key length 2^63", Bytes().gguf(0, 1).u64(uint64_t{1} << 63).zeros(64).text, corrupt, "metadata key"},
      {"empty key", one_key(Bytes().string("").u32(4).u32(1)), corrupt, "key has 0 bytes"},
      {"key type 13", one_key(Bytes().string("k").u32(13).u32(1)), corrupt, "unknown value type 13"},
      {"text length 2^64-1", one_key(Bytes().string("k").u32(8).u64(UINT64_MAX)), corrupt, "\"k\""},
      {"bool 2", one_key(Bytes().string("k").u32(7).raw("\2")), corrupt, "bool"},
      {"key twice", one_key(Bytes().u32_key("general.architecture", 1)), corrupt, "twice"},
      {"array of arrays", one_key(Bytes().string("k").u32(9).u32(9).u64(1).u32(4).u64(0)), unsupported,
       "array of arrays"},
      {"array count 2^61", one_key(Bytes().string("k").u32(9).u32(10).u64(uint64_t{1} << 61)), corrupt,
       "elements"},
      {"array count 2^63", one_key(Bytes().string("k").u32(9).u32(0).u64(uint64_t{1} << 63)), corrupt,
       "elements"},
      {"array of 2^40 texts", one_key(Bytes().string("k").u32(9).u32(8).u64(uint64_t{1} << 40)), corrupt,
       "strings"},
      {"array type 99", one_key(Bytes().string("k").u32(9).u32(99).u64(1)), corrupt, "unknown type 99"},
      {"alignment 0", one_key(Bytes().u32_key("general.alignment", 0)), corrupt, "general.alignment is 0"},
      {"alignment 48", one_key(Bytes().u32_key("general.alignment", 48)), corrupt, "general.alignment is 48"},
      {"alignment text", one_key(Bytes().text_key("general.alignment", "32")), corrupt, "not an integer"},
      {"alignment bool", one_key(Bytes().string("general.alignment").u32(7).raw("\1")), corrupt,
       "not an integer"},
      {"alignment 2^40", one_key(Bytes().string("general.alignment").u32(10).u64(uint64_t{1} << 40)), corrupt,
       "2^30"},
      {"alignment -32", one_key(Bytes().string("general.alignment").u32(5).u32(0xffffffe0)), corrupt, "-32"},
      {"no architecture", finished(Bytes().gguf(1, 0).tensor("t", {32}, 0, 0)), corrupt, "architecture"},
      {"architecture a number",
       finished(Bytes().gguf(1, 1).u32_key("general.architecture", 3).tensor("t", {32}, 0, 0)), corrupt,
       "general.architecture is not a name"},
      {"neither tensors nor tokenizer", with_keys({}, 0).text, corrupt, "neither"},
  };
}

std::vector<Attack> tensor_attacks() {
  const auto corrupt = ErrorCode::corrupt_file, unsupported = ErrorCode::unsupported;
  return {
      {"no dims", one_tensor({}, 0, 0), corrupt, "0 dims"},
      {"five dims", one_tensor({1, 1, 1, 1, 1}, 0, 0), corrupt, "5 dims"},
      {"dim 0", one_tensor({32, 0}, 0, 0), corrupt, "Dim 1"},
      {"dim 2^63", one_tensor({uint64_t{1} << 63}, 0, 0), corrupt, "Dim 0"},
      {"product wraps to 16 bytes", one_tensor({4194305, 4194305, 211106198978564}, 0, 0), corrupt, "\"t\""},
      {"one dim of 2^42+1", one_tensor({(uint64_t{1} << 42) + 1}, 0, 0), corrupt, "17592186044420 bytes"},
      {"dims of 2^62 by 4", one_tensor({4, uint64_t{1} << 62}, 0, 0), corrupt, "\"t\""},
      {"row no whole block", one_tensor({31}, 2, 0), corrupt, "Q4_0"},
      {"unknown type", one_tensor({32}, 77, 0), unsupported, "unknown type 77"},
      {"removed type 36", one_tensor({256}, 36, 0), unsupported, "unknown type 36"},
      {"type 2^32-1", one_tensor({256}, UINT32_MAX, 0), unsupported, "unknown type 4294967295"},
      {"row no whole block of a type not run", one_tensor({32}, 16, 0), corrupt, "IQ2_XXS"},
      {"a type not run past the end", one_tensor({512}, 16, 0), corrupt, "132 bytes"},
      {"a type not run wraps", one_tensor({uint64_t{1} << 62, 4}, 16, 0), corrupt, "IQ2_XXS"},
      {"types not run overlap",
       finished(with_keys({}, 2).tensor("a", {256}, 16, 0).tensor("b", {256}, 16, 64), 160), corrupt,
       "overlap"},
      {"removed type", one_tensor({32}, 4, 0), unsupported, "unknown type 4"},
      {"offset misaligned", one_tensor({8}, 0, 4), corrupt, "no multiple of the alignment"},
      {"offset past the end", one_tensor({32}, 0, 4096), corrupt, "offset 4096"},
      {"offset wraps", one_tensor({32}, 0, UINT64_MAX - 31), corrupt, "at offset 1844"},
      {"one row too many", one_tensor({32, 2}, 0, 0), corrupt, "256 bytes"},
      {"overlap", finished(with_keys({}, 2).tensor("a", {16}, 0, 0).tensor("b", {16}, 0, 32)), corrupt,
       "overlap"},
      {"same place", finished(with_keys({}, 2).tensor("a", {8}, 0, 0).tensor("b", {8}, 0, 0)), corrupt,
       "overlap"},
      {"name twice", finished(with_keys({}, 2).tensor("a", {8}, 0, 0).tensor("a", {8}, 0, 32)), corrupt,
       "twice"},
      {"empty name", finished(with_keys({}).tensor("", {8}, 0, 0)), corrupt, "name has 0 bytes"},
      {"name length 2^64-8", finished(with_keys({}).u64(UINT64_MAX - 7)), corrupt, "tensor's name"},
      {"cut in the table", with_keys({}).string("t").u32(1).u64(32).zeros(1).text, corrupt, "ends inside"},
      {"cut before the data", with_keys({}).tensor("t", {32}, 0, 0).text, corrupt, "padding"},
  };
}

TEST(Gguf, RefusesAttacksByNameAndPlace) {
  const TempFolder folder;
  auto attacks = header_attacks();
  for (auto& attack : tensor_attacks()) attacks.push_back(attack);
  for (const Attack& attack : attacks) {
    SCOPED_TRACE(attack.name);
    expect_refused(open(folder.write("a.gguf", attack.bytes)), attack.code, attack.words);
  }
  // The frame around the attacks is legal by itself.
  EXPECT_TRUE(open(folder.write("a.gguf", one_tensor({32}, 0, 0))).ok());
  EXPECT_TRUE(open(folder.write("a.gguf", one_key(Bytes().u32_key("general.alignment", 16)))).ok());
}

TEST(Gguf, AnArrayIsReadByItsDeclaredElementType) {
  const TempFolder folder;
  // Three bytes declared as u8: a reader that casts to i32 would run over.
  auto opened = open(folder.write(
      "a.gguf", one_key(Bytes().string("tokenizer.ggml.token_type").u32(9).u32(0).u64(3).raw("\1\2\3"))));
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  EXPECT_THAT(*(*opened)->metadata.integers("tokenizer.ggml.token_type"), ElementsAre(1, 2, 3));
}

TEST(Gguf, NamesInMessagesCannotSteerATerminal) {
  const TempFolder folder;
  auto opened = open(folder.write("a.gguf", finished(with_keys({}).tensor("\x1b[31mred\n", {32}, 77, 0))));
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.error().to_string(), HasSubstr("\"?[31mred?\""));
}

TEST(Gguf, EveryTruncationIsRefused) {
  const TempFolder folder;
  const std::string whole = read_bytes(kData / "tiny.gguf");
  ASSERT_GT(whole.size(), 1000U);
  for (size_t length = 1; length < whole.size(); ++length) {
    auto opened = open(folder.write("t.gguf", whole.substr(0, length)));
    if (!opened.ok()) continue;
    // Only padding after the last tensor may be missing.
    EXPECT_GT(length, whole.size() - 32) << length;
    walk(**opened);
  }
}

TEST(Gguf, StopsWhenAsked) {
  std::stop_source source;
  source.request_stop();
  auto opened = open_model(kData / "tiny.gguf", {}, source.get_token());
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace orrery::io
