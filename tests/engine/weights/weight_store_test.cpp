#include "engine/weights/weight_store.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <future>
#include <semaphore>

#include "kernels/linear.h"
#include "tests/engine/io/io_testing.h"

namespace orrery::weights {
namespace {

using ::testing::HasSubstr;

std::filesystem::path models() {
  if (const char* folder = std::getenv("ORRERY_MODELS")) return folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"))
    return std::filesystem::path(cache) / "orrery/models";
  return std::filesystem::path(std::getenv("HOME")) / ".cache/orrery/models";
}

std::vector<float> row_of(const io::Tensor& tensor, int64_t row) {
  std::vector<float> values(static_cast<size_t>(tensor.shape.back()));
  const size_t bytes = *row_bytes(tensor.dtype, tensor.shape.back());
  kernels::dequantise_row(tensor.dtype, tensor.data.data() + static_cast<size_t>(row) * bytes,
                          tensor.shape.back(), values.data());
  return values;
}

/// The tiny base that tiny_adapter was made for: bert.layer.weight (3, 4) of ones, at an odd address.
class TinyStore : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string header = R"({"flag":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},)"
                         R"("bert.layer.weight":{"dtype":"F32","shape":[3,4],"data_offsets":[1,49]}})";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    io::Bytes bytes;
    bytes.u64(header.size()).raw(header).zeros(1);
    for (int i = 0; i < 12; ++i) bytes.number(1.0F);
    auto file = io::open(folder_.write("base.safetensors", bytes.text));
    ASSERT_TRUE(file.ok()) << file.error().to_string();
    file_ = *file;
    auto adapter = io::open_adapter(io::kData / "tiny_adapter");
    ASSERT_TRUE(adapter.ok());
    adapter_ = *adapter;
  }
  io::TempFolder folder_;
  std::shared_ptr<const io::ModelFile> file_;
  std::shared_ptr<const io::Adapter> adapter_;
  kernels::ThreadTeam team_{2};
};

TEST_F(TinyStore, CopiesWhatIsNotAligned) {
  WeightStore store(file_, nullptr);
  ASSERT_NE(reinterpret_cast<uintptr_t>(file_->find("bert.layer.weight")->data.data()) % 4, 0U);
  auto tensor = store.tensor("bert.layer.weight", team_);
  ASSERT_TRUE(tensor.ok()) << tensor.error().to_string();
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*tensor)->data.data()) % 64, 0U);
  EXPECT_EQ(row_of(**tensor, 2), std::vector<float>(4, 1.0F));
  EXPECT_EQ((*tensor)->dtype, DType::f32);
  ASSERT_EQ(store.derived().size(), 1U);
  EXPECT_EQ(store.derived()[0].bytes, 48U);
  EXPECT_EQ(*store.tensor("bert.layer.weight", team_), *tensor);  // built once
  EXPECT_EQ(store.bytes("flag", nullptr, team_)->get(), file_->find("flag")->data.data());
  EXPECT_EQ(store.derived().size(), 1U);
}

TEST_F(TinyStore, RefusesATypeThatIsNotRun) {
  auto file = std::make_shared<io::ModelFile>(*file_);
  file->tensors[file->by_name.at("bert.layer.weight")].foreign_type = "IQ2_XXS";
  for (const auto& adapter : {std::shared_ptr<const io::Adapter>(), adapter_}) {
    WeightStore store(file, adapter);
    const auto bytes = store.bytes("bert.layer.weight", nullptr, team_);
    ASSERT_FALSE(bytes.ok());
    EXPECT_THAT(bytes.error().to_string(), HasSubstr("\"bert.layer.weight\" has the type IQ2_XXS"));
    EXPECT_THAT(bytes.error().advice, HasSubstr("F32, F16, Q4_0, Q4_1, Q5_0"));
  }
}

TEST_F(TinyStore, MergesTheAdapter) {
  WeightStore store(file_, adapter_);
  auto tensor = store.tensor("bert.layer.weight", team_);
  ASSERT_TRUE(tensor.ok()) << tensor.error().to_string();
  // base 1, A = [0 1 2 3], B = [1 2 3], scale 2
  EXPECT_EQ(row_of(**tensor, 0), (std::vector<float>{1, 3, 5, 7}));
  EXPECT_EQ(row_of(**tensor, 2), (std::vector<float>{1, 7, 13, 19}));
  ASSERT_EQ(store.derived().size(), 1U);
  EXPECT_THAT(store.derived()[0].transform, HasSubstr("merged"));
}

TEST_F(TinyStore, TheAdaptersWholeTensorsComeFirst) {
  WeightStore store(file_, adapter_);
  auto whole = store.tensor("classifier.weight", team_);
  ASSERT_TRUE(whole.ok()) << whole.error().to_string();
  EXPECT_EQ(row_of(**whole, 1), (std::vector<float>{4, 5, 6, 7}));
  EXPECT_TRUE(store.tensor("bert.pooler.bias", team_).ok());
  auto missing = store.tensor("nothing", team_);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_THAT(missing.error().to_string(), HasSubstr("\"nothing\""));
}

std::atomic<int> packed_count = 0;
const kernels::WeightPacking kDoubled{
    "doubled",
    [](DType, int64_t rows, int64_t cols) { return static_cast<size_t>(rows * cols) * sizeof(float); },
    [](const void* stored, DType dtype, int64_t rows, int64_t cols, void* packed, kernels::ThreadTeam&) {
      ++packed_count;
      auto* dst = static_cast<float*>(packed);
      for (int64_t r = 0; r < rows; ++r) {
        kernels::dequantise_row(
            dtype, static_cast<const std::byte*>(stored) + static_cast<size_t>(r) * *row_bytes(dtype, cols),
            cols, dst + r * cols);
        for (int64_t c = 0; c < cols; ++c) dst[r * cols + c] *= 2;
      }
    }};
const kernels::WeightPacking kHuge{"huge", [](DType, int64_t, int64_t) { return SIZE_MAX - 10; }, nullptr};

TEST_F(TinyStore, PacksOnceAndCounts) {
  packed_count = 0;
  WeightStore store(file_, adapter_);
  auto first = store.bytes("bert.layer.weight", &kDoubled, team_);
  auto second = store.bytes("bert.layer.weight", &kDoubled, team_);
  ASSERT_TRUE(first.ok()) << first.error().to_string();
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(packed_count, 1);
  EXPECT_EQ(static_cast<const float*>(first->get())[11], 38.0F);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first->get()) % 64, 0U);
  EXPECT_EQ(store.derived().back().transform, "doubled");
  // A vector is one row.
  auto vector = store.bytes("pooler.bias", &kDoubled, team_);
  ASSERT_TRUE(vector.ok());
  EXPECT_EQ(static_cast<const float*>(vector->get())[3], 6.0F);
}

TEST_F(TinyStore, AFormThatNobodyHoldsIsGone) {
  packed_count = 0;
  WeightStore store(file_, adapter_);
  auto packed = store.bytes("bert.layer.weight", &kDoubled, team_);
  ASSERT_TRUE(packed.ok()) << packed.error().to_string();
  ASSERT_EQ(store.derived().size(), 1U);  // what was merged only to be packed is gone
  EXPECT_EQ(store.derived()[0].transform, "doubled");
  *packed = nullptr;
  EXPECT_TRUE(store.derived().empty());
  packed = store.bytes("bert.layer.weight", &kDoubled, team_);
  EXPECT_EQ(packed_count, 2);
  EXPECT_EQ(static_cast<const float*>(packed->get())[11], 38.0F);
}

std::binary_semaphore packing{0}, go_on{0};
const kernels::WeightPacking kHeld{
    "held", [](DType, int64_t rows, int64_t cols) { return static_cast<size_t>(rows * cols); },
    [](const void*, DType, int64_t, int64_t, void*, kernels::ThreadTeam&) {
      packing.release();
      go_on.acquire();
    }};

TEST_F(TinyStore, WhoLooksNeverWaitsForAFormThatIsBeingMade) {
  WeightStore store(file_, nullptr);
  auto made =
      std::async(std::launch::async, [&] { return store.bytes("bert.layer.weight", &kHeld, team_).ok(); });
  packing.acquire();
  auto looked = std::async(std::launch::async, [&] { return store.derived().size() + store.resident() > 0; });
  EXPECT_EQ(looked.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  go_on.release();
  EXPECT_TRUE(made.get());
  EXPECT_TRUE(looked.get());
}

TEST_F(TinyStore, WhatIsHeldOutlivesTheStore) {
  auto store = std::make_unique<WeightStore>(file_, nullptr);
  const auto stored = store->bytes("flag", nullptr, team_),
             copied = store->bytes("bert.layer.weight", nullptr, team_);
  ASSERT_TRUE(stored.ok() && copied.ok());
  const std::weak_ptr<const io::ModelFile> file = file_;
  file_ = nullptr;
  store = nullptr;
  EXPECT_FALSE(file.expired());  // the mapped bytes are held
  EXPECT_EQ(static_cast<const float*>(copied->get())[0], 1.0F);
}

TEST_F(TinyStore, MemoryThatIsNotThereIsARefusal) {
  WeightStore store(file_, nullptr);
  auto refused = store.bytes("bert.layer.weight", &kHuge, team_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(refused.error().to_string(), HasSubstr("bert.layer.weight, huge"));
  EXPECT_TRUE(store.bytes("bert.layer.weight", nullptr, team_).ok());
}

TEST_F(TinyStore, AnAdapterOfAnotherShapeIsRefused) {
  std::string header = R"({"layer.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})";
  auto file = io::open(folder_.write("other.safetensors", io::safetensors(header, 16)));
  ASSERT_TRUE(file.ok());
  WeightStore store(*file, adapter_);
  auto refused = store.tensor("layer.weight", team_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::shape_mismatch);
  EXPECT_THAT(refused.error().to_string(), HasSubstr("[3, 4], and the model's tensor is [2, 2]"));
}

TEST(WeightStore, MergesTheSentimentAdapterAsDefined) {
  auto base = io::open(models() / "minilm");
  auto adapter = io::open_adapter(std::filesystem::path(ORRERY_SOURCE_DIR) / "resources/models/sentiment");
  ASSERT_TRUE(base.ok()) << base.error().to_string();
  ASSERT_TRUE(adapter.ok()) << adapter.error().to_string();
  kernels::ThreadTeam team(2);
  WeightStore store(*base, *adapter);
  std::vector<WeightTensor> held;
  for (const auto& low_rank : (*adapter)->low_rank) {
    auto merged = store.tensor(low_rank.target, team);
    ASSERT_TRUE(merged.ok()) << merged.error().to_string();
    held.push_back(*merged);
    const int64_t rows = low_rank.b.shape[0], rank = low_rank.a.shape[0];
    for (const int64_t r : {int64_t{0}, rows / 2, rows - 1}) {
      const auto row = row_of(**merged, r), stored = row_of(*(*base)->find(low_rank.target), r),
                 b = row_of(low_rank.b, r);
      std::vector<double> expected(stored.begin(), stored.end());
      for (int64_t k = 0; k < rank; ++k) {
        const auto a = row_of(low_rank.a, k);
        for (size_t c = 0; c < a.size(); ++c)
          expected[c] +=
              low_rank.scale * static_cast<double>(b[static_cast<size_t>(k)]) * static_cast<double>(a[c]);
      }
      for (size_t c = 0; c < row.size(); ++c) ASSERT_NEAR(row[c], expected[c], 1e-6) << low_rank.target;
    }
  }
  EXPECT_EQ(store.derived().size(), 36U);
}

TEST(WeightStore, StoredBytesAreTheFilesOwn) {
  auto file = io::open(models() / "smollm2");
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  kernels::ThreadTeam team(1);
  WeightStore store(*file, nullptr);
  for (const io::Tensor& tensor : (*file)->tensors) {
    auto bytes = store.bytes(tensor.name, nullptr, team);
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(bytes->get(), tensor.data.data());
  }
  EXPECT_TRUE(store.derived().empty());
}

}  // namespace
}  // namespace orrery::weights
