// What the trial tells the program that started it, line by line on file descriptor 3:
//   at WHAT      it begins; if nothing follows, that is where the op crashed or did not come back
//   ok WHAT      a check that passed
//   case ..      a body on one case (quarantine.h), fields between tabs: body, case, device, what it was held
//                against, largest difference, what is allowed, microseconds
//   fail WHAT    the check that failed; the last line
//   done         all passed; the last line
#pragma once

#include <string>
#include <string_view>

#include "engine/custom/body.h"

namespace orrery::custom::trial {

constexpr int kReport = 3;

void tell(std::string_view kind, std::string_view text);

/// Tells what failed and ends the process.
[[noreturn]] void fail(const std::string& what);

/// From here on whatever ends the process is reported: crashes by their cause, exceptions that reach the
/// top, exit(), endless recursion. `memory_limit`: the limit that it runs under; 0: none.
void watch(uint64_t memory_limit);
/// That the process may end.
void finished();

/// Runs the items, and tells of an exception.
void run(const Body& body, const orrery_call& call, int64_t begin, int64_t end);

}  // namespace orrery::custom::trial
