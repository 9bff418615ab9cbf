// Speed of a tokenizer on texts: bytes of text per second of one core.
//   tokenizer_bench MODEL TEXT... [Google Benchmark's options]
// MODEL is a GGUF file or a folder with a tokenizer.json. Each text is encoded again and again, and, as
// "TEXT/first", once by a tokenizer that has met no word of it. Bytes are per second of processor time, in
// units of 1024.
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

void run_first(benchmark::State& state, const std::filesystem::path& model, const std::string& text) {
  for (auto _ : state) {
    state.PauseTiming();
    const Tokenizer tokenizer = *open(model);
    state.ResumeTiming();
    benchmark::DoNotOptimize(tokenizer->encode(text, false).data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
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
    benchmark::RegisterBenchmark((path.stem().string() + "/first").c_str(),
                                 [model = std::filesystem::path(words[1]), text = read_file(path)](
                                     benchmark::State& state) { run_first(state, model, text); })
        ->Iterations(5);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
