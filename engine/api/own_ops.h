// Ops of one's own: from their files to the registry, which every graph, recipe and command uses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/progress.h"
#include "engine/custom/diagnostics.h"
#include "engine/custom/quarantine.h"
#include "engine/custom/sources.h"
#include "engine/edit/edit.h"

namespace orrery::api {

struct OwnOpReport {
  std::string name, doc;  // empty where it did not compile
  std::string content;    // a hash of the files: what recipes name
  bool passed = false;
  bool cached = false;  // nothing was compiled or tried anew
  std::vector<custom::Diagnostic> diagnostics;
  std::vector<custom::Check> checks;      // up to the first that failed
  std::vector<custom::TrialCase> cases;   // what was compared and timed
  std::string card;                       // what holds of cards, in words
  std::vector<std::string> devices = {};  // where it runs here, once it passed: "cpu", "cuda"
  bool backward = false;                  // it has gradients
  Error failure = {};                     // where it did not pass: the first thing to fix
};

/// Compiles only, while it is written: nothing is run. Passed: it compiles.
Result<OwnOpReport> compile_own_op(std::vector<custom::SourceFile> files, const Watch& watch);
/// Compiles and tries, in processes of their own; waits. A report that did not pass is a result like any
/// other; refused is what could not be tried (no compiler, no orrery-trial, a stop).
Result<OwnOpReport> check_own_op(std::vector<custom::SourceFile> files, const Watch& watch);
/// The same, and keeps what passed for this and every later start. Refused besides: the name of an op of the
/// engine's.
Result<OwnOpReport> add_own_op(std::vector<custom::SourceFile> files, const Watch& watch);
Result<void> remove_own_op(const std::string& name);

struct OwnOpEntry {
  std::string name, content, folder;
  std::vector<std::string> files;
  std::string problem = {};               // why it is not in the registry; empty: it is
  std::vector<std::string> devices = {};  // where it runs here: "cpu", "cuda"
  bool backward = false;                  // it has gradients
};
/// Those that were added, by name; once join_own_ops() was called.
std::vector<OwnOpEntry> list_own_ops();
/// Puts what was added before into the registry: at the start of a program. What could not be, with the
/// reason.
std::vector<Error> join_own_ops(const Watch& watch);

/// As edit::name_contents() does, by the ops that are there.
void name_contents(std::vector<edit::Edit>& edits);

}  // namespace orrery::api
