// The kernels by themselves: every row of one, checked against its reference on a problem described in words,
// then timed on this machine.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/api/types.h"
#include "engine/base/progress.h"

namespace orrery::api {

/// A kernel, and what can be asked of it.
struct LabKernel {
  std::string name;                    // "linear"
  std::string shape;                   // how to write a problem: "TOKENSxCOLSxROWS[+ROWS..] TYPE [exact]"
  std::vector<std::string> problems;   // those of models in use: "decode 1x576x1536 Q4_1"
  std::vector<std::string> cpu, cuda;  // rows, fastest first; none of a card without its module
  /// The file of each row below the project's folder: "kernels/cuda/ladder/naive.cu"; of an op of one's own
  /// its whole path.
  std::map<std::string, std::string> sources = {};
  /// Of rows that call a library, which: they are what the others are held against, not steps.
  std::map<std::string, std::string> libraries = {};
  /// Of rows that were compiled for a block or a tile, its sizes: "6x16".
  std::map<std::string, std::string> tiles = {};
  bool own = false;    // a body of an op of one's own (engine/api/own_lab.h)
  bool steps = false;  // rows are steps of a ladder, and stand slowest first
};
/// Those of ops of one's own come last.
std::vector<LabKernel> list_kernels();
/// Refused with the nearest names.
Result<LabKernel> find_kernel(const std::string& name);

struct LabRequest {
  std::string kernel;
  std::string shape = {};              // a problem in the kernel's words; empty: the first of those in use
  std::string device = "cpu";          // or "cuda:0"
  int threads = 0;                     // of the CPU, 0: all cores; with 1, times are the processor's
  std::vector<std::string> rows = {};  // these alone; empty: all
};

/// A row of the kernel on the problem.
struct LabVersion {
  std::string name;     // "cpu.avx512_vnni.matvec"
  std::string refused;  // why it was not run; empty: it was
  bool ok = false;      // what it wrote is what the reference says; else it has no time
  double max_error = 0, tolerance = 0;
  std::string where = {};           // of the largest error: "dst[3, 575] is 1.25, expected 1.5"
  double us = 0, p10 = 0, p90 = 0;  // of a call: the median of the samples, and their spread
  double launched_us = 0;           // on a card, of a call by itself, host included
  int samples = 0;                  // few of slow rows
  double gflops = 0, gbytes_per_second = 0;
  double share_of_limit = 0;                // of what the machine reaches at most; 0: not known
  Arithmetic arithmetic = Arithmetic::f32;  // what it multiplies in
  bool memory = false;                      // its calls found their operands in memory, not in a cache
  std::string outcome;                      // all of it for a line of a table

  /// Whether the samples differ so much that the time says little.
  bool unsteady() const { return p90 - p10 > kUnsteady * us; }
  static constexpr double kUnsteady = 0.25;
};

struct LabRun {
  std::string kernel, problem, device;
  std::string machine;  // "AMD EPYC 9R14, AVX-512 VNNI BF16, 2 threads of 2 cores"
  int threads = 0;
  std::vector<LabVersion> versions = {};  // fastest first, as a plan asks them
  /// Of the cores' time, what other programs took meanwhile; none where the system does not tell.
  std::optional<double> others = {};
  /// Of a call: what it multiplies and adds, and what it moves at least, each operand once.
  double flops = 0, bytes = 0;
  MachineLimits limits = {};  // what the device reaches at most

  /// Why the times may not be those of a quiet machine; empty: nothing speaks against them.
  std::string busy() const;
  /// Other programs took so much of the cores' time that no time of a row is the machine's own.
  bool disturbed() const;
};

/// What others published of the same problem, on a machine of theirs.
struct PublishedTime {
  std::string name, machine, source;  // "FlashAttention-3", "H100 SXM, f16", where it was read
  double us = 0, gflops = 0;
};
/// Fastest first; none where nothing is known of that problem. A word before the problem's sizes
/// does not count: "decode 1x576" is "1x576".
std::vector<PublishedTime> published_times(const LabRun& run);

/// Called on the caller's thread after each row, with what there is so far.
using LabCallback = std::function<void(const LabRun& so_far)>;

/// All rows of the kernel, one after another, between the steps of models that run on the device. A stop is
/// heard between calls of a row.
Result<LabRun> run_lab(const LabRequest& request, const LabCallback& on_version,
                       const ProgressCallback& progress, std::stop_token stop);

}  // namespace orrery::api
