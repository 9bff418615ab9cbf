// Ops of one's own from their files to the registry: compiled, tried, cached by content, kept for the next
// start.
//
//   ${XDG_CACHE_HOME:-~/.cache}/orrery/own_ops/BUILD/   what was made of a source on this machine: the
//   library, images
//                                                        for cards, report.json; BUILD is a hash of the
//                                                        source, the header, the compiler, its options and
//                                                        the processor
//   ${XDG_DATA_HOME:-~/.local/share}/orrery/ops/NAME/    what was added: the files, and op.json with their
//   content
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/progress.h"
#include "engine/custom/diagnostics.h"
#include "engine/custom/own_op.h"
#include "engine/custom/quarantine.h"
#include "engine/custom/sources.h"
#include "engine/graph/op_registry.h"

namespace orrery::custom {

/// What came out of compiling and trying. Passed: it may join the registry.
struct Report {
  std::string name, doc;  // empty where it was not compiled
  std::string content;
  bool passed = false;
  bool cached = false;  // nothing was compiled or tried anew
  std::vector<Diagnostic> diagnostics;
  std::vector<Check> checks;
  std::vector<TrialCase> cases;      // what was compared and timed
  std::string card;                  // what holds of cards, in words
  std::optional<OwnOp> op;           // where it passed
  std::filesystem::path build = {};  // where it lies

  /// The first thing that failed, in a line.
  Error failure() const;
};

class Store {
 public:
  Store(std::filesystem::path cache, std::filesystem::path data, TrialLimits limits = {});
  /// In the places of this person.
  static Store of_user();

  /// Compiles only, while it is written: nothing is run or kept. Passed: it compiles.
  Result<Report> compile(const Sources& sources, const Watch& watch) const;
  /// Compiles and tries, or finds what passed before. What does not compile or pass is a report that says so;
  /// refused is only what could not be tried: no compiler, no orrery-trial, a full disk, a stop.
  Result<Report> check(const Sources& sources, const Watch& watch) const;

  /// Keeps the files of a report that passed, and puts its ops into the registry, in the place of those of
  /// the same name that were added before. Refused: the name of an op of the engine's.
  Result<void> add(const Sources& sources, const Report& report, graph::OpRegistry& registry) const;
  /// Takes the op out of the registry, if it is there, and its files away.
  Result<void> remove(const std::string& name, graph::OpRegistry& registry) const;

  struct Kept {
    std::string name, content;
    std::filesystem::path folder;
    std::vector<std::string> files;
  };
  std::vector<Kept> list() const;  // by name
  /// The files of an op that was added.
  Result<Sources> sources_of(const Kept& kept) const;
  /// Puts all that were added into the registry, compiled and tried anew where the cache lacks them; what
  /// could not be, with the reason.
  std::vector<Error> join(graph::OpRegistry& registry, const Watch& watch) const;

 private:
  class Building;
  std::filesystem::path cache_, data_;
  TrialLimits limits_;
};

}  // namespace orrery::custom
