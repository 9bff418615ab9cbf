// What was measured of edits, as the lines of a card.
#pragma once

#include <QString>
#include <vector>

#include "ui/session/edit_costs.h"
#include "ui/theme/theme.h"

namespace orrery::ui {

struct CostLine {
  QString label, value;        // value: a dash until it is measured
  QString delta;               // against the original, with its sign; empty: it is one itself
  Token token = Token::text3;  // of the delta: ok, warn, or text3 where nothing changed
};

/// Why there is nothing to show; empty: it was or will be measured.
QString costRefusal(const EditCost& cost);
/// Of a model that writes text: speed, memory, KL, top-1, perplexity; of an encoder memory and cosine.
std::vector<CostLine> costLines(const EditCost& cost, bool writes);

}  // namespace orrery::ui
