// The search for the cut of least error, or least Z, among the differences of a pair of samples.
//
// It takes nearly all of the time of DBoost. Differences are not sorted but assigned to buckets, whose masses bound
// from below what any cut within a bucket can reach. A pair whose every bucket is bounded above the best cut so far
// needs no more work, and most pairs are such; of the others only the buckets that may hold a better cut are examined
// further. The result is the same as that of sorting: masses are whole numbers, so that sums of them are exact and do
// not depend on the order in which they are added.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "boosting/scale.hpp"
#include "common/clones.hpp"
#include "common/views.hpp"

namespace similitude {

// The masses of the two classes.
struct Masses {
    double positive = 0.0, negative = 0.0;
};

// Return the value by which a cut is judged, from the masses at or below it and of all samples: Z, or the error minus
// the mass of the negative class.
template <bool real>
inline double cut_value(Masses below, Masses all) {
    if constexpr (real) {
        const double above = std::sqrt((all.positive - below.positive) * (all.negative - below.negative));
        return 2.0 * std::sqrt(below.positive * below.negative) + 2.0 * above;
    } else {
        return below.positive - below.negative;
    }
}

namespace detail {

// Write 1 for each of n buckets in which Z may be below a limit, given the masses up to their ends, and 0 for the
// others; return whether there is one.
//
// Z / 2 = sqrt(a b) + sqrt(c d) is compared with half of the limit by squares, since square roots take long:
// a b + c d + 2 sqrt(a b c d) < half^2.
SIMILITUDE_CLONES static bool open_z_below(const double *positive, const double *negative, Index n, Masses all,
                                           double half, std::int64_t *open) {
    const double square = half * half;
    std::int64_t any = 0;
    for (Index k = 0; k < n; ++k) {
        auto below = [&](double p, double q) {
            const double ab = p * q, cd = (all.positive - p) * (all.negative - q);
            const double rest = square - ab - cd;
            return std::int64_t(rest > 0.0) & std::int64_t(rest * rest > 4.0 * ab * cd);
        };
        open[k] = below(positive[k], negative[k + 1]) | below(positive[k + 1], negative[k]) |
                  below(positive[k + 1], negative[k + 1]);
        any |= open[k];
    }
    return any != 0;
}

}  // namespace detail

// The search among the pairs of one problem, for least Z (real) or least error.
template <bool real>
class CutSearch {
  public:
    // The least value of a cut, and the difference at or below the first such cut: -inf if it is below all differences.
    struct Cut {
        double value, place;
    };

    // The first n_positive of n samples are positive.
    CutSearch(Index n, Index n_positive, const Scale &scale, Index n_buckets)
        : n_positive_(n_positive), n_buckets_(n_buckets), scale_(scale), differences_(n), buckets_(n),
          atoms_(n_buckets, std::numeric_limits<double>::quiet_NaN()), positive_(n_buckets + kPadded),
          negative_(n_buckets + kPadded), open_(n_buckets), bounds_(n_buckets), last_(n_buckets), mixed_(n_buckets),
          places_(n_buckets), kept_(n), values_(2, n), units_(2, n), order_(n) {}

    // Compute the differences of a pair, given the columns of its two samples.
    template <class T>
    void compare(Vector<const T> plus, Vector<const T> minus) {
        similitude::compare(plus, minus, scale_, n_buckets_, differences_, buckets_);
    }

    Vector<const double> differences() { return differences_.view(); }

    // Return the cut of least value among the differences if that is below best; otherwise the value is best.
    //
    // units are the masses of the samples, and all are their sums.
    Cut search(Vector<const double> units, Masses all, double best) {
        all_ = all;
        Region region{0, n_positive_, differences_.size(), 1, 0, {}, 0.0};
        Samples samples{differences(), units};
        if (scale_.atoms && all_pure()) {
            fill_buckets(samples, region, n_buckets_);
            return best_between(best);
        }
        double place = -std::numeric_limits<double>::infinity();
        Index n_buckets = n_buckets_;
        bool in_buckets = true;
        // Regions that may hold a better cut wait on a stack, the lowest on top.
        while (true) {
            if (in_buckets) {
                fill_buckets(samples, region, n_buckets);
                if (may_improve(region, n_buckets, best)) push_buckets(samples, region, n_buckets, best);
            } else {
                const Cut found = walk(samples, region, best);
                if (found.value < best) best = found.value, place = found.place;
            }
            while (!stack_.empty() && stack_.back().bound >= best) stack_.pop_back();
            if (stack_.empty()) return {best, place};
            region = stack_.back();
            stack_.pop_back();
            samples = {values_[region.side], units_[region.side]};
            n_buckets = std::min(n_buckets_, region.stop - region.start);
            in_buckets = n_buckets > kFew && region.depth < kDeep &&
                         bucket_by_width(samples.values.part(region.start, region.stop), n_buckets,
                                         buckets_.part(region.start, region.stop));
        }
    }

  private:
    // The bound of Z is multiplied by this number, because it is rounded as Z itself is.
    static constexpr double kSafe = 1.0 - 1e-12;
    // So many differences are sorted rather than assigned to buckets.
    static constexpr Index kFew = 24;
    // The largest number of buckets within buckets; differences that are within so many are sorted.
    static constexpr int kDeep = 3;
    // The masses are followed by three empty buckets, because buckets are bounded four at a time.
    static constexpr Index kPadded = 4;

    struct Samples {
        Vector<const double> values, units;
    };

    // Differences that may have a better cut among them: those from start to stop of one of the two arrays, which is
    // side. The positive samples are before middle.
    struct Region {
        Index start, middle, stop;
        int side, depth;
        Masses below;  // of the differences below this region
        double bound;  // no cut in it has a smaller value
    };

    // Compute the bucket of each value, all of one width; return false if the values are too close together.
    static bool bucket_by_width(Vector<const double> values, Index n_buckets, Vector<std::int32_t> buckets) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        double low = infinity, high = -infinity;
        for (const double value : values) low = std::min(low, value), high = std::max(high, value);
        const double slope = high > low ? static_cast<double>(n_buckets) / (high - low) : infinity;
        if (slope == infinity) return false;
        const double last = static_cast<double>(n_buckets) - 0.5;
        for (Index i = 0; i < values.n; ++i) {
            buckets[i] = static_cast<std::int32_t>(detail::clamped((values[i] - low) * slope, last));
        }
        return true;
    }

    // Write the masses of bucket k at k + 1, and those below the region at 0.
    void fill_buckets(const Samples &samples, const Region &region, Index n_buckets) {
        std::fill_n(positive_.begin(), n_buckets + kPadded, 0.0);
        std::fill_n(negative_.begin(), n_buckets + kPadded, 0.0);
        positive_[0] = region.below.positive, negative_[0] = region.below.negative;
        const Vector<double> positive = positive_.part(1, n_buckets + 1), negative = negative_.part(1, n_buckets + 1);
        const Vector<const std::int32_t> buckets = buckets_.view();
        const Vector<const double> units = samples.units;
        // The classes take turns, because a sum has to wait for the one before it in the same bucket.
        Index i = region.start, j = region.middle;
        for (; i < region.middle && j < region.stop; ++i, ++j) {
            positive[buckets[i]] += units[i];
            negative[buckets[j]] += units[j];
        }
        for (; i < region.middle; ++i) positive[buckets[i]] += units[i];
        for (; j < region.stop; ++j) negative[buckets[j]] += units[j];
    }

    // Return whether all differences are the atoms of their buckets; the first one in a bucket becomes its atom.
    bool all_pure() {
        const Vector<const double> values = differences();
        const Vector<const std::int32_t> buckets = buckets_.view();
        const Vector<double> atoms = atoms_;
        for (Index i = 0; i < values.n; ++i) {
            if (values[i] == atoms[buckets[i]]) continue;
            if (!std::isnan(atoms[buckets[i]])) return false;
            atoms[buckets[i]] = values[i];
        }
        return true;
    }

    // Return the cut of least value between buckets that hold nothing but their atoms, if that is below best.
    Cut best_between(double best) {
        Masses below;
        double place = -std::numeric_limits<double>::infinity();
        for (Index k = 0; k < n_buckets_; ++k) {
            const double positive = positive_[k + 1], negative = negative_[k + 1];
            if (positive == 0.0 && negative == 0.0) continue;
            below.positive += positive, below.negative += negative;
            const double value = cut_value<real>(below, all_);
            if (value < best) best = value, place = atoms_[k];
        }
        return {best, place};
    }

    // Return whether a cut in one of the buckets may have a value below best. For Z, the masses of the buckets become
    // masses up to their ends.
    bool may_improve(const Region &region, Index n_buckets, double best) {
        if constexpr (real) {
            cumulate(n_buckets);
            return detail::open_z_below(positive_.view().data, negative_.view().data, n_buckets, all_,
                                        0.5 * best / kSafe, open_.view().data);
        } else {
            // Four buckets at a time, relative to the first, so that few sums have to wait for the one before.
            const Vector<double> p = positive_, q = negative_;
            double below = region.below.positive - region.below.negative;
            double least = std::numeric_limits<double>::infinity();
            for (Index k = 1; k <= n_buckets; k += 4) {
                const double first = p[k] - q[k], second = first + (p[k + 1] - q[k + 1]);
                const double third = second + (p[k + 2] - q[k + 2]);
                const double low =
                    std::min(std::min(-q[k], first - q[k + 1]), std::min(second - q[k + 2], third - q[k + 3]));
                least = std::min(least, below + low);
                below += third + (p[k + 3] - q[k + 3]);
            }
            return least < best;
        }
    }

    // Turn the masses of the buckets into masses up to their ends, [0] being those before the first.
    void cumulate(Index n_buckets) {
        const Vector<double> positive = positive_, negative = negative_;
        Masses below;
        for (Index k = 0; k <= n_buckets; ++k) {
            positive[k] = below.positive += positive[k];
            negative[k] = below.negative += negative[k];
        }
    }

    Masses below(Index k) const { return {positive_[k], negative_[k]}; }

    // Make a region of every bucket that may hold a better cut, in the arrays of the other side.
    void push_buckets(const Samples &samples, const Region &region, Index n_buckets, double best) {
        if constexpr (!real) cumulate(n_buckets);
        const double limit = open_buckets(n_buckets, best);
        const Index n_positive = keep_open(region.start, region.middle, 0);
        const Index n_kept = keep_open(region.middle, region.stop, n_positive);
        close_pure(samples.values, n_kept, n_buckets, limit, best);
        for (Index k = 0; k < n_buckets; ++k) places_[k] = {0, 0};
        for (Index j = 0; j < n_positive; ++j) ++places_[buckets_[kept_[j]]].positive;
        for (Index j = n_positive; j < n_kept; ++j) ++places_[buckets_[kept_[j]]].negative;
        const int side = 1 - region.side;
        // From the last to the first, so that the first is on top.
        Index place = region.stop;
        for (Index k = n_buckets - 1; k >= 0; --k) {
            const Index count = places_[k].positive + places_[k].negative;
            if (!open_[k] || count == 0) continue;
            place -= count;
            const Index middle = place + places_[k].positive;
            stack_.push_back({place, middle, place + count, side, region.depth + 1, below(k), bounds_[k]});
            places_[k] = {place, middle};
        }
        const Vector<double> values = values_[side], units = units_[side];
        for (Index j = 0; j < n_kept; ++j) {
            const Index i = kept_[j], k = buckets_[i];
            if (!open_[k]) continue;
            Index &at = j < n_positive ? places_[k].positive : places_[k].negative;
            values[at] = samples.values[i], units[at] = samples.units[i];
            ++at;
        }
    }

    // Open the buckets that may hold a better cut, and compute numbers that no cut in them is below. Return the least
    // value between buckets, or best if that is less: larger values are not looked for.
    //
    // Both kinds of value are concave in the two masses at or below the cut, so that the corners of the rectangle in
    // which these lie bound them.
    double open_buckets(Index n_buckets, double best) {
        double limit = best;
        for (Index k = 0; k < n_buckets; ++k) {
            if (real && !open_[k]) continue;
            const double end = cut_value<real>(below(k + 1), all_);
            bounds_[k] = cut_value<real>({positive_[k], negative_[k + 1]}, all_);
            if constexpr (real) {
                const double other = cut_value<real>({positive_[k + 1], negative_[k]}, all_);
                bounds_[k] = kSafe * std::min(std::min(bounds_[k], other), end);
            }
            limit = std::min(limit, end);
        }
        // A value that is reached between buckets is looked for only because it may be reached earlier too.
        for (Index k = 0; k < n_buckets; ++k) {
            open_[k] = (!real || open_[k]) && bounds_[k] <= limit && bounds_[k] < best;
        }
        return limit;
    }

    // Append the positions from start to stop that are in open buckets to the kept ones; return how many there are now.
    Index keep_open(Index start, Index stop, Index kept) {
        for (Index i = start; i < stop; ++i) {
            kept_[kept] = static_cast<std::int32_t>(i);
            kept += open_[buckets_[i]];
        }
        return kept;
    }

    // Close buckets that hold one value only, unless the cut at their end is good enough.
    void close_pure(Vector<const double> values, Index n_kept, Index n_buckets, double limit, double best) {
        std::fill_n(mixed_.begin(), n_buckets, 0);
        for (Index j = 0; j < n_kept; ++j) last_[buckets_[kept_[j]]] = values[kept_[j]];
        for (Index j = 0; j < n_kept; ++j) {
            const Index i = kept_[j], k = buckets_[i];
            if (values[i] != last_[k]) mixed_[k] = 1;
        }
        for (Index k = 0; k < n_buckets; ++k) {
            if (!open_[k] || mixed_[k]) continue;
            bounds_[k] = cut_value<real>(below(k + 1), all_);
            open_[k] = bounds_[k] <= limit && bounds_[k] < best;
        }
    }

    // Order the positions of a region by their values: Shell's method, for a few at a time.
    void sort(Vector<const double> values, Index start, Index stop) {
        bool sorted = true;
        for (Index i = start; i < stop; ++i) {
            order_[i] = static_cast<std::int32_t>(i);
            sorted = sorted && values[i] >= values[std::max(i - 1, start)];
        }
        if (sorted) return;
        Index gap = 1;
        while (gap < (stop - start) / 3) gap = 3 * gap + 1;
        for (; gap > 0; gap /= 3) {
            for (Index i = start + gap; i < stop; ++i) {
                const std::int32_t position = order_[i];
                const double value = values[position];
                Index j = i;
                for (; j >= start + gap && values[order_[j - gap]] > value; j -= gap) order_[j] = order_[j - gap];
                order_[j] = position;
            }
        }
    }

    // Return the least value of a cut above one of a few values, if below best, and the value at or below the first.
    Cut walk(const Samples &samples, const Region &region, double best) {
        const Vector<const double> values = samples.values;
        sort(values, region.start, region.stop);
        Masses below = region.below;
        double place = -std::numeric_limits<double>::infinity();
        for (Index j = region.start; j < region.stop; ++j) {
            const Index i = order_[j];
            (i < region.middle ? below.positive : below.negative) += samples.units[i];
            // No cut lies between equal values.
            if (j + 1 < region.stop && !(values[order_[j + 1]] > values[i])) continue;
            const double value = cut_value<real>(below, all_);
            if (value < best) best = value, place = values[i];
        }
        return {best, place};
    }

    // For each bucket the numbers of samples of both classes, and then the places where the next of them goes.
    struct Places {
        Index positive = 0, negative = 0;
    };

    Index n_positive_, n_buckets_;
    Scale scale_;
    Masses all_;
    OwnedVector<double> differences_;
    OwnedVector<std::int32_t> buckets_;
    OwnedVector<double> atoms_;                // the first difference in each bucket, or NaN, if the scale has atoms
    OwnedVector<double> positive_, negative_;  // masses of the buckets
    OwnedVector<std::int64_t> open_;           // whether a better cut is looked for in the bucket
    OwnedVector<double> bounds_;               // no cut in an open bucket has a smaller value
    OwnedVector<double> last_;                 // one value in each bucket
    OwnedVector<unsigned char> mixed_;         // whether there are others
    OwnedVector<Places> places_;
    OwnedVector<std::int32_t> kept_;      // the samples in open buckets
    OwnedMatrix<double> values_, units_;  // of the samples in regions, on both sides
    OwnedVector<std::int32_t> order_;     // of the samples of a region
    std::vector<Region> stack_;
};

}  // namespace similitude
