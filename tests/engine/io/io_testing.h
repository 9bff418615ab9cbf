// Helpers of the io tests: a folder that goes away, byte builders for both formats, and one walk over all
// that an opened model offers.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "engine/io/model_file.h"

namespace orrery::io {

inline const std::filesystem::path kData = std::filesystem::path(ORRERY_TEST_DATA) / "io";

class TempFolder {
 public:
  TempFolder() {
    // In memory where there is such a place: these tests write thousands of small files.
    std::string pattern = "/dev/shm/orrery_io_XXXXXX";
    if (!::mkdtemp(pattern.data())) {
      pattern = (std::filesystem::temp_directory_path() / "orrery_io_XXXXXX").string();
      if (!::mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
    }
    path_ = pattern;
  }
  ~TempFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Little-endian bytes, one after another.
struct Bytes {
  std::string text;
  template <class T>
  Bytes& number(T value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  Bytes& u32(uint32_t value) { return number(value); }
  Bytes& u64(uint64_t value) { return number(value); }
  Bytes& raw(std::string_view bytes) {
    text += bytes;
    return *this;
  }
  Bytes& string(std::string_view value) { return u64(value.size()).raw(value); }
  Bytes& zeros(size_t count) {
    text.append(count, '\0');
    return *this;
  }
  Bytes& pad(size_t alignment) { return zeros((alignment - text.size() % alignment) % alignment); }

  // GGUF pieces
  Bytes& gguf(uint64_t tensors, uint64_t keys, uint32_t version = 3) {
    return raw("GGUF").u32(version).u64(tensors).u64(keys);
  }
  Bytes& text_key(std::string_view key, std::string_view value) { return string(key).u32(8).string(value); }
  Bytes& u32_key(std::string_view key, uint32_t value) { return string(key).u32(4).u32(value); }
  Bytes& tensor(std::string_view name, std::initializer_list<uint64_t> dims, uint32_t type, uint64_t offset) {
    string(name).u32(static_cast<uint32_t>(dims.size()));
    for (const uint64_t dim : dims) u64(dim);
    return u32(type).u64(offset);
  }
};

/// A safetensors file: header length, header, data.
inline std::string safetensors(std::string_view header, size_t data_bytes) {
  return Bytes().u64(header.size()).raw(header).zeros(data_bytes).text;
}

inline Result<std::shared_ptr<const ModelFile>> open(const std::filesystem::path& path) {
  return open_model(path, {}, {});
}

/// Touches everything; fails the test when a span leaves its mapping. Returns a checksum so that nothing is
/// left out.
inline uint64_t walk(const ModelFile& file) {
  uint64_t sum = 0;
  for (const auto& [key, value] : file.metadata.all()) sum += key.size() + value.index();
  for (const Tensor& tensor : file.tensors) {
    EXPECT_EQ(file.find(tensor.name), &tensor);
    bool inside = tensor.data.empty();
    for (const auto& mapped : file.files) {
      const auto bytes = mapped->bytes();
      inside = inside || (tensor.data.data() >= bytes.data() &&
                          tensor.data.data() + tensor.data.size() <= bytes.data() + bytes.size());
    }
    EXPECT_TRUE(inside) << tensor.name;
    for (const std::byte byte : tensor.data) sum += static_cast<uint64_t>(byte);
    for (const auto& mapped : file.files) mapped->drop(tensor.data);
  }
  return sum + file.parameters() + file.chat_template.size();
}

/// A refusal that a person can act on.
inline void expect_refused(const Result<std::shared_ptr<const ModelFile>>& result, ErrorCode code,
                           std::string_view words) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, code) << result.error().to_string();
  EXPECT_THAT(result.error().to_string(), ::testing::HasSubstr(std::string(words)));
  EXPECT_FALSE(result.error().where.empty()) << result.error().to_string();
  EXPECT_FALSE(result.error().advice.empty()) << result.error().to_string();
}

}  // namespace orrery::io
