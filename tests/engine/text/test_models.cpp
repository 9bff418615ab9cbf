#include "test_models.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>

#include "engine/text/unicode.h"

namespace orrery::text::test {
namespace {

/// Reads the key-values of a trusted GGUF file.
class GgufMetadata {
 public:
  explicit GgufMetadata(const std::filesystem::path& path) : file_(path, std::ios::binary) {
    if (!file_) throw std::runtime_error("the default model is missing: " + path.string());
    take<uint32_t>(), take<uint32_t>(), take<uint64_t>();
    for (uint64_t count = take<uint64_t>(); count > 0; --count) {
      std::string key = text();
      metadata.set(std::move(key), value(take<uint32_t>()));
    }
  }
  Metadata metadata;

 private:
  template <class T>
  T take() {
    T number{};
    file_.read(reinterpret_cast<char*>(&number), sizeof number);
    return number;
  }
  std::string text() {
    std::string result(take<uint64_t>(), '\0');
    file_.read(result.data(), static_cast<std::streamsize>(result.size()));
    return result;
  }
  int64_t integer(uint32_t type) {
    switch (type) {
      case 0:
        return take<uint8_t>();
      case 1:
        return take<int8_t>();
      case 2:
        return take<uint16_t>();
      case 3:
        return take<int16_t>();
      case 4:
        return take<uint32_t>();
      case 5:
        return take<int32_t>();
      default:
        return take<int64_t>();
    }
  }
  Metadata::Value value(uint32_t type) {
    if (type == 6) return static_cast<double>(take<float>());
    if (type == 12) return take<double>();
    if (type == 7) return take<uint8_t>() != 0;
    if (type == 8) return text();
    if (type != 9) return integer(type);
    const auto inner = take<uint32_t>();
    const auto count = take<uint64_t>();
    if (inner == 8) {
      std::vector<std::string> list(count);
      for (auto& item : list) item = text();
      return list;
    }
    if (inner == 6) {
      std::vector<double> list(count);
      for (auto& item : list) item = take<float>();
      return list;
    }
    std::vector<int64_t> list(count);
    for (auto& item : list) item = integer(inner);
    return list;
  }
  std::ifstream file_;
};

template <class T>
T expect(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return std::move(result).value();
}

}  // namespace

std::filesystem::path models_folder() {
  if (const char* folder = std::getenv("ORRERY_MODELS")) return folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"))
    return std::filesystem::path(cache) / "orrery/models";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home ? home : "") / ".cache/orrery/models";
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::filesystem::path data_folder() { return ORRERY_TEST_DATA; }

nlohmann::json golden(const std::string& name, const std::string& part) {
  return nlohmann::json::parse(read_file(data_folder() / "golden" / name)).at(part);
}

Metadata gguf_metadata(const std::filesystem::path& path) { return GgufMetadata(path).metadata; }

Metadata smollm2_metadata() {
  return gguf_metadata(models_folder() / "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf");
}

const std::string& minilm_tokenizer_json() {
  static const std::string text = read_file(models_folder() / "minilm/tokenizer.json");
  return text;
}

std::shared_ptr<const Tokenizer> smollm2() {
  static const auto tokenizer = expect(tokenizer_from_gguf(smollm2_metadata()));
  return tokenizer;
}

std::shared_ptr<const Tokenizer> minilm() {
  static const auto tokenizer = expect(tokenizer_from_json(minilm_tokenizer_json()));
  return tokenizer;
}

std::string random_bytes(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

std::string random_text(uint64_t seed, size_t code_points) {
  static constexpr std::pair<char32_t, char32_t> kRanges[] = {
      {0x20, 0x7E},     {0x09, 0x0D},       {0xA0, 0x24F},    {0x300, 0x36F},   {0x370, 0x5FF},
      {0x600, 0x77F},   {0x900, 0xDFF},     {0x2000, 0x206F}, {0x3040, 0x30FF}, {0x4E00, 0x9FFF},
      {0xAC00, 0xD7A3}, {0x1F300, 0x1FAFF}, {0x0, 0x10FFFF}};
  std::mt19937_64 random(seed);
  std::string text;
  while (code_points-- > 0) {
    const auto [low, high] = kRanges[random() % std::size(kRanges)];
    append_utf8(text, low + static_cast<char32_t>(random() % (high - low + 1)));
  }
  return text;
}

}  // namespace orrery::text::test
