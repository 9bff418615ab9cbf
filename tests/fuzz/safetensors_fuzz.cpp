// Any bytes as a safetensors header: the length in front is made to fit, some data follows, so that the
// fuzzer works on the header itself. An input that is a whole safetensors file is taken as it is.
#include <cstring>

#include "tests/fuzz/model_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const orrery::fuzz::MemoryFile file;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size > 0 && data[0] == '{') {
    const uint64_t length = size;
    bytes.insert(0, reinterpret_cast<const char*>(&length), sizeof(length));
    bytes.append(64, '\1');
  }
  orrery::fuzz::walk(orrery::io::open_model(
      file.write(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()), {}, {}));
  return 0;
}
