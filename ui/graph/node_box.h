// Measures of boxes and of the cells of a page that their layout and their painter share.
#pragma once

namespace orrery::ui {

inline constexpr double kHeaderHeight = 22;  // of an open group
inline constexpr double kCellHead = 60;      // of a layer in a page: its words keep their size on the screen
inline constexpr double kStreamInset = 37;   // of the stream from a cell's left
inline constexpr double kStreamRoom =
    62;  // what it takes of the cell at the left, beside a frame's own margin
inline constexpr double kNodeHeight = 34;
inline constexpr double kGutter = 26, kPad = 10;  // the words begin kPad after the gutter and end kPad early
inline constexpr double kTextGap = 8;             // between the words of a line

}  // namespace orrery::ui
