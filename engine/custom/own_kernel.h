// The kernel of an op of one's own: a body and a call of it, with a row on the CPU and one on the card.
#pragma once

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include "engine/custom/body.h"
#include "engine/graph/op_schema.h"
#include "kernels/program.h"
#include "kernels/row.h"

namespace orrery::custom {

/// A body with all that its rows need; lives as long as a schema or a step has it.
struct Running {
  Body body;
  std::shared_ptr<const kernels::ProgramImage> image;
  std::string content;
  std::string not_on_card;  // why cards are not to run it; empty: they may
  bool written_for_cards = false;
  std::string cpu_name = "cpu." + body.name(), cuda_name = "cuda." + body.name();
};

struct OwnKernel {
  static constexpr std::string_view kName = "own";
  struct Problem {
    const Running* running = nullptr;
  };
  struct Args {
    const Running* running = nullptr;
    const orrery_call* call = nullptr;
  };
};

/// What the body of a person's op threw, on its way out of the step that ran it.
struct OwnOpError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The two rows of a body, which must outlive them.
struct OwnRows {
  explicit OwnRows(const Running& running);
  std::array<kernels::Row<OwnKernel>, 1> cpu, card;
};

/// What an op of the registry runs; null: it is none of one's own.
std::shared_ptr<const Running> running_of(const graph::OpSchema& op);

}  // namespace orrery::custom
