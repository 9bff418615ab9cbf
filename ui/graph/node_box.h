// Measures of a node's box that its layout and its painter share.
#pragma once

namespace orrery::ui {

inline constexpr double kNodeHeight = 34;
inline constexpr double kGutter = 26, kPad = 10;  // the words begin kPad after the gutter and end kPad early
inline constexpr double kTextGap = 8;             // between the words of a line

}  // namespace orrery::ui
