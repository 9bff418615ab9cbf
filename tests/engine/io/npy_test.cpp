// Arrays of NumPy as files of one tensor.
#include "engine/io/npy.h"

#include "tests/engine/io/io_testing.h"

namespace orrery::io {
namespace {

using ::testing::ElementsAre;

constexpr auto kCorrupt = ErrorCode::corrupt_file, kUnsupported = ErrorCode::unsupported;

TEST(Npy, ReadsWhatNumPyWrote) {
  auto opened = open(kData / "arrays/table.npy");
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  const ModelFile& file = **opened;
  EXPECT_EQ(file.format, Format::numpy);
  ASSERT_EQ(file.tensors.size(), 1U);
  const Tensor& table = file.tensors.front();
  EXPECT_EQ(table.name, "table");
  EXPECT_EQ(table.dtype, DType::f32);
  EXPECT_THAT(table.shape, ElementsAre(3, 4));
  float last = 0;
  std::memcpy(&last, table.data.data() + 44, sizeof(last));
  EXPECT_EQ(last, 11.0F);
  walk(file);

  EXPECT_THAT((*open(kData / "arrays/ids.npy"))->find("ids")->shape, ElementsAre(5));
  EXPECT_EQ((*open(kData / "arrays/column.npy"))->find("column")->dtype,
            DType::f16);  // one column has no order
  EXPECT_EQ((*open(kData / "arrays/doubles.npy"))->find("doubles")->type_name(), "F64");
  EXPECT_TRUE((*open(kData / "arrays/version_3.npy"))->find("version_3"));
}

TEST(Npy, ReadsArchivesOfArrays) {
  auto opened = open(kData / "arrays/several.npz");
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  EXPECT_EQ((*opened)->tensors.size(), 2U);
  EXPECT_THAT((*opened)->find("b")->shape, ElementsAre(2, 3));
  float first = 0;
  std::memcpy(&first, (*opened)->find("b")->data.data(), sizeof(first));
  EXPECT_EQ(first, 5.0F);
  walk(**opened);
}

TEST(Npy, SaysWhatIsNotRead) {
  expect_refused(open(kData / "arrays/columns.npy"), kUnsupported, "columns first");
  expect_refused(open(kData / "arrays/objects.npy"), kUnsupported, "would run code");
  expect_refused(open(kData / "arrays/big_endian.npy"), kUnsupported, "\">f4\"");
  expect_refused(open(kData / "arrays/compressed.npz"), kUnsupported, "compressed");
}

std::string array(const std::string& header, size_t data, char major = 1) {
  Bytes bytes;
  bytes.raw("\x93NUMPY").raw({&major, 1}).zeros(1);
  if (major == 1)
    bytes.number(static_cast<uint16_t>(header.size()));
  else
    bytes.u32(static_cast<uint32_t>(header.size()));
  return bytes.raw(header).zeros(data).text;
}
std::string shaped(const std::string& shape, const std::string& descr = "<f4") {
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

TEST(Npy, RefusesAttacksByNameAndPlace) {
  struct Attack {
    std::string bytes;
    ErrorCode code;
    const char* words;
  };
  const std::string frame = array(shaped("(2,)"), 8);
  const Attack attacks[] = {
      {std::string("\x93NUMPY"), kCorrupt, "ends inside"},
      {frame.substr(0, 20), kCorrupt, "ends inside"},
      {array(shaped("(2,)"), 8, 4), kUnsupported, "Version 4"},
      {Bytes().raw("\x93NUMPY\2").zeros(1).u32(UINT32_MAX).zeros(9).text, kCorrupt, "4294967295 bytes"},
      {array(shaped("(2,)"), 7), kCorrupt, "followed by 7 bytes"},
      {array(shaped("(2,)"), 9), kCorrupt, "followed by 9 bytes"},
      {array(shaped("(4194305, 4194305, 211106198978564)"), 16), kCorrupt, "followed by 16 bytes"},
      {array(shaped("(4398046511105,)"), 4), kCorrupt, "followed by 4 bytes"},
      {array(shaped("(99999999999999999999,)"), 8), kUnsupported, "no dict"},
      {array(shaped("(-2,)"), 8), kUnsupported, "no dict"},
      {array(shaped("(1,1,1,1,1,1,1,1,1)"), 4), kUnsupported, "no dict"},
      {array(shaped("(2,"), 8), kUnsupported, "no dict"},
      {array(shaped("[2]"), 8), kUnsupported, "no dict"},
      {array(shaped("(2,)", "<f4', 'descr': '<f4"), 8), kUnsupported, "no dict"},
      {array("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", 8), kUnsupported, "no dict"},
      {array("{'descr': '<f4', 'shape': (2,)}", 8), kUnsupported, "no dict"},
      {array("{'descr': '<f4', 'fortran_order': __import__('os'), 'shape': (2,)}", 8), kUnsupported,
       "no dict"},
      {array(std::string(60000, '{'), 8), kUnsupported, "no dict"},
      {array(shaped("(2,)") + "x", 8), kUnsupported, "no dict"},
      {array(shaped("(2,)", "|V3"), 6), kUnsupported, "\"|V3\""}};
  const TempFolder folder;
  for (const Attack& attack : attacks) {
    SCOPED_TRACE(attack.words);
    expect_refused(open(folder.write("a.npy", attack.bytes)), attack.code, attack.words);
  }
  EXPECT_TRUE(open(folder.write("a.npy", frame)).ok());
  EXPECT_TRUE(
      open(folder.write("a.npy", array("{'shape': (), 'descr': '<f4', 'fortran_order': True}", 4))).ok());
}

TEST(Npy, WritesWhatItReads) {
  const TempFolder folder;
  std::vector<std::byte> bytes(2 * 3 * sizeof(int64_t));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 2);
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32,
                            DType::i64, DType::u8, DType::boolean})
    for (const std::vector<int64_t>& shape :
         std::vector<std::vector<int64_t>>{{2, 3}, {6}, {}, {1, 2, 1, 3}}) {
      Tensor array{"a", dtype, shape, {}};
      array.data = std::span(bytes).first(row_bytes(dtype, shape.empty() ? 1 : 6).value());
      const auto path = folder.path() / "a.npy";
      ASSERT_TRUE(write_npy(path, array).ok());
      const auto mapped = MappedFile::open(path);
      ASSERT_TRUE(mapped.ok());
      const auto read = npy_array(**mapped);
      ASSERT_TRUE(read.ok()) << read.error().to_string();
      EXPECT_EQ(read->dtype, dtype);
      EXPECT_EQ(read->shape, shape);
      EXPECT_TRUE(std::ranges::equal(read->data, array.data));
      EXPECT_EQ((mapped.value()->bytes().size() - read->data.size()) % 64, 0U);
    }
  const Tensor blocks{"a", DType::q8_0, {32}, bytes};
  const auto refused = write_npy(folder.path() / "blocks.npy", blocks);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), ::testing::HasSubstr("no elements of Q8_0"));
}

TEST(Npy, Bf16IsWhatMlDtypesSaves) {
  auto opened = open(kData / "arrays/bf16.npy");
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  const Tensor& array = opened.value()->tensors.front();
  EXPECT_EQ(array.dtype, DType::bf16);
  uint16_t last = 0;
  std::memcpy(&last, array.data.data() + 4, sizeof(last));
  EXPECT_EQ(last, 0x4000) << "2.0";
}

}  // namespace
}  // namespace orrery::io
