// GGUF metadata edited and saved to a new file.
#include "engine/io/gguf_write.h"

#include <sys/resource.h>

#include <csignal>

#include "tests/engine/io/io_testing.h"

namespace orrery::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Action = MetadataEdit::Action;

const std::filesystem::path kSource = kData / "tiny.gguf";

class WriteGguf : public ::testing::Test {
 protected:
  Result<void> write(const std::vector<MetadataEdit>& edits) {
    return write_gguf(kSource, edits, out_, {}, {});
  }
  std::shared_ptr<const ModelFile> written() {
    auto opened = open(out_);
    EXPECT_TRUE(opened.ok()) << opened.error().to_string();
    return opened.ok() ? *opened : nullptr;
  }
  void expect_refused(const std::vector<MetadataEdit>& edits, std::string_view words) {
    const auto result = write(edits);
    ASSERT_FALSE(result.ok()) << words;
    EXPECT_THAT(result.error().to_string(), HasSubstr(std::string(words)));
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path())) << words;
  }
  TempFolder folder_;
  std::filesystem::path out_ = folder_.path() / "out.gguf";
};

TEST_F(WriteGguf, WithoutEditsIsTheSameFile) {
  ASSERT_TRUE(write({}).ok());
  EXPECT_EQ(read_bytes(out_), read_bytes(kSource));
}

TEST_F(WriteGguf, KeysChangeAndTensorsStay) {
  const auto result = write({{Action::set, "general.name", "Another name, which is longer"},
                             {Action::set, "llama.block_count", "7"},
                             {Action::set, "test.ints", "[5, -6]"},
                             {Action::set, "tokenizer.ggml.tokens", R"(["x", "y\"z", ""])"},
                             {Action::remove, "test.u8"},
                             {Action::rename, "test.f32", "test.real"},
                             {Action::set, "test.real", "-2.5"},
                             {Action::set, "general.author", "me"},
                             {Action::set, "test.flags", "[true, false]", "bool[]"},
                             {Action::set, "test.new", "65535", "u16"}});
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  const auto file = written();
  ASSERT_TRUE(file);
  EXPECT_EQ(file->name, "Another name, which is longer");
  EXPECT_EQ(file->metadata.integer("llama.block_count"), 7);
  EXPECT_THAT(*file->metadata.integers("test.ints"), ElementsAre(5, -6));
  EXPECT_THAT(*file->metadata.texts("tokenizer.ggml.tokens"), ElementsAre("x", "y\"z", ""));
  EXPECT_EQ(file->metadata.find("test.u8"), nullptr);
  EXPECT_EQ(file->metadata.number("test.real"), -2.5);
  EXPECT_EQ(*file->metadata.text("general.author"), "me");
  EXPECT_THAT(*file->metadata.integers("test.flags"), ElementsAre(1, 0));
  EXPECT_EQ(file->metadata.integer("test.new"), 65535);
  EXPECT_EQ(file->metadata.integer("test.i64"), -(int64_t{1} << 40));

  const auto source = *open(kSource);
  ASSERT_EQ(file->tensors.size(), source->tensors.size());
  for (size_t i = 0; i < file->tensors.size(); ++i) {
    const Tensor &a = file->tensors[i], &b = source->tensors[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.shape, b.shape);
    EXPECT_TRUE(std::equal(a.data.begin(), a.data.end(), b.data.begin(), b.data.end())) << a.name;
  }
}

TEST_F(WriteGguf, KeepsTheOrderAndTheTypesOfKeys) {
  ASSERT_TRUE(write({{Action::set, "llama.block_count", "2"}, {Action::set, "general.author", "me"}}).ok());
  const auto before = *gguf_keys(kSource), after = *gguf_keys(out_);
  ASSERT_EQ(after.size(), before.size() + 1);
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].name, before[i].name);
    EXPECT_EQ(after[i].type, before[i].type) << after[i].name;
  }
  EXPECT_EQ(after.back().name, "general.author");
  EXPECT_EQ(after.back().type, "string");
  const auto type_of = [&](std::string_view name) {
    return std::find_if(after.begin(), after.end(), [&](const GgufKey& key) { return key.name == name; })
        ->type;
  };
  EXPECT_EQ(type_of("llama.block_count"), "u32");
  EXPECT_EQ(type_of("test.i8"), "i8");
  EXPECT_EQ(type_of("tokenizer.ggml.tokens"), "string[]");
}

TEST_F(WriteGguf, RefusesWhatCannotBe) {
  expect_refused({{Action::remove, "no.key"}}, "no such key");
  expect_refused({{Action::rename, "no.key", "x"}}, "no such key");
  expect_refused({{Action::rename, "test.u8", "test.i8"}}, "\"test.i8\" is there");
  expect_refused({{Action::rename, "test.u8", ""}}, "needs a name");
  expect_refused({{Action::set, "", "x"}}, "needs a name");
  expect_refused({{Action::set, "test.u8", "256"}}, "\"256\" is not a value of the type u8");
  expect_refused({{Action::set, "test.u32", "-1", "u32"}}, "not a value of the type u32");
  expect_refused({{Action::set, "test.u8", "1.5"}}, "not a value of the type u8");
  expect_refused({{Action::set, "test.f32", "much"}}, "not a value of the type f32");
  expect_refused({{Action::set, "test.bool", "1"}}, "not a value of the type bool");
  expect_refused({{Action::set, "test.ints", "[1, \"a\"]"}}, "write an array as JSON");
  expect_refused({{Action::set, "test.ints", "3"}}, "write an array as JSON");
  expect_refused({{Action::set, "test.ints", "[1],\"w\":[2]"}}, "write an array as JSON");
  expect_refused({{Action::set, "test.new", "1", "u33"}}, "no type \"u33\"");
  expect_refused({{Action::set, "general.alignment", "64", "u32"}}, "where the tensors stand");
  expect_refused({{Action::set, "split.count", "2", "u16"}}, "where the tensors stand");
  // What would not open again is not saved.
  expect_refused({{Action::remove, "general.architecture"}}, "would not open");
  expect_refused({{Action::set, "general.architecture", "3", "u32"}}, "would not open");
}

TEST_F(WriteGguf, RefusesSourcesThatItCannotCopy) {
  const auto refusal = [&](const std::filesystem::path& source, const std::filesystem::path& out) {
    const auto result = write_gguf(source, {}, out, {}, {});
    return result.ok() ? "" : result.error().to_string();
  };
  EXPECT_THAT(refusal(kData / "tiny_f8.safetensors", out_), HasSubstr("not GGUF"));
  EXPECT_THAT(refusal(kData / "tiny_split/tiny-00001-of-00003.gguf", out_),
              HasSubstr("one piece of a split"));
  const auto copy = folder_.write("copy.gguf", read_bytes(kSource));
  EXPECT_THAT(refusal(copy, copy), HasSubstr("replace the model"));
  std::filesystem::create_hard_link(copy, folder_.path() / "link.gguf");
  EXPECT_THAT(refusal(copy, folder_.path() / "link.gguf"), HasSubstr("replace the model"));
  EXPECT_THAT(refusal(copy, folder_.path() / "nowhere" / "x.gguf"), HasSubstr("cannot be written"));
}

TEST_F(WriteGguf, AFullDiskLeavesWhatWasThere) {
  folder_.write("out.gguf", "before");
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = old;
  small.rlim_cur = 1000;
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto result = write({});
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::io);
  EXPECT_THAT(result.error().to_string(), HasSubstr("make room"));
  EXPECT_EQ(read_bytes(out_), "before");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(WriteGguf, StopsWhenAsked) {
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(write_gguf(kSource, {}, out_, {}, source.get_token()).error().code, ErrorCode::cancelled);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

}  // namespace
}  // namespace orrery::io
