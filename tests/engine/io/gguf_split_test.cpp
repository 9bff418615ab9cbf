// Models of several GGUF files.
#include "engine/io/gguf.h"
#include "tests/engine/io/io_testing.h"

namespace orrery::io {
namespace {

using ::testing::HasSubstr;

std::string piece(int number) { return "tiny-0000" + std::to_string(number) + "-of-00003.gguf"; }

TEST(SplitGguf, AnyPieceOpensAll) {
  for (int number = 1; number <= 3; ++number) {
    auto opened = open(kData / "tiny_split" / piece(number));
    ASSERT_TRUE(opened.ok()) << opened.error().to_string();
    const ModelFile& file = **opened;
    EXPECT_EQ(file.name, "Split");
    EXPECT_EQ(file.architecture, "llama");
    EXPECT_EQ(file.files.size(), 3U);
    EXPECT_EQ(file.tensors.size(), 5U);
    EXPECT_EQ(file.file_bytes, 448U + 352 + 224);
    for (int i = 0; i < 5; ++i) {
      const Tensor* tensor = file.find("blk." + std::to_string(i) + ".weight");
      ASSERT_TRUE(tensor);
      float first = 0;
      std::memcpy(&first, tensor->data.data(), sizeof(first));
      EXPECT_EQ(first, static_cast<float>(10 * i));
    }
    walk(file);
  }
}

TEST(SplitGguf, AFolderOfPiecesIsOneModel) {
  auto opened = open(kData / "tiny_split");
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  EXPECT_EQ((*opened)->tensors.size(), 5U);
}

class Pieces : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int number = 1; number <= 3; ++number) folder_.write(piece(number), bytes(number));
  }
  static std::string bytes(int number) { return read_bytes(kData / "tiny_split" / piece(number)); }
  void expect(ErrorCode code, std::string_view words, int opened = 1) {
    expect_refused(open(folder_.path() / piece(opened)), code, words);
  }
  /// A piece with these keys and one tensor.
  static std::string made(uint32_t number, uint32_t count, const std::string& tensor) {
    return Bytes()
        .gguf(1, 2)
        .u32_key("split.no", number)
        .u32_key("split.count", count)
        .tensor(tensor, {8}, 0, 0)
        .pad(32)
        .zeros(32)
        .text;
  }
  TempFolder folder_;
};

TEST_F(Pieces, MissingOnesAreNamed) {
  std::filesystem::remove(folder_.path() / piece(1));
  std::filesystem::remove(folder_.path() / piece(3));
  expect(ErrorCode::not_found, piece(1) + ", " + piece(3), 2);
}

TEST_F(Pieces, MustBeWhatTheirNamesSay) {
  folder_.write("renamed.gguf", bytes(2));
  expect_refused(open(folder_.path() / "renamed.gguf"), ErrorCode::not_found, "piece 2 of 3");
  folder_.write(piece(3), bytes(2));
  expect(ErrorCode::corrupt_file, "not piece 3 of 3");
  folder_.write(piece(3), read_bytes(kData / "tiny.gguf"));
  expect(ErrorCode::corrupt_file, "not piece 3 of 3");
  folder_.write(piece(3), bytes(3).substr(0, 100));
  expect(ErrorCode::corrupt_file, "ends inside");
}

TEST_F(Pieces, MustFitTogether) {
  folder_.write(piece(3), made(2, 3, "blk.0.weight"));
  expect(ErrorCode::corrupt_file, "\"blk.0.weight\" is in two pieces");
  folder_.write(piece(3), made(2, 4, "x"));
  expect(ErrorCode::corrupt_file, "not piece 3 of 3");
  folder_.write(piece(2), made(1, 3, "x"));
  folder_.write(piece(3), made(2, 3, "y"));
  expect(ErrorCode::corrupt_file, "hold 4 tensors, and 5 are promised");
}

TEST(SplitGguf, CountsThatCannotBe) {
  const TempFolder folder;
  const auto with = [&](const Bytes& count, const Bytes& number) {
    const std::string bytes =
        Bytes().gguf(1, 2).raw(count.text).raw(number.text).tensor("t", {8}, 0, 0).pad(32).zeros(32).text;
    return open(folder.write(piece(1), bytes));
  };
  const Bytes zero = Bytes().u32_key("split.no", 0);
  for (const Bytes& count :
       {Bytes().u32_key("split.count", UINT32_MAX), Bytes().u32_key("split.count", 4097),
        Bytes().text_key("split.count", "3"), Bytes().string("split.count").u32(10).u64(UINT64_MAX)})
    expect_refused(with(count, zero), ErrorCode::corrupt_file, "split.no and split.count");
  const Bytes three = Bytes().u32_key("split.count", 3);
  for (const Bytes& number : {Bytes().u32_key("split.no", 3), Bytes().u32_key("other", 0),
                              Bytes().string("split.no").u32(5).u32(0xffffffff)})
    expect_refused(with(three, number), ErrorCode::corrupt_file, "split.no and split.count");
}

TEST(SplitGguf, NamesOfPieces) {
  const auto name = parse_piece_name("a-b-00002-of-00010.gguf");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->stem, "a-b");
  EXPECT_EQ(name->number, 2);
  EXPECT_EQ(name->count, 10);
  for (const char* other : {"model.gguf", "-00001-of-00002.gguf", "m-00003-of-00002.gguf",
                            "m-00000-of-00002.gguf", "m-0001-of-00002.gguf", "m-00001-of-0000x.gguf",
                            "m-+0001-of-00002.gguf", "m-00001-of-00002.bin", "m_00001-of-00002.gguf"})
    EXPECT_FALSE(parse_piece_name(other)) << other;
}

}  // namespace
}  // namespace orrery::io
