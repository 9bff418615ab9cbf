// Hugging Face folders: config files flattened, shards, what else a path may be.
#include <sys/stat.h>

#include "engine/io/json.h"
#include "tests/engine/io/io_testing.h"

namespace orrery::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Folder, ReadsConfigTokenizerAndPooling) {
  auto opened = open(kData / "tiny_hf");
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  const ModelFile& file = **opened;
  EXPECT_EQ(file.format, Format::hugging_face_folder);
  EXPECT_EQ(file.name, "tiny_hf");
  EXPECT_EQ(file.architecture, "bert");
  EXPECT_EQ(file.chat_template, "{{ bos_token }}");
  EXPECT_EQ(file.tokenizer_json, kData / "tiny_hf" / "tokenizer.json");
  const Metadata& metadata = file.metadata;
  EXPECT_EQ(metadata.integer("hidden_size"), 4);
  EXPECT_EQ(metadata.number("layer_norm_eps"), 1e-12);
  EXPECT_EQ(*metadata.text("id2label.1"), "yes");
  EXPECT_EQ(metadata.number("rope_scaling.factor"), 2.0);
  EXPECT_THAT(*metadata.integers("eos_token_id"), ElementsAre(1, 2));
  EXPECT_THAT(*metadata.numbers("head_sizes"), ElementsAre(1, 2.5));
  EXPECT_EQ(metadata.integer("mixed.0"), 1);
  EXPECT_EQ(*metadata.text("mixed.1"), "a");
  EXPECT_EQ(metadata.find("torch_dtype"), nullptr);
  EXPECT_EQ(metadata.integer("generation_config.eos_token_id"), 2);
  EXPECT_EQ(metadata.flag("tokenizer_config.do_lower_case"), true);
  EXPECT_EQ(*metadata.text("sentence_transformers.pooling"), "cls");
  EXPECT_EQ(metadata.flag("sentence_transformers.normalize"), false);
  EXPECT_EQ(metadata.integer("sentence_transformers.max_seq_length"), 16);
}

TEST(Folder, ReadsShards) {
  auto opened = open(kData / "tiny_sharded");
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  EXPECT_EQ((*opened)->tensors.size(), 2U);
  EXPECT_EQ((*opened)->files.size(), 2U);
  float first = 0;
  std::memcpy(&first, (*opened)->find("b.weight")->data.data(), sizeof(first));
  EXPECT_EQ(first, 10.0F);
  walk(**opened);
}

class Shards : public ::testing::Test {
 protected:
  void write_index(const std::string& map) {
    folder_.write("config.json", R"({"model_type":"llama"})");
    folder_.write("one.safetensors",
                  safetensors(R"({"a":{"dtype":"I8","shape":[4],"data_offsets":[0,4]}})", 4));
    folder_.write("model.safetensors.index.json", "{\"weight_map\":" + map + "}");
  }
  TempFolder folder_;
};

TEST_F(Shards, AnIndexMustTellTheTruth) {
  write_index(R"({"a":"one.safetensors"})");
  EXPECT_TRUE(open(folder_.path()).ok());
  const std::pair<const char*, const char*> cases[] = {
      {R"({"a":"../one.safetensors"})", "a file of this folder"},
      {R"({"a":"/etc/passwd"})", "a file of this folder"},
      {R"({"a":""})", "a file of this folder"},
      {R"({"a":3})", "a file of this folder"},
      {R"({"a":"one.safetensors","b":"one.safetensors"})", "promises"},
      {R"({})", "0 files"},
      {R"({"a":"two.safetensors"})", "cannot be opened"}};
  for (const auto& [map, words] : cases) {
    SCOPED_TRACE(map);
    write_index(map);
    auto opened = open(folder_.path());
    ASSERT_FALSE(opened.ok());
    EXPECT_THAT(opened.error().to_string(), HasSubstr(words));
  }
}

TEST(Folder, SaysWhatIsMissing) {
  const TempFolder folder;
  expect_refused(open(folder.path()), ErrorCode::not_found, "config.json");
  folder.write("config.json", "{}");
  expect_refused(open(folder.path()), ErrorCode::corrupt_file, "model_type");
  folder.write("config.json", R"({"model_type":"bert"})");
  expect_refused(open(folder.path()), ErrorCode::not_found, "no safetensors");
  folder.write("pytorch_model.bin", "x");
  expect_refused(open(folder.path()), ErrorCode::unsupported, "no known format");
  folder.write("tokenizer.json", "{}");
  std::filesystem::remove(folder.path() / "pytorch_model.bin");
  EXPECT_TRUE(open(folder.path()).ok());  // a tokenizer alone
  expect_refused(open(folder.path() / "nothing"), ErrorCode::not_found, "no such file");
  expect_refused(open(kData / "tiny_adapter"), ErrorCode::invalid_argument, "adapter");
}

TEST(Folder, WithOneGgufIsThatModel) {
  const TempFolder folder;
  folder.write("m.gguf", read_bytes(kData / "tiny.gguf"));
  auto opened = open(folder.path());
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  EXPECT_EQ((*opened)->format, Format::gguf);
}

TEST(Folder, RefusesModulesThatLeaveTheFolder) {
  const TempFolder folder;
  folder.write("config.json", R"({"model_type":"bert"})");
  folder.write("tokenizer.json", "{}");
  for (const char* path : {"../x", "/etc", ".."}) {
    folder.write("modules.json", std::string(R"([{"type":"x.Pooling","path":")") + path + "\"}]");
    expect_refused(open(folder.path()), ErrorCode::corrupt_file, "leaves the model's folder");
  }
}

TEST(Folder, AModuleThatIsNotKnownIsRefused) {
  const TempFolder folder;
  folder.write("config.json", R"({"model_type":"bert"})");
  folder.write("modules.json", R"([{"type":"sentence_transformers.models.Dense","path":"2_Dense"}])");
  expect_refused(open(folder.path()), ErrorCode::unsupported, "models.Dense\" that is not known");
}

TEST(Path, OtherThingsThanModelsAreRefused) {
  const TempFolder folder;
  expect_refused(open(folder.write("e.gguf", "")), ErrorCode::corrupt_file, "empty");
  expect_refused(open(folder.write("t.gguf", "hello, world")), ErrorCode::unsupported, "no known format");
  expect_refused(open(folder.write("z.gguf", "PK\3\4rest")), ErrorCode::corrupt_file, "zip archive");
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_refused(open(pipe), ErrorCode::invalid_argument, "regular file");
  const auto loop = folder.path() / "loop";
  std::filesystem::create_symlink(loop, loop);
  EXPECT_FALSE(open(loop).ok());
}

TEST(Path, TheEndingDoesNotMatter) {
  const TempFolder folder;
  EXPECT_TRUE(open(folder.write("model.safetensors", read_bytes(kData / "tiny.gguf"))).ok());
}

TEST(MappedFile, NoticesThatTheFileShrank) {
  const TempFolder folder;
  const auto path = folder.write("f", std::string(10'000, 'x'));
  auto mapped = MappedFile::open(path);
  ASSERT_TRUE(mapped.ok());
  EXPECT_TRUE((*mapped)->check().ok());
  (*mapped)->drop((*mapped)->bytes());
  EXPECT_EQ(static_cast<char>((*mapped)->bytes()[9'999]), 'x');
  std::filesystem::resize_file(path, 10);
  EXPECT_FALSE((*mapped)->check().ok());
}

TEST(Json, RefusesWhatCouldHurt) {
  std::string many = "{\"a\":[";
  for (int i = 0; i < 1'000'000; ++i) many += "1,";
  const std::pair<std::string, const char*> cases[] = {
      {"", "JSON"},
      {"[]", "root"},
      {"3", "root"},
      {"{\"a\":1}x", "JSON"},
      {std::string(100'000, '['), "root"},
      {"{\"a\":" + std::string(100'000, '['), "levels deep"},
      {"{\"a\":1,\"a\":2}", "twice"},
      {"{\"a.b\":1,\"a\":{\"b\":2}}", "twice"},
      {"{\"" + std::string(2000, 'k') + "\":1}", "1024"},
      {"{\"a\":NaN}", "JSON"},
      {"{\"a\":1e999}", "JSON"},
      {many + "1]}", "too many"},
  };
  for (const auto& [text, words] : cases) {
    SCOPED_TRACE(text.substr(0, 40));
    auto flat = flatten_json(text, "config.json");
    ASSERT_FALSE(flat.ok());
    EXPECT_THAT(flat.error().to_string(), HasSubstr(words));
    EXPECT_THAT(flat.error().where, HasSubstr("config.json"));
  }
}

TEST(Json, KeepsNumbersThatFit) {
  auto flat = flatten_json(
      R"({"big":18446744073709551615,"small":-9223372036854775808,"e":1e3,"none":[],"flags":[true,false],
                               "objects":[{"x":1},2,null,{"x":[]}]})",
      "c");
  ASSERT_TRUE(flat.ok()) << flat.error().to_string();
  EXPECT_EQ(flat->number("big"), 18446744073709551615.0);
  EXPECT_EQ(flat->integer("small"), INT64_MIN);
  EXPECT_EQ(flat->integer("e"), 1000);
  EXPECT_THAT(*flat->integers("none"), ElementsAre());
  EXPECT_THAT(*flat->integers("flags"), ElementsAre(1, 0));
  EXPECT_EQ(flat->integer("objects.0.x"), 1);
  EXPECT_EQ(flat->integer("objects.1"), 2);
  EXPECT_EQ(flat->find("objects.2"), nullptr);
}

}  // namespace
}  // namespace orrery::io
