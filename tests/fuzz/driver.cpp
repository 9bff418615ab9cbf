// Runs a fuzz target without libFuzzer, so that a sanitizer tree of any compiler can: each input is a seed
// that a generator has changed, and the generator begins anew from the input's number, so that every run of
// the same seeds is the same and a finding is repeated by its number.
//
//   fuzz_gguf SECONDS FOLDER         seeds of the folder as they are, then changed ones until the time is up
//   fuzz_gguf --only NUMBER FOLDER   one input
#include <sanitizer/common_interface_defs.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr size_t kLongest = 8192;

uint64_t running = 0;  // the number of the input

using Bytes = std::vector<uint8_t>;

std::vector<Bytes> read_seeds(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Bytes> seeds(1);  // nothing is an input too
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    Bytes bytes((std::istreambuf_iterator<char>(stream)), {});
    bytes.resize(std::min(bytes.size(), kLongest));
    seeds.push_back(std::move(bytes));
  }
  return seeds;
}

class Changes {
 public:
  Changes(const std::vector<Bytes>& seeds, uint64_t number) : seeds_(seeds), random_(number) {}

  Bytes input() {
    Bytes bytes = seeds_[below(seeds_.size())];
    for (size_t i = 1 + below(6); i > 0; --i) change(bytes);
    bytes.resize(std::min(bytes.size(), kLongest));
    return bytes;
  }

 private:
  size_t below(size_t limit) { return limit > 0 ? random_() % limit : 0; }

  void change(Bytes& bytes) {
    const size_t at = below(bytes.size() + 1);
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const size_t length = std::min(below(64) + 1, bytes.size() - at);
    switch (below(7)) {
      case 0:  // a bit
        if (length > 0) bytes[at] ^= static_cast<uint8_t>(1U << below(8));
        break;
      case 1:  // a number where counts, sizes and offsets break
        put_number(bytes, at);
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.erase(place, place + static_cast<std::ptrdiff_t>(length));
        break;
      case 4: {  // a piece twice
        const Bytes piece(place, place + static_cast<std::ptrdiff_t>(length));
        bytes.insert(place, piece.begin(), piece.end());
        break;
      }
      case 5: {  // the end of another seed
        const Bytes& other = seeds_[below(seeds_.size())];
        bytes.resize(at);
        bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(below(other.size() + 1)),
                     other.end());
        break;
      }
      default:
        for (size_t i = 0; i < length; ++i) bytes[at + i] = static_cast<uint8_t>(random_());
    }
  }

  void put_number(Bytes& bytes, size_t at) {
    static constexpr uint64_t kNumbers[] = {0,          1,         0x7F,       0x80,       0xFF,
                                            0x7FFF,     0xFFFF,    0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
                                            UINT64_MAX, INT64_MAX, 1ULL << 63, 1ULL << 40, 1ULL << 32};
    const uint64_t number = kNumbers[below(std::size(kNumbers))];
    const size_t width = size_t{1} << below(4);
    for (size_t i = 0; i < width && at + i < bytes.size(); ++i)
      bytes[at + i] = static_cast<uint8_t>(number >> (8 * i));
  }

  const std::vector<Bytes>& seeds_;
  std::mt19937_64 random_;
};

/// The numbers from 0 on are the seeds themselves.
void run(const std::vector<Bytes>& seeds, uint64_t number) {
  running = number;
  const Bytes bytes = number < seeds.size() ? seeds[number] : Changes(seeds, number).input();
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

void name_the_input() {
  std::fprintf(stderr, "input %llu: repeat it by --only %llu FOLDER\n",
               static_cast<unsigned long long>(running), static_cast<unsigned long long>(running));
}

}  // namespace

int main(int argc, char** argv) {
  const bool only = argc == 4 && std::string(argv[1]) == "--only";
  if (!only && argc != 3) {
    std::fprintf(stderr, "usage: %s SECONDS FOLDER, or %s --only NUMBER FOLDER\n", argv[0], argv[0]);
    return 2;
  }
  __sanitizer_set_death_callback(name_the_input);
  const std::vector<Bytes> seeds = read_seeds(argv[argc - 1]);
  if (only) {
    run(seeds, std::strtoull(argv[2], nullptr, 10));
    return 0;
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(std::strtol(argv[1], nullptr, 10));
  uint64_t number = 0;
  while (number < seeds.size() || Clock::now() < end) run(seeds, number++);
  std::printf("%llu inputs, %zu of them seeds\n", static_cast<unsigned long long>(number), seeds.size());
  return 0;
}
