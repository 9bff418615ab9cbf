// Model files written tensor by tensor: whole, or not at all.
#include "engine/io/tensor_writer.h"

#include "tests/engine/io/io_testing.h"

namespace orrery::io {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class NewModel : public ::testing::Test {
 protected:
  static std::shared_ptr<const ModelFile> opened(const std::filesystem::path& path) {
    auto file = open_model(path, {}, {});
    if (!file.ok()) throw std::runtime_error(file.error().to_string());
    return *file;
  }
  static std::string told(const Result<std::unique_ptr<TensorWriter>>& writer) {
    return writer.ok() ? "" : writer.error().to_string();
  }
  /// In pieces that end where no tensor does.
  static void write(TensorWriter& writer, const TensorTable& tensors) {
    std::string all;
    for (const Tensor& tensor : tensors)
      all.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
    constexpr size_t kPiece = 37;
    for (size_t at = 0; at < all.size(); at += kPiece) {
      const auto piece = std::as_bytes(std::span(all).subspan(at, std::min(kPiece, all.size() - at)));
      ASSERT_TRUE(writer.write(piece).ok());
    }
  }
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      names.push_back(entry.path().filename().string());
    return names;
  }

  TempFolder folder_;
  const std::filesystem::path tiny_ = kData / "tiny.gguf", hf_ = kData / "tiny_hf";
};

TEST_F(NewModel, OfTheSameTensorsAGgufFileIsTheSameFile) {
  const auto source = opened(tiny_);
  auto writer = new_gguf(tiny_, {}, source->tensors, folder_.path() / "new.gguf");
  ASSERT_TRUE(writer.ok()) << told(writer);
  ASSERT_NO_FATAL_FAILURE(write(**writer, source->tensors));
  ASSERT_TRUE((*writer)->finish().ok());
  ASSERT_TRUE((*writer)->commit().ok());
  EXPECT_EQ(read_bytes(folder_.path() / "new.gguf"), read_bytes(tiny_));
  EXPECT_THAT(left(), UnorderedElementsAre("new.gguf"));
}

TEST_F(NewModel, AFolderHasTheTensorsAndTheFilesBeside) {
  const auto source = opened(hf_);
  TensorTable tensors = source->tensors;
  std::ranges::reverse(tensors);
  const std::string config = read_bytes(hf_ / "config.json");
  auto writer = new_folder(hf_, config, tensors, folder_.path() / "new");
  ASSERT_TRUE(writer.ok()) << told(writer);
  ASSERT_NO_FATAL_FAILURE(write(**writer, tensors));
  ASSERT_TRUE((*writer)->finish().ok());
  ASSERT_TRUE((*writer)->commit().ok());
  EXPECT_THAT(left(), UnorderedElementsAre("new"));
  const auto again = opened(folder_.path() / "new");
  ASSERT_EQ(again->tensors.size(), tensors.size());
  for (const Tensor& tensor : source->tensors)
    EXPECT_TRUE(std::ranges::equal(again->find(tensor.name)->data, tensor.data)) << tensor.name;
  for (const auto& entry : std::filesystem::directory_iterator(hf_))
    if (entry.path().extension() == ".json" || entry.path().extension() == ".txt") {
      EXPECT_EQ(read_bytes(folder_.path() / "new" / entry.path().filename()), read_bytes(entry.path()));
    }
}

TEST_F(NewModel, AFolderTooLargeForOneFileHasShardsAndAnIndex) {
  const auto source = opened(hf_);
  uint64_t all = 0, largest = 0;
  for (const Tensor& tensor : source->tensors) {
    all += stored_bytes(tensor);
    largest = std::max(largest, stored_bytes(tensor));
  }
  for (const uint64_t limit : {all - 1, largest, largest - 1, uint64_t{1}}) {
    SCOPED_TRACE(limit);
    const TempFolder folder;
    auto writer =
        new_folder(hf_, read_bytes(hf_ / "config.json"), source->tensors, folder.path() / "new", limit);
    ASSERT_TRUE(writer.ok()) << told(writer);
    ASSERT_NO_FATAL_FAILURE(write(**writer, source->tensors));
    ASSERT_TRUE((*writer)->finish().ok());
    ASSERT_TRUE((*writer)->commit().ok());
    const auto again = opened(folder.path() / "new");
    ASSERT_EQ(again->tensors.size(), source->tensors.size());
    for (const Tensor& tensor : source->tensors)
      EXPECT_TRUE(std::ranges::equal(again->find(tensor.name)->data, tensor.data)) << tensor.name;
    uint64_t shards = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "new"))
      if (entry.path().extension() == ".safetensors") {
        ++shards;
        EXPECT_NE(entry.path().filename(), "model.safetensors");
        const auto shard = opened(entry.path());
        uint64_t bytes = 0;
        for (const Tensor& tensor : shard->tensors) bytes += stored_bytes(tensor);
        EXPECT_TRUE(bytes <= limit || shard->tensors.size() == 1) << entry.path();
      }
    EXPECT_GE(shards, limit == 1 ? source->tensors.size() : 2U);
  }
}

TEST_F(NewModel, MoreOrFewerBytesThanTheTensorsHaveAreRefusedAndNothingIsLeft) {
  for (const bool gguf : {true, false}) {
    const auto source = opened(gguf ? tiny_ : hf_);
    const auto begin = [&] {
      return gguf ? new_gguf(tiny_, {}, source->tensors, folder_.path() / "new.gguf")
                  : new_folder(hf_, "{}", source->tensors, folder_.path() / "new");
    };
    auto few = begin();
    ASSERT_TRUE(few.ok()) << told(few);
    const auto unfinished = (*few)->finish();
    ASSERT_FALSE(unfinished.ok());
    EXPECT_THAT(unfinished.error().to_string(), HasSubstr("Fewer bytes"));
    few->reset();
    auto many = begin();
    ASSERT_TRUE(many.ok()) << told(many);
    ASSERT_NO_FATAL_FAILURE(write(**many, source->tensors));
    const auto more = (*many)->write(std::as_bytes(std::span("x", 1)));
    ASSERT_FALSE(more.ok());
    EXPECT_THAT(more.error().to_string(), HasSubstr("More bytes"));
    many->reset();
    EXPECT_TRUE(left().empty());
  }
}

TEST_F(NewModel, WhatCannotBeWrittenIsRefusedBeforeTheFirstByte) {
  const auto source = opened(tiny_);
  const TensorTable large{{"large.weight", DType::f32, {int64_t{1} << 24, int64_t{1} << 24}, {}}};
  EXPECT_THAT(told(new_gguf(tiny_, {}, large, folder_.path() / "new.gguf")), HasSubstr("the disk has"));
  EXPECT_THAT(told(new_folder(hf_, "{}", large, folder_.path() / "new")), HasSubstr("the disk has"));
  const TensorTable blocks{{"blocks.weight", DType::q8_0, {4, 32}, {}}};
  EXPECT_THAT(told(new_folder(hf_, "{}", blocks, folder_.path() / "new")),
              HasSubstr("safetensors keeps no tensor as Q8_0"));
  EXPECT_THAT(told(new_gguf(tiny_, {}, source->tensors, tiny_)), HasSubstr("replace the model"));
  folder_.write("full/notes.txt", "mine");
  EXPECT_THAT(told(new_folder(hf_, "{}", {}, folder_.path() / "full")), HasSubstr("not empty"));
  EXPECT_THAT(told(new_folder(hf_, "{}", {}, folder_.path() / "no" / "such")), HasSubstr("cannot be made"));
  EXPECT_THAT(left(), UnorderedElementsAre("full"));
}

}  // namespace
}  // namespace orrery::io
