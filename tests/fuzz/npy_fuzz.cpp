// Any bytes as an array of NumPy, or an archive of them; text is taken as the header of an array.
#include <cstring>

#include "tests/fuzz/model_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const orrery::fuzz::MemoryFile file;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size > 0 && size < 60000 && data[0] == '{') {
    const auto length = static_cast<uint16_t>(size);
    std::string start("\x93NUMPY\x01\x00", 8);
    start.append(reinterpret_cast<const char*>(&length), sizeof(length));
    bytes = start + bytes + std::string(16, '\1');
  }
  orrery::fuzz::walk(orrery::io::open_model(
      file.write(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()), {}, {}));
  return 0;
}
