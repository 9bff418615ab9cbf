#include "kernels/cuda/backend.h"

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "kernels/cuda/address_ranges.h"
#include "kernels/cuda/card.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/linear_blas.h"
#include "kernels/cuda/uploader.h"
#include "kernels/cuda/vitals.h"

namespace orrery::kernels::cuda {
namespace {

using Epoch = std::shared_ptr<std::atomic<uint64_t>>;

/// What was made in a context and goes with it.
class Made {
 public:
  Made(int device, const Epoch& epoch) : device_(device), epoch_(epoch), born_(*epoch) {}
  bool alive() const { return *epoch_ == born_; }
  void require_alive(const char* what) const {
    if (!alive()) throw DeviceError(DeviceError::Kind::failed, std::string(what) + " is from before a reset");
  }
  void make_current() const { static_cast<void>(cudaSetDevice(device_)); }

 private:
  int device_;
  Epoch epoch_;
  uint64_t born_;
};

class Mark final : public DeviceMark {
 public:
  Mark(int device, const Epoch& epoch) : made(device, epoch) {
    check(cudaEventCreate(&event), "making a mark");
  }
  ~Mark() override {
    if (!made.alive()) return;
    made.make_current();
    cudaEventDestroy(event);
  }
  Made made;
  cudaEvent_t event = nullptr;
};

class Graph final : public DeviceGraph {
 public:
  Graph(int device, const Epoch& epoch, cudaGraph_t recorded) : made(device, epoch) {
    check(cudaGraphInstantiate(&executable, recorded, 0), "making a graph");
  }
  ~Graph() override {
    if (!made.alive()) return;
    made.make_current();
    cudaGraphExecDestroy(executable);
  }
  Made made;
  cudaGraphExec_t executable = nullptr;
};

std::string megabytes(size_t bytes) { return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MB"; }

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, device) == cudaSuccess) return value;
  static_cast<void>(cudaGetLastError());
  return 0;
}

std::string pci_bus_id(int index) {
  std::array<char, 32> text{};
  check(cudaDeviceGetPCIBusId(text.data(), text.size(), index), "asking for the card's address");
  return text.data();
}

DeviceFacts facts_of(int index) {
  cudaDeviceProp card{};
  check(cudaGetDeviceProperties(&card, index), "asking what the card is");
  const double clock_hz = attribute(cudaDevAttrMemoryClockRate, index) * 1e3;
  const double bytes_wide = attribute(cudaDevAttrGlobalMemoryBusWidth, index) / 8.0;
  return {.index = index,
          .name = card.name,
          .architecture = "sm_" + std::to_string(card.major) + std::to_string(card.minor),
          .multiprocessors = card.multiProcessorCount,
          .memory_bytes = card.totalGlobalMem,
          .l2_bytes = static_cast<uint64_t>(card.l2CacheSize),
          .peak_bytes_per_second = 2 * clock_hz * bytes_wide,  // twice a clock
          .machine = machine_of_card(index)};
}

/// What the calling thread captures: one graph of one device at a time, in a stream of its own.
struct Capture {
  const Device* device = nullptr;  // null: nothing
  cudaStream_t stream = nullptr;
  std::shared_lock<std::shared_mutex> under_way;
};
thread_local Capture capture;

/// Entries for memory hold the lock shared, renew() holds it alone; what goes to the stream comes from one
/// thread at a time, which is also who renews. Captures hold a lock of their own shared, from their begin to
/// their end: addresses are not unmapped meanwhile, and nobody renews.
class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int index) : index_(index) {
    start();
    facts_ = facts_of(index);
    if (std::string reason = without_kernels_for(facts_.architecture); !reason.empty())
      throw DeviceError(DeviceError::Kind::failed, facts_.name + ": " + reason);
    vitals_.emplace(pci_bus_id(index));
  }

  ~CudaDevice() override {
    static_cast<void>(cudaSetDevice(index_));
    if (stream_) cudaStreamSynchronize(stream_);
    ++*epoch_;
    stop();
  }

  const DeviceFacts& facts() const override { return facts_; }
  DeviceVitals vitals() override { return vitals_->read(); }

  void* allocate(size_t bytes) override {
    const std::shared_lock lock(mutex_);
    make_current();
    void* memory = nullptr;
    const cudaError_t result = cudaMalloc(&memory, bytes > 0 ? bytes : 1);
    if (result == cudaErrorMemoryAllocation) throw out_of_memory(bytes);
    check(result, "allocating memory");
    return memory;
  }
  void release(void* memory) noexcept override {
    const std::shared_lock lock(mutex_);
    forget(cudaSetDevice(index_));
    forget(cudaFree(memory));
  }

  void* allocate_host(size_t bytes) override {
    const std::shared_lock lock(mutex_);
    make_current();
    void* memory = nullptr;
    const cudaError_t result =
        cudaHostAlloc(&memory, bytes > 0 ? bytes : 1, cudaHostAllocMapped | cudaHostAllocPortable);
    if (result == cudaErrorMemoryAllocation) {
      forget(result);
      throw DeviceError(DeviceError::Kind::out_of_memory,
                        "This machine has no " + megabytes(bytes) + " of memory to lock for " + facts_.name,
                        id());
    }
    check(result, "allocating page-locked memory");
    return memory;
  }
  void release_host(void* memory) noexcept override {
    const std::shared_lock lock(mutex_);
    forget(cudaSetDevice(index_));
    forget(cudaFreeHost(memory));
  }

  void* reserve(size_t bytes) override {
    const std::shared_lock lock(mutex_);
    make_current();
    return ranges().reserve(bytes);
  }
  size_t granularity() const override { return granularity_; }
  void commit(void* range, size_t begin, size_t end) override {
    const std::shared_lock lock(mutex_);
    make_current();
    if (!ranges().commit(range, begin, end)) throw out_of_memory(end - begin);
  }
  void unreserve(void* range) noexcept override {
    const std::unique_lock no_capture(captures_);
    const std::shared_lock lock(mutex_);
    forget(cudaSetDevice(index_));
    forget(cudaStreamSynchronize(stream_));
    if (ranges_) ranges_->unreserve(range);
  }

  void upload(void* dst, const void* src, size_t bytes) override {
    const std::shared_lock lock(mutex_);
    make_current();
    if (!uploader_) throw lost();
    uploader_->upload(dst, src, bytes);
  }
  void download(void* dst, const void* src, size_t bytes) override {
    make_current();
    if (bytes > 0) check(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost, mine()), "downloading");
    check(cudaStreamSynchronize(mine()), "downloading");
  }
  void copy(void* dst, const void* src, size_t bytes) override {
    make_current();
    if (bytes > 0) check(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, mine()), "copying");
  }

  bool reaches(const Device& other) override {
    const int from = other.facts().index;
    const std::shared_lock lock(mutex_);
    const std::pair key(from, other.epoch());
    if (const auto known = reached_.find(key); known != reached_.end()) return known->second;
    make_current();
    int can = 0;
    check(cudaDeviceCanAccessPeer(&can, index_, from), "asking for a way between two cards");
    if (can != 0) {
      const cudaError_t result = cudaDeviceEnablePeerAccess(from, 0);
      can = result == cudaSuccess || result == cudaErrorPeerAccessAlreadyEnabled ? 1 : 0;
      forget(result);
    }
    return reached_[key] = can != 0;
  }
  /// No cudaMemcpyPeerAsync: a captured graph takes this one.
  void copy_from(const Device&, void* dst, const void* src, size_t bytes) override { copy(dst, src, bytes); }

  /// A kernel can only go to a stream of the device that is current.
  void* stream() const override {
    make_current();
    return mine();
  }
  void wait() override {
    make_current();
    check(cudaStreamSynchronize(mine()), "running a step");
  }

  std::unique_ptr<DeviceMark> make_mark() override {
    make_current();
    return std::make_unique<Mark>(index_, epoch_);
  }
  void record(DeviceMark& mark) override {
    auto& marked = static_cast<Mark&>(mark);
    marked.made.require_alive("a mark");
    make_current();
    check(cudaEventRecordWithFlags(marked.event, mine(),
                                   is_capturing() ? cudaEventRecordExternal : cudaEventRecordDefault),
          "setting a mark");
  }
  void follow(const DeviceMark& mark) override {
    const auto& other = static_cast<const Mark&>(mark);
    other.made.require_alive("a mark");
    make_current();
    check(cudaStreamWaitEvent(stream_, other.event, 0), "waiting for another card");
  }
  void wait_for(const DeviceMark& mark) override {
    const auto& own = static_cast<const Mark&>(mark);
    own.made.require_alive("a mark");
    make_current();
    check(cudaEventSynchronize(own.event), "running a step");
  }
  double microseconds(const DeviceMark& from, const DeviceMark& to) override {
    make_current();
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, static_cast<const Mark&>(from).event,
                               static_cast<const Mark&>(to).event),
          "reading marks");
    return milliseconds * 1e3;
  }

  /// Only this thread's calls are held against the capture: others go on to launch, allocate and upload.
  void begin_capture() override {
    if (capture.device)
      throw DeviceError(DeviceError::Kind::failed, "A thread that captures a step began another", id());
    std::shared_lock under_way(captures_);
    make_current();
    cudaStream_t stream = take_stream();
    const cudaError_t result = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (result != cudaSuccess) give_stream(stream);
    check(result, "beginning to capture a step");
    capture = {this, stream, std::move(under_way)};
  }
  /// The graph is on the device when it returns, whichever stream launches it.
  std::unique_ptr<DeviceGraph> end_capture() override {
    if (!is_capturing())
      throw DeviceError(DeviceError::Kind::failed, "The end of a capture that was not begun", id());
    const Capture ended = std::exchange(capture, {});
    const std::unique_ptr<CUstream_st, std::function<void(cudaStream_t)>> stream(
        ended.stream, [this](cudaStream_t used) { give_stream(used); });
    make_current();
    cudaGraph_t recorded = nullptr;
    check(cudaStreamEndCapture(stream.get(), &recorded), "capturing a step");
    if (!recorded) throw DeviceError(DeviceError::Kind::failed, "CUDA captured no step");
    const std::unique_ptr<CUgraph_st, cudaError_t (*)(cudaGraph_t)> owner(recorded, cudaGraphDestroy);
    auto graph = std::make_unique<Graph>(index_, epoch_, recorded);
    check(cudaGraphUpload(graph->executable, stream.get()), "placing a graph on the device");
    check(cudaStreamSynchronize(stream.get()), "placing a graph on the device");
    return graph;
  }
  void launch(DeviceGraph& graph) override {
    auto& own = static_cast<Graph&>(graph);
    own.made.require_alive("a graph");
    make_current();
    check(cudaGraphLaunch(own.executable, stream_), "starting a graph");
  }

  void renew() override {
    if (is_capturing()) capture = {};
    const std::unique_lock no_capture(captures_);
    const std::unique_lock lock(mutex_);
    ++*epoch_;
    static_cast<void>(cudaSetDevice(index_));
    stop();
    reached_.clear();
    forget_blas();
    forget(cudaDeviceReset());
    try {
      start();
    } catch (const DeviceError&) {
      stop();
      throw lost();
    }
  }
  uint64_t epoch() const override { return *epoch_; }

 private:
  /// Waiting spins: a step that ended is seen some microseconds earlier.
  void start() {
    check(cudaInitDevice(index_, cudaDeviceScheduleSpin | cudaDeviceMapHost, cudaInitDeviceFlagsAreValid),
          "starting the device");
    make_current();
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    ranges_.emplace(index_);
    granularity_ = ranges_->granularity();
    uploader_.emplace(index_);
    check(cudaStreamSynchronize(stream_), "starting the device");
  }

  /// Errors are ignored: after a lost context each call gives one.
  void stop() noexcept {
    uploader_.reset();
    ranges_.reset();
    if (stream_) forget(cudaStreamDestroy(stream_));
    stream_ = nullptr;
    const std::lock_guard streams(streams_mutex_);
    for (cudaStream_t stream : capture_streams_) forget(cudaStreamDestroy(stream));
    capture_streams_.clear();
  }

  bool is_capturing() const { return capture.device == this; }
  /// Where the calling thread's work goes.
  cudaStream_t mine() const { return is_capturing() ? capture.stream : stream_; }

  /// To capture in; made when all others are in use.
  cudaStream_t take_stream() {
    {
      const std::lock_guard lock(streams_mutex_);
      if (!capture_streams_.empty()) {
        cudaStream_t stream = capture_streams_.back();
        capture_streams_.pop_back();
        return stream;
      }
    }
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream to capture in");
    return stream;
  }
  void give_stream(cudaStream_t stream) {
    const std::lock_guard lock(streams_mutex_);
    capture_streams_.push_back(stream);
  }

  void make_current() const { check(cudaSetDevice(index_), "choosing the device"); }

  static void forget(cudaError_t) noexcept { static_cast<void>(cudaGetLastError()); }

  AddressRanges& ranges() {
    if (!ranges_) throw lost();
    return *ranges_;
  }

  DeviceError lost() const {
    return {DeviceError::Kind::lost,
            facts_.name + " stopped at a fault, and the driver gives this program no other context on it",
            id()};
  }

  DeviceError out_of_memory(size_t bytes) const {
    static_cast<void>(cudaGetLastError());
    size_t free = 0, total = 0;
    forget(cudaMemGetInfo(&free, &total));
    return {DeviceError::Kind::out_of_memory,
            facts_.name + " has no memory for " + megabytes(bytes) + ": " + std::to_string(free >> 20) +
                " of " + std::to_string(total >> 20) + " MB are free",
            id()};
  }

  int index_;
  DeviceFacts facts_;
  Epoch epoch_ = std::make_shared<std::atomic<uint64_t>>(1);
  std::shared_mutex mutex_;
  std::shared_mutex captures_;  // taken before mutex_
  cudaStream_t stream_ = nullptr;
  std::mutex streams_mutex_;
  std::vector<cudaStream_t> capture_streams_;  // that no thread captures in
  size_t granularity_ = 0;
  std::map<std::pair<int, uint64_t>, bool> reached_;  // by card and epoch; who works with the stream asks
  std::optional<AddressRanges> ranges_;
  std::optional<Uploader> uploader_;
  std::optional<Vitals> vitals_;
};

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

int count_devices(std::string& reason) {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result == cudaSuccess && count > 0) return count;
  static_cast<void>(cudaGetLastError());
  int driver = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  if (driver == 0) {
    reason = "no NVIDIA driver is installed on this machine";
  } else if (result == cudaErrorInsufficientDriver || driver / 1000 < CUDART_VERSION / 1000) {
    reason = "the NVIDIA driver is too old: it knows CUDA " + version_text(driver) +
             ", this program needs CUDA " + std::to_string(CUDART_VERSION / 1000) +
             ": install a newer driver";
  } else if (result == cudaSuccess || result == cudaErrorNoDevice) {
    reason = "the NVIDIA driver finds no GPU that this program may use (CUDA_VISIBLE_DEVICES may hide it)";
  } else {
    reason = std::string("the NVIDIA driver does not answer: ") + cudaGetErrorString(result);
  }
  return 0;
}

std::unique_ptr<Device> open_device(int index) {
  std::string reason;
  const int count = count_devices(reason);
  if (count == 0) throw DeviceError(DeviceError::Kind::failed, reason);
  if (index < 0 || index >= count)
    throw DeviceError(DeviceError::Kind::failed, "there is no CUDA device " + std::to_string(index) +
                                                     ": this machine has " + std::to_string(count));
  return std::make_unique<CudaDevice>(index);
}

}  // namespace orrery::kernels::cuda
