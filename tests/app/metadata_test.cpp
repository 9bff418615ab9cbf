// The metadata of a GGUF file, listed and saved to a new file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "run_cli.h"

namespace orrery::cli::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

const std::string kTiny = std::string(ORRERY_TEST_DATA) + "/io/tiny.gguf";

TEST(MetadataVerb, ListsKeysWithTheirTypes) {
  const Outcome text = run({"metadata", kTiny});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, ContainsRegex("general.name +string +Tiny\n"));
  EXPECT_THAT(text.out, ContainsRegex("llama.block_count +u32 +1\n"));
  const auto keys = run({"metadata", kTiny, "--json"}).json()["keys"];
  EXPECT_EQ(keys[0]["key"], "general.architecture");
  EXPECT_EQ(keys[0]["type"], "string");
  EXPECT_EQ(keys[0]["value"], "llama");
}

TEST(MetadataVerb, SavesWhatIsAskedFor) {
  const std::string out = scratch_file("edited.gguf");
  const Outcome saved = run({"metadata", kTiny, "--set", "general.name=A = B", "--set", "test.ints=[7, 8]",
                             "--set", "test.new:u8=3", "--remove", "test.u16", "--rename",
                             "test.f32=test.real", "--out", out, "--json"});
  EXPECT_EQ(saved.exit_code, 0) << saved.err;
  EXPECT_EQ(saved.json()["path"], out);
  EXPECT_EQ(saved.json()["bytes"], std::filesystem::file_size(out));
  const std::string listed = run({"metadata", out}).out;
  EXPECT_THAT(listed, ContainsRegex("general.name +string +A = B\n"));
  EXPECT_THAT(listed, ContainsRegex("test.ints +i32\\[\\] +\\[7, 8\\]\n"));
  EXPECT_THAT(listed, ContainsRegex("test.new +u8 +3\n"));
  EXPECT_THAT(listed, ContainsRegex("test.real +f32 +0.5\n"));
  EXPECT_THAT(listed, ::testing::Not(HasSubstr("test.u16")));
}

TEST(MetadataVerb, RefusesInOneLine) {
  const std::string out = scratch_file("refused.gguf") + ".new";
  expect_refused(run({"metadata", kTiny, "--set", "llama.block_count=many", "--out", out}));
  expect_refused(run({"metadata", kTiny, "--remove", "no.key", "--out", out}));
  expect_refused(run({"metadata", kTiny, "--set", "nothing", "--out", out}));
  expect_refused(run({"metadata", kTiny, "--out", kTiny}));
  expect_refused(run({"metadata", std::string(ORRERY_TEST_DATA) + "/io/tiny_hf"}));
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_EQ(run({"metadata", kTiny, "--set", "a=b"}).exit_code, 2);  // without --out
}

}  // namespace
}  // namespace orrery::cli::test
