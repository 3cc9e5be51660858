// Maximum-entropy distributions of the distance from one end of Omega, by tabulated log-partitions.
//
// Distances run from 0 to 1. With Z(k) = sum of w_i exp(-k d_i), the mean distance is -(log Z)'(k), which falls to 0 as
// the rate k rises. Around each rate log Z is a Taylor series whose coefficients are the cumulants of the distance.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "common/views.hpp"

namespace similitude::generative {

// The degree of the Taylor series.
inline constexpr Index kOrder = 16;

// One number for each degree: cumulants, or the coefficients of a series.
using Degrees = std::array<double, kOrder + 1>;

// Return a to the power n >= 0.
inline double power(double a, Index n) {
    double result = 1.0;
    for (; n != 0; n >>= 1, a *= a) {
        if (n & 1) result *= a;
    }
    return result;
}

// The value of log Z in one interval of a table, and its first two derivatives.
struct Series {
    double value, slope, curvature;
};

// Evaluate a series at x, from -1 to 1.
inline Series series(Vector<const double> coefficients, double x) {
    Series s{coefficients[kOrder], 0.0, 0.0};
    for (Index j = kOrder - 1; j >= 0; --j) {
        s.curvature = s.curvature * x + 2.0 * s.slope;
        s.slope = s.slope * x + s.value;
        s.value = s.value * x + coefficients[j];
    }
    return s;
}

// The partition function Z of weighted distances, at least one, in ascending order.
//
// If they are not atoms they are places on [0, 1] at which an integral is evaluated, and are drawn together to where
// the mass is.
class Partition {
  public:
    Partition(Vector<const double> distances, Vector<const double> weights, bool atoms)
        : distances_(distances), weights_(weights), atoms_(atoms), shares_(distances.n) {}

    // Return log Z and the cumulants of the distance, from the first, at a rate.
    //
    // Small terms are added up first, and in chunks, so that many terms of a millionth of a rounding error each are not
    // lost.
    Degrees cumulants(double rate) {
        const double reach = atoms_ ? 1.0 : std::min(1.0, kNegligible / std::max(rate, 1.0));
        Index reached = distances_.n;
        while (reached > 1 && rate * reach * distances_[reached - 1] > kNegligible) --reached;
        const auto [total, mean] = sum_up(rate, reach, reached);
        const Degrees moments = central_moments(total, mean, reached);
        Degrees found;
        for (Index j = 2; j <= kOrder; ++j) {
            // A cumulant is its central moment less products of lower ones.
            double value = moments[j], binomial = static_cast<double>(j - 1);
            for (Index i = 2; i < j - 1; ++i) {
                value -= binomial * found[i] * moments[j - i];
                binomial *= static_cast<double>(j - i) / static_cast<double>(i);
            }
            found[j] = value;
        }
        found[0] = std::log(total * reach);
        found[1] = mean;
        for (Index j = 1; j <= kOrder; ++j) found[j] *= power(reach, j);
        return found;
    }

  private:
    // Terms below exp(-kNegligible) are left out.
    static constexpr double kNegligible = 100.0;
    static constexpr Index kChunk = 256;

    Vector<const double> distances_, weights_;
    bool atoms_;
    OwnedVector<double> shares_;  // the terms of the sum

    struct Sum {
        double total, mean;
    };

    // Compute the terms of the first distances; return their sum and the mean distance.
    Sum sum_up(double rate, double reach, Index reached) {
        double total = 0.0, first = 0.0, chunk = 0.0, moment = 0.0;
        for (Index step = 0; step < reached; ++step) {
            const Index i = rate > 0.0 ? reached - 1 - step : step;
            shares_[i] = weights_[i] * std::exp(-rate * reach * distances_[i]);
            chunk += shares_[i];
            moment += shares_[i] * distances_[i];
            if (step % kChunk == kChunk - 1 || step == reached - 1) {
                total += chunk;
                first += moment;
                chunk = moment = 0.0;
            }
        }
        return {total, first / total};
    }

    // Return the central moments of the first distances, from the second.
    Degrees central_moments(double total, double mean, Index reached) const {
        Degrees moments{};
        for (Index start = 0; start < reached; start += kChunk) {
            Degrees parts{};
            for (Index i = start; i < std::min(start + kChunk, reached); ++i) {
                const double offset = distances_[i] - mean;
                double term = shares_[i] / total * offset;
                for (Index j = 2; j <= kOrder; ++j) {
                    term *= offset;
                    parts[j] += term;
                }
            }
            for (Index j = 2; j <= kOrder; ++j) moments[j] += parts[j];
        }
        return moments;
    }
};

// A range of rates around a centre, and the series of log Z in (rate - centre) / width.
struct Interval {
    double centre, width;
    Degrees coefficients;

    // Return the mean distance at a place x, from -1 to 1.
    double mean(double x) const { return series({coefficients.data(), kOrder + 1}, x).slope / -width; }
};

// How far around its centre a series is exact, and which error of the mean distance is negligible.
struct Reach {
    double width, error;

    // An error of the mean moves log P at a distance d from it by that error times d over the variance; beyond
    // 50 / rate there is no mass.
    Reach(const Degrees &cumulants, double rate) {
        const double relevant = std::min(1.0, 50.0 / std::max(std::abs(rate), 50.0));
        error = std::max(1e-13 * cumulants[2] / relevant, 4e-16 * cumulants[1]);
        width = std::numeric_limits<double>::infinity();
        double factorial = 1.0;
        for (Index j = 2; j <= kOrder; ++j) {
            factorial *= static_cast<double>(j - 1);  // (j - 1)!
            if (j < kOrder - 1 || cumulants[j] == 0.0) continue;
            const double ratio = error * factorial / std::abs(cumulants[j]);
            width = std::min(width, std::pow(ratio, 1.0 / static_cast<double>(j - 1)));
        }
    }
};

// Return at most so many intervals, from the rate 0 on in the direction 1 or -1, until the mean passes end.
//
// Each interval is as wide as its series allows, and narrower if its mean at the common edge is not that of the one
// before.
inline std::vector<Interval> march(Partition &Z, double direction, double end, Index most) {
    std::vector<Interval> found;
    double edge = 0.0, width = 0.25, mean = Z.cumulants(0.0)[1];
    while (direction * (mean - end) > 0.0 && static_cast<Index>(found.size()) < most) {
        Interval next{edge + direction * width, width, {}};
        const Degrees cumulants = Z.cumulants(next.centre);
        const Reach reach(cumulants, next.centre);
        if (width > reach.width) {
            width = 0.9 * reach.width;
            continue;
        }
        double factor = 1.0;
        for (Index j = 0; j <= kOrder; ++j) {
            next.coefficients[j] = cumulants[j] * factor;
            factor *= -width / static_cast<double>(j + 1);  // odd derivatives of log Z are negative cumulants
        }
        if (std::abs(next.mean(-direction) - mean) > 10.0 * reach.error && width > 1e-9 * std::abs(next.centre)) {
            width *= 0.5;
            continue;
        }
        edge += 2.0 * direction * width;
        mean = next.mean(direction);
        width = std::min(reach.width, 2.0 * width);
        found.push_back(next);
    }
    return found;
}

// Return the intervals, by ascending rates, from where the mean distance is at least 1/2 to where it is at most floor.
inline std::vector<Interval> tabulate(Partition &Z, double floor, Index most) {
    std::vector<Interval> found = march(Z, -1.0, 0.5, most);
    std::reverse(found.begin(), found.end());
    const std::vector<Interval> right = march(Z, 1.0, floor, most - static_cast<Index>(found.size()));
    found.insert(found.end(), right.begin(), right.end());
    return found;
}

// The intervals as arrays, at least one, with the logarithms of the means at their edges, which are descending.
struct Table {
    Vector<const double> log_means, centres, widths;
    Matrix<const double> coefficients;

    struct Solution {
        double rate, log_z;
    };

    // Return the rate at which the mean is the given distance, and log Z there, by Newton's method in one interval.
    Solution solve(double distance) const {
        const double target = std::log(distance);
        Index low = 0, high = centres.n - 1;
        while (low < high) {  // log_means[j] and log_means[j + 1] are the means at the two edges of interval j
            const Index middle = (low + high) / 2;
            if (target >= log_means[middle + 1]) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        const Vector<const double> own = coefficients[low];
        double x = 2.0 * (log_means[low] - target) / (log_means[low] - log_means[low + 1]) - 1.0;
        for (int round = 0; round < 20; ++round) {
            const Series s = series(own, x);
            const double step = (s.slope + distance * widths[low]) / s.curvature;
            x = std::min(std::max(x - step, -1.5), 1.5);
            if (std::abs(step) <= 1e-9) break;  // the remaining error is the square of that
        }
        return {centres[low] + widths[low] * x, series(own, x).value};
    }
};

// Distributions log P = -rate * distance - log_z, with the distance from the lower end of Omega or from the upper one.
// With the rate infinity, a distribution is a point mass at that end.
template <class Number, class Flag>
struct PmfsOf {
    Vector<Number> rates, log_z;
    Vector<Flag> from_above;

    // Return the logarithm of distribution p at the place with these distances from the two ends.
    double log_mass(Index p, double below, double above) const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const double distance = from_above[p] ? above : below;
        if (rates[p] == infinity) return distance == 0.0 ? 0.0 : -infinity;
        return -rates[p] * distance - log_z[p];
    }
};

using Pmfs = PmfsOf<const double, const bool>;
using NewPmfs = PmfsOf<double, bool>;

// The distributions on one Omega, by the tables of its two ends.
//
// A mean within floor of an end has the rate infinity if there are atoms, else that of a mean so far away.
struct MaximumEntropy {
    double floor;
    bool atoms;
    Table lower, upper;

    // Write the distributions with the given mean distances from the two ends.
    void solve(Vector<const double> below, Vector<const double> above, NewPmfs pmfs) const {
        for (Index i = 0; i < below.n; ++i) {
            pmfs.from_above[i] = above[i] < below[i];
            const double nearer = std::min(above[i], below[i]);
            Table::Solution found{std::numeric_limits<double>::infinity(), 0.0};
            if (!(nearer <= floor && atoms)) {
                found = (pmfs.from_above[i] ? upper : lower).solve(std::max(nearer, floor));
            }
            pmfs.rates[i] = found.rate;
            pmfs.log_z[i] = found.log_z;
        }
    }
};

// Return the logarithm of the average of the distributions from start to before stop, at one place.
inline double log_average(const Pmfs &pmfs, double below, double above, Index start, Index stop, Vector<double> logs) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double largest = -infinity, total = 0.0;
    for (Index p = start; p < stop; ++p) {
        logs[p] = pmfs.log_mass(p, below, above);
        largest = std::max(largest, logs[p]);
    }
    if (largest == -infinity) return -infinity;
    for (Index p = start; p < stop; ++p) {
        if (logs[p] > largest - 50.0) total += std::exp(logs[p] - largest);
    }
    return largest + std::log(total / static_cast<double>(stop - start));
}

// Add up, for each row and class g, the logarithms of averages of distributions over the classes h that are present.
//
// The average for (g, h) is over the distributions starts[g G + h] and following, at the place that a row has in column
// h of below and above; its logarithm is empty where there are none. order sorts each column of below, so that places
// that rows have in common are looked up once. All matrices are (m, G).
inline void log_average_products(Matrix<const double> below, Matrix<const double> above, Matrix<const Index> order,
                                 Matrix<const bool> present, Vector<const Index> starts, const Pmfs &pmfs, double empty,
                                 Matrix<double> totals) {
    const Index n_classes = below.columns;
    OwnedVector<double> logs(pmfs.rates.n);
    for (Index h = 0; h < n_classes; ++h) {
        for (Index g = 0; g < n_classes; ++g) {
            const Index start = starts[g * n_classes + h], stop = starts[g * n_classes + h + 1];
            double place = std::numeric_limits<double>::quiet_NaN(), value = empty;
            for (Index r = 0; r < below.rows; ++r) {
                const Index i = order(r, h);
                if (!present(i, h)) continue;
                if (stop > start && below(i, h) != place) {
                    place = below(i, h);
                    value = log_average(pmfs, place, above(i, h), start, stop, logs);
                }
                totals(i, g) += value;
            }
        }
    }
}

// Write the Jacobi matrices of groups of ascending values, each scaled to [-1, 1], by Stieltjes' procedure.
//
// Group p is values[starts[p]] to before values[starts[p + 1]], at least one; jacobi (groups, points, points) is zero
// at the start.
inline void recurrences(Vector<const double> values, Vector<const Index> starts, Cube<double> jacobi) {
    constexpr double tiny = 1e-300;
    for (Index p = 0; p < jacobi.depth; ++p) {
        const Vector<const double> group = values.part(starts[p], starts[p + 1]);
        const Matrix<double> J = jacobi[p];
        const Index n = group.n;
        const double middle = (group[0] + group[n - 1]) / 2.0, half = (group[n - 1] - group[0]) / 2.0;
        OwnedVector<double> x(n), before(n), current(n, 1.0);
        for (Index i = 0; i < n; ++i) x[i] = (group[i] - middle) / half;
        double norm = static_cast<double>(n), beta = 0.0;
        for (Index j = 0; j < J.rows; ++j) {
            double alpha = 0.0, following = 0.0;
            for (Index i = 0; i < n; ++i) alpha += x[i] * (current[i] * current[i]);
            alpha /= norm;
            for (Index i = 0; i < n; ++i) {
                const double value = (x[i] - alpha) * current[i] - beta * before[i];
                before[i] = current[i];
                current[i] = value;
                following += value * value;
            }
            J(j, j) = alpha;
            beta = std::max(following, tiny) / norm;
            norm = std::max(following, tiny);
            if (j + 1 < J.rows) J(j, j + 1) = J(j + 1, j) = std::sqrt(beta);
        }
    }
}

// Move those of ascending values that are more than limit apart to the front; return how many there are.
//
// The smallest and the largest are kept if there are two or more.
inline Index keep_distinct(Vector<double> values, double limit) {
    if (values.n == 0) return 0;
    const double last = values[values.n - 1];
    Index kept = 1;
    for (Index i = 1; i < values.n; ++i) {
        if (values[i] - values[kept - 1] > limit) values[kept++] = values[i];
    }
    if (kept > 1) values[kept - 1] = last;
    return kept;
}

}  // namespace similitude::generative
