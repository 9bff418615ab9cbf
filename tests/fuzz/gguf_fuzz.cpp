// Any bytes as a GGUF file: the magic is put in front so that no run is lost on detection.
#include "tests/fuzz/model_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const orrery::fuzz::MemoryFile file;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size >= 4) bytes.replace(0, 4, "GGUF");
  orrery::fuzz::walk(orrery::io::open_model(
      file.write(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()), {}, {}));
  return 0;
}
