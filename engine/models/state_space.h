// A selective state space in the place of a layer's attention and MLP (Mamba, arXiv 2312.00752).
#pragma once

#include "engine/models/activation.h"

namespace orrery::models {

struct StateSpace {
  int64_t width = 0, inner = 0;  // of the stream, of the channels that are mixed
  int64_t kernel = 0;            // tokens that the convolution sees
  int64_t states = 0;            // of a channel
  int64_t rank = 0;              // of the steps in time before they are widened to all channels
  Activation activation{"silu", ""};
  bool log_a = false;               // a is stored as log(-a)
  bool flat_convolution = false;    // its weights are (inner, kernel), not (inner, 1, kernel)
  std::string in, selection, step;  // without ".weight"; in: channels above gate, selection: step, b, c
  std::string convolution, out;     // without ".weight"
  std::string a, d;                 // whole names
};

/// The nodes of the current scope after its norm: in_proj, gate_proj, convolution (its state
/// convolution_record), act, step_proj, b_proj, c_proj, dt_proj, scan (its state scan_record), gate_act,
/// gate, out_proj. The new states are added to `states`.
ValueId mix_states(GraphBuilder& builder, ValueId src, const StateSpace& space, int64_t layer,
                   std::vector<ValueId>& states);

}  // namespace orrery::models
