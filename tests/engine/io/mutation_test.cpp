// Seeded damage: a thousand mutants of a file of each format and of a Hugging Face folder. Each either
// opens, and then every byte that it offers is there, or is refused with words. Run under sanitizers too.
#include <random>

#include "tests/engine/io/io_testing.h"

namespace orrery::io {
namespace {

constexpr int kMutants = 1000;

using Random = std::mt19937_64;

size_t below(Random& random, size_t limit) { return limit == 0 ? 0 : random() % limit; }

void overwrite_number(std::string& bytes, Random& random) {
  constexpr uint64_t kNumbers[] = {0,          1,
                                   2,          31,
                                   33,         0x7f,
                                   0xff,       0xffff,
                                   0x7fffffff, 0x80000000,
                                   0xffffffff, (1ULL << 42) + 1,
                                   1ULL << 61, (1ULL << 63) - 1,
                                   1ULL << 63, UINT64_MAX - 31,
                                   UINT64_MAX};
  const uint64_t number = kNumbers[below(random, std::size(kNumbers))];
  const size_t width = random() % 2 ? 4 : 8;
  if (bytes.size() < width) return;
  std::memcpy(bytes.data() + below(random, bytes.size() - width + 1), &number, width);
}

void insert_token(std::string& bytes, Random& random) {
  const std::string tokens[] = {"\"",    "{",
                                "[",     "]",
                                "}",     ",",
                                ":",     "-1",
                                "1e308", "18446744073709551616",
                                "null",  "\\u0000",
                                "\xff",  std::string(300, '['),
                                "\"a\":"};
  bytes.insert(below(random, bytes.size() + 1), tokens[below(random, std::size(tokens))]);
}

void mutate(std::string& bytes, Random& random, bool json) {
  const int rounds = 1 + static_cast<int>(below(random, 4));
  for (int i = 0; i < rounds && !bytes.empty(); ++i) switch (below(random, 7)) {
      case 0:
        bytes.resize(below(random, bytes.size()));
        break;
      case 1:
        bytes[below(random, bytes.size())] ^= static_cast<char>(1 << below(random, 8));
        break;
      case 2:
        bytes[below(random, bytes.size())] = static_cast<char>(random());
        break;
      case 3:
        bytes.erase(below(random, bytes.size()), 1 + below(random, 16));
        break;
      case 4: {
        const size_t from = below(random, bytes.size());
        bytes.insert(below(random, bytes.size()), bytes.substr(from, 1 + below(random, 64)));
        break;
      }
      default:
        if (json)
          insert_token(bytes, random);
        else
          overwrite_number(bytes, random);
    }
}

/// Counts what opened; fails on what is neither whole nor refused with words.
int judge(const Result<std::shared_ptr<const ModelFile>>& opened) {
  if (opened.ok()) {
    walk(**opened);
    return 1;
  }
  EXPECT_FALSE(opened.error().what.empty());
  EXPECT_NE(opened.error().code, ErrorCode::internal) << opened.error().to_string();
  return 0;
}

TEST(Mutants, OfGguf) {
  const TempFolder folder;
  const std::string whole = read_bytes(kData / "tiny.gguf");
  ASSERT_FALSE(whole.empty());
  int opened = 0;
  for (int seed = 0; seed < kMutants; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<uint64_t>(seed));
    std::string bytes = whole;
    mutate(bytes, random, false);
    opened += judge(open(folder.write("m.gguf", bytes)));
  }
  // Damage to tensor data is not seen, damage to the header mostly is: both kinds must have been there.
  EXPECT_GT(opened, 20);
  EXPECT_LT(opened, kMutants - 200);
}

TEST(Mutants, OfPyTorchFiles) {
  const TempFolder folder;
  const std::string wholes[] = {read_bytes(kData / "tiny.pt"), read_bytes(kData / "tiny_legacy.pt")};
  int opened = 0;
  for (int seed = 0; seed < kMutants; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<uint64_t>(seed));
    std::string bytes = wholes[seed % 2];
    mutate(bytes, random, false);
    opened += judge(open(folder.write("m.pt", bytes)));
  }
  EXPECT_GT(opened, 20);
  EXPECT_LT(opened, kMutants - 200);
}

TEST(Mutants, OfSplitGgufAndArrays) {
  const TempFolder folder;
  for (const auto& entry : std::filesystem::directory_iterator(kData / "tiny_split"))
    folder.write(entry.path().filename().string(), read_bytes(entry.path()));
  const std::string arrays[] = {read_bytes(kData / "arrays/table.npy"),
                                read_bytes(kData / "arrays/several.npz")};
  for (int seed = 0; seed < kMutants / 2; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<uint64_t>(seed));
    const std::string name = "tiny-0000" + std::to_string(1 + below(random, 3)) + "-of-00003.gguf";
    const std::string whole = read_bytes(folder.path() / name);
    std::string bytes = whole, array = arrays[seed % 2];
    mutate(bytes, random, false);
    mutate(array, random, false);
    folder.write(name, bytes);
    judge(open(folder.path() / "tiny-00002-of-00003.gguf"));
    folder.write(name, whole);
    judge(open(folder.write("a.npy", array)));
  }
}

TEST(Mutants, OfHuggingFaceFolders) {
  const char* const names[] = {"config.json",
                               "model.safetensors",
                               "tokenizer.json",
                               "tokenizer_config.json",
                               "modules.json",
                               "1_Pooling/config.json",
                               "sentence_bert_config.json",
                               "generation_config.json"};
  const TempFolder folder;
  for (const char* name : names) folder.write(name, read_bytes(kData / "tiny_hf" / name));
  int opened = 0;
  for (int seed = 0; seed < kMutants; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<uint64_t>(seed));
    const char* name = seed % 2 ? "model.safetensors" : names[below(random, std::size(names))];
    const std::string whole = read_bytes(kData / "tiny_hf" / name);
    std::string bytes = whole;
    mutate(bytes, random, random() % 4 != 0);
    folder.write(name, bytes);
    opened += judge(open(folder.path()));
    folder.write(name, whole);
  }
  EXPECT_GT(opened, 20);
  EXPECT_LT(opened, kMutants - 200);
}

TEST(Mutants, OfAdaptersAndShards) {
  const TempFolder folder;
  const char* const names[] = {"adapter_config.json", "adapter_model.safetensors", "config.json"};
  for (const char* name : names) folder.write(name, read_bytes(kData / "tiny_adapter" / name));
  for (const auto& entry : std::filesystem::directory_iterator(kData / "tiny_sharded"))
    folder.write("s/" + entry.path().filename().string(), read_bytes(entry.path()));
  const std::string index = read_bytes(kData / "tiny_sharded/model.safetensors.index.json");
  for (int seed = 0; seed < kMutants / 2; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<uint64_t>(seed));
    const char* name = names[below(random, std::size(names))];
    const std::string whole = read_bytes(kData / "tiny_adapter" / name);
    std::string bytes = whole, map = index;
    mutate(bytes, random, random() % 2 != 0);
    mutate(map, random, true);
    folder.write(name, bytes);
    folder.write("s/model.safetensors.index.json", map);
    if (auto adapter = open_adapter(folder.path()); adapter.ok()) walk(*(*adapter)->file);
    judge(open(folder.path() / "s"));
    folder.write(name, whole);
  }
}

}  // namespace
}  // namespace orrery::io
