// An op of one's own as the registry takes it: its schema, and its rows on the CPU and the card.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/custom/body.h"
#include "kernels/program.h"

namespace orrery::custom {

struct OwnOp {
  std::shared_ptr<const Library> library;
  std::string content;                                 // what it was made of, as a hash
  std::shared_ptr<const kernels::ProgramImage> image;  // its kernels; null: none from source
  std::string not_on_card;                             // why cards are not to run it; empty: they may
  bool written_for_cards = false;                      // it has a body for them
};

/// The op, and that of its gradients where it has them. Each has the attribute `content`, whose fallback is
/// the op's own: a node, a graph's file or a recipe that names another content is refused by inference.
/// The op's gradient rule (OpSchema::gradient) is a node of that of its gradients.
/// Bodies are called by the team in parts; what one throws becomes the step's failure.
std::vector<graph::OpSchema> schemas_of(const OwnOp& op);

}  // namespace orrery::custom
