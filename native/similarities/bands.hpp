// The Sakoe-Chiba band: which cells of the table of two series a warping path may use.
#pragma once

#include <algorithm>
#include <vector>

#include "common/views.hpp"

namespace similitude::elastic {

// The columns from low[i] to before high[i] of each row i; both are ascending.
struct Band {
    Index rows = -1, columns = -1;
    std::vector<Index> low, high;
};

// Make the band of a table. The diagonal is interpolated if the lengths differ, and the path may leave it by a share of
// the shorter length, along the axis of the shorter series. A share below 0, or of 1, does not restrict the path.
inline void make_band(Index rows, Index columns, double share, Band &band) {
    if (band.rows == rows && band.columns == columns) return;
    band.rows = rows, band.columns = columns;
    band.low.assign(static_cast<std::size_t>(rows), share < 0.0 || share == 1.0 ? 0 : columns);
    band.high.assign(static_cast<std::size_t>(rows), share < 0.0 || share == 1.0 ? columns : 0);
    if (share < 0.0 || share == 1.0) return;
    const Vector<Index> low(band.low.data(), rows), high(band.high.data(), rows);
    const Index reach = static_cast<Index>(share * static_cast<double>(std::min(rows, columns)));
    const Index steps = std::max(rows, columns) + 1;
    // The place on an axis, rounded down.
    const auto place = [steps](Index step, Index length) {
        return static_cast<Index>(static_cast<double>(step) / static_cast<double>(steps) * static_cast<double>(length));
    };
    const auto allow = [&](Index row, Index first, Index last) {
        low[row] = std::min(low[row], first);
        high[row] = std::max(high[row], last + 1);
    };
    if (rows > columns) {
        for (Index step = 0; step < steps; ++step) {
            const Index i = place(step, rows), j = place(step, columns);
            allow(i, std::max<Index>(0, j - reach), std::min(columns - 1, j + reach));
        }
        return;
    }
    // The first step whose reach includes a row has its lowest column, and the last one its highest.
    Index next = 0;
    for (Index step = 0; step < steps; ++step) {
        const Index i = place(step, rows), j = place(step, columns);
        for (; next <= std::min(rows - 1, i + reach); ++next) low[next] = j;
    }
    next = rows - 1;
    for (Index step = steps - 1; step >= 0; --step) {
        const Index i = place(step, rows), j = place(step, columns);
        for (; next >= std::max<Index>(0, i - reach); --next) high[next] = j + 1;
    }
}

}  // namespace similitude::elastic
