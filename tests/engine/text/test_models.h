// What the tests of this folder share: the default models' tokenizers, golden files, and a small GGUF
// metadata reader, so that these tests need no other library of the engine.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/text/pre_tokenizer.h"
#include "engine/text/tokenizer.h"

namespace orrery::text::test {

std::filesystem::path models_folder();
std::string read_file(const std::filesystem::path& path);  // throws where it cannot be read
/// One part of a golden file, by value.
nlohmann::json golden(const std::string& name, const std::string& part);
std::filesystem::path data_folder();                        // tests/data
Metadata gguf_metadata(const std::filesystem::path& path);  // of a trusted file
Metadata smollm2_metadata();
const std::string& minilm_tokenizer_json();
std::shared_ptr<const Tokenizer> smollm2();
std::shared_ptr<const Tokenizer> minilm();
/// Copies of what it takes, and whether each began the whole input.
struct CollectedSegments final : SegmentSink {
  std::vector<std::pair<std::string, bool>> list;
  void take(const Segment& segment) override { list.emplace_back(segment.text, segment.first); }
  void settle() override {}
};
std::string random_bytes(uint64_t seed, size_t count);
std::string random_text(uint64_t seed, size_t code_points);  // valid UTF-8 of all planes and kinds

}  // namespace orrery::text::test
