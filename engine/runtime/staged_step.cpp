#include "engine/runtime/staged_step.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/runtime/decode_job.h"

namespace orrery::runtime {
namespace {

using kernels::Sample;

constexpr size_t kAlignment = 256;
constexpr size_t kLeastRegion = 4096;
constexpr int64_t kLeastPages = 2;
constexpr size_t kRecent = DecodeJob::kRecentTokens;

/// Powers of two, so that the addresses that captured work holds seldom change.
size_t rounded(size_t bytes) { return std::bit_ceil(std::max(bytes, kLeastRegion)); }

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

int64_t round_up_to_power(int64_t value, int64_t least) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(value, least))));
}

/// Extents of a step, and the bytes that its inputs take.
struct Extents {
  size_t sequences, outputs, pages;
  size_t inputs = 0;  // bytes

  explicit Extents(const ops::StepContext& step)
      : sequences(static_cast<size_t>(step.sequences)),
        outputs(static_cast<size_t>(step.outputs)),
        pages(step.page_table ? static_cast<size_t>(round_up_to_power(step.max_pages, kLeastPages)) : 0) {
    for (const ops::StepInput& input : ops::step_inputs()) inputs += aligned(input.bytes(step));
    for (const ops::GivenBytes& given : step.given) inputs += aligned(given.bytes);
  }

  size_t bytes() const {
    return inputs + aligned(sequences * pages * sizeof(int32_t)) +
           aligned(sequences * sizeof(kernels::RecordUse)) + aligned(outputs * kRecent * sizeof(int32_t)) +
           aligned(outputs * sizeof(Sample::Request));
  }
};

/// Gives out places behind each other, in page-locked memory and where they will lie on the device.
class Packer {
 public:
  Packer(std::byte* here, const std::byte* there) : here_(here), there_(there) {}

  template <class T>
  struct Place {
    T* here;
    const T* there;
  };
  template <class T>
  Place<T> take(size_t count) {
    const Place<T> place{reinterpret_cast<T*>(here_ + used_), reinterpret_cast<const T*>(there_ + used_)};
    used_ += aligned(count * sizeof(T));
    return place;
  }
  template <class T>
  const T* copy(const T* values, size_t count) {
    const Place<T> place = take<T>(count);
    if (count > 0) std::memcpy(place.here, values, count * sizeof(T));
    return place.there;
  }
  size_t used() const { return used_; }

 private:
  std::byte* here_;
  const std::byte* there_;
  size_t used_ = 0;
};

/// The page table, its rows as wide as the extents say.
const int32_t* pack_pages(Packer& packer, const ops::StepContext& step, const Extents& extents) {
  const auto width = static_cast<size_t>(step.max_pages);
  const auto table = packer.take<int32_t>(extents.sequences * extents.pages);
  std::fill_n(table.here, extents.sequences * extents.pages, 0);
  for (size_t s = 0; s < extents.sequences; ++s)
    std::copy_n(step.page_table + s * width, width, table.here + s * extents.pages);
  return table.there;
}

/// The sampling requests, each with its recent tokens beside it.
const Sample::Request* pack_requests(Packer& packer, const ops::StepContext& step, size_t count) {
  const auto recent = packer.take<int32_t>(count * kRecent);
  const auto requests = packer.take<Sample::Request>(count);
  for (size_t i = 0; i < count; ++i) {
    Sample::Request request = step.sampling[i];
    const auto looked_at = std::min(static_cast<size_t>(std::max(request.recent_count, 0)), kRecent);
    if (looked_at > 0) std::memcpy(recent.here + i * kRecent, request.recent, looked_at * sizeof(int32_t));
    request.recent = recent.there + i * kRecent;
    request.recent_count = static_cast<int32_t>(looked_at);
    std::memcpy(requests.here + i, &request, sizeof(request));
  }
  return requests.there;
}

}  // namespace

bool StagedStep::has_room(const ops::StepContext& here) const {
  const size_t bytes = rounded(Extents(here).bytes());
  return runtime::has_room(inputs_, bytes) && runtime::has_room(staged_, bytes);
}

Result<void> StagedStep::stage(const ops::StepContext& here) {
  there_ = here;
  const Extents extents(here);
  const size_t bytes = rounded(extents.bytes());
  ORRERY_TRY(grow(inputs_, bytes, device_));
  grow(staged_, bytes, device_);
  Packer packer(staged_.data(), inputs_.data());
  for (const ops::StepInput& input : ops::step_inputs())
    input.point(there_, packer.copy(static_cast<const std::byte*>(input.read(here)), input.bytes(here)));
  for (ops::GivenBytes& given : there_.given)
    given.data = packer.copy(static_cast<const std::byte*>(given.data), given.bytes);
  if (extents.pages > 0) {
    there_.page_table = pack_pages(packer, here, extents);
    there_.max_pages = static_cast<int64_t>(extents.pages);
  }
  if (here.records) there_.records = packer.copy(here.records, extents.sequences);
  there_.sampling = pack_requests(packer, here, extents.outputs);
  there_.max_length = round_up_to_power(here.max_length, kLeastPages * KvCache::kPageTokens);
  used_ = packer.used();
  return {};
}

void StagedStep::forget() {
  inputs_ = {};
  staged_ = {};
}

}  // namespace orrery::runtime
