// Weights in another type than their file has, and weights of other files than the model's.
#include <chrono>

#include "engine/weights/weight_file.h"
#include "engine/weights/weight_store.h"
#include "kernels/linear.h"
#include "kernels/quantise.h"
#include "tests/engine/io/io_testing.h"

namespace orrery::weights {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A model of one matrix (4, 64) of f32 and an adapter-free store over it.
class OtherForms : public ::testing::Test {
 protected:
  static constexpr int64_t kRows = 4, kCols = 64;

  void SetUp() override {
    for (int64_t i = 0; i < kRows * kCols; ++i)
      values_.push_back(0.01F * static_cast<float>((i * 37) % 101 - 50));
    auto file = io::open(write("model.safetensors", "matrix", values_));
    ASSERT_TRUE(file.ok()) << file.error().to_string();
    file_ = *file;
    store_ = std::make_unique<WeightStore>(file_, nullptr);
  }

  std::filesystem::path write(const char* name, const std::string& tensor,
                              const std::vector<float>& values) const {
    std::string header = R"({")" + tensor + R"(":{"dtype":"F32","shape":[4,64],"data_offsets":[0,1024]}})";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    io::Bytes bytes;
    bytes.u64(header.size()).raw(header);
    for (const float value : values) bytes.number(value);
    return folder_.write(name, bytes.text);
  }

  WeightView as(DType dtype) const {
    WeightView view("matrix");
    view.dtype = dtype;
    return view;
  }
  WeightView of(const std::filesystem::path& path, const std::string& tensor) const {
    WeightView view(tensor);
    view.file = {path.string(), *stamp_of(path)};
    return view;
  }

  std::vector<uint8_t> bytes_of(const WeightTensor& tensor) const {
    const auto* data = reinterpret_cast<const uint8_t*>(tensor->data.data());
    return {data, data + tensor->data.size()};
  }

  io::TempFolder folder_;
  std::vector<float> values_;
  std::shared_ptr<const io::ModelFile> file_;
  std::unique_ptr<WeightStore> store_;
  kernels::ThreadTeam team_{2};
};

TEST_F(OtherForms, ARequantisedTensorIsMadeOfTheFilesValues) {
  const auto stored = store_->tensor(as(DType::q4_1), team_);
  ASSERT_TRUE(stored.ok()) << stored.error().to_string();
  EXPECT_EQ((*stored)->dtype, DType::q4_1);
  EXPECT_EQ((*stored)->shape, (std::vector<int64_t>{kRows, kCols}));
  std::vector<uint8_t> expected(4 * 40);
  for (int64_t r = 0; r < kRows; ++r)
    kernels::quantise_row(DType::q4_1, &values_[static_cast<size_t>(r * kCols)], kCols,
                          &expected[static_cast<size_t>(r * 40)]);
  EXPECT_EQ(bytes_of(*stored), expected);
  ASSERT_EQ(store_->derived().size(), 1U);
  EXPECT_EQ(store_->derived()[0].tensor, "matrix, as Q4_1");
  EXPECT_EQ(store_->derived()[0].transform, "requantised to Q4_1");
  EXPECT_EQ(store_->derived()[0].reason, "an edit asks for it; it was f32");
  EXPECT_EQ(store_->derived()[0].bytes, 160U);
}

TEST_F(OtherForms, ItIsGoneWithItsLastHolderAndFormsOfOneTensorDoNotMix) {
  auto q8 = store_->bytes(as(DType::q8_0), nullptr, team_),
       q4 = store_->bytes(as(DType::q4_0), nullptr, team_);
  ASSERT_TRUE(q8.ok() && q4.ok());
  EXPECT_NE(q8->get(), q4->get());
  EXPECT_EQ(*store_->bytes(as(DType::q8_0), nullptr, team_), *q8);
  EXPECT_EQ(store_->derived().size(), 2U);
  *q8 = nullptr;
  EXPECT_EQ(store_->derived().size(), 1U);
  *q4 = nullptr;
  EXPECT_TRUE(store_->derived().empty());
}

TEST_F(OtherForms, TheFilesOwnTypeIsTheFilesBytes) {
  const auto same = store_->bytes(as(DType::f32), nullptr, team_);
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->get(), file_->find("matrix")->data.data());
  EXPECT_TRUE(store_->derived().empty());
}

TEST_F(OtherForms, RowsAreTakenBeforeTheyAreStored) {
  WeightView rows("matrix", false, {1, 2});
  rows.dtype = DType::q8_0;
  const auto some = store_->tensor(rows, team_), all = store_->tensor(as(DType::q8_0), team_);
  ASSERT_TRUE(some.ok() && all.ok());
  EXPECT_EQ((*some)->shape, (std::vector<int64_t>{2, kCols}));
  const std::vector<uint8_t> whole = bytes_of(*all);
  EXPECT_EQ(bytes_of(*some), std::vector<uint8_t>(whole.begin() + 68, whole.begin() + 204));
  rows.columns = {8, 40};  // 40 elements are no blocks of 32
  const auto refused = store_->tensor(rows, team_);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("rows have 40 elements"));
}

TEST_F(OtherForms, ATensorOfAnotherFileIsItsMappedBytes) {
  std::vector<float> others = values_;
  others[0] = 7;
  const auto path = write("other.safetensors", "matrix", others);
  const auto own = store_->tensor("matrix", team_), other = store_->tensor(of(path, "matrix"), team_);
  ASSERT_TRUE(own.ok()) << own.error().to_string();
  ASSERT_TRUE(other.ok()) << other.error().to_string();
  EXPECT_EQ(reinterpret_cast<const float*>((*own)->data.data())[0], values_[0]);
  EXPECT_EQ(reinterpret_cast<const float*>((*other)->data.data())[0], 7.0F);
  WeightView stored = of(path, "matrix");
  stored.dtype = DType::q8_0;
  EXPECT_EQ((*store_->tensor(stored, team_))->dtype, DType::q8_0);
  EXPECT_TRUE(store_->check().ok());
}

TEST_F(OtherForms, WhatIsHeldOfAFileThatIsGoneStaysAndIsNotReadAgain) {
  const auto path = write("other.safetensors", "matrix", values_);
  const WeightView view = of(path, "matrix");
  auto held = store_->tensor(view, team_);
  ASSERT_TRUE(held.ok());
  std::filesystem::remove(path);
  EXPECT_TRUE(store_->tensor(view, team_).ok());  // still open
  *held = nullptr;
  const auto gone = store_->tensor(view, team_);
  ASSERT_FALSE(gone.ok());
  EXPECT_EQ(gone.error().code, ErrorCode::not_found);
  EXPECT_THAT(gone.error().to_string(),
              AllOf(HasSubstr("The file is not there"), HasSubstr("other.safetensors")));
}

TEST_F(OtherForms, AFileThatWasWrittenAnewIsRefused) {
  const auto path = write("other.safetensors", "matrix", values_);
  const WeightView view = of(path, "matrix");
  write("other.safetensors", "matrix", std::vector<float>(256, 1.0F));
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
  const auto refused = store_->tensor(view, team_);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("it has been rewritten since"));
  EXPECT_TRUE(store_->tensor(of(path, "matrix"), team_).ok());
  EXPECT_NE(view.identity(), of(path, "matrix").identity());
  EXPECT_EQ(view.name(), of(path, "matrix").name());
}

TEST_F(OtherForms, ATensorThatAFileLacksIsNamed) {
  const auto path = write("other.safetensors", "matrix", values_);
  const auto refused = store_->tensor(of(path, "nothing"), team_);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), AllOf(HasSubstr("\"nothing\""), HasSubstr("other.safetensors")));
}

/// tiny_adapter changes layer.weight (3, 4): A = [0 1 2 3], B = [1 2 3], scale 2.
TEST(OtherFiles, AnAdaptersMatricesAreTensorsAndCanBeMerged) {
  io::TempFolder folder;
  io::Bytes bytes;
  std::string header = R"({"layer.weight":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  bytes.u64(header.size()).raw(header);
  for (int i = 0; i < 12; ++i) bytes.number(1.0F);
  const auto file = io::open(folder.write("base.safetensors", bytes.text));
  ASSERT_TRUE(file.ok());
  kernels::ThreadTeam team(2);
  WeightStore store(*file, nullptr);
  const std::string adapter = (io::kData / "tiny_adapter").string();
  const OtherFile other{adapter, *stamp_of(adapter)};
  WeightView a("layer.weight.lora_a"), b("layer.weight.lora_b"), merged("layer.weight");
  a.file = b.file = other;
  EXPECT_EQ((*store.tensor(a, team))->shape, (std::vector<int64_t>{1, 4}));
  EXPECT_EQ((*store.tensor(b, team))->shape, (std::vector<int64_t>{3, 1}));
  merged.merged = {{0.5, other}, {1.0, other}};
  const auto both = store.tensor(merged, team);
  ASSERT_TRUE(both.ok()) << both.error().to_string();
  EXPECT_EQ((*both)->dtype, DType::f32);
  const auto* values = reinterpret_cast<const float*>((*both)->data.data());
  EXPECT_EQ(values[11], 1.0F + 1.5F * 3 * 3);
  EXPECT_EQ(store.derived()[0].reason, "it adds 0.5 * B A of rank 1 and 1 * B A of rank 1");
  EXPECT_THAT(store.derived()[0].tensor, HasSubstr("layer.weight + 0.5 * B A of"));
}

}  // namespace
}  // namespace orrery::weights
