// Any bytes as a file of torch.save; what is neither a zip archive nor the older stream is run as a pickle,
// so that the fuzzer works on its operations.
#include "engine/io/pytorch.h"

#include "engine/io/pickle.h"
#include "tests/fuzz/model_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const orrery::fuzz::MemoryFile file;
  const auto bytes = std::as_bytes(std::span(data, size));
  if (orrery::io::looks_like_pytorch(bytes)) {
    orrery::fuzz::walk(orrery::io::open_model(file.write(data, size), {}, {}));
    return 0;
  }
  orrery::io::ByteReader reader(bytes);
  orrery::io::Allowance allowance(size);
  const auto pickled = orrery::io::read_pickle(reader, "fuzz", allowance, {});
  if (!pickled.ok() && pickled.error().what.empty()) std::abort();
  return 0;
}
