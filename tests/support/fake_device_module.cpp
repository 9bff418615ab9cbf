// A module of kernels/device_module.h without a card, so that the engine's whole path for devices is tested
// on any machine: "device" memory is host memory, filled with NaNs, and the rows are the CPU's, labelled as
// the device's. Capturing keeps each call with its arguments and replays it, as a real graph does: lengths,
// positions and pages must come from device memory. Work that comes from two threads between two waits, which
// nobody who holds stream_mutex() gives, is refused.
//
// Set by the environment: ORRERY_FAKE_DEVICE_REFUSES (a reason: no device is there), ORRERY_FAKE_DEVICE_MB
// (memory of each), ORRERY_FAKE_DEVICE_TAKEN_MB (what other programs hold of it, read at every allocation),
// ORRERY_FAKE_DEVICE_LOST_AFTER (launches and waits until the device is lost, once), ORRERY_FAKE_DEVICE_LACKS
// (one kind of kernel, "attention": its rows refuse everything; "linear.prefill": all steps that may have
// more than one token), ORRERY_FAKE_DEVICE_SLOW_MS (what every wait takes longer, read at each).
// fake_device_counters.h has what it counts.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/rows.h"
#include "kernels/device_module.h"
#include "tests/support/fake_device_counters.h"

namespace orrery::kernels {
namespace {

FakeDeviceCounters counters;

constexpr int kDevices = 2;
constexpr size_t kSlab = size_t{64} << 10;

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

using Call = std::function<void()>;

struct FakeGraph final : DeviceGraph {
  std::vector<Call> calls;
};

struct FakeMark final : DeviceMark {
  std::chrono::steady_clock::time_point when;
};

class FakeDevice final : public Device {
 public:
  explicit FakeDevice(int index) {
    facts_.index = index;
    facts_.name = "Test device";
    facts_.architecture = "sm_90";
    facts_.multiprocessors = 132;
    facts_.memory_bytes = number_from("ORRERY_FAKE_DEVICE_MB", 4096) << 20;
    facts_.l2_bytes = 50U << 20;
    facts_.machine = this_machine();  // its rows are the CPU's
    facts_.peak_bytes_per_second = 4.8e12;
    left_ = number_from("ORRERY_FAKE_DEVICE_LOST_AFTER", UINT64_MAX);
  }
  ~FakeDevice() override { free_all(); }

  const DeviceFacts& facts() const override { return facts_; }
  DeviceVitals vitals() override { return {used_ + taken(), facts_.memory_bytes, 1980, 320, 41, 0.5}; }

  void* allocate(size_t bytes) override {
    take(bytes);
    void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::memset(memory, 0xFF, bytes);
    const std::scoped_lock lock(mutex_);
    blocks_[memory] = bytes;
    return memory;
  }
  void release(void* memory) noexcept override {
    const std::scoped_lock lock(mutex_);
    const auto it = blocks_.find(memory);
    if (it == blocks_.end()) return;
    used_ -= it->second;
    blocks_.erase(it);
    std::free(memory);
  }
  void* allocate_host(size_t bytes) override {
    void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    const std::scoped_lock lock(mutex_);
    host_blocks_.insert(memory);
    return memory;
  }
  void release_host(void* memory) noexcept override {
    const std::scoped_lock lock(mutex_);
    if (host_blocks_.erase(memory) > 0) std::free(memory);
  }

  void* reserve(size_t bytes) override {
    void* range = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) throw DeviceError(DeviceError::Kind::out_of_memory, "no range of addresses");
    const std::scoped_lock lock(mutex_);
    ranges_[range] = {bytes, 0};
    return range;
  }
  size_t granularity() const override { return kSlab; }
  void commit(void* range, size_t begin, size_t end) override {
    take(end - begin);
    ++counters.commits;
    mprotect(static_cast<std::byte*>(range) + begin, end - begin, PROT_READ | PROT_WRITE);
    const std::scoped_lock lock(mutex_);
    ranges_[range].second += end - begin;
  }
  void unreserve(void* range) noexcept override {
    const std::scoped_lock lock(mutex_);
    const auto it = ranges_.find(range);
    if (it == ranges_.end()) return;
    used_ -= it->second.second;
    munmap(range, it->second.first);
    ranges_.erase(it);
  }

  void upload(void* dst, const void* src, size_t bytes) override { std::memcpy(dst, src, bytes); }
  void download(void* dst, const void* src, size_t bytes) override {
    claim();
    std::memcpy(dst, src, bytes);
    user_ = std::thread::id();
  }
  void copy(void* dst, const void* src, size_t bytes) override {
    issue([=] { std::memcpy(dst, src, bytes); });
  }

  void* stream() const override { return const_cast<FakeDevice*>(this); }
  void wait() override {
    claim();
    may_be_lost();
    std::this_thread::sleep_for(std::chrono::milliseconds(number_from("ORRERY_FAKE_DEVICE_SLOW_MS", 0)));
    user_ = std::thread::id();
  }

  std::unique_ptr<DeviceMark> make_mark() override { return std::make_unique<FakeMark>(); }
  void record(DeviceMark& mark) override {
    issue([&mark] { static_cast<FakeMark&>(mark).when = std::chrono::steady_clock::now(); });
  }
  double microseconds(const DeviceMark& from, const DeviceMark& to) override {
    return std::chrono::duration<double, std::micro>(static_cast<const FakeMark&>(to).when -
                                                     static_cast<const FakeMark&>(from).when)
        .count();
  }

  void begin_capture() override {
    ++counters.captures;
    capture_ = std::make_unique<FakeGraph>();
  }
  std::unique_ptr<DeviceGraph> end_capture() override { return std::move(capture_); }
  void launch(DeviceGraph& graph) override {
    claim();
    may_be_lost();
    for (const Call& call : static_cast<FakeGraph&>(graph).calls) call();
  }

  void renew() override {
    free_all();
    user_ = std::thread::id();
    ++epoch_;
  }
  uint64_t epoch() const override { return epoch_; }

  /// Runs at once, or becomes part of the graph that is being captured.
  void issue(Call call) {
    claim();
    if (capture_)
      capture_->calls.push_back(std::move(call));
    else
      call();
  }

 private:
  /// The stream is this thread's until it has waited.
  void claim() {
    std::thread::id user;
    if (!user_.compare_exchange_strong(user, std::this_thread::get_id()) &&
        user != std::this_thread::get_id())
      throw DeviceError(DeviceError::Kind::failed, "two threads gave work to the stream");
  }
  static uint64_t taken() { return number_from("ORRERY_FAKE_DEVICE_TAKEN_MB", 0) << 20; }
  void take(size_t bytes) {
    if (used_ + taken() + bytes > facts_.memory_bytes)
      throw DeviceError(
          DeviceError::Kind::out_of_memory,
          "cuda:" + std::to_string(facts_.index) + " has no " + std::to_string(bytes) + " bytes left");
    used_ += bytes;
  }
  void may_be_lost() {
    if (left_ == UINT64_MAX || left_-- > 0) return;
    left_ = UINT64_MAX;
    throw DeviceError(DeviceError::Kind::lost, "the test device was lost");
  }
  void free_all() {
    const std::scoped_lock lock(mutex_);
    for (const auto& [memory, bytes] : blocks_) std::free(memory);
    for (void* memory : host_blocks_) std::free(memory);
    for (const auto& [range, sizes] : ranges_) munmap(range, sizes.first);
    blocks_.clear();
    host_blocks_.clear();
    ranges_.clear();
    used_ = 0;
  }

  DeviceFacts facts_;
  std::mutex mutex_;
  std::map<void*, size_t> blocks_;
  std::set<void*> host_blocks_;
  std::map<void*, std::pair<size_t, size_t>> ranges_;  // reserved, committed
  std::atomic<uint64_t> used_{0}, epoch_{1}, left_{0};
  std::atomic<std::thread::id> user_;
  std::unique_ptr<FakeGraph> capture_;
};

ThreadTeam& team() {
  static ThreadTeam team(1);
  return team;
}

bool lacks(std::string_view kind) {
  const char* lacking = std::getenv("ORRERY_FAKE_DEVICE_LACKS");
  return lacking && lacking == kind;
}

/// The CPU's rows of one op, each behind a function that hands its call to the stream.
template <class Op>
class Rows {
 public:
  static constexpr size_t kMost = 32;

  static std::span<const Row<Op>> of(std::span<const Row<Op>> rows) {
    static const std::vector<Row<Op>> kept = relabelled(rows, std::make_index_sequence<kMost>{});
    return kept;
  }

 private:
  using Args = typename Op::Args;
  using Problem = typename Op::Problem;

  template <size_t I>
  static void run(const Args& args, const Launch& launch) {
    auto* device = static_cast<FakeDevice*>(launch.stream);
    const Launch here{&team(), launch.workspace, nullptr};
    device->issue([args, here] { source()[I].run(args, here); });
  }
  template <size_t I>
  static std::string supports(const Problem& problem, const Machine& machine) {
    ++counters.questions;
    if (lacks(Op::kName)) return "the test device has no " + std::string(Op::kName);
    if constexpr (requires { problem.tokens; })
      if (problem.tokens > 1 && lacks(std::string(Op::kName) + ".prefill"))
        return "the test device takes one token in " + std::string(Op::kName);
    if constexpr (requires { problem.chains; })
      if (problem.chains) return "the test device draws in the plain order only";
    return source()[I].supports(problem, machine);
  }
  template <size_t I>
  static size_t workspace(const Problem& problem, const Machine& machine, int) {
    return source()[I].workspace ? source()[I].workspace(problem, machine, team().size()) : 0;
  }
  static std::span<const Row<Op>>& source() {
    static std::span<const Row<Op>> rows;
    return rows;
  }
  template <size_t... I>
  static std::vector<Row<Op>> relabelled(std::span<const Row<Op>> rows, std::index_sequence<I...>) {
    static constexpr std::array kRun{&Rows::run<I>...};
    static constexpr std::array kSupports{&Rows::supports<I>...};
    static constexpr std::array kWorkspace{&Rows::workspace<I>...};
    static std::vector<std::string> names;
    if (rows.size() > kMost) std::abort();
    source() = rows;
    names.reserve(rows.size());
    std::vector<Row<Op>> kept;
    for (size_t i = 0; i < rows.size(); ++i) {
      names.push_back("cuda.test." + std::string(rows[i].name));
      kept.push_back({names.back(), DeviceKind::cuda, kSupports[i], kRun[i], kWorkspace[i], rows[i].packing});
      kept.back().arithmetic = rows[i].arithmetic;
      kept.back().rounding = rows[i].rounding;
    }
    return kept;
  }
};

template <class Op>
RowList relabelled(std::span<const Row<Op>> rows) {
  return Rows<Op>::of(rows);
}

int count(std::string& reason) {
  const char* refusal = std::getenv("ORRERY_FAKE_DEVICE_REFUSES");
  if (!refusal || !*refusal) return kDevices;
  reason = refusal;
  return 0;
}

Machine machine(int) { return this_machine(); }

std::unique_ptr<Device> open(int index) { return std::make_unique<FakeDevice>(index); }

}  // namespace
}  // namespace orrery::kernels

extern "C" __attribute__((visibility("default"))) const orrery::kernels::DeviceModule*
orrery_device_module() {
  using namespace orrery::kernels;  // NOLINT: the row lists
  static const DeviceModule module{
      kDeviceModuleVersion, count, open, machine,
      std::apply([](auto... list) { return RowTable{relabelled(list())...}; }, kCpuLists)};
  return &module;
}

extern "C" __attribute__((visibility("default"))) const orrery::FakeDeviceCounters*
orrery_fake_device_counters() {
  return &orrery::kernels::counters;
}
