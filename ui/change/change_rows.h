// What a preview says, as lines of a card: the same line for the same thing, seven at most.
#pragma once

#include <QString>
#include <vector>

#include "ui/graph/edit_cards.h"
#include "ui/session/edit_previews.h"
#include "ui/theme/theme.h"

namespace orrery::ui {

struct ChangeRow {
  QString label;               // "step time"
  QString before, after;       // before may be empty: there is nothing to set it against
  QString difference;          // with its sign; "same"
  Token token = Token::text3;  // of the difference: ok, warn or text3
  QString detail;              // a line below; may be empty
};

inline constexpr int kMostChangeRows = 7;

/// Of edits that can be made; one line where they change nothing. `writes`: the model writes text.
std::vector<ChangeRow> changeRows(const api::Preview& preview, bool writes);
/// Of edits that cannot: the first of the reasons, with both shapes where a wire is refused for its type.
Refusal changeRefusal(const graph::Graph& graph, const std::vector<edit::Edit>& edits,
                      const api::Preview& preview);

}  // namespace orrery::ui
