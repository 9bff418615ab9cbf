// Speed of a tokenizer on texts: bytes of text per second of one core.
//   tokenizer_bench MODEL TEXT... [Google Benchmark's options]
// MODEL is a GGUF file or a folder with a tokenizer.json.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "engine/io/model_file.h"
#include "engine/text/tokenizer.h"

namespace {

using namespace orrery;
using Tokenizer = std::shared_ptr<const text::Tokenizer>;

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<Tokenizer> open(const std::filesystem::path& path) {
  ORRERY_ASSIGN(const auto model, io::open_model(path, {}, {}));
  if (model->tokenizer_json.empty()) return text::tokenizer_from_gguf(model->metadata);
  return text::tokenizer_from_json(read_file(model->tokenizer_json));
}

void run(benchmark::State& state, const Tokenizer& tokenizer, const std::string& text) {
  size_t tokens = 0;
  for (auto _ : state) tokens = tokenizer->encode(text, false).size();
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
  state.counters["tokens"] = static_cast<double>(tokens);
}

}  // namespace

int main(int count, char** words) {
  benchmark::Initialize(&count, words);
  if (count < 3) {
    std::fprintf(stderr, "tokenizer_bench MODEL TEXT...\n");
    return 2;
  }
  auto tokenizer = open(words[1]);
  if (!tokenizer.ok()) {
    std::fprintf(stderr, "%s\n", tokenizer.error().to_string().c_str());
    return 1;
  }
  for (int i = 2; i < count; ++i) {
    const std::filesystem::path path = words[i];
    benchmark::RegisterBenchmark(path.stem().c_str(),
                                 [tokenizer = *tokenizer, text = read_file(path)](benchmark::State& state) {
                                   run(state, tokenizer, text);
                                 });
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
