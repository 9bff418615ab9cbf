#include "ui/shell/openable.h"

#include <gtest/gtest.h>

#include <QDir>
#include <QTemporaryDir>

#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

using Kind = Openable::Kind;
const QString kIo = QString(ORRERY_TEST_DATA) + "/io/";

void expectOpens(const QString& path, Kind kind, const QString& opened) {
  const Openable found = openableOf(path);
  EXPECT_EQ(found.kind, kind) << path.toStdString();
  EXPECT_EQ(found.path, opened);
}

TEST(Openable, FilesAndFoldersOfModelsAreThemselves) {
  for (const char* name : {"tiny.gguf", "tiny.pt", "tiny_f8.safetensors", "arrays/table.npy", "tiny_hf"})
    expectOpens(kIo + name, Kind::model, kIo + name);
}

TEST(Openable, PartsOfAFolderStandForIt) {
  for (const char* name : {"config.json", "model.safetensors.index.json", "model-00001-of-00002.safetensors"})
    expectOpens(kIo + "tiny_sharded/" + name, Kind::model, kIo + "tiny_sharded");
  const QTemporaryDir folder;
  const QString alone = writeFile(folder.filePath("model-00001-of-00002.safetensors"), "x");
  expectOpens(alone, Kind::model, alone);  // without an index it is all there is
}

TEST(Openable, AdaptersAreToldByWhatTheyHold) {
  expectOpens(kIo + "tiny_adapter", Kind::adapter, kIo + "tiny_adapter");
  expectOpens(kIo + "tiny_adapter/adapter_config.json", Kind::adapter, kIo + "tiny_adapter");
  expectOpens(kIo + "tiny_adapter/adapter_model.safetensors", Kind::adapter, kIo + "tiny_adapter");
  expectOpens(kIo + "tiny_adapter.gguf", Kind::adapter, kIo + "tiny_adapter.gguf");
  const QTemporaryDir merged;
  writeFile(merged.filePath("adapter_config.json"), "{}");
  writeFile(merged.filePath("model.safetensors"), "x");
  expectOpens(merged.path(), Kind::model, merged.path());
}

TEST(Openable, TablesAreForTheClassifier) {
  expectOpens("reviews.CSV", Kind::table, "reviews.CSV");
  expectOpens("reviews.tsv", Kind::table, "reviews.tsv");
}

TEST(Openable, RecipesAreToldByTheirKey) {
  const QTemporaryDir folder;
  const QString recipe = writeFile(folder.filePath("keep.json"), R"({"orrery_recipe": 1, "edits": []})");
  expectOpens(recipe, Kind::recipe, recipe);
  const QString other = writeFile(folder.filePath("tokenizer.json"), "{}");
  expectOpens(other, Kind::model, other);
}

TEST(Openable, TheDialogOffersWhatTheEngineReads) {
  for (const char* ending :
       {"*.gguf", "*.safetensors", "*.index.json", "*.pt", "*.pth", "*.bin", "*.npy", "*.npz"})
    EXPECT_TRUE(modelFilters().contains(ending)) << ending;
}

}  // namespace
}  // namespace orrery::ui::testing
