// Value axes with round ends and round ticks.
#pragma once

class QValueAxis;

namespace headroom::gui {

// The step of a scale of some four parts over `length` > 0: 1, 2 or 5 times a power of ten.
double round_step(double length);
// Around [low, high]; one value lies in the middle.
void set_round_range(QValueAxis& axis, double low, double high);

// Range and ticks, in an order that never asks for a fine tick over a long range in between: Qt makes an item
// of each, and a hundred thousand of them stop the app.
void set_ticks(QValueAxis& axis, double low, double high, double anchor, double interval);

}  // namespace headroom::gui
