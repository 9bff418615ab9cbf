// A store of a test's own, and ops in a few lines.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "engine/custom/store.h"

namespace orrery::custom::test {

/// A folder that is gone after the test.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "orrery_custom_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::string sdk(const std::string& file) {
  return text_of(ORRERY_SOURCE_DIR "/resources/sdk/" + file);
}

/// A source whose body is given; `fields` are those between the declaration of its tensors and .cpu.
inline std::string op_of(const std::string& body, const std::string& name = "mine",
                         const std::string& before = "") {
  return "#include \"orrery_op.h\"\n" + before +
         "static void cpu(const orrery_call* call, int64_t begin, int64_t end) {\n"
         "  const float* src = ORRERY_IN(float, call, 0); float* dst = ORRERY_OUT(float, call, 0);\n" +
         body + "\n}\nORRERY_OP(\"" + name +
         "\", \"A test.\", .inputs = \"src f32[..., cols]\", .outputs = \"dst src\", .cpu = cpu)\n";
}

inline Sources sources_of(std::vector<SourceFile> files) {
  auto sources = Sources::of(std::move(files));
  EXPECT_TRUE(sources.ok()) << (sources.ok() ? "" : sources.error().to_string());
  return *std::move(sources);
}

class WithStore : public ::testing::Test {
 protected:
  Store store(TrialLimits limits = {}) const {
    return {scratch_.path() / "cache", scratch_.path() / "data", limits};
  }
  Report report_of(const std::string& source, TrialLimits limits = {}) const {
    return report_of({{"mine.cpp", source}}, limits);
  }
  Report report_of(std::vector<SourceFile> files, TrialLimits limits = {}) const {
    auto report = store(limits).check(sources_of(std::move(files)), {});
    EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().to_string());
    return report.ok() ? *std::move(report) : Report{};
  }
  Scratch scratch_;
};

}  // namespace orrery::custom::test
