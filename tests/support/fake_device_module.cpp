// A module of kernels/device_module.h without a card, so that the engine's whole path for devices is tested
// on any machine: "device" memory is host memory, filled with NaNs, and the rows are the CPU's, labelled as
// the device's. Each device has a thread that does what its stream is given, in order, while the program goes
// on: what is read before a wait or a mark is wrong here too. Capturing keeps each call of the thread with
// its arguments and replays it, as a real graph does: lengths, positions and pages must come from device
// memory. Refused are work that comes from two threads between two waits, which a holder of stream_mutex()
// never gives, kernels and copies that are given memory of another device, waiting while one captures, and
// graphs from before a reset.
//
// Set by the environment: ORRERY_FAKE_DEVICE_REFUSES (a reason: no device is there), ORRERY_FAKE_DEVICE_MB
// (memory of each), ORRERY_FAKE_DEVICE_TAKEN_MB (what other programs hold of it, read at every allocation),
// ORRERY_FAKE_DEVICE_LOST_AFTER (launches and waits until the device is lost, once), ORRERY_FAKE_DEVICE_LACKS
// (one kind of kernel, "attention": its rows refuse everything; "linear.prefill": all steps that may have
// more than one token), ORRERY_FAKE_DEVICE_SLOW_MS (what the work between two waits takes longer, read when
// its first call comes), ORRERY_FAKE_DEVICE_NO_PEERS (set: copies between devices go through the program).
// fake_device_counters.h has what it counts.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <thread>
#include <type_traits>
#include <utility>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/rows.h"
#include "kernels/device_module.h"
#include "kernels/row_source.h"
#include "tests/support/fake_device_counters.h"

namespace orrery::kernels {
namespace {

FakeDeviceCounters counters;

constexpr int kDevices = 3;
constexpr size_t kSlab = size_t{64} << 10;

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

using Call = std::function<void()>;

struct FakeGraph final : DeviceGraph {
  uint64_t epoch = 0;
  bool failed = false;
  std::shared_ptr<std::vector<Call>> calls = std::make_shared<std::vector<Call>>();
};

struct FakeMark final : DeviceMark {
  std::chrono::steady_clock::time_point when;
  std::atomic<uint64_t> recorded{0}, passed{0};  // how often, outside graphs

  /// Polls: who waits may be another device's thread.
  void wait_for(uint64_t times) const {
    while (passed < times) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
};

/// Does what it is given, one call after another, on a thread of its own.
class Stream {
 public:
  Stream() : thread_([this](const std::stop_token& stop) { loop(stop); }) {}
  void push(Call call) {
    const std::scoped_lock lock(mutex_);
    calls_.push_back(std::move(call));
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return calls_.empty(); });
  }

 private:
  void loop(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !calls_.empty(); })) {
      const Call& call = calls_.front();  // stays where it is when others are added
      lock.unlock();
      call();
      lock.lock();
      calls_.pop_front();
      if (calls_.empty()) changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Call> calls_;
  std::jthread thread_;
};

/// Whose memory an address is.
class Owners {
 public:
  void add(const void* memory, size_t bytes, int device) {
    const std::unique_lock lock(mutex_);
    ranges_[reinterpret_cast<uintptr_t>(memory)] = {reinterpret_cast<uintptr_t>(memory) + bytes, device};
  }
  void remove(const void* memory) {
    const std::unique_lock lock(mutex_);
    ranges_.erase(reinterpret_cast<uintptr_t>(memory));
  }
  /// Nothing for memory of the program.
  std::optional<int> of(uintptr_t address) const {
    const std::shared_lock lock(mutex_);
    auto it = ranges_.upper_bound(address);
    if (it == ranges_.begin()) return std::nullopt;
    --it;
    return address < it->second.first ? std::optional<int>(it->second.second) : std::nullopt;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<uintptr_t, std::pair<uintptr_t, int>> ranges_;
};

Owners& owners() {
  static Owners owners;
  return owners;
}

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
  ~FakeDevice() override {
    stream_.wait();
    free_all();
  }

  const DeviceFacts& facts() const override { return facts_; }
  DeviceVitals vitals() override { return {used_ + taken(), facts_.memory_bytes, 1980, 320, 41, 0.5}; }

  void* allocate(size_t bytes) override {
    take(bytes);
    void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::memset(memory, 0xFF, bytes);
    owners().add(memory, bytes, facts_.index);
    const std::scoped_lock lock(mutex_);
    blocks_[memory] = bytes;
    return memory;
  }
  void release(void* memory) noexcept override {
    stream_.wait();
    const std::scoped_lock lock(mutex_);
    const auto it = blocks_.find(memory);
    if (it == blocks_.end()) return;
    used_ -= it->second;
    blocks_.erase(it);
    owners().remove(memory);
    std::free(memory);
  }
  void* allocate_host(size_t bytes) override {
    void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    const std::scoped_lock lock(mutex_);
    host_blocks_.insert(memory);
    return memory;
  }
  void release_host(void* memory) noexcept override {
    stream_.wait();
    const std::scoped_lock lock(mutex_);
    if (host_blocks_.erase(memory) > 0) std::free(memory);
  }

  void* reserve(size_t bytes) override {
    void* range = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) throw DeviceError(DeviceError::Kind::out_of_memory, "no range of addresses");
    owners().add(range, bytes, facts_.index);
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
    stream_.wait();
    const std::scoped_lock lock(mutex_);
    const auto it = ranges_.find(range);
    if (it == ranges_.end()) return;
    used_ -= it->second.second;
    owners().remove(range);
    munmap(range, it->second.first);
    ranges_.erase(it);
  }

  void upload(void* dst, const void* src, size_t bytes) override { std::memcpy(dst, src, bytes); }
  void download(void* dst, const void* src, size_t bytes) override {
    require_no_capture();
    claim();
    stream_.wait();
    std::memcpy(dst, src, bytes);
    user_ = std::thread::id();
  }
  void copy(void* dst, const void* src, size_t bytes) override {
    require_own(dst, "a copy");
    require_own(src, "a copy");
    issue([=] { std::memcpy(dst, src, bytes); });
  }
  bool reaches(const Device&) override { return !std::getenv("ORRERY_FAKE_DEVICE_NO_PEERS"); }
  void copy_from(const Device& other, void* dst, const void* src, size_t bytes) override {
    require_own(dst, "a copy");
    if (owners().of(reinterpret_cast<uintptr_t>(src)) != other.facts().index)
      throw DeviceError(DeviceError::Kind::failed, "a copy's source is not the other device's", id());
    issue([=] { std::memcpy(dst, src, bytes); });
  }

  void* stream() const override { return const_cast<FakeDevice*>(this); }
  void wait() override {
    require_no_capture();
    claim();
    may_be_lost();
    stream_.wait();
    user_ = std::thread::id();
  }

  std::unique_ptr<DeviceMark> make_mark() override { return std::make_unique<FakeMark>(); }
  void record(DeviceMark& mark) override {
    auto& own = static_cast<FakeMark&>(mark);
    if (captured()) return issue([&own] { own.when = std::chrono::steady_clock::now(); });
    issue([&own, times = ++own.recorded] {
      own.when = std::chrono::steady_clock::now();
      own.passed = times;
    });
  }
  void follow(const DeviceMark& mark) override {
    const auto& other = static_cast<const FakeMark&>(mark);
    issue([&other, times = other.recorded.load()] { other.wait_for(times); });
  }
  void wait_for(const DeviceMark& mark) override {
    claim();
    const auto& own = static_cast<const FakeMark&>(mark);
    own.wait_for(own.recorded);
  }
  double microseconds(const DeviceMark& from, const DeviceMark& to) override {
    return std::chrono::duration<double, std::micro>(static_cast<const FakeMark&>(to).when -
                                                     static_cast<const FakeMark&>(from).when)
        .count();
  }

  void begin_capture() override {
    ++counters.captures;
    auto graph = std::make_unique<FakeGraph>();
    graph->epoch = epoch_;
    const std::scoped_lock lock(captures_mutex_);
    if (!captures_.emplace(std::this_thread::get_id(), std::move(graph)).second)
      throw DeviceError(DeviceError::Kind::failed, "a thread that captures began another", id());
  }
  std::unique_ptr<DeviceGraph> end_capture() override {
    const std::scoped_lock lock(captures_mutex_);
    const auto ended = captures_.extract(std::this_thread::get_id());
    if (ended.empty() || ended.mapped()->failed)
      throw DeviceError(DeviceError::Kind::failed, "the capture failed, or was not begun", id());
    return std::move(ended.mapped());
  }
  void launch(DeviceGraph& graph) override {
    if (static_cast<FakeGraph&>(graph).epoch != epoch_)
      throw DeviceError(DeviceError::Kind::failed, "a graph is from before a reset", id());
    claim();
    may_be_lost();
    issue([calls = static_cast<FakeGraph&>(graph).calls] {
      for (const Call& call : *calls) call();
    });
  }

  void renew() override {
    stream_.wait();
    free_all();
    user_ = std::thread::id();
    ++epoch_;
  }
  uint64_t epoch() const override { return epoch_; }

  /// Runs when all before it has, or becomes part of the graph that this thread captures.
  void issue(Call call) {
    if (FakeGraph* graph = captured()) return graph->calls->push_back(std::move(call));
    claim();
    stream_.push(std::move(call));
  }

  /// Throws where the address is another device's.
  void require_own(const void* address, std::string_view what) const {
    const auto owner = owners().of(reinterpret_cast<uintptr_t>(address));
    if (owner && *owner != facts_.index)
      throw DeviceError(
          DeviceError::Kind::failed,
          std::string(what) + " on " + to_string(id()) + " was given memory of " + to_string(cuda_id(*owner)),
          id());
  }
  /// Every address in the arguments of a kernel.
  template <class Args>
  void require_own_in(const Args& args, std::string_view kernel) const {
    static_assert(std::is_trivially_copyable_v<Args>);
    std::array<const void*, sizeof(Args) / sizeof(void*)> words{};
    Args known = args;
#if __has_builtin(__builtin_clear_padding)
    __builtin_clear_padding(&known);  // whatever lies between the members is no address
    std::memcpy(words.data(), &known, sizeof(words));
#endif
    for (const void* word : words) require_own(word, kernel);
  }
  ThreadTeam& team() { return team_; }

 private:
  /// What this thread captures; null: nothing.
  FakeGraph* captured() {
    const std::scoped_lock lock(captures_mutex_);
    const auto own = captures_.find(std::this_thread::get_id());
    return own == captures_.end() ? nullptr : own->second.get();
  }
  void require_no_capture() {
    FakeGraph* graph = captured();
    if (!graph) return;
    graph->failed = true;
    throw DeviceError(DeviceError::Kind::failed, "a thread waited for the stream while it captured", id());
  }
  /// The stream is this thread's until it has waited.
  void claim() {
    std::thread::id user;
    if (user_.compare_exchange_strong(user, std::this_thread::get_id())) {
      if (const uint64_t slow = number_from("ORRERY_FAKE_DEVICE_SLOW_MS", 0); slow > 0)
        stream_.push([slow] { std::this_thread::sleep_for(std::chrono::milliseconds(slow)); });
    } else if (user != std::this_thread::get_id()) {
      throw DeviceError(DeviceError::Kind::failed, "two threads gave work to the stream", id());
    }
  }
  static uint64_t taken() { return number_from("ORRERY_FAKE_DEVICE_TAKEN_MB", 0) << 20; }
  void take(size_t bytes) {
    if (used_ + taken() + bytes > facts_.memory_bytes)
      throw DeviceError(
          DeviceError::Kind::out_of_memory,
          "cuda:" + std::to_string(facts_.index) + " has no " + std::to_string(bytes) + " bytes left", id());
    used_ += bytes;
  }
  void may_be_lost() {
    if (left_ == UINT64_MAX || left_-- > 0) return;
    left_ = UINT64_MAX;
    throw DeviceError(DeviceError::Kind::lost, "the test device was lost", id());
  }
  void free_all() {
    const std::scoped_lock lock(mutex_);
    for (const auto& [memory, bytes] : blocks_) {
      owners().remove(memory);
      std::free(memory);
    }
    for (void* memory : host_blocks_) std::free(memory);
    for (const auto& [range, sizes] : ranges_) {
      owners().remove(range);
      munmap(range, sizes.first);
    }
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
  std::mutex captures_mutex_;
  std::map<std::thread::id, std::unique_ptr<FakeGraph>> captures_;
  ThreadTeam team_{1};  // of the stream's thread
  Stream stream_;
};

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
    device->require_own_in(args, source()[I].name);
    device->require_own(launch.workspace, source()[I].name);
    const Launch here{&device->team(), launch.workspace, nullptr};
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
    return source()[I].workspace ? source()[I].workspace(problem, machine, 1) : 0;
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
    static std::vector<std::string> names, sources;
    if (rows.size() > kMost) std::abort();
    source() = rows;
    names.reserve(rows.size());
    sources.reserve(rows.size());
    std::vector<Row<Op>> kept;
    for (size_t i = 0; i < rows.size(); ++i) {
      names.push_back("cuda.test." + std::string(rows[i].name));
      kept.push_back({names.back(), DeviceKind::cuda, kSupports[i], kRun[i], kWorkspace[i], rows[i].packing});
      kept.back().arithmetic = rows[i].arithmetic;
      kept.back().rounding = rows[i].rounding;
      sources.push_back(source_of(rows[i]));
      kept.back().source = sources.back();
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

extern "C" __attribute__((visibility("default"))) int orrery_fake_device_owner(const void* memory) {
  return orrery::kernels::owners().of(reinterpret_cast<uintptr_t>(memory)).value_or(-1);
}
