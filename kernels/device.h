// A device that is not the CPU, as the engine sees it: its memory, its one stream of work, marks to time by
// and to wait for, and captured graphs of work. liborrery_cuda.so implements it (kernels/cuda); the program
// opens that module when a person asks for the device (kernels/device_module.h), so that it starts as fast
// and runs as well without one.
//
// Calls that fail throw DeviceError; the engine's guards turn it into a message. Work goes to one stream, in
// order: kernels (Launch::stream), copy(), marks and launch() follow each other; only upload() and download()
// wait. All calls may come from any thread, but work for the stream from one thread at a time: who gives it
// work holds stream_mutex() from the first call to the wait for the last, so that schedulers can share a
// device. What a thread captures is no work for the stream: it needs no mutex, and any number of threads may
// capture beside the one that works.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "kernels/device_id.h"
#include "kernels/fair_mutex.h"
#include "kernels/machine.h"

namespace orrery::kernels {

class DeviceError : public std::runtime_error {
 public:
  enum class Kind : uint8_t {
    out_of_memory,  // nothing has changed
    lost,           // sticky: the context is gone, and with it all memory; renew() makes another
    failed
  };
  DeviceError(Kind kind, const std::string& what, std::optional<DeviceId> device = std::nullopt)
      : std::runtime_error(what), kind_(kind), device_(device) {}
  Kind kind() const { return kind_; }
  /// Which device failed; none where that is not known.
  std::optional<DeviceId> device() const { return device_; }

 private:
  Kind kind_;
  std::optional<DeviceId> device_;
};

struct DeviceFacts {
  int index = 0;
  std::string name;          // "NVIDIA H200"
  std::string architecture;  // "sm_90"
  int multiprocessors = 0;
  uint64_t memory_bytes = 0, l2_bytes = 0;
  double peak_bytes_per_second = 0;  // of memory, from its clock and width; 0: not known
  Machine machine;                   // for its rows
};

/// What the card says of itself; zero where it says nothing.
struct DeviceVitals {
  uint64_t memory_used = 0, memory_total = 0;  // bytes, of all programs
  double clock_mhz = 0, power_watts = 0, celsius = 0, busy_share = 0;
};

/// A moment in the stream of the device that made it.
class DeviceMark {
 public:
  virtual ~DeviceMark() = default;
};

/// Work that was captured once and is launched as a whole.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceFacts& facts() const = 0;
  DeviceId id() const { return cuda_id(facts().index); }
  virtual DeviceVitals vitals() = 0;

  /// Device memory, 256-byte aligned, not cleared.
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Host memory that kernels read and write at the same address, and that copies run fast from and to.
  virtual void* allocate_host(size_t bytes) = 0;
  virtual void release_host(void* memory) noexcept = 0;
  /// A range of device addresses whose memory comes later, from its begin on; `granularity` divides what
  /// commit takes.
  virtual void* reserve(size_t bytes) = 0;
  virtual size_t granularity() const = 0;
  virtual void commit(void* range, size_t begin, size_t end) = 0;
  virtual void unreserve(void* range) noexcept = 0;

  /// From and to any host memory. upload() does not wait for the stream's work, download() does.
  virtual void upload(void* dst, const void* src, size_t bytes) = 0;
  virtual void download(void* dst, const void* src, size_t bytes) = 0;
  /// Between device and allocate_host() memory, either way, in the stream's order.
  virtual void copy(void* dst, const void* src, size_t bytes) = 0;
  /// Whether copy_from() takes memory of the other card without a way through the program's; prepares that
  /// way at the first call.
  virtual bool reaches(const Device& other) = 0;
  /// From memory of another card that it reaches to its own, in the order of its own stream.
  virtual void copy_from(const Device& other, void* dst, const void* src, size_t bytes) = 0;

  /// For Launch::stream: kernels that this thread launches next go to it, or, between begin_capture() and
  /// end_capture(), to what this thread captures.
  virtual void* stream() const = 0;
  /// Held while work is given to the stream and waited for, while its results are downloaded, and by
  /// renew()'s caller.
  FairMutex& stream_mutex() { return stream_mutex_; }
  /// Returns when all work of the stream is done.
  virtual void wait() = 0;

  virtual std::unique_ptr<DeviceMark> make_mark() = 0;
  virtual void record(DeviceMark& mark) = 0;
  /// What its stream is given from now on begins when the mark of another device, recorded before, was
  /// passed. Does not wait, and becomes part of no graph: not to be called by a thread that captures one.
  virtual void follow(const DeviceMark& mark) = 0;
  /// Returns when a mark of its own was passed that was not recorded inside a graph. The stream stays this
  /// thread's until wait().
  virtual void wait_for(const DeviceMark& mark) = 0;
  /// Both passed: after wait().
  virtual double microseconds(const DeviceMark& from, const DeviceMark& to) = 0;

  /// What this thread launches, copies and marks between the two does not run, but becomes a graph, which any
  /// thread may launch; what other threads do is theirs. It must not wait meanwhile. end_capture() throws
  /// after a failure, and where nothing was begun; the next capture is not touched by it.
  virtual void begin_capture() = 0;
  virtual std::unique_ptr<DeviceGraph> end_capture() = 0;
  virtual void launch(DeviceGraph& graph) = 0;

  /// After DeviceError::lost: frees what is left and makes the context anew. All memory, marks and graphs are
  /// gone, and epoch() has grown: what carries an older one is neither used nor released. Throws `lost` where
  /// the driver gives a program no other context after a fault (as CUDA 13 with driver 580 does, whichever
  /// way it is asked); then all that remains is to go on on another device until the program is started
  /// again.
  virtual void renew() = 0;
  virtual uint64_t epoch() const = 0;

 private:
  FairMutex stream_mutex_;
};

}  // namespace orrery::kernels
