#include "tests/engine/io/io_testing.h"

namespace orrery::io {
namespace {

using ::testing::ElementsAre;

TEST(Safetensors, ReadsWhatTheReferenceWriterWrote) {
  auto opened = open(kData / "tiny_hf" / "model.safetensors");
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  const ModelFile& file = **opened;
  EXPECT_EQ(file.format, Format::safetensors);
  EXPECT_EQ(file.architecture, "bert");  // config.json beside it
  EXPECT_EQ(file.tensors.size(), 4U);
  const Tensor* weights = file.find("embeddings.weight");
  ASSERT_TRUE(weights);
  EXPECT_THAT(weights->shape, ElementsAre(3, 4));
  float last = 0;
  std::memcpy(&last, weights->data.data() + 11 * sizeof(float), sizeof(last));
  EXPECT_EQ(last, 11.0F);
  EXPECT_EQ(file.find("layer.bias")->dtype, DType::f16);
  EXPECT_EQ(file.find("layer.ids")->dtype, DType::i64);
  EXPECT_TRUE(file.find("scalar")->shape.empty());
  EXPECT_EQ(file.find("scalar")->data.size(), 4U);
  walk(file);
}

TEST(Safetensors, ABareFileNeedsNoConfig) {
  const TempFolder folder;
  auto opened = open(
      folder.write("x.bin", safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8)));
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  EXPECT_EQ((*opened)->name, "x");
  EXPECT_TRUE((*opened)->architecture.empty());
}

TEST(Safetensors, EmptyTensorsAndEscapedNamesAreLegal) {
  const TempFolder folder;
  auto opened =
      open(folder.write("x", safetensors(R"({"\u0061":{"dtype":"F32","shape":[0,4],"data_offsets":[0,0]},
      "b":{"shape":[1],"data_offsets":[0,4],"dtype":"I32"},"__metadata__":{"k":"v"}})",
                                         4)));
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  EXPECT_TRUE((*opened)->find("a")->data.empty());
}

struct HeaderAttack {
  const char* name;
  std::string header;
  size_t data;
  const char* words;
  ErrorCode code = ErrorCode::corrupt_file;
};

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets +
         "}";
}
std::string one(const std::string& shape, const std::string& offsets, const std::string& dtype = "F32") {
  return "{" + entry("t", dtype, shape, offsets) + "}";
}

std::vector<HeaderAttack> header_attacks() {
  return {
      {"nested 100,000 deep", "{\"t\":" + std::string(100'000, '['), 8, "array"},
      {"objects 100,000 deep", std::string("{\"__metadata__\":") + std::string(100'000, '{'), 8, "JSON"},
      {"nested in the shape", one("[[2]]", "[0,8]"), 8, "array"},
      {"not JSON", "{\"t\":", 0, "JSON"},
      {"invalid UTF-8", "{\"\xff\":1}", 0, "JSON"},
      {"number for a tensor", "{\"t\":3}", 0, "object is expected"},
      {"text for a tensor", "{\"t\":\"x\"}", 0, "object is expected"},
      {"numbers as texts", one("[\"2\"]", "[0,8]"), 8, "is text"},
      {"negative dim", one("[-2]", "[0,8]"), 8, "negative"},
      {"real dim", one("[2.0]", "[0,8]"), 8, "2.0"},
      {"dim 1e400", one("[1e400]", "[0,8]"), 8, "JSON"},
      {"dim 2^64", one("[18446744073709551616]", "[0,8]"), 8, "number"},
      {"dim 2^63", one("[9223372036854775808]", "[0,8]"), 8, "9223372036854775808"},
      {"product wraps", one("[4194305,4194305,211106198978564]", "[0,16]"), 16, "too large"},
      {"dim 2^42+1", one("[4398046511105]", "[0,4]"), 4, "need 17592186044420"},
      {"nine dims", one("[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, "more than 8"},
      {"offsets backwards", one("[2]", "[8,0]"), 8, "data_offsets [8, 0]"},
      {"offsets past the end", one("[2]", "[0,8]"), 4, "has 4 bytes"},
      {"offsets near 2^64", one("[2]", "[18446744073709551608,18446744073709551615]"), 8, "data_offsets"},
      {"one offset", one("[2]", "[8]"), 8, "data_offsets [8]"},
      {"three offsets", one("[2]", "[0,8,8]"), 8, "data_offsets [0, 8, 8]"},
      {"too few bytes", one("[2]", "[0,4]"), 4, "need 8"},
      {"overlap", "{" + entry("a", "F32", "[2]", "[0,8]") + "," + entry("b", "F32", "[2]", "[4,12]") + "}",
       12, "overlaps"},
      {"hole", "{" + entry("a", "F32", "[1]", "[0,4]") + "," + entry("b", "F32", "[1]", "[8,12]") + "}", 12,
       "hole"},
      {"rest", one("[2]", "[0,8]"), 9, "1 bytes after the last"},
      {"name twice", "{" + entry("a", "F32", "[1]", "[0,4]") + "," + entry("a", "F32", "[1]", "[4,8]") + "}",
       8, "twice"},
      {"field twice", R"({"t":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}})", 4, "twice"},
      {"dtype twice", R"({"t":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4, "twice"},
      {"field missing", R"({"t":{"dtype":"F32","shape":[1]}})", 4, "lacks"},
      {"unknown field", R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", 4,
       "unknown field"},
      {"metadata a number", R"({"__metadata__":{"k":1}})", 0, "__metadata__"},
      {"empty name", "{" + entry("", "F32", "[1]", "[0,4]") + "}", 4, "name has 0 bytes"},
      {"a type not run past the end", one("[2]", "[0,16]", "F64"), 8, "has 8 bytes"},
      {"type unknown", one("[1]", "[0,8]", "Q"), 8, "\"Q\"", ErrorCode::unsupported},
  };
}

TEST(Safetensors, RefusesAttacksByNameAndPlace) {
  const TempFolder folder;
  for (const HeaderAttack& attack : header_attacks()) {
    SCOPED_TRACE(attack.name);
    expect_refused(open(folder.write("a.safetensors", safetensors(attack.header, attack.data))), attack.code,
                   attack.words);
  }
  EXPECT_TRUE(open(folder.write("a.safetensors", safetensors(one("[2]", "[0,8]"), 8))).ok());
}

TEST(Safetensors, RunsEightBitFloatsAndListsOtherTypes) {
  auto opened = open(kData / "tiny_f8.safetensors");
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  const ModelFile& file = **opened;
  EXPECT_EQ(file.find("e4m3")->dtype, DType::f8_e4m3);
  EXPECT_EQ(file.find("e5m2")->dtype, DType::f8_e5m2);
  EXPECT_EQ(static_cast<int>(file.find("e4m3")->data[1]), 0x38);  // 1 in E4M3
  for (const char* name : {"e4m3", "e5m2"}) EXPECT_TRUE(check_runnable(*file.find(name), file.path).ok());
  for (const auto& [name, type] :
       {std::pair("double", "F64"), {"short", "I16"}, {"byte", "U8"}, {"flag", "BOOL"}}) {
    EXPECT_EQ(file.find(name)->type_name(), type);
    EXPECT_FALSE(check_runnable(*file.find(name), file.path).ok());
  }
}

TEST(Safetensors, EightBitFloatsWithScalesAreNotRunWithoutThem) {
  auto opened = open(kData / "tiny_f8.safetensors");
  ASSERT_TRUE(opened.ok());
  const auto run = check_runnable(*(*opened)->find("scaled.weight"), "f");
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.error().to_string(), ::testing::HasSubstr("F8_E4M3 with scales"));
}

TEST(Safetensors, RefusesHeaderLengthsThatDoNotFit) {
  const TempFolder folder;
  const std::string frame = one("[2]", "[0,8]");
  for (const uint64_t length : {uint64_t{99'999'999}, uint64_t{frame.size() + 9}, uint64_t{3}}) {
    auto opened = open(folder.write("a", Bytes().u64(length).raw(frame).zeros(8).text));
    ASSERT_FALSE(opened.ok()) << length;
    EXPECT_EQ(opened.error().code, ErrorCode::corrupt_file);
  }
  expect_refused(open(folder.write("a", Bytes().u64(uint64_t{1} << 63).raw(frame).text)),
                 ErrorCode::unsupported, "no known format");
}

TEST(Safetensors, AHundredThousandTensorsOpen) {
  std::string header = "{";
  for (int i = 0; i < 100'000; ++i)
    header += (i ? "," : "") + entry("tensor." + std::to_string(i), "I8", "[1]",
                                     "[" + std::to_string(i) + "," + std::to_string(i + 1) + "]");
  const TempFolder folder;
  auto opened = open(folder.write("a", safetensors(header + "}", 100'000)));
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  EXPECT_EQ((*opened)->tensors.size(), 100'000U);
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const TempFolder folder;
  const std::string whole = read_bytes(kData / "tiny_hf" / "model.safetensors");
  for (size_t length = 1; length < whole.size(); ++length)
    EXPECT_FALSE(open(folder.write("t", whole.substr(0, length))).ok()) << length;
}

}  // namespace
}  // namespace orrery::io
