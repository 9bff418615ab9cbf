// What the library finds: folders, links, and the stores of other programs below a home of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <stdexcept>

#include "engine/api/metadata.h"
#include "engine/api/recipes.h"
#include "engine/api/session.h"

namespace orrery::api {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const fs::path kData = fs::path(ORRERY_TEST_DATA) / "io";
const char* const kVariables[] = {"XDG_CACHE_HOME", "HF_HOME",     "HF_HUB_CACHE",
                                  "OLLAMA_MODELS",  "LLAMA_CACHE", "ORRERY_MODELS_PATH"};

class Library : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "orrery_library_XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
    home_ = pattern;
    ::setenv("HOME", home_.c_str(), 1);
    for (const char* variable : kVariables) ::unsetenv(variable);
  }
  void TearDown() override { fs::remove_all(home_); }

  void copy(const std::string& from, const fs::path& to) const {
    fs::create_directories((home_ / to).parent_path());
    fs::copy(kData / from, home_ / to, fs::copy_options::recursive);
  }
  void write(const fs::path& to, const std::string& text) const {
    fs::create_directories((home_ / to).parent_path());
    std::ofstream(home_ / to) << text;
  }
  /// Paths below the home folder.
  std::vector<std::string> listed(const std::vector<std::string>& folders = {}) const {
    std::vector<std::string> absolute, paths;
    for (const std::string& folder : folders) absolute.push_back((home_ / folder).string());
    for (const LibraryEntry& entry : list_models(absolute))
      paths.push_back(fs::path(entry.path).lexically_relative(home_).string());
    return paths;
  }
  fs::path home_;
};

TEST_F(Library, IsEmptyWhereNothingIs) { EXPECT_THAT(listed({"nowhere"}), IsEmpty()); }

TEST_F(Library, NamesTheMixThatAFileIsMadeBy) {
  copy("tiny.gguf", "m/plain.gguf");
  const MetadataEdit edit{MetadataEdit::Action::set, "general.file_type", "15", "u32"};
  const auto saved = save_metadata((home_ / "m/plain.gguf").string(), std::span(&edit, 1),
                                   (home_ / "m/mixed.gguf").string(), {}, {});
  ASSERT_TRUE(saved.ok()) << saved.error().to_string();
  std::map<std::string, std::string> dtypes;
  for (const LibraryEntry& entry : list_models({(home_ / "m").string()}))
    dtypes[fs::path(entry.path).filename().string()] = entry.dtype;
  EXPECT_EQ(dtypes["mixed.gguf"], "Q4_K_M");
  EXPECT_EQ(dtypes["plain.gguf"], "f32");
}

TEST_F(Library, ListsTheRecipesBesideAModel) {
  copy("tiny.gguf", "m/one.gguf");
  const std::string edits = R"("edits": [{"op": "bypass", "scope": "layers.0"}]})";
  write("m/any.recipe.json", R"({"orrery_recipe": 1, )" + edits);
  const std::string identity = identity_of(inspect((home_ / "m/one.gguf").string(), {}, 0, "f16").value());
  write("m/own.json", R"({"orrery_recipe": 1, "name": "Of its own", "model": ")" + identity + "\", " + edits);
  write("m/foreign.json", R"({"orrery_recipe": 1, "model": "0000000000000000", )" + edits);
  write("m/broken.json", R"({"orrery_recipe": 1, "edits": [{"op": "explode"}]})");
  write("m/config.json.txt", "x");
  const auto entries = list_models({(home_ / "m").string()});
  ASSERT_EQ(entries.size(), 1U);
  ASSERT_EQ(entries[0].recipes.size(), 2U);
  EXPECT_EQ(entries[0].recipes[0].name, "Of its own");
  EXPECT_EQ(entries[0].recipes[1].name, "any");
  EXPECT_EQ(fs::path(entries[0].recipes[1].path), home_ / "m/any.recipe.json");
  ASSERT_EQ(entries[0].recipes[1].edits.size(), 1U);
}

TEST_F(Library, NamesTheDefaultModelsThatAreThere) {
  copy("tiny.gguf", ".cache/orrery/models/gemma3/one.gguf");
  const std::vector<LibraryEntry> entries = list_models({});
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].name, "gemma3");
  EXPECT_EQ(fs::path(entries[0].path), home_ / ".cache/orrery/models/gemma3/one.gguf");
}

TEST_F(Library, ListsWhatBelongsTogetherOnce) {
  copy("tiny.gguf", "m/one.gguf");
  copy("tiny_split", "m/split");
  copy("tiny_hf", "m/deep/er/folder");
  copy("tiny_sharded", "m/sharded");
  copy("tiny_pytorch", "m/pytorch");
  copy("tiny_adapter", "m/adapter");
  copy("tiny_adapter.gguf", "m/adapter.gguf");
  copy("tiny_f8.safetensors", "m/alone.safetensors");
  write("m/broken.gguf", "GGUF");
  write("m/notes.txt", "x");
  EXPECT_THAT(listed({"m", "m"}),
              UnorderedElementsAre("m/one.gguf", "m/split/tiny-00001-of-00003.gguf", "m/deep/er/folder",
                                   "m/sharded", "m/pytorch", "m/alone.safetensors"));
}

TEST_F(Library, FollowsLinksAndEndsCycles) {
  copy("tiny.gguf", "elsewhere/one.gguf");
  fs::create_directories(home_ / "m");
  fs::create_directory_symlink(home_ / "elsewhere", home_ / "m/linked");
  fs::create_directory_symlink(home_ / "m", home_ / "m/cycle");
  fs::create_directory_symlink(home_ / "m/self", home_ / "m/self");
  fs::create_symlink(home_ / "elsewhere/one.gguf", home_ / "m/same.gguf");
  EXPECT_THAT(listed({"m"}), ElementsAre("m/linked/one.gguf"));
}

TEST_F(Library, HiddenAndVeryDeepFoldersAreLeftOut) {
  copy("tiny.gguf", "m/.git/one.gguf");
  copy("tiny.gguf", "m/1/2/3/4/5/deep.gguf");
  EXPECT_THAT(listed({"m"}), IsEmpty());
}

TEST_F(Library, FindsTheFoldersOfTheVariable) {
  copy("tiny.gguf", "a/one.gguf");
  copy("tiny_hf", "b/folder");
  ::setenv("ORRERY_MODELS_PATH", (home_.string() + "/a::" + home_.string() + "/b:/nowhere").c_str(), 1);
  EXPECT_THAT(listed(), ElementsAre("a/one.gguf", "b/folder"));
}

TEST_F(Library, FindsTheStoresOfOtherPrograms) {
  copy("tiny.gguf", ".lmstudio/models/publisher/name/one.gguf");
  copy("tiny.gguf", ".cache/llama.cpp/two.gguf");
  EXPECT_THAT(listed(),
              UnorderedElementsAre(".lmstudio/models/publisher/name/one.gguf", ".cache/llama.cpp/two.gguf"));
}

TEST_F(Library, NamesModelsOfTheHuggingFaceStore) {
  const fs::path model = ".cache/huggingface/hub/models--org--tiny-model";
  copy("tiny_hf", model / "blobs");
  for (const char* commit : {"aaaa", "bbbb"}) {
    fs::create_directories(home_ / model / "snapshots" / commit);
    for (const char* name : {"config.json", "model.safetensors"})
      fs::create_symlink(fs::path("../../blobs") / name, home_ / model / "snapshots" / commit / name);
  }
  write(model / "refs/main", "bbbb");
  fs::create_directories(home_ / ".cache/huggingface/hub/datasets--org--x/snapshots/1");
  const auto models = list_models({});
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(models[0].name, "org/tiny-model");
  EXPECT_EQ(fs::relative(models[0].path, home_), model / "snapshots/bbbb");
}

TEST_F(Library, NamesModelsOfTheOllamaStore) {
  const fs::path store = ".ollama/models";
  copy("tiny.gguf", store / "blobs/sha256-0a1b");
  write(store / "manifests/registry.ollama.ai/library/tiny/latest",
        R"({"layers":[{"mediaType":"application/vnd.ollama.image.license","digest":"sha256:ff"},
                      {"mediaType":"application/vnd.ollama.image.model","digest":"sha256:0a1b"}]})");
  write(store / "manifests/registry.ollama.ai/library/gone/latest",
        R"({"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:0a1c"}]})");
  write(store / "manifests/registry.ollama.ai/library/evil/latest",
        R"({"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:../../../../x"}]})");
  write(store / "manifests/registry.ollama.ai/library/broken/latest", "{");
  const auto models = list_models({});
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(models[0].name, "tiny:latest");
  EXPECT_EQ(models[0].architecture, "llama");
}

}  // namespace
}  // namespace orrery::api
