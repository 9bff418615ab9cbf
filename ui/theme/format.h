// Numbers for people: three significant digits, thousands parted by U+202F, the unit after a space. Not a
// finite number: "–".
#pragma once

#include <QString>

namespace orrery::ui::format {

QString count(qint64 value);                         // 1 480
QString counted(qint64 value, const QString& noun);  // 1 node, 12 nodes
QString number(double value, int digits = 3);        // 0.0123, 46.0, 1 480
QString distance(double value);                      // 0, 1.9e-05, 0.0123, 7.38
QString time(double us);                             // 45.2 ns, 0.9 µs, 11.2 µs, 4.22 ms, 1.83 s
QString time(double us, bool estimated);             // ≈ 11.2 µs
QString timeBrief(double us, bool estimated);        // two digits: 0.9 µs, 11 µs, 139 µs, ≈1.4 ms
QString bytes(double value);  // 576 B, 2.3 kB, 98 MB (decimal units, two digits under ten)
QString rate(double value, const QString& unit);  // 1 480 tok/s
QString bandwidth(double bytes, double us);       // 24.0 GB/s
QString percent(double share);                    // 0.324 -> 32.4 %
QString dash();                                   // not measured

}  // namespace orrery::ui::format
