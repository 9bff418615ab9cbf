// The default models, opened for a test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/api/session.h"
#include "tests/support/variable.h"

namespace orrery::api {

/// ${ORRERY_MODELS:-${XDG_CACHE_HOME:-$HOME/.cache}/orrery/models}
inline std::filesystem::path models_folder() {
  if (const char* folder = std::getenv("ORRERY_MODELS"); folder && *folder) return folder;
  return default_models_folder();
}

inline OpenOptions smollm2() {
  OpenOptions options;
  options.model = (models_folder() / "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf").string();
  options.context = 2048;
  return options;
}

inline OpenOptions minilm() {
  OpenOptions options;
  options.model = (models_folder() / "minilm").string();
  return options;
}

inline OpenOptions sentiment() {
  OpenOptions options = minilm();
  options.adapter = ORRERY_SOURCE_DIR "/resources/models/sentiment";
  return options;
}

inline OpenOptions on_device(OpenOptions options, const std::string& device = "cuda:0") {
  options.device = device;
  return options;
}

/// The device that ORRERY_TEST_DEVICE names; empty: none.
inline std::string device_under_test() {
  const char* device = std::getenv("ORRERY_TEST_DEVICE");
  return device ? device : "";
}

/// The session, or null and a failed test that says why. On the device under test, if there is one.
inline std::shared_ptr<Session> open_or_fail(OpenOptions options) {
  const std::string device = device_under_test();
  if (!device.empty()) options.device = device;
  auto session = Session::open(options, {}, {});
  if (session.ok()) return session.value();
  // ctest takes these words for a skip.
  const bool absent = session.error().code == ErrorCode::device;
  ADD_FAILURE() << (absent ? "no device to test: " : "") << session.error().to_string();
  return nullptr;
}

/// A greedy reply to a raw prompt.
inline ChatRequest raw_request(const std::string& prompt, int64_t max_tokens) {
  ChatRequest request;
  request.raw = prompt;
  request.max_tokens = max_tokens;
  request.sampling.temperature = 0;
  return request;
}

inline std::vector<int32_t> ids_of(const ChatResult& result) {
  std::vector<int32_t> ids;
  for (const TokenEvent& token : result.tokens) ids.push_back(token.id);
  return ids;
}

inline nlohmann::json golden(const std::string& name) {
  std::ifstream stream(std::string(ORRERY_TEST_DATA "/golden/") + name);
  return nlohmann::json::parse(stream);
}

}  // namespace orrery::api
