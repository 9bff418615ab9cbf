// What a refused file may cost: at most three times its size and 64 MB, whatever it declares.
#include <sys/resource.h>

#include "tests/engine/io/pytorch_testing.h"

namespace orrery::io {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMeasured = false;  // a sanitizer's own memory hides ours
#else
constexpr bool kMeasured = true;
#endif

uint64_t peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

/// Opens the file; the peak may grow by what the rule allows. Peaks never sink, so later calls are judged
/// more mildly: the largest file comes first.
void expect_small(const std::filesystem::path& path) {
  const uint64_t file_bytes = std::filesystem::file_size(path);
  const uint64_t before = peak_bytes();
  auto opened = open(path);
  EXPECT_FALSE(opened.ok());
  if (kMeasured) {
    EXPECT_LE(peak_bytes() - before, 3 * file_bytes + 64'000'000) << path << ' ' << file_bytes;
  }
}

TEST(RefusedMemory, EntriesThatAreSmallInTheFileAndLargeInMemory) {
  const TempFolder folder;
  constexpr size_t kBytes = 48'000'000;
  {
    Bytes texts;  // an array of empty strings
    texts.gguf(0, 2)
        .text_key("general.architecture", "llama")
        .string("k")
        .u32(9)
        .u32(8)
        .u64(kBytes / 8)
        .zeros(kBytes);
    expect_small(folder.write("texts.gguf", texts.text));
  }
  {
    Bytes bytes;  // u8 that are kept as 64-bit integers
    bytes.gguf(0, 2)
        .text_key("general.architecture", "llama")
        .string("k")
        .u32(9)
        .u32(0)
        .u64(kBytes)
        .zeros(kBytes);
    expect_small(folder.write("bytes.gguf", bytes.text));
  }
  {
    Bytes keys;
    keys.gguf(0, kBytes / 21);
    for (uint64_t i = 0; i < kBytes / 21; ++i) keys.u64(8).u64(i).u32(0).raw("x");
    expect_small(folder.write("keys.gguf", keys.text));
  }
  {
    std::string header = "{";
    for (int i = 0; header.size() < kBytes; ++i)
      header += "\"" + std::to_string(i) + "\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},";
    header.back() = ' ';
    expect_small(folder.write("many.safetensors", safetensors(header, 8)));
  }
}

TEST(RefusedMemory, PicklesThatBuildMuchOutOfLittle) {
  constexpr size_t kBytes = 16'000'000;
  const auto filled = [](std::string_view operations, std::string text = "") {
    text.reserve(kBytes + 16);
    while (text.size() < kBytes) text += operations;
    return torch_zip(PickleBytes().raw(text).stop());
  };
  const TempFolder folder;
  expect_small(folder.write("lists.pt", filled("]0")));
  expect_small(folder.write("dicts.pt", filled("}0")));
  expect_small(folder.write("numbers.pt", filled("N")));
  expect_small(folder.write("items.pt", filled("Na", "]")));
  expect_small(folder.write("pairs.pt", filled("NNs", "}")));
  expect_small(folder.write("tuples.pt", filled("\x85")));
  std::string memo = "N";
  for (uint32_t i = 0; memo.size() < kBytes; ++i) memo += "r" + Bytes().u32(i).text;
  expect_small(folder.write("memo.pt", torch_zip(PickleBytes().raw(memo).stop())));
  // One description, asked for again and again.
  const std::string description = PickleBytes().storage("0", 4).text.substr(2);
  expect_small(
      folder.write("storages.pt", filled("h\1Q0", description.substr(0, description.size() - 1) + "q\1")));
}

}  // namespace
}  // namespace orrery::io
