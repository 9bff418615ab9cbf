#include "engine/custom/build.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>

#include "engine/base/sha256.h"
#include "engine/custom/files.h"
#include "engine/custom/report_file.h"
#include "engine/custom/sdk_text.h"
#include "engine/custom/toolchain.h"
#include "engine/custom/turn.h"
#include "kernels/device_module.h"

namespace orrery::custom {
namespace {

namespace fs = std::filesystem;

constexpr const char *kReportName = "report.json", *kLibraryName = "op.so";
constexpr const char* kPortable = "compute_80";  // what is compiled for where there is no card

/// What -march=native means here.
const std::string& processor() {
  static const std::string found = [] {
    std::ifstream file("/proc/cpuinfo");
    std::string line, text;
    while (std::getline(file, line) && !line.empty())
      if (line.starts_with("model name") || line.starts_with("flags")) text += line;
    return text;
  }();
  return found;
}

const std::string& compiler_version() {
  static const std::string version = host_compiler_version();
  return version;
}

/// "sm_90" of the machine's first card; empty where there is none.
std::string architecture_here() {
  std::string reason;
  const kernels::DeviceModule* module = kernels::cuda_module(reason);
  if (!module || module->count(reason) == 0) return "";
  return fmt::format("sm_{}", kernels::machine_of(kernels::DeviceKind::cuda).card.capability);
}

std::string not_compiled(const Error& error) {
  return "the CUDA body was not compiled, and not run: " + error.to_string();
}

/// Another one each time.
std::string attempt_name() {
  static std::atomic<unsigned> attempts = 0;
  return fmt::format("attempt-{}-{}", getpid(), ++attempts);
}

/// A folder that is gone afterwards.
struct Attempt {
  fs::path folder;
  ~Attempt() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
};

class Build {
 public:
  Build(const Sources& sources, const fs::path& builds, const TrialLimits& limits, const Watch& watch)
      : sources_(sources), folder_(builds / build_id()), limits_(limits), watch_(watch) {}

  /// Another program, or another thread of this one, may be at the same op: it is made once, and found there
  /// by the others.
  Result<Report> make() {
    ORRERY_ASSIGN(const Turn turn, Turn::at(folder_, watch_.stop));
    report_.content = sources_.content();
    report_.build = folder_;
    if (find_passed()) {
      report_.cached = true;
    } else {
      kept_ = {};
      ORRERY_TRY(make_anew());
      if (!passed_cpu_) return std::move(report_);
    }
    ORRERY_TRY(prepare_card());
    if (failed_) return std::move(report_);
    report_.passed = true;
    ORRERY_TRY(open());
    return std::move(report_);
  }

 private:
  std::string build_id() const {
    std::string all = fmt::format("{}\n{}\n{}\n{}\n{}\n", ORRERY_OP_ABI, kOpHeader, processor(),
                                  sources_.is_library ? "" : compiler_version(), sources_.content());
    for (const std::string_view option : kHostOptions) all += fmt::format("{} ", option);
    for (const std::string_view option : kCudaOptions) all += fmt::format("{} ", option);
    return sha256(all).substr(0, 32);
  }

  void tell(const PassedTrial& trial) {
    report_.checks.insert(report_.checks.end(), trial.checks.begin(), trial.checks.end());
    report_.cases.insert(report_.cases.end(), trial.cases.begin(), trial.cases.end());
  }

  /// A file of the cache that is as it was when it passed.
  bool is_as_it_was(const std::string& name) const {
    const auto hash = kept_.files.find(name);
    if (hash == kept_.files.end()) return false;
    const auto bytes = read_file(folder_ / name);
    return bytes && sha256(*bytes) == hash->second;
  }

  bool find_passed() {
    const auto text = read_file(folder_ / kReportName);
    const auto parsed = text ? parse_report(*text) : std::nullopt;
    if (!parsed) return false;
    kept_ = *parsed;
    if (!is_as_it_was(kLibraryName)) return false;
    report_.name = kept_.name;
    report_.doc = kept_.doc;
    tell(kept_.cpu);
    return true;
  }

  Result<void> keep(const std::string& name) {
    ORRERY_ASSIGN(const std::string bytes, read_file(folder_ / name));
    kept_.files[name] = sha256(bytes);
    return {};
  }
  Result<void> move_here(const fs::path& made, const std::string& name) const {
    std::error_code error;
    fs::rename(made, folder_ / name, error);
    if (!error) return {};
    return Error{ErrorCode::io, "It cannot be kept: " + error.message(), folder_.string(), "check the disk"};
  }
  Result<void> write_kept() const { return write_file(folder_ / kReportName, write_report(kept_)); }

  /// The library, and its trial on the CPU. In a folder of its own until it passed.
  Result<void> make_anew() {
    const Attempt attempt{folder_ / attempt_name()};
    const fs::path made = attempt.folder / kLibraryName;
    ORRERY_ASSIGN(const bool compiled, make_library(made));
    return compiled ? try_library(made) : Result<void>();
  }

  Result<bool> make_library(const fs::path& made) {
    if (sources_.is_library) {
      ORRERY_TRY(write_file(made, sources_.host.bytes));
      return true;
    }
    ORRERY_TRY(watch_.stage("Compiling " + sources_.host.name));
    const fs::path source = made.parent_path() / sources_.host.name;
    ORRERY_TRY(write_file(made.parent_path() / "orrery_op.h", kOpHeader));
    ORRERY_TRY(write_file(source, sources_.host.bytes));
    ORRERY_ASSIGN(const Compilation compilation,
                  compile_host(source, made, limits_.compile_time, watch_.stop));
    report_.diagnostics = compilation.diagnostics;
    return compilation.ok;
  }

  Result<void> try_library(const fs::path& made) {
    ORRERY_TRY(watch_.stage("Trying it on the CPU"));
    ORRERY_ASSIGN(const Trial trial, try_on_cpu(made, limits_, watch_.stop));
    tell({trial.checks, trial.cases});
    if (!trial.passed) return {};
    ORRERY_TRY(move_here(made, kLibraryName));
    passed_cpu_ = true;
    ORRERY_TRY(keep(kLibraryName));
    ORRERY_ASSIGN(const auto library, Library::open(folder_ / kLibraryName));
    report_.name = kept_.name = library->name();
    report_.doc = kept_.doc = library->doc();
    kept_.content = report_.content;
    kept_.cpu = {trial.checks, trial.cases};
    return write_kept();
  }

  /// What cards run: a file of CUDA, compiled; or the library's own launches. Compared with the CPU where
  /// there is a card.
  Result<void> prepare_card() {
    ORRERY_ASSIGN(const auto library, Library::open(folder_ / kLibraryName));
    if (!sources_.cuda && !library->op().cuda) {
      report_.card = not_on_card_ = "it has no body for a card";
      return {};
    }
    const std::string here = architecture_here();
    architecture_ = here.empty() ? kPortable : here;
    if (sources_.cuda) ORRERY_TRY(make_image());
    if (failed_ || !not_on_card_.empty()) return {};
    if (here.empty()) {
      report_.card = not_on_card_ =
          "the CUDA body was not run here: this machine has no card. `orrery-cli custom add` compares it "
          "with the CPU where there is one";
      return {};
    }
    return compare();
  }

  std::string image_name() const { return architecture_ + ".image"; }

  Result<void> make_image() {
    if (is_as_it_was(image_name())) return {};
    report_.cached = false;
    ORRERY_TRY(watch_.stage("Compiling " + sources_.cuda->name));
    const Attempt attempt{folder_ / attempt_name()};
    const fs::path made = attempt.folder / image_name();
    ORRERY_TRY(write_file(attempt.folder / sources_.cuda->name, sources_.cuda->bytes));
    auto compiled = compile_cuda(attempt.folder / sources_.cuda->name, made, architecture_,
                                 limits_.compile_time, watch_.stop);
    if (!compiled && compiled.error().code == ErrorCode::not_found) {
      report_.card = not_on_card_ = not_compiled(compiled.error());
      return {};
    }
    if (!compiled) return compiled.error();
    report_.diagnostics.insert(report_.diagnostics.end(), compiled->diagnostics.begin(),
                               compiled->diagnostics.end());
    failed_ = !compiled->ok;
    if (failed_) return {};
    ORRERY_TRY(move_here(made, image_name()));
    ORRERY_TRY(keep(image_name()));
    return write_kept();
  }

  Result<void> compare() {
    if (const auto known = kept_.cards.find(architecture_); known != kept_.cards.end()) {
      tell(known->second);
      report_.card = "compared with the CPU on " + architecture_;
      return {};
    }
    report_.cached = false;
    ORRERY_TRY(watch_.stage("Comparing card and CPU"));
    const fs::path image = sources_.cuda ? folder_ / image_name() : fs::path();
    ORRERY_ASSIGN(const Trial trial, try_on_card(folder_ / kLibraryName, image, 0, limits_, watch_.stop));
    tell({trial.checks, trial.cases});
    failed_ = !trial.passed;
    if (failed_) return {};
    report_.card = "compared with the CPU on " + architecture_;
    kept_.cards[architecture_] = {trial.checks, trial.cases};
    return write_kept();
  }

  /// The bytes that are loaded are those whose hash passed.
  Result<void> open() {
    if (!is_as_it_was(kLibraryName))
      return Error{ErrorCode::corrupt_file, "The library is not the one that was tried", folder_.string(),
                   "try again"};
    OwnOp op{nullptr, report_.content, nullptr, not_on_card_};
    ORRERY_ASSIGN(op.library, Library::open(folder_ / kLibraryName));
    op.written_for_cards = sources_.cuda || op.library->op().cuda;
    if (sources_.cuda && not_on_card_.empty()) {
      auto image = std::make_shared<kernels::ProgramImage>();
      ORRERY_ASSIGN(image->bytes, read_file(folder_ / image_name()));
      image->id = sha256(image->bytes);
      if (image->id != kept_.files[image_name()])
        return Error{ErrorCode::corrupt_file, "The image is not the one that was tried", folder_.string(),
                     "try again"};
      op.image = std::move(image);
    }
    report_.op = std::move(op);
    return {};
  }

  const Sources& sources_;
  fs::path folder_;
  const TrialLimits& limits_;
  const Watch& watch_;
  ReportFile kept_;
  Report report_;
  std::string architecture_, not_on_card_;
  bool passed_cpu_ = false, failed_ = false;
};

}  // namespace

Result<Report> build_op(const Sources& sources, const fs::path& builds, const TrialLimits& limits,
                        const Watch& watch) {
  return Build(sources, builds, limits, watch).make();
}

Result<Report> compile_op(const Sources& sources, const fs::path& builds, const TrialLimits& limits,
                          const Watch& watch) {
  Report report;
  report.content = sources.content();
  if (sources.is_library) {
    report.passed = true;
    return report;
  }
  const Attempt attempt{builds / attempt_name()};
  ORRERY_TRY(watch.stage("Compiling " + sources.host.name));
  ORRERY_TRY(write_file(attempt.folder / "orrery_op.h", kOpHeader));
  ORRERY_TRY(write_file(attempt.folder / sources.host.name, sources.host.bytes));
  ORRERY_ASSIGN(Compilation host,
                compile_host(attempt.folder / sources.host.name, attempt.folder / kLibraryName,
                             limits.compile_time, watch.stop));
  report.passed = host.ok;
  report.diagnostics = std::move(host.diagnostics);
  if (!sources.cuda) return report;
  const std::string here = architecture_here();
  ORRERY_TRY(watch.stage("Compiling " + sources.cuda->name));
  ORRERY_TRY(write_file(attempt.folder / sources.cuda->name, sources.cuda->bytes));
  auto cuda = compile_cuda(attempt.folder / sources.cuda->name, attempt.folder / "image",
                           here.empty() ? kPortable : here, limits.compile_time, watch.stop);
  if (!cuda && cuda.error().code == ErrorCode::not_found) {
    report.card = not_compiled(cuda.error());
    return report;
  }
  if (!cuda) return cuda.error();
  report.passed = report.passed && cuda->ok;
  report.diagnostics.insert(report.diagnostics.end(), cuda->diagnostics.begin(), cuda->diagnostics.end());
  return report;
}

}  // namespace orrery::custom
