// Kernel rows: for each op an ordered list {name, supports -> reason, run}, fastest first. The first row that
// supports the problem is chosen once, when a plan is compiled; the reasons of the others are kept for the
// person to read.
//
// Each op has a header with its formula, Problem and Args, and declares its lists: <op>_rows() of the CPU,
// cuda::<op>_rows() of the CUDA module; and its reference, ref::<op>: plain loops in float64, written to be
// read beside the formula, which are the oracle of the tests and the last row of the CPU's list, so that they
// take every legal problem on any machine and on one thread. ref::legal says what is wrong with a problem,
// empty when nothing is; every row asks it first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device_id.h"
#include "kernels/dtype.h"
#include "kernels/machine.h"
#include "kernels/precision.h"
#include "kernels/thread_team.h"

namespace orrery::kernels {

/// What a kernel runs with. `workspace` has at least the bytes that the row asked for, 64-byte aligned, and
/// belongs to the call: nothing is kept in it between calls.
struct Launch {
  ThreadTeam* team = nullptr;
  std::byte* workspace = nullptr;
  void* stream = nullptr;  // the device's stream; null on the CPU
};

/// Another form of a weight matrix that a row reads faster than the stored one. Built once by WeightStore,
/// shared.
struct WeightPacking {
  std::string_view name;  // shown to the person, e.g. "bf16 blocked for oneDNN"
  size_t (*bytes)(DType stored, int64_t rows, int64_t cols);
  void (*pack)(const void* stored, DType dtype, int64_t rows, int64_t cols, void* packed, ThreadTeam& team);
};

/// Rows and columns of the result that a block of threads, or the innermost tile of a core, makes at a time.
struct BlockSize {
  int64_t rows = 0, cols = 0;
};

template <class Op>
struct Row {
  using Problem = typename Op::Problem;
  using Args = typename Op::Args;

  std::string_view name;  // "cpu.avx512_vnni.matvec"
  DeviceKind device = DeviceKind::cpu;
  /// Empty when the row can run the problem on the machine, else the reason why not, for a person: "1 token;
  /// tiles need 8 or more". How activations are stored is asked of `reads` and `writes` (storage_refusal).
  std::string (*supports)(const Problem&, const Machine&) = nullptr;
  void (*run)(const Args&, const Launch&) = nullptr;
  /// Scratch bytes for the largest call of this problem; null for none.
  size_t (*workspace)(const Problem&, const Machine&, int threads) = nullptr;
  /// The packing that the row wants for each of its weight matrices; null for the stored form.
  const WeightPacking* (*packing)(const Problem&) = nullptr;
  /// The 16-bit type that the row rounds what it reads to, so that it may as well be given that, stored
  /// (Problem::src; rows and weights are 16-byte aligned then). Null: float32 only.
  DType (*reads)(const Problem&) = nullptr;
  /// The 16-bit type that the row can store its results in (Problem::dst; rows 16-byte aligned). Null:
  /// float32 only.
  DType (*writes)(const Problem&) = nullptr;
  Arithmetic arithmetic = Arithmetic::f32;
  /// What the row rounds for one output of the problem (Linear: a segment's). Null: nothing, whatever the
  /// problem.
  Rounding (*rounding)(const Problem&, int output) = nullptr;
  /// The file below kernels/ to read when one wants to know how it computes. Empty: ref/<op>.cpp of the
  /// reference, <device>/<op> else.
  std::string_view source = {};
  /// The library that it calls to do the work: "cuBLAS", "oneDNN". Empty: it is the project's own.
  std::string_view library = {};
  /// Of a row that was compiled for blocks of one size; zeros: it has none, or chooses them itself.
  BlockSize block = {};
};

/// How the activations of a problem are stored. Ops that let their rows take others than float32 tell it by a
/// static storage(problem).
struct Storage {
  DType src = DType::f32, dst = DType::f32;
};

/// Why the row cannot take activations that are stored so, empty when it can: what is not float32 must be
/// what its `reads` and `writes` tell.
template <class Op>
std::string storage_refusal(const Row<Op>& row, const typename Op::Problem& problem) {
  if constexpr (requires { Op::storage(problem); }) {
    const Storage storage = Op::storage(problem);
    if (storage.src != DType::f32 && (!row.reads || row.reads(problem) != storage.src))
      return "src is " + std::string(name_of(storage.src)) + ", which it does not read";
    if (storage.dst != DType::f32 && (!row.writes || row.writes(problem) != storage.dst))
      return "dst is " + std::string(name_of(storage.dst)) + ", which it does not write";
  }
  return {};
}

/// `supports` of a row that takes every legal problem on any machine: on_any_machine<Op, ref::legal>.
template <class Op, std::string (*legal)(const typename Op::Problem&)>
std::string on_any_machine(const typename Op::Problem& problem, const Machine&) {
  return legal(problem);
}

struct Refusal {
  std::string kernel;
  std::string reason;
};

template <class Op>
struct Selection {
  const Row<Op>* row = nullptr;    // null when no row supports the problem
  std::vector<Refusal> refused;    // the rows asked before it
  std::vector<std::string> after;  // the rows after it, which were not asked
};

/// Asks the rows of one device in order, for a machine with that device.
template <class Op>
Selection<Op> select(std::span<const Row<Op>> rows, const typename Op::Problem& problem,
                     const Machine& machine) {
  Selection<Op> selection;
  for (const Row<Op>& row : rows) {
    std::string reason = row.supports(problem, machine);
    if (reason.empty()) reason = storage_refusal(row, problem);
    if (reason.empty()) {
      selection.row = &row;
      for (const Row<Op>& other : rows.subspan(static_cast<size_t>(&row - rows.data()) + 1))
        selection.after.emplace_back(other.name);
      break;
    }
    selection.refused.push_back({std::string(row.name), std::move(reason)});
  }
  return selection;
}

}  // namespace orrery::kernels
