// The CUDA module: what is said where it, its driver or a card is missing; and, on a card, what device.h
// promises of its memory, stream, marks and graphs, and of what follows a failure.
#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

#include "kernels/cpu/rows.h"
#include "tests/kernels/device_under_test.h"
#include "tests/support/machines.h"

namespace orrery::kernels {
namespace {

using testing::device_under_test;

/// Runs `entry` in a process of its own, since a program opens one module once.
void print_reason(const char* path) {
  setenv("ORRERY_CUDA_MODULE", path, 1);
  std::string reason;
  const DeviceModule* module = cuda_module(reason);
  std::fprintf(stderr, "module %s: %s\n", module ? "opened" : "refused", reason.c_str());
  std::exit(0);
}

/// What is refused is the same beside a card.
class RefusedModule : public ::testing::Test {
 protected:
  void SetUp() override {
    if (device_under_test()) GTEST_SKIP() << "needs no device";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

TEST_F(RefusedModule, that_is_absent_says_what_to_do) {
  EXPECT_EXIT(print_reason("/nonexistent/module.so"), ::testing::ExitedWithCode(0),
              "module refused: .*was not built: install the CUDA Toolkit");
}

TEST_F(RefusedModule, that_is_none_says_so) {
  EXPECT_EXIT(print_reason(ORRERY_SOURCE_DIR "/README.md"), ::testing::ExitedWithCode(0),
              "module refused: the CUDA module cannot be opened: ");
  EXPECT_EXIT(print_reason("libm.so.6"), ::testing::ExitedWithCode(0),
              "module refused: libm.so.6 is no module of this program");
}

TEST_F(RefusedModule, of_another_version_says_so) {
  EXPECT_EXIT(print_reason(ORRERY_OTHER_MODULE), ::testing::ExitedWithCode(0),
              "module refused: .*another version of this program: build both together");
}

const DeviceModule* module_here() {
  std::string reason;
  return cuda_module(reason);
}

TEST(CudaModule, counts_no_devices_without_a_reason) {
  const DeviceModule* module = module_here();
  if (!module) GTEST_SKIP() << "the module was not built";
  std::string reason;
  if (module->count(reason) > 0) GTEST_SKIP() << "this machine has a card";
  EXPECT_NE(reason.find("NVIDIA"), std::string::npos) << reason;
  try {
    module->open(0);
    FAIL() << "there is no device to open";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.kind(), DeviceError::Kind::failed);
    EXPECT_EQ(error.what(), reason);
  }
}

/// The place of the row in its list that is chosen for matrices of `rows` x `cols`; gated: for two of them.
size_t place_of_row(DType dtype, int64_t rows, int64_t cols, bool gated, int64_t tokens) {
  const std::span<const Row<Linear>> list = rows_of<Linear>(DeviceKind::cuda);
  Linear::Problem problem;
  problem.tokens = tokens;
  problem.min_tokens = tokens / 2 + 1;
  problem.cols = cols;
  problem.segments.fill({rows, dtype, false});
  if (gated) problem.segment_count = 2, problem.epilogue = Epilogue::silu_mul;
  return static_cast<size_t>(select(list, problem, machines::h200).row - list.data());
}

// Walking rows, tiles, widened weights: in this order as tokens grow, and tiles between a few and hundreds.
TEST(CudaModule, more_tokens_never_bring_a_row_for_fewer) {
  if (!module_here()) GTEST_SKIP() << "the module was not built";
  const std::span<const Row<Linear>> list = rows_of<Linear>(DeviceKind::cuda);
  for (int i = 0; i <= static_cast<int>(kLastDType); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!is_quantised(dtype) && dtype != DType::f16 && dtype != DType::bf16) continue;
    for (const auto& [rows, cols, gated] :
         {std::tuple{576, 1536, false}, {4096, 4096, false}, {14336, 4096, true}, {128256, 4096, false}}) {
      SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(rows) + " x " + std::to_string(cols));
      size_t last = 0;
      for (int64_t tokens = 1; tokens <= 4096; tokens *= 2) {
        const size_t place = place_of_row(dtype, rows, cols, gated, tokens);
        EXPECT_GE(place, last) << tokens << " tokens";
        last = place;
      }
      EXPECT_EQ(list[place_of_row(dtype, rows, cols, gated, 4096)].name, "cuda.dense");
      if (is_quantised(dtype) && rows > 1000) {
        EXPECT_EQ(list[place_of_row(dtype, rows, cols, gated, 32)].name, "cuda.tiles");
      }
    }
  }
}

TEST(CudaModule, each_op_has_a_row) {
  if (!module_here()) GTEST_SKIP() << "the module was not built";
  std::apply(
      [](auto... own) {
        const auto check = []<class Op>(std::span<const Row<Op>>) {
          EXPECT_FALSE(rows_of<Op>(DeviceKind::cuda).empty()) << Op::kName;
          for (const Row<Op>& row : rows_of<Op>(DeviceKind::cuda)) {
            EXPECT_EQ(row.device, DeviceKind::cuda) << row.name;
            EXPECT_EQ(row.name.rfind("cuda.", 0), 0U) << row.name;
            EXPECT_TRUE(row.supports && row.run) << row.name;
          }
        };
        (check(own()), ...);
      },
      kCpuLists);
}

class CudaDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!device_under_test()) GTEST_SKIP() << "ORRERY_TEST_DEVICE names no device";
    device_ = device_under_test();
  }

  std::byte* allocate(size_t bytes) { return static_cast<std::byte*>(device_->allocate(bytes)); }

  static std::vector<std::byte> pattern(size_t bytes, unsigned seed) {
    std::vector<std::byte> values(bytes);
    for (size_t i = 0; i < bytes; ++i) values[i] = static_cast<std::byte>((i * 2654435761U + seed) >> 13);
    return values;
  }
  std::vector<std::byte> downloaded(const void* memory, size_t bytes) {
    std::vector<std::byte> values(bytes);
    device_->download(values.data(), memory, bytes);
    return values;
  }

  Device* device_ = nullptr;
};

TEST_F(CudaDevice, says_what_it_is) {
  const DeviceFacts& facts = device_->facts();
  EXPECT_FALSE(facts.name.empty());
  EXPECT_EQ(facts.architecture.rfind("sm_", 0), 0U) << facts.architecture;
  EXPECT_GT(facts.multiprocessors, 0);
  EXPECT_GT(facts.memory_bytes, uint64_t{1} << 30);
  EXPECT_GT(facts.l2_bytes, uint64_t{1} << 20);
  const DeviceVitals vitals = device_->vitals();
  if (vitals.memory_total == 0) GTEST_SKIP() << "the driver came without NVML";
  EXPECT_GE(vitals.memory_total, facts.memory_bytes);
  EXPECT_GT(vitals.memory_used, 0U);
  EXPECT_LE(vitals.memory_used, vitals.memory_total);
  EXPECT_GT(vitals.clock_mhz, 0);
  EXPECT_GT(vitals.celsius, 0);
  EXPECT_LE(vitals.busy_share, 1);
}

TEST_F(CudaDevice, uploads_and_downloads_any_number_of_bytes) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{3}, size_t{4097}, (size_t{4} << 20) - 1,
                             size_t{4} << 20, (size_t{50} << 20) + 7}) {
    std::byte* memory = allocate(bytes + 1);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 256, 0U);
    const std::byte mark{0x5A};
    device_->upload(memory + bytes, &mark, 1);
    const std::vector<std::byte> values = pattern(bytes, 1);
    device_->upload(memory, values.data(), bytes);
    EXPECT_TRUE(downloaded(memory, bytes) == values) << bytes;
    EXPECT_EQ(downloaded(memory + bytes, 1)[0], mark);
    device_->release(memory);
  }
}

TEST_F(CudaDevice, uploads_come_from_any_thread) {
  constexpr size_t kBytes = (size_t{9} << 20) + 5;
  std::vector<std::byte*> memory;
  for (int i = 0; i < 4; ++i) memory.push_back(allocate(kBytes));
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < 4; ++i)
      threads.emplace_back([&, i] { device_->upload(memory[i], pattern(kBytes, i).data(), kBytes); });
  }
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_TRUE(downloaded(memory[i], kBytes) == pattern(kBytes, i)) << i;
    device_->release(memory[i]);
  }
}

TEST_F(CudaDevice, copies_both_ways_in_order) {
  auto* host = static_cast<std::byte*>(device_->allocate_host(200));
  std::byte* memory = allocate(100);
  const std::vector<std::byte> values = pattern(100, 3);
  std::memcpy(host, values.data(), 100);
  device_->copy(memory, host, 100);
  device_->copy(host + 100, memory, 100);
  device_->copy(host, memory, 0);
  device_->wait();
  EXPECT_EQ(std::memcmp(host + 100, values.data(), 100), 0);
  device_->release(memory);
  device_->release_host(host);
}

TEST_F(CudaDevice, memory_comes_to_a_range_piece_by_piece) {
  const size_t unit = device_->granularity();
  ASSERT_GT(unit, 0U);
  auto* range = static_cast<std::byte*>(device_->reserve((size_t{1} << 40) + 1));
  device_->commit(range, 0, unit);
  device_->commit(range, unit, 4 * unit);
  device_->commit(range, 4 * unit, 4 * unit);
  const std::vector<std::byte> values = pattern(4 * unit, 4);
  device_->upload(range, values.data(), values.size());
  EXPECT_TRUE(downloaded(range, values.size()) == values) << "across both pieces";
  EXPECT_THROW(device_->commit(range, 5 * unit + 1, 6 * unit), DeviceError);
  EXPECT_THROW(device_->commit(range + unit, 4 * unit, 5 * unit), DeviceError);
  const uint64_t used = device_->vitals().memory_used;
  device_->commit(range, 4 * unit, 4 * unit + (size_t{4} << 30));
  EXPECT_TRUE(used == 0 || device_->vitals().memory_used > used + (size_t{3} << 30));
  device_->unreserve(range);
  EXPECT_TRUE(used == 0 || device_->vitals().memory_used < used + (size_t{1} << 30)) << "the memory is back";
}

TEST_F(CudaDevice, too_much_is_refused_with_the_sizes_and_changes_nothing) {
  const auto refused = [&](auto&& call) {
    try {
      call();
      ADD_FAILURE() << "4 TB were allocated";
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.kind(), DeviceError::Kind::out_of_memory) << error.what();
      const std::string text = error.what();
      EXPECT_NE(text.find("4194304 MB"), std::string::npos) << text;
      EXPECT_NE(text.find("MB are free"), std::string::npos) << text;
      EXPECT_NE(text.find(device_->facts().name), std::string::npos) << text;
    }
  };
  constexpr size_t kTooMuch = size_t{1} << 42;
  refused([&] { device_->allocate(kTooMuch); });
  void* range = device_->reserve(kTooMuch);
  refused([&] { device_->commit(range, 0, kTooMuch); });
  device_->commit(range, 0, device_->granularity());
  device_->unreserve(range);
  std::byte* memory = allocate(64);
  const std::vector<std::byte> values = pattern(64, 5);
  device_->upload(memory, values.data(), 64);
  EXPECT_EQ(downloaded(memory, 64), values);
  device_->release(memory);
}

TEST_F(CudaDevice, marks_measure_the_work_between_them) {
  constexpr size_t kBytes = size_t{512} << 20;
  std::byte* from = allocate(kBytes);
  std::byte* to = allocate(kBytes);
  const auto start = device_->make_mark(), small = device_->make_mark(), end = device_->make_mark();
  for (int turn = 0; turn < 2; ++turn) {
    device_->record(*start);
    device_->copy(to, from, 4096);
    device_->record(*small);
    device_->copy(to, from, kBytes);
    device_->record(*end);
    device_->wait();
  }
  const double little = device_->microseconds(*start, *small), much = device_->microseconds(*small, *end);
  EXPECT_GT(little, 0);
  EXPECT_GT(much, 5 * little);
  EXPECT_LT(much, 1e6);
  device_->release(from);
  device_->release(to);
}

TEST_F(CudaDevice, a_mark_is_waited_for_without_what_follows_it) {
  constexpr size_t kBytes = size_t{1} << 20;
  auto* host = static_cast<uint8_t*>(device_->allocate_host(kBytes));
  void* memory = device_->allocate(kBytes);
  const auto mark = device_->make_mark();
  for (const uint8_t value : {uint8_t{1}, uint8_t{2}}) {  // a mark is used again
    std::vector<uint8_t> values(kBytes, value);
    device_->upload(memory, values.data(), kBytes);
    device_->copy(host, memory, kBytes);
    device_->record(*mark);
    device_->copy(memory, host, kBytes);
    device_->wait_for(*mark);
    EXPECT_EQ(host[kBytes - 1], value);
    device_->wait();
  }
  device_->release(memory);
  device_->release_host(host);
}

TEST_F(CudaDevice, another_cards_work_is_followed_and_its_memory_read) {
  const DeviceModule* module = module_here();
  std::string reason;
  if (module->count(reason) < 2) GTEST_SKIP() << "this machine has one card";
  const auto other = module->open(device_->facts().index == 0 ? 1 : 0);
  constexpr size_t kBytes = size_t{64} << 20;
  const std::vector<uint8_t> values(kBytes, 7);
  auto* way = static_cast<std::byte*>(device_->allocate_host(kBytes));
  auto* from = static_cast<std::byte*>(other->allocate(kBytes));
  auto* to = static_cast<std::byte*>(device_->allocate(kBytes));
  const auto mark = other->make_mark();
  std::memcpy(way, values.data(), kBytes);
  other->copy(from, way, kBytes);
  other->record(*mark);
  device_->follow(*mark);
  if (device_->reaches(*other)) {
    // Also as part of a graph.
    device_->begin_capture();
    device_->copy_from(*other, to, from, kBytes);
    const auto graph = device_->end_capture();
    device_->launch(*graph);
    device_->copy_from(*other, to, from, kBytes);
  } else {
    device_->copy_from(*other, way, from, kBytes);
    device_->copy(to, way, kBytes);
  }
  device_->wait();
  other->wait();
  std::vector<uint8_t> read(kBytes);
  device_->download(read.data(), to, kBytes);
  EXPECT_EQ(read, values);
  other->release(from);
  device_->release(to);
  device_->release_host(way);
}

TEST_F(CudaDevice, a_graph_does_again_what_was_captured) {
  auto* host = static_cast<int*>(device_->allocate_host(2 * sizeof(int)));
  std::byte* memory = allocate(sizeof(int));
  const auto start = device_->make_mark(), end = device_->make_mark();
  host[0] = 1;
  host[1] = 0;
  std::atomic<bool> done = false;
  std::vector<std::byte> other = pattern(size_t{9} << 20, 6);
  std::byte* elsewhere = allocate(other.size());
  std::jthread uploads([&] {  // other threads' calls do not disturb a capture
    while (!done) {
      device_->upload(elsewhere, other.data(), other.size());
      device_->release(device_->allocate(1000));
    }
  });
  std::vector<std::unique_ptr<DeviceGraph>> graphs;
  for (int i = 0; i < 20; ++i) {
    device_->begin_capture();
    device_->record(*start);
    device_->copy(memory, &host[0], sizeof(int));
    device_->copy(&host[1], memory, sizeof(int));
    device_->record(*end);
    graphs.push_back(device_->end_capture());
  }
  done = true;
  uploads.join();
  device_->wait();
  EXPECT_EQ(host[1], 0) << "captured work does not run";
  for (const auto& graph : graphs) {
    ++host[0];
    device_->launch(*graph);
    device_->wait();
    EXPECT_EQ(host[1], host[0]);
    EXPECT_GT(device_->microseconds(*start, *end), 0) << "a replay sets the marks";
  }
  device_->release(elsewhere);
  device_->release(memory);
  device_->release_host(host);
}

/// A number that work of the device copies, over and over.
struct CopiedNumber {
  CopiedNumber(Device& device, int turns)
      : device_(device),
        host(static_cast<int*>(device.allocate_host(2 * sizeof(int)))),
        memory_(device.allocate(sizeof(int))),
        turns_(turns) {
    host[0] = host[1] = 0;
  }
  ~CopiedNumber() {
    device_.release(memory_);
    device_.release_host(host);
  }
  CopiedNumber(const CopiedNumber&) = delete;
  CopiedNumber& operator=(const CopiedNumber&) = delete;

  void issue() {
    for (int turn = 0; turn < turns_; ++turn) {
      device_.copy(memory_, &host[0], sizeof(int));
      device_.copy(&host[1], memory_, sizeof(int));
    }
  }
  std::unique_ptr<DeviceGraph> captured() {
    device_.begin_capture();
    issue();
    return device_.end_capture();
  }

 private:
  Device& device_;

 public:
  int* host;  // issue() and its graphs copy the first to the second

 private:
  void* memory_;
  int turns_;
};

TEST_F(CudaDevice, another_thread_captures_while_the_stream_works) {
  constexpr int kTurns = 20;
  CopiedNumber worked(*device_, 50), captured(*device_, 50);
  captured.host[0] = 7;
  std::atomic<int> begun{0}, done{0};
  std::vector<std::unique_ptr<DeviceGraph>> graphs;
  std::jthread other([&](const std::stop_token& stop) {
    for (int turn = 1; turn <= kTurns && !stop.stop_requested(); ++turn) {
      device_->begin_capture();
      captured.issue();
      for (begun = turn; done < turn && !stop.stop_requested();) std::this_thread::yield();
      captured.issue();
      graphs.push_back(device_->end_capture());
    }
  });
  for (int turn = 1; turn <= kTurns; ++turn) {
    while (begun < turn) std::this_thread::yield();
    worked.host[0] = turn;
    worked.issue();
    device_->wait();
    EXPECT_EQ(worked.host[1], turn) << "the stream's work runs";
    done = turn;
  }
  other.join();
  EXPECT_EQ(captured.host[1], 0) << "captured work does not run";
  ASSERT_EQ(graphs.size(), static_cast<size_t>(kTurns));
  for (const auto& graph : graphs) {
    ++captured.host[0];
    device_->launch(*graph);
    device_->wait();
    EXPECT_EQ(captured.host[1], captured.host[0]) << "any thread launches it, in the device's stream";
  }
}

TEST_F(CudaDevice, a_graph_of_another_thread_follows_what_the_stream_was_given) {
  CopiedNumber copied(*device_, 1);
  std::unique_ptr<DeviceGraph> graph;
  std::jthread([&] { graph = copied.captured(); }).join();
  const int three = 3;
  std::byte* memory = allocate(sizeof(int));
  device_->upload(memory, &three, sizeof(int));
  copied.host[0] = 1;
  device_->copy(&copied.host[0], memory, sizeof(int));
  device_->launch(*graph);
  device_->wait();
  EXPECT_EQ(copied.host[1], 3);
  device_->release(memory);
}

TEST_F(CudaDevice, threads_capture_at_once_and_each_gets_its_own) {
  constexpr size_t kThreads = 4;
  std::vector<std::unique_ptr<CopiedNumber>> numbers;
  for (size_t i = 0; i < kThreads; ++i)
    numbers.push_back(std::make_unique<CopiedNumber>(*device_, 20 + static_cast<int>(i)));
  for (int turn = 0; turn < 10; ++turn) {
    std::vector<std::unique_ptr<DeviceGraph>> graphs(kThreads);
    {
      std::atomic<size_t> begun{0};
      std::vector<std::jthread> threads;
      for (size_t i = 0; i < kThreads; ++i)
        threads.emplace_back([&, i] {
          device_->begin_capture();
          for (++begun; begun < kThreads;) std::this_thread::yield();
          numbers[i]->issue();
          graphs[i] = device_->end_capture();
        });
    }
    for (size_t i = 0; i < kThreads; ++i) {
      for (const auto& number : numbers) number->host[1] = 0;
      numbers[i]->host[0] = 1 + turn;
      device_->launch(*graphs[i]);
      device_->wait();
      for (size_t k = 0; k < kThreads; ++k) EXPECT_EQ(numbers[k]->host[1], k == i ? 1 + turn : 0);
    }
  }
}

TEST_F(CudaDevice, a_capture_that_fails_on_another_thread_disturbs_nobody) {
  CopiedNumber worked(*device_, 10);
  std::jthread([&] {
    device_->begin_capture();
    EXPECT_THROW(device_->wait(), DeviceError) << "who captures cannot wait";
    EXPECT_THROW(device_->end_capture(), DeviceError);
  }).join();
  worked.host[0] = 5;
  worked.issue();
  device_->wait();
  EXPECT_EQ(worked.host[1], 5);
  const auto graph = worked.captured();
  worked.host[0] = 6;
  device_->launch(*graph);
  device_->wait();
  EXPECT_EQ(worked.host[1], 6);
}

TEST_F(CudaDevice, a_failed_capture_leaves_the_stream_usable) {
  EXPECT_THROW(device_->end_capture(), DeviceError) << "nothing was begun";
  std::byte* memory = allocate(64);
  device_->begin_capture();
  EXPECT_THROW(device_->wait(), DeviceError) << "a captured stream cannot be waited for";
  EXPECT_THROW(device_->end_capture(), DeviceError);
  const std::vector<std::byte> values = pattern(64, 7);
  device_->upload(memory, values.data(), 64);
  EXPECT_EQ(downloaded(memory, 64), values);
  device_->release(memory);
}

/// The module's kernel that stores to address 8.
void fault(Device& device) {
  Dl_info module{};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(module_here()->count), &module), 0);
  void* library = dlopen(module.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr);
  auto* const entry = reinterpret_cast<void (*)(Device&)>(dlsym(library, "orrery_test_fault"));
  ASSERT_NE(entry, nullptr);
  entry(device);
}

TEST_F(CudaDevice, is_made_anew_after_a_kernel_broke_it) {
  for (int turn = 0; turn < 2; ++turn) {
    const uint64_t epoch = device_->epoch();
    allocate(1000);
    void* range = device_->reserve(size_t{1} << 30);
    device_->commit(range, 0, device_->granularity());
    const auto old_mark = device_->make_mark();
    device_->begin_capture();
    device_->record(*old_mark);
    const auto old_graph = device_->end_capture();
    fault(*device_);
    try {
      device_->wait();
      FAIL() << "a store to address 8 was not seen";
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.kind(), DeviceError::Kind::lost) << error.what();
    }
    EXPECT_THROW(device_->allocate(1000), DeviceError) << "it stays lost";
    try {
      device_->renew();
    } catch (const DeviceError& error) {
      // The driver decides: it may give a program that faulted no other context. Then that is what is told,
      // each time.
      EXPECT_EQ(error.kind(), DeviceError::Kind::lost);
      EXPECT_GT(device_->epoch(), epoch);
      EXPECT_THROW(device_->allocate(1000), DeviceError);
      return;
    }
    EXPECT_GT(device_->epoch(), epoch);
    EXPECT_THROW(device_->record(*old_mark), DeviceError);
    EXPECT_THROW(device_->launch(*old_graph), DeviceError);
    std::byte* memory = allocate(64);
    const std::vector<std::byte> values = pattern(64, 8);
    device_->upload(memory, values.data(), 64);
    EXPECT_EQ(downloaded(memory, 64), values);
    device_->release(memory);
  }
}

}  // namespace
}  // namespace orrery::kernels
