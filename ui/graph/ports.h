// The places of a drawn thing where wires begin and end: outputs at the foot, inputs at the top where their
// wires arrive, weights at the left and the inputs of the step at the right, where the pills are.
#pragma once

#include <string>
#include <vector>

#include "ui/graph/geometry.h"

namespace orrery::ui {

struct Port {
  enum class Kind : uint8_t {
    input,
    output,
    source
  };  // source: the pill of a weight or of the step's inputs
  enum class Side : uint8_t { top, foot, left, right };
  Kind kind = Kind::input;
  Side side = Side::top;
  Hit thing;                     // whose it is
  int draft = 0;                 // whose it is instead: a node that is not in the graph yet
  int place = 0;                 // among the outputs, or the inputs
  Point at;                      // scene coordinates
  ValueId value;                 // that it gives or reads; of an input that reads nothing: none
  std::vector<graph::Use> uses;  // of an input: who reads there; inside a folded group it may be several
  std::string name;              // "src"
  bool optional = false;
  bool connected = false;  // of a draft: `value` does not tell

  bool gives() const { return kind != Kind::input; }
  /// Nothing is connected.
  bool open() const { return kind == Kind::input && !value.valid() && !connected; }
  /// The same place of the same thing, wherever it is drawn.
  bool sameAs(const Port& other) const;
};

/// Of a node, a folded group or a stack. Outputs first, then inputs in the op's order, then sources.
std::vector<Port> portsOf(const Drawing& drawing, const Hit& thing);
/// The nearest of the ports within `reach` of the point; null: none.
const Port* nearest(const std::vector<Port>& ports, Point point, double reach);

}  // namespace orrery::ui
