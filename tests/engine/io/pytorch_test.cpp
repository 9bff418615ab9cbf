// Files of torch.save: what it wrote is read, what could hurt is refused by its name.
#include "tests/engine/io/pytorch_testing.h"

namespace orrery::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kCorrupt = ErrorCode::corrupt_file, kUnsupported = ErrorCode::unsupported;

template <class T>
std::vector<T> elements(const ModelFile& file, std::string_view name) {
  const Tensor* tensor = file.find(name);
  if (!tensor) return {};
  std::vector<T> values(tensor->data.size() / sizeof(T));
  std::memcpy(values.data(), tensor->data.data(), tensor->data.size());
  return values;
}

class PyTorchFile : public ::testing::TestWithParam<const char*> {};

TEST_P(PyTorchFile, HoldsWhatTorchSaved) {
  auto opened = open(kData / GetParam());
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  const ModelFile& file = **opened;
  EXPECT_EQ(file.format, Format::pytorch);
  EXPECT_EQ(file.tensors.size(), 14U);
  EXPECT_THAT(file.find("embed.weight")->shape, ElementsAre(6, 4));
  EXPECT_EQ(elements<float>(file, "embed.weight")[23], 23.0F);
  EXPECT_EQ(file.find("head.weight")->data.data(), file.find("embed.weight")->data.data());
  EXPECT_THAT(elements<float>(file, "tail.weight"), ElementsAre(16, 17, 18, 19, 20, 21, 22, 23));
  EXPECT_THAT(elements<float>(file, "parameter"), ElementsAre(1, 2, 3));
  EXPECT_EQ(file.find("half")->dtype, DType::f16);
  EXPECT_EQ(file.find("bhalf")->dtype, DType::bf16);
  EXPECT_EQ(elements<uint16_t>(file, "bhalf")[1], 0x3f80);
  EXPECT_THAT(elements<int8_t>(file, "bytes"), ElementsAre(-1, 0, 1));
  EXPECT_THAT(elements<int32_t>(file, "ints"), ElementsAre(0, 1));
  EXPECT_THAT(elements<int64_t>(file, "ids"), ElementsAre(0, 1));
  EXPECT_EQ(file.find("doubles")->type_name(), "F64");
  EXPECT_EQ(file.find("mask")->type_name(), "BOOL");
  EXPECT_FALSE(check_runnable(*file.find("mask"), file.path).ok());
  EXPECT_TRUE(file.find("scalar")->shape.empty());
  EXPECT_THAT(elements<float>(file, "scalar"), ElementsAre(7));
  EXPECT_TRUE(file.find("empty")->data.empty());
  EXPECT_THAT(file.find("column")->shape, ElementsAre(4, 1));
  walk(file);
}
INSTANTIATE_TEST_SUITE_P(BothFormats, PyTorchFile, ::testing::Values("tiny.pt", "tiny_legacy.pt"),
                         [](const auto& info) { return info.index == 0 ? "Zip" : "Legacy"; });

TEST(PyTorch, ListsTypesThatHaveNoStorageClass) {
  auto opened = open(kData / "tiny_v3.pt");
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  EXPECT_EQ((*opened)->find("f8")->data.size(), 4U);
  EXPECT_EQ((*opened)->find("u16")->type_name(), "U16");
  EXPECT_THAT(elements<uint16_t>(**opened, "u16"), ElementsAre(0, 1, 2));
}

TEST(PyTorch, ReadsHuggingFaceFolders) {
  auto opened = open(kData / "tiny_pytorch");
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  EXPECT_EQ((*opened)->format, Format::hugging_face_folder);
  EXPECT_THAT(elements<float>(**opened, "a.weight"), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(elements<float>(**opened, "b.weight")[0], 10.0F);

  const TempFolder folder;
  folder.write("config.json", R"({"model_type":"bert"})");
  folder.write("pytorch_model.bin", read_bytes(kData / "tiny.pt"));
  folder.write("training_args.bin", torch_zip(PickleBytes().name("os", "system").stop()));
  opened = open(folder.path());
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  EXPECT_TRUE((*opened)->find("embed.weight"));
  // safetensors come first.
  folder.write("model.safetensors", read_bytes(kData / "tiny_hf/model.safetensors"));
  EXPECT_FALSE((*open(folder.path()))->find("embed.weight"));
}

TEST(PyTorch, TensorsAreTheMappedFile) {
  auto opened = open(kData / "tiny.pt");
  ASSERT_TRUE(opened.ok());
  const auto bytes = (*opened)->files.at(0)->bytes();
  const Tensor& tensor = *(*opened)->find("embed.weight");
  EXPECT_GE(tensor.data.data(), bytes.data());
  EXPECT_EQ((tensor.data.data() - bytes.data()) % 64, 0);
}

struct PickleAttack {
  const char* name;
  std::string pickle;
  ErrorCode code;
  const char* words;
};

std::string bare(std::string_view operations) { return PickleBytes().raw(operations).stop(); }
std::string asking_for(std::string_view module, std::string_view name) {
  return PickleBytes().name(module, name).string("id").raw("\x85R").stop();
}
std::string repeated(std::string_view operations, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += operations;
  return text;
}

std::vector<PickleAttack> code_attacks() {
  return {
      {"os.system", asking_for("os", "system"), kUnsupported, "\"os.system\": it would run code"},
      {"builtins.eval", asking_for("builtins", "eval"), kUnsupported, "\"builtins.eval\""},
      {"a function of torch", asking_for("torch", "load"), kUnsupported, "\"torch.load\""},
      {"dots in a name", asking_for("torch", "serialization.os.system"), kUnsupported, "would run code"},
      {"a whole module", asking_for("mymodels", "Net"), kUnsupported, "\"mymodels.Net\""},
      {"an empty name", asking_for("torch", ""), kUnsupported, "\"torch.\""},
      {"a name on the stack", PickleBytes().string("os").string("system").raw("\x93").stop(), kUnsupported,
       "\"os.system\""},
      {"new object",
       bare("c"
            "collections\nOrderedDict\n)\x81"),
       kUnsupported, "operation 0x81"},
      {"instance", bare("(ios\nsystem\n"), kUnsupported, "operation 0x69"},
      {"extension registry", bare("\x82\x01"), kUnsupported, "operation 0x82"},
      {"out-of-band buffer", bare("\x97"), kUnsupported, "operation 0x97"},
      {"a name without an end", bare("cos"), kCorrupt, "without an end"},
      {"a name without bounds", bare("c" + std::string(5000, 'a') + "\nb\n"), kCorrupt, "without an end"},
      {"a type that is called", PickleBytes().name("torch", "float32").raw(")R").stop(), kCorrupt,
       "something that"},
      {"a text that is called", PickleBytes().string("x").raw(")R").stop(), kCorrupt, "something that"},
      {"state for a number", PickleBytes().integer(1).raw("}b").stop(), kCorrupt, "something that"},
  };
}

std::vector<PickleAttack> stack_attacks() {
  return {
      {"nothing", ".", kCorrupt, "not there"},
      {"no end", "\x80\x02}", kCorrupt, "ends too early"},
      {"pop of nothing", bare("0"), kCorrupt, "not there"},
      {"pop below a mark", bare("}(0"), kCorrupt, "not there"},
      {"tuple of nothing", bare("\x87"), kCorrupt, "not there"},
      {"collect without a mark", bare("}u"), kCorrupt, "without a mark"},
      {"get of nothing", bare("h\7"), kCorrupt, "value 7"},
      {"put of nothing", bare("q\1"), kCorrupt, "not there"},
      {"append to a dict", bare("}}a"), kCorrupt, "something that"},
      {"item of a list", bare("]NNs"), kCorrupt, "something that"},
      {"half an item", bare("}(NNNu"), kCorrupt, "something that"},
      {"text past the end", bare("X\xff\xff\xff\xff"), kCorrupt, "ends too early"},
      {"integer past the end", bare("\x8b\xff\xff\xff\x7f"), kCorrupt, "ends too early"},
      {"integer of 9 bytes",
       bare("\x8a\x09"
            "123456789"),
       kCorrupt, "9 bytes"},
      {"300,000 marks", bare(repeated("(", 300'000)), kCorrupt, "more memory"},
      {"300,000 values", bare(repeated("N", 300'000)), kCorrupt, "more memory"},
      {"lists in lists, 200,000 deep", bare(repeated("]", 200'000) + repeated("a", 199'999)), kCorrupt,
       "nested"},
      {"a dict in itself", PickleBytes().raw("}q\1").string("x").raw("h\1s").stop(), kCorrupt, "nested"},
      {"lists that double", bare("]q\1" + repeated("(h\1h\1tq\1", 40)), kCorrupt, "nested"},
      {"a number alone", bare("K\1"), kCorrupt, "no tensors"},
  };
}

std::vector<PickleAttack> pickled_tensor_attacks() {
  const auto of_arguments = [](const PickleBytes& arguments) {
    return PickleBytes()
        .name("torch._utils", "_rebuild_tensor_v2")
        .raw("(")
        .raw(arguments.text.substr(2))
        .raw("tR")
        .stop();
  };
  return {
      {"product wraps to 16 bytes",
       state_of(0, {4194305, 4194305, 211106198978564}, {211106198978564, 211106198978564, 1}), kCorrupt,
       "\"t\""},
      {"one dim of 2^42+1", state_of(0, {(int64_t{1} << 42) + 1}, {1}), kCorrupt, "17592186044420 bytes"},
      {"negative dim", state_of(0, {-4}, {1}), kCorrupt, "possible size"},
      {"two negative dims", state_of(0, {-2, -2}, {-2, 1}), kCorrupt, "possible size"},
      {"negative offset", state_of(-1, {4}, {1}), kCorrupt, "element -1"},
      {"offset past the end", state_of(1, {4}, {1}), kCorrupt, "from element 1 on"},
      {"offset 2^62", state_of(int64_t{1} << 62, {4}, {1}), kCorrupt, "from element 4611"},
      {"nine dims", state_of(0, std::vector<int64_t>(9, 1), std::vector<int64_t>(9, 1)), kCorrupt, "9 dims"},
      {"a stride too few", state_of(0, {2, 2}, {1}), kCorrupt, "1 strides"},
      {"transposed", state_of(0, {2, 2}, {1, 2}), kUnsupported, "\"t\" is a view with the strides [1, 2]"},
      {"spread out", state_of(0, {2}, {2}), kUnsupported, "strides [2]"},
      {"one element many times", state_of(0, {4}, {0}), kUnsupported, "strides [0]"},
      {"a storage that is missing", state_of(0, {4}, {1}, "7"), kCorrupt,
       "the storage \"7\", which is missing"},
      {"a name out of the folder", state_of(0, {4}, {1}, "../../data.pkl"), kCorrupt, "which is missing"},
      {"a storage of -1", PickleBytes().storage("0", -1).stop(), kCorrupt, "-1 elements"},
      {"a storage that is a text", PickleBytes().string("storage").raw("Q").stop(), kCorrupt,
       "something that"},
      {"a tensor of nothing", of_arguments(PickleBytes()), kCorrupt, "something that"},
      {"a tensor of texts",
       of_arguments(PickleBytes().string("a").string("b").string("c").string("d").raw("NN")), kCorrupt,
       "something that"},
      {"a shape of texts",
       of_arguments(PickleBytes().storage("0", 4).integer(0).string("4").integers({1}).raw("\x89N")),
       kCorrupt, "something that"},
      {"a name twice",
       PickleBytes()
           .raw("}")
           .string("t")
           .tensor(0, {4}, {1})
           .raw("s")
           .string("t")
           .tensor(0, {4}, {1})
           .raw("s")
           .stop(),
       kCorrupt, "twice"},
      {"a name of 100,000 bytes",
       PickleBytes().raw("}").string(std::string(100'000, 'n')).tensor(0, {4}, {1}).raw("s").stop(), kCorrupt,
       "named beyond measure"},
  };
}

TEST(PyTorch, RefusesPicklesByNameAndPlace) {
  const TempFolder folder;
  for (const auto& attacks : {code_attacks(), stack_attacks(), pickled_tensor_attacks()})
    for (const PickleAttack& attack : attacks) {
      SCOPED_TRACE(attack.name);
      expect_refused(open(folder.write("a.pt", torch_zip(attack.pickle))), attack.code, attack.words);
    }
  // The frame around the attacks is legal by itself.
  auto legal = open(folder.write("a.pt", torch_zip(state_of(0, {2, 2}, {2, 1}))));
  ASSERT_TRUE(legal.ok()) << legal.error().to_string();
  walk(**legal);
}

TEST(PyTorch, RefusesArchivesByNameAndPlace) {
  const ZipPart pickle{"a/data.pkl", state_of(0, {4}, {1})}, data{"a/data/0", std::string(16, '\1')};
  const auto with = [&](ZipPart part) { return zip({pickle, data, std::move(part)}); };
  std::string overlapping =
      zip({pickle, {"a/data/0", std::string(16, '\1')}, {"a/data/1", "x", 0, 0, 15, 1}});
  const std::pair<std::string, const char*> cases[] = {
      {"PK\3\4", "too short"},
      {"PK\3\4" + std::string(100, '\0'), "no directory"},
      {with({"a/data/1", "x", 0, 0, 1'000'000}), "does not lie inside"},
      {with({"a/data/1", "x", 0, 0, 0, 0x7fffffff}), "does not lie inside"},
      {with({"a/data/1", "x", 0, 0, 0, 3}), "has no header"},
      {with({"a/data/0", "x"}), "there twice"},
      {with({"a/data/1", "x", 0, 0, -2}), "sizes of the entry"},
      {with({"a/data/1", "x", 0, 0, -2, 0, Bytes().u32(0x00100001).u64(1).u64(0).text}), "two sizes"},
      {with({"a/data/1", "x", 0, 0, -2, 0, Bytes().u32(0x00100001).u64(UINT64_MAX).u64(UINT64_MAX).text}),
       "does not lie inside"},
      {with({"a/data/1", "x", 8}), "\"a/data/1\" is compressed"},
      {with({"a/data/1", "x", 0, 1}), "\"a/data/1\" is compressed"},
      {zip({pickle, {"a/data/0", "", 0, 0, 0, 0, std::string(46, '\0')}}, {1, 0}), "ends inside an entry"},
      {zip({pickle, data}, {5000, 0}), "does not lie inside"},
      {zip({pickle, data}, {0, 0x7fffffff}), "does not lie inside"},
      {zip({pickle, data}, {-3, 0}), "large directory"},  // 65535 entries: the numbers stand elsewhere
      {zip({pickle, data}, {0, 1}), "something else than entries"},
      {zip({{"readme.txt", "hello"}}), "not a file of torch.save"},
      {zip({{"deep/er/data.pkl", "."}}), "not a file of torch.save"},
      {with({"a/constants.pkl", "."}), "TorchScript"},
      {with({"a/byteorder", "big"}), "big-endian"}};
  const TempFolder folder;
  for (const auto& [bytes, words] : cases) {
    SCOPED_TRACE(words);
    auto opened = open(folder.write("a.pt", bytes));
    ASSERT_FALSE(opened.ok());
    EXPECT_THAT(opened.error().to_string(), HasSubstr(words));
    EXPECT_FALSE(opened.error().advice.empty());
  }
  EXPECT_TRUE(open(folder.write("a.pt", zip({pickle, data}))).ok());
}

TEST(PyTorch, RefusesEntriesThatOverlap) {
  const ZipPart pickle{"a/data.pkl", state_of(0, {4}, {1})};
  // The second entry's directory line names the first one's place.
  const auto first = static_cast<uint32_t>(zip({pickle}).find("PK\1\2"));
  const std::string bytes =
      zip({pickle, {"a/data/0", std::string(16, '\1')}, {"a/data/1", std::string(16, '\1'), 0, 0, 0, first}});
  const TempFolder folder;
  expect_refused(open(folder.write("a.pt", bytes)), kCorrupt, "overlap");
}

std::string legacy(const std::string& state, const std::string& rest) {
  const std::string magic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
  return magic + PickleBytes().integer(1001).stop() + PickleBytes().raw("}").stop() + state + rest;
}

TEST(PyTorch, RefusesOlderStreamsByNameAndPlace) {
  const std::string state = state_of(0, {4}, {1});
  const auto keys = [](std::string_view key) { return PickleBytes().raw("]").string(key).raw("a").stop(); };
  const auto storage = [](int64_t count) { return Bytes().number(count).zeros(16).text; };
  const std::string magic = legacy("", "").substr(0, 15);
  const std::pair<std::string, const char*> cases[] = {
      {magic, "ends too early"},
      {magic + PickleBytes().integer(1000).stop(), "protocol 1001"},
      {magic + PickleBytes().integer(1001).stop() + PickleBytes().raw("N").stop(), "describe the machine"},
      {magic + PickleBytes().integer(1001).stop() +
           PickleBytes().raw("}").string("little_endian").raw("\x89s").stop() + state,
       "big-endian"},
      {legacy(state, ""), "ends too early"},
      {legacy(state, PickleBytes().raw("N").stop()), "list its storages"},
      {legacy(state, keys("9")), "no tensor uses"},
      {legacy(state, keys("0")), "does not lie inside"},
      {legacy(state, keys("0") + storage(-1)), "does not lie inside"},
      {legacy(state, keys("0") + storage(5)), "does not lie inside"},
      {legacy(state, keys("0") + storage((int64_t{1} << 62) + 1)), "does not lie inside"},
      {legacy(state, keys("0") + storage(3)), "from element 0 on"},
      {legacy(state, PickleBytes().raw("]").stop()), "which is missing"}};
  const TempFolder folder;
  for (const auto& [bytes, words] : cases) {
    SCOPED_TRACE(words);
    auto opened = open(folder.write("a.pt", bytes));
    ASSERT_FALSE(opened.ok());
    EXPECT_THAT(opened.error().to_string(), HasSubstr(words));
  }
  EXPECT_TRUE(open(folder.write("a.pt", legacy(state, keys("0") + storage(4)))).ok());
}

TEST(PyTorch, EveryTruncationIsRefused) {
  const TempFolder folder;
  for (const char* name : {"tiny.pt", "tiny_legacy.pt"}) {
    const std::string whole = read_bytes(kData / name);
    for (size_t length = 1; length < whole.size(); ++length)
      EXPECT_FALSE(open(folder.write("t.pt", whole.substr(0, length))).ok()) << name << ' ' << length;
  }
}

TEST(PyTorch, OtherPicklesAreNamed) {
  const TempFolder folder;
  expect_refused(open(folder.write("p.bin", bare("}"))), kUnsupported, "torch.save did not write");
}

}  // namespace
}  // namespace orrery::io
