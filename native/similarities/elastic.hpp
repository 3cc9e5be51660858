// Elastic distances of time series: dynamic time warping and its relatives.
//
// All of them fill a table whose cell (i, j) follows from those above, to the left and between them, and differ in that
// step alone: a measure is a class with the step, the values beside the table and what becomes of the last cell. A cell
// waits for the one to its left, so that one table cannot use a processor's vector instructions. Here one series is
// compared with several others at once, each in a lane of its own; one row of the table is kept. A step has the same
// operations in the same order whichever series is the first, so distances are symmetric to the last bit.
//
// aeon's pairwise functions, compiled by numba, mostly take 5 to 30 times as long (benchmarks/bench_timeseries.py).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common/clones.hpp"
#include "common/views.hpp"
#include "similarities/bands.hpp"
#include "similarities/lanes.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace similitude::elastic {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kLanes = Lanes::kCount;

// Series one after the other; the values of a time step, one for each channel, are together.
struct Collection {
    Vector<const double> values;
    Vector<const Index> starts;  // in time steps
    Index channels;

    Index size() const { return starts.n - 1; }
    Index length(Index i) const { return starts[i + 1] - starts[i]; }
    Vector<const double> operator[](Index i) const {
        return values.part(starts[i] * channels, starts[i + 1] * channels);
    }
};

// What is to be computed: the rows from start to before stop of the distances between X and Z.
struct Task {
    Collection X, Z;
    Vector<const double> parameters;
    double window;  // a share, or below 0 for none
    bool half;      // X is Z, and the cells on and above the diagonal are computed and mirrored
    Index keep;     // if not 0, only the smallest so many distances of a row are needed, and others may be infinite
    Index start, stop;
    Matrix<double> out;
};

// Consecutive series of Z, one in each lane, padded with zeros, with a time step of zeros before the first.
struct Pack {
    Index first, count, channels, longest = 0, lengths[kLanes];
    bool equal = true;  // whether all have the same length
    std::vector<double> values;

    Pack(const Collection &Z, Index begin)
        : first(begin), count(std::min(kLanes, Z.size() - begin)), channels(Z.channels) {
        for (Index l = 0; l < kLanes; ++l) {
            lengths[l] = Z.length(first + std::min(l, count - 1));
            longest = std::max(longest, lengths[l]);
            equal = equal && lengths[l] == lengths[0];
        }
        values.assign(static_cast<std::size_t>((longest + 1) * channels * kLanes), 0.0);
        const Vector<double> all(values.data(), static_cast<Index>(values.size()));
        for (Index l = 0; l < kLanes; ++l) {
            const Vector<const double> z = Z[first + std::min(l, count - 1)];
            for (Index q = 0; q < z.n; ++q) all[(channels + q) * kLanes + l] = z[q];
        }
    }
    Vector<const double> view() const { return {values.data(), static_cast<Index>(values.size())}; }
};

// A time step of one series beside those of a pack. Step -1 consists of zeros.
template <bool Single>
class Points {
  public:
    explicit Points(const Pack &pack)
        : z_(pack.view()), zeros_(static_cast<std::size_t>(pack.channels), 0.0), channels_(pack.channels) {}

    void begin(Vector<const double> x) { x_ = x; }

    SIMILITUDE_INLINE void row(Index i) {
        step_ = i < 0 ? Vector<const double>(zeros_.data(), channels_) : x_.part(i * channels_, (i + 1) * channels_);
        if constexpr (Single) only_ = all_lanes(step_[0]);
    }

    SIMILITUDE_INLINE Lanes squared(Index j) const {
        if constexpr (Single) {
            const Lanes d = only_ - column(j, 0);
            return d * d;
        } else {
            Lanes sum = all_lanes(0.0);
            for (Index c = 0; c < channels_; ++c) {
                const Lanes d = all_lanes(step_[c]) - column(j, c);
                sum = sum + d * d;
            }
            return sum;
        }
    }

    // The Euclidean distance.
    SIMILITUDE_INLINE Lanes distance(Index j) const {
        if constexpr (Single)
            return abs(only_ - column(j, 0));
        else
            return sqrt(squared(j));
    }

    SIMILITUDE_INLINE Lanes column(Index j, Index c) const {
        return load(z_, ((j + 1) * (Single ? 1 : channels_) + c) * kLanes);
    }
    SIMILITUDE_INLINE Lanes value([[maybe_unused]] Index c) const {
        if constexpr (Single)
            return {only_.low, only_.high};
        else
            return all_lanes(step_[c]);
    }

    Vector<const double> step() const { return step_; }
    Index channels() const { return channels_; }

  private:
    Vector<const double> x_, z_, step_;
    std::vector<double> zeros_;
    Index channels_;
    Lanes only_ = all_lanes(0.0);
};

inline double squared(Vector<const double> a, Vector<const double> b) {
    double sum = 0.0;
    for (Index c = 0; c < a.n; ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

// What most measures have in common: tables of lanes that are infinite outside, and a distance that is the last cell.
template <bool Single>
struct Measure {
    using Cell = Lanes;
    static constexpr Index kWidth = kLanes;        // the numbers that a cell consists of
    static constexpr double kOutside = kInfinity;  // cells outside the band
    static constexpr bool kGrows = true;           // whether no step makes a value smaller
    Points<Single> points;
    const Pack &pack;
    Index n = 0;

    Measure(const Task &task, const Pack &p) : points(p), pack(p), channels_(task.X.channels) {}

    void begin(Vector<const double> x) {
        n = x.n / channels_;
        points.begin(x);
    }
    Index length(Index l) const { return pack.lengths[l]; }
    SIMILITUDE_INLINE void row(Index i) { points.row(i); }
    SIMILITUDE_INLINE Lanes border_row(Index) const { return all_lanes(kOutside); }
    SIMILITUDE_INLINE Lanes border_column(Index) const { return all_lanes(kOutside); }
    SIMILITUDE_INLINE static Lanes constant(double value) { return all_lanes(value); }
    SIMILITUDE_INLINE static Lanes read(Vector<const double> row, Index j) { return load(row, j * kLanes); }
    SIMILITUDE_INLINE static void write(const Lanes &cell, Vector<double> row, Index j) {
        store(cell, row, j * kLanes);
    }
    SIMILITUDE_INLINE static Lanes masked(const Lanes &cell, const Lanes &j, const Lanes &low, const Lanes &high) {
        return where_less(j, low, all_lanes(kOutside), where_less(j, high, cell, all_lanes(kOutside)));
    }
    SIMILITUDE_INLINE static const Lanes &bound(const Lanes &cell) { return cell; }
    static double last(Vector<const double> row, Index j, Index l) { return row[j * kLanes + l]; }
    double distance(double last, Index) const { return last; }

  protected:
    Index channels_;
};

// Dynamic time warping.
template <bool Single>
struct Dtw : Measure<Single> {
    using Measure<Single>::Measure;
    SIMILITUDE_INLINE Lanes cell(Index, Index j, const Lanes &diagonal, const Lanes &up, const Lanes &left) const {
        return this->points.squared(j) + min(min(diagonal, up), left);
    }
};

// Weighted dynamic time warping: squares at a distance d from the diagonal count 1 / (1 + exp(-g (d - length / 2))).
template <bool Single>
struct Wdtw : Measure<Single> {
    Wdtw(const Task &task, const Pack &pack) : Measure<Single>(task, pack), g_(task.parameters[0]) {}

    void begin(Vector<const double> x) {
        Measure<Single>::begin(x);
        if (this->n == n_of_weights_) return;
        n_of_weights_ = this->n;
        const Index most = std::max(this->n, this->pack.longest);
        weights_.assign(static_cast<std::size_t>(most * kLanes), 0.0);
        for (Index l = 0; l < kLanes; ++l) {
            const Index length = std::max(this->n, this->length(l));
            const bool again = l > 0 && length == std::max(this->n, this->length(l - 1));
            const Vector<double> weights = view();
            for (Index d = 0; d < length; ++d) {
                const double late = static_cast<double>(d) - static_cast<double>(length) / 2.0;
                weights[d * kLanes + l] = again ? weights[d * kLanes + l - 1] : 1.0 / (1.0 + std::exp(-g_ * late));
            }
        }
    }
    SIMILITUDE_INLINE Lanes cell(Index i, Index j, const Lanes &diagonal, const Lanes &up, const Lanes &left) const {
        const Lanes weight = load(view(), (i < j ? j - i : i - j) * kLanes);
        return this->points.squared(j) * weight + min(min(diagonal, up), left);
    }

  private:
    Vector<double> view() const { return {const_cast<double *>(weights_.data()), static_cast<Index>(weights_.size())}; }

    double g_;
    Index n_of_weights_ = -1;
    std::vector<double> weights_;
};

// Amerced dynamic time warping: every step that leaves the diagonal costs a penalty.
template <bool Single>
struct Adtw : Measure<Single> {
    Adtw(const Task &task, const Pack &pack) : Measure<Single>(task, pack), penalty_(all_lanes(task.parameters[0])) {}
    SIMILITUDE_INLINE Lanes cell(Index, Index j, const Lanes &diagonal, const Lanes &up, const Lanes &left) const {
        return this->points.squared(j) + min(min(diagonal, up + penalty_), left + penalty_);
    }

  private:
    Lanes penalty_;
};

// Edit distance with real penalty: a step without a partner costs its distance from g. The border consists of the sums
// of these costs over a whole series.
template <bool Single>
struct Erp : Measure<Single> {
    Erp(const Task &task, const Pack &pack)
        : Measure<Single>(task, pack), g_(static_cast<std::size_t>(pack.channels), task.parameters[0]),
          gaps_(static_cast<std::size_t>(pack.longest * kLanes)) {
        const Vector<double> gaps(gaps_.data(), static_cast<Index>(gaps_.size()));
        double sums[kLanes];
        for (Index l = 0; l < kLanes; ++l) {
            sums[l] = 0.0;
            const Vector<const double> z = task.Z[pack.first + std::min(l, pack.count - 1)];
            for (Index j = 0; j < this->length(l); ++j) {
                gaps[j * kLanes + l] = gap(z, j);
                sums[l] += gaps[j * kLanes + l];
            }
        }
        z_sum_ = load({sums, kLanes}, 0);
    }
    void begin(Vector<const double> x) {
        Measure<Single>::begin(x);
        x_ = x;
        x_sum_ = 0.0;
        for (Index i = 0; i < this->n; ++i) x_sum_ += gap(x, i);
    }
    SIMILITUDE_INLINE void row(Index i) {
        this->points.row(i);
        x_gap_ = all_lanes(gap(x_, i));
    }
    SIMILITUDE_INLINE Lanes border_row(Index) const { return z_sum_; }
    SIMILITUDE_INLINE Lanes border_column(Index) const { return all_lanes(x_sum_); }
    SIMILITUDE_INLINE Lanes cell(Index, Index j, const Lanes &diagonal, const Lanes &up, const Lanes &left) const {
        const Lanes z_gap = load({gaps_.data(), static_cast<Index>(gaps_.size())}, j * kLanes);
        return min(min(diagonal + this->points.distance(j), up + x_gap_), left + z_gap);
    }

  private:
    double gap(Vector<const double> series, Index i) const {
        const Vector<const double> g(g_.data(), static_cast<Index>(g_.size()));
        return std::sqrt(squared(series.part(i * g.n, (i + 1) * g.n), g));
    }

    std::vector<double> g_, gaps_;
    Vector<const double> x_;
    double x_sum_ = 0.0;
    Lanes z_sum_, x_gap_;
};

// Edit distance on real sequence: the number of edits, where steps nearer than epsilon match, by the longer length.
// Without epsilon (below 0) it is a quarter of the larger standard deviation of the two series.
template <bool Single>
struct Edr : Measure<Single> {
    Edr(const Task &task, const Pack &pack) : Measure<Single>(task, pack), given_(task.parameters[0]) {
        for (Index l = 0; l < kLanes; ++l) {
            deviations_[l] = deviation(task.Z[pack.first + std::min(l, pack.count - 1)]);
        }
        epsilon_ = all_lanes(given_);
    }
    void begin(Vector<const double> x) {
        Measure<Single>::begin(x);
        if (!(given_ < 0.0)) return;
        const double own = deviation(x);
        double epsilons[kLanes];
        for (Index l = 0; l < kLanes; ++l) epsilons[l] = std::max(own, deviations_[l]) / 4.0;
        epsilon_ = load({epsilons, kLanes}, 0);
    }
    SIMILITUDE_INLINE Lanes border_row(Index) const { return all_lanes(0.0); }
    SIMILITUDE_INLINE Lanes border_column(Index) const { return all_lanes(0.0); }
    SIMILITUDE_INLINE Lanes cell(Index, Index j, const Lanes &diagonal, const Lanes &up, const Lanes &left) const {
        const Lanes zero = all_lanes(0.0), one = all_lanes(1.0);
        const Lanes change = where_less(this->points.distance(j), epsilon_, zero, one);
        return min(min(diagonal + change, up + one), left + one);
    }
    double distance(double last, Index l) const {
        return last / static_cast<double>(std::max(this->n, this->length(l)));
    }

  private:
    double deviation(Vector<const double> series) const {
        if (!(given_ < 0.0)) return 0.0;
        double mean = 0.0, squares = 0.0;
        for (const double value : series) mean += value;
        mean /= static_cast<double>(series.n);
        for (const double value : series) squares += (value - mean) * (value - mean);
        return std::sqrt(squares / static_cast<double>(series.n));
    }

    double given_, deviations_[kLanes];
    Lanes epsilon_;
};

// One minus the longest common subsequence by the shorter length, where steps not further than epsilon match.
template <bool Single>
struct Lcss : Measure<Single> {
    static constexpr double kOutside = 0.0;
    static constexpr bool kGrows = false;
    Lcss(const Task &task, const Pack &pack) : Measure<Single>(task, pack), epsilon_(all_lanes(task.parameters[0])) {}
    SIMILITUDE_INLINE Lanes border_row(Index) const { return all_lanes(0.0); }
    SIMILITUDE_INLINE Lanes border_column(Index) const { return all_lanes(0.0); }
    SIMILITUDE_INLINE static Lanes masked(const Lanes &cell, const Lanes &j, const Lanes &low, const Lanes &high) {
        return where_less(j, low, all_lanes(0.0), where_less(j, high, cell, all_lanes(0.0)));
    }
    SIMILITUDE_INLINE Lanes cell(Index, Index j, const Lanes &diagonal, const Lanes &up, const Lanes &left) const {
        return where_less(epsilon_, this->points.distance(j), max(left, up), diagonal + all_lanes(1.0));
    }
    double distance(double last, Index l) const {
        return std::max(0.0, 1.0 - last / static_cast<double>(std::min(this->n, this->length(l))));
    }

  private:
    Lanes epsilon_;
};

// Move-split-merge of series with one channel: a split or merge costs c, and how far the value is from the interval
// between its two neighbours. With the differences a and b to them, that is max(min(a, b), min(-a, -b)) or 0.
template <bool Single>
struct Msm : Measure<Single> {
    Msm(const Task &task, const Pack &pack)
        : Measure<Single>(task, pack), moves_(static_cast<std::size_t>(pack.longest * kLanes)),
          c_(all_lanes(task.parameters[0])) {
        const Vector<const double> z = pack.view();
        const Vector<double> moves(moves_.data(), static_cast<Index>(moves_.size()));
        for (Index q = 0; q < moves.n; ++q) moves[q] = z[q] - z[q + kLanes];
    }
    void begin(Vector<const double> x) {
        Measure<Single>::begin(x);
        x_ = x;
    }
    SIMILITUDE_INLINE void row(Index i) {
        this->points.row(i);
        const double move = x_[i > 0 ? i - 1 : 0] - x_[i];
        move_ = all_lanes(move), back_ = all_lanes(-move);
    }
    SIMILITUDE_INLINE Lanes cell(Index, Index j, const Lanes &diagonal, const Lanes &up, const Lanes &left) const {
        const Lanes to_z = this->points.column(j, 0) - this->points.value(0), to_x = negative(to_z);
        const Lanes z_move = load({moves_.data(), static_cast<Index>(moves_.size())}, j * kLanes);
        const Lanes x_cost = cost(max(min(move_, to_z), min(back_, to_x)));
        const Lanes z_cost = cost(max(min(z_move, to_x), min(negative(z_move), to_z)));
        return min(min(diagonal + max(to_z, to_x), up + x_cost), left + z_cost);
    }

  private:
    // c + max(0, outside)
    SIMILITUDE_INLINE Lanes cost(const Lanes &outside) const { return max(c_ + outside, c_); }

    Vector<const double> x_;
    std::vector<double> moves_;
    Lanes c_, move_, back_;
};

// Move-split-merge of series whose channels move together, by squared distances: a split or merge costs c, and unless
// the step lies in the ball between its two neighbours, the distance to the nearer one.
template <bool Single>
struct DependentMsm : Measure<Single> {
    DependentMsm(const Task &task, const Pack &pack)
        : Measure<Single>(task, pack), previous_(pack), c_(all_lanes(task.parameters[0])) {}
    void begin(Vector<const double> x) {
        Measure<Single>::begin(x);
        previous_.begin(x);
    }
    SIMILITUDE_INLINE void row(Index i) {
        this->points.row(i);
        previous_.row(i > 0 ? i - 1 : 0);
        move_ = all_lanes(squared(this->points.step(), previous_.step()));
    }
    SIMILITUDE_INLINE Lanes cell(Index, Index j, const Lanes &diagonal, const Lanes &up, const Lanes &left) const {
        const Lanes zero = all_lanes(0.0), half = all_lanes(0.5), quarter = all_lanes(0.25);
        Lanes x_to_middle = zero, z_to_middle = zero, z_move = zero;
        for (Index c = 0; c < this->points.channels(); ++c) {
            const Lanes x = this->points.value(c), z = this->points.column(j, c),
                        before = this->points.column(j - 1, c);
            const Lanes dx = (previous_.value(c) + z) * half - x, dz = (x + before) * half - z, d = before - z;
            x_to_middle = x_to_middle + dx * dx, z_to_middle = z_to_middle + dz * dz, z_move = z_move + d * d;
        }
        const Lanes match = this->points.squared(j);
        const Lanes x_ball = previous_.squared(j) * quarter, z_ball = this->points.squared(j - 1) * quarter;
        const Lanes x_cost = c_ + where_less(x_ball, x_to_middle, min(move_, match), zero);
        const Lanes z_cost = c_ + where_less(z_ball, z_to_middle, min(z_move, match), zero);
        return min(min(diagonal + match, up + x_cost), left + z_cost);
    }

  private:
    Points<Single> previous_;
    Lanes c_, move_;
};

// Time warp edit distance; a step of zeros stands before each series.
template <bool Single>
struct Twe : Measure<Single> {
    Twe(const Task &task, const Pack &pack)
        : Measure<Single>(task, pack), previous_(pack), nu_(task.parameters[0]),
          edit_(task.parameters[0] + task.parameters[1]), edits_(static_cast<std::size_t>(pack.longest * kLanes)) {
        const Vector<double> edits(edits_.data(), static_cast<Index>(edits_.size()));
        const Vector<const double> z = pack.view();
        for (Index j = 0; j < pack.longest; ++j) {
            for (Index l = 0; l < kLanes; ++l) {
                double sum = 0.0;
                for (Index c = 0; c < pack.channels; ++c) {
                    const Index q = (j * pack.channels + c) * kLanes + l;
                    const double d = z[q] - z[q + pack.channels * kLanes];
                    sum += d * d;
                }
                edits[j * kLanes + l] = std::sqrt(sum) + edit_;
            }
        }
    }
    void begin(Vector<const double> x) {
        Measure<Single>::begin(x);
        previous_.begin(x);
        const Index most = std::max(this->n, this->pack.longest);
        for (Index d = static_cast<Index>(stiffness_.size()); d < most; ++d) {
            stiffness_.push_back(nu_ * static_cast<double>(2 * d));
        }
    }
    SIMILITUDE_INLINE void row(Index i) {
        this->points.row(i);
        previous_.row(i - 1);
        x_edit_ = all_lanes(std::sqrt(squared(previous_.step(), this->points.step())) + edit_);
    }
    SIMILITUDE_INLINE Lanes cell(Index i, Index j, const Lanes &diagonal, const Lanes &up, const Lanes &left) const {
        const Lanes z_edit = load({edits_.data(), static_cast<Index>(edits_.size())}, j * kLanes);
        const Vector<const double> stiffness(stiffness_.data(), static_cast<Index>(stiffness_.size()));
        const Lanes distances = this->points.distance(j) + previous_.distance(j - 1);
        const Lanes match = diagonal + (distances + all_lanes(stiffness[i < j ? j - i : i - j]));
        return min(min(match, up + x_edit_), left + z_edit);
    }

  private:
    Points<Single> previous_;
    double nu_, edit_;
    std::vector<double> edits_, stiffness_;
    Lanes x_edit_;
};

// Dynamic time warping of descriptors, the surroundings of each step; the distance is the sum of the squared
// differences of the steps themselves along the best path, the smallest one if several paths are best. The series have
// been padded by `reach` steps at both ends.
template <bool Single>
struct ShapeDtw : Measure<Single> {
    struct Cell {
        Lanes descriptors, steps;
    };
    static constexpr Index kWidth = 2 * kLanes;

    ShapeDtw(const Task &task, const Pack &pack)
        : Measure<Single>(task, pack), reach_(static_cast<Index>(task.parameters[0])) {}
    void begin(Vector<const double> x) {
        Measure<Single>::begin(x);
        this->n -= 2 * reach_;
        x_ = x;
    }
    Index length(Index l) const { return this->pack.lengths[l] - 2 * reach_; }
    SIMILITUDE_INLINE void row(Index) const {}
    SIMILITUDE_INLINE Cell border_row(Index) const { return constant(kInfinity); }
    SIMILITUDE_INLINE Cell border_column(Index) const { return constant(kInfinity); }
    SIMILITUDE_INLINE static Cell constant(double value) { return {all_lanes(value), all_lanes(value)}; }
    SIMILITUDE_INLINE static Cell read(Vector<const double> row, Index j) {
        return {load(row, j * kWidth), load(row, j * kWidth + kLanes)};
    }
    SIMILITUDE_INLINE static void write(const Cell &cell, Vector<double> row, Index j) {
        store(cell.descriptors, row, j * kWidth), store(cell.steps, row, j * kWidth + kLanes);
    }
    SIMILITUDE_INLINE static Cell masked(const Cell &cell, const Lanes &j, const Lanes &low, const Lanes &high) {
        return {Measure<Single>::masked(cell.descriptors, j, low, high),
                Measure<Single>::masked(cell.steps, j, low, high)};
    }
    SIMILITUDE_INLINE static const Lanes &bound(const Cell &cell) { return cell.steps; }
    static double last(Vector<const double> row, Index j, Index l) { return row[j * kWidth + kLanes + l]; }

    SIMILITUDE_INLINE Cell cell(Index i, Index j, const Cell &diagonal, const Cell &up, const Cell &left) const {
        const Index channels = Single ? 1 : this->channels_, first = (j + 1) * channels * kLanes;
        const Index values = (2 * reach_ + 1) * channels, middle = reach_ * channels;
        const Vector<const double> x = x_.part(i * channels, i * channels + values), z = this->pack.view();
        Lanes sum = all_lanes(0.0), steps = all_lanes(0.0);
        for (Index q = 0; q < values; ++q) {
            const Lanes d = all_lanes(x[q]) - load(z, first + q * kLanes);
            sum = sum + d * d;
        }
        for (Index q = middle; q < middle + channels; ++q) {
            const Lanes d = all_lanes(x[q]) - load(z, first + q * kLanes);
            steps = steps + d * d;
        }
        const Cell before = nearer(nearer(diagonal, up), left);
        return {sum + before.descriptors, steps + before.steps};
    }

  private:
    SIMILITUDE_INLINE static Cell nearer(const Cell &a, const Cell &b) {
        const Lanes tied = min(a.steps, b.steps);
        const Lanes otherwise = where_less(b.descriptors, a.descriptors, b.steps, tied);
        return {min(a.descriptors, b.descriptors), where_less(a.descriptors, b.descriptors, a.steps, otherwise)};
    }

    Index reach_;
    Vector<const double> x_;
};

// The bands of one series with those of a pack, and which columns any of them allows.
class Bands {
  public:
    void make(Index n, const Index *lengths, double window) {
        masked = false;
        for (Index l = 1; l < kLanes; ++l) masked = masked || lengths[l] != lengths[0];
        masked = masked && window >= 0.0 && window < 1.0;
        if (!masked) {  // without a window, columns beyond the end of a shorter series do no harm
            const Index longest = *std::max_element(lengths, lengths + kLanes);
            make_band(n, longest, window, of_lanes_[0]);
            low = of_lanes_[0].low, high = of_lanes_[0].high;
            return;
        }
        low.assign(static_cast<std::size_t>(n), lengths[0]);
        high.assign(static_cast<std::size_t>(n), 0);
        lane_low_.resize(static_cast<std::size_t>(n * kLanes));
        lane_high_.resize(static_cast<std::size_t>(n * kLanes));
        for (Index l = 0; l < kLanes; ++l) {
            make_band(n, lengths[l], window, of_lanes_[l]);
            for (std::size_t i = 0; i < low.size(); ++i) {
                const Index first = of_lanes_[l].low[i], stop = of_lanes_[l].high[i];
                low[i] = l == 0 ? first : std::min(low[i], first);
                high[i] = std::max(high[i], stop);
                lane_low_[i * kLanes + static_cast<std::size_t>(l)] = static_cast<double>(first);
                lane_high_[i * kLanes + static_cast<std::size_t>(l)] = static_cast<double>(stop);
            }
        }
    }
    Vector<const double> lane_low() const { return {lane_low_.data(), static_cast<Index>(lane_low_.size())}; }
    Vector<const double> lane_high() const { return {lane_high_.data(), static_cast<Index>(lane_high_.size())}; }

    bool masked = false;  // whether the bands differ
    std::vector<Index> low, high;

  private:
    Band of_lanes_[kLanes];
    std::vector<double> lane_low_, lane_high_;
};

// Fill a table, of which `row` is the last row; return false if every distance is known to exceed `most`.
template <bool Masked, bool Abandon, class Policy>
SIMILITUDE_INLINE bool fill_table(Policy &measure, const Bands &bands, double most, Vector<double> row) {
    const Index n = measure.n, columns = row.n / Policy::kWidth;
    const Vector<const Index> low(bands.low.data(), n), high(bands.high.data(), n);
    for (Index j = 0; j < columns; ++j) {
        Policy::write(j < high[0] ? measure.border_row(j) : Policy::constant(Policy::kOutside), row, j);
    }
    if constexpr (Masked) {
        const Lanes stop = load(bands.lane_high(), 0);
        for (Index j = 0; j < high[0]; ++j) {
            const Lanes at = all_lanes(static_cast<double>(j));
            Policy::write(Policy::masked(measure.border_row(j), at, all_lanes(0.0), stop), row, j);
        }
    }
    for (Index i = 0; i < n; ++i) {
        measure.row(i);
        const Index first = low[i], stop = high[i];
        typename Policy::Cell diagonal = Policy::constant(Policy::kOutside), left = diagonal;
        if (first == 0) {
            diagonal = i == 0 ? Policy::constant(0.0) : measure.border_column(i - 1);
            left = measure.border_column(i);
        } else if (i > 0 && first > low[i - 1]) {
            diagonal = Policy::read(row, first - 1);
        }
        Lanes best = all_lanes(kInfinity), begin = best, end = best, at = all_lanes(static_cast<double>(first));
        if constexpr (Masked) begin = load(bands.lane_low(), i * kLanes), end = load(bands.lane_high(), i * kLanes);
        for (Index j = first; j < stop; ++j) {
            const typename Policy::Cell up = Policy::read(row, j);
            left = measure.cell(i, j, diagonal, up, left);
            if constexpr (Masked) left = Policy::masked(left, at, begin, end), at = at + all_lanes(1.0);
            if constexpr (Abandon) best = min(best, Policy::bound(left));
            Policy::write(left, row, j);
            diagonal = up;
        }
        if constexpr (Abandon) {
            if (i + 1 == n) break;
            if (low[i + 1] == 0) best = min(best, Policy::bound(measure.border_column(i)));
            double bounds[kLanes];
            store(best, {bounds, kLanes}, 0);
            bool hopeless = true;
            for (Index l = 0; l < measure.pack.count; ++l) hopeless = hopeless && measure.distance(bounds[l], l) > most;
            if (hopeless) return false;
        }
    }
    return true;
}

template <class Policy>
SIMILITUDE_INLINE bool fill_table(Policy &measure, const Bands &bands, double most, Vector<double> row) {
    if constexpr (Policy::kGrows) {
        if (most < kInfinity) {
            return bands.masked ? fill_table<true, true>(measure, bands, most, row)
                                : fill_table<false, true>(measure, bands, most, row);
        }
    }
    return bands.masked ? fill_table<true, false>(measure, bands, most, row)
                        : fill_table<false, false>(measure, bands, most, row);
}

// The smallest distances of each row that have been found.
class Smallest {
  public:
    Smallest(Index rows, Index count) : found_(rows, count) { found_.fill(kInfinity); }

    // The largest that is kept: no distance above it is needed.
    double most(Index row) {
        const Vector<double> found = found_[row];
        return found.n == 0 ? kInfinity : found[found.n - 1];
    }
    void add(Index row, double distance) {
        const Vector<double> found = found_[row];
        if (found.n == 0 || !(distance < found[found.n - 1])) return;
        found[found.n - 1] = distance;
        for (Index k = found.n - 1; k > 0 && found[k] < found[k - 1]; --k) std::swap(found[k], found[k - 1]);
    }

  private:
    OwnedMatrix<double> found_;
};

template <class Policy>
SIMILITUDE_INLINE void fill_rows(const Task &task) {
    Smallest smallest(task.stop - task.start, task.keep);
    Bands bands;
    for (Index first = 0; first < task.Z.size(); first += kLanes) {
        const Pack pack(task.Z, first);
        if (task.half && first + pack.count <= task.start) continue;
        Policy measure(task, pack);
        Index lengths[kLanes], longest = 0;
        for (Index l = 0; l < kLanes; ++l) longest = std::max(longest, lengths[l] = measure.length(l));
        OwnedVector<double> row(longest * Policy::kWidth);
        for (Index i = task.start; i < task.stop && !(task.half && i >= first + pack.count); ++i) {
            measure.begin(task.X[i]);
            bands.make(measure.n, lengths, task.window);
            const bool complete = fill_table(measure, bands, smallest.most(i - task.start), row);
            for (Index l = 0; l < pack.count; ++l) {
                const Index j = first + l;
                if (task.half && j < i) continue;
                const double last = complete ? Policy::last(row.view(), lengths[l] - 1, l) : kInfinity;
                task.out(i, j) = complete ? measure.distance(last, l) : kInfinity;
                if (task.half) task.out(j, i) = task.out(i, j);
                smallest.add(i - task.start, task.out(i, j));
            }
        }
    }
}

template <template <bool> class Policy>
SIMILITUDE_INLINE void fill_rows(const Task &task) {
    task.X.channels == 1 ? fill_rows<Policy<true>>(task) : fill_rows<Policy<false>>(task);
}

SIMILITUDE_CLONES inline void dtw(const Task &task) { fill_rows<Dtw>(task); }
SIMILITUDE_CLONES inline void wdtw(const Task &task) { fill_rows<Wdtw>(task); }
SIMILITUDE_CLONES inline void adtw(const Task &task) { fill_rows<Adtw>(task); }
SIMILITUDE_CLONES inline void erp(const Task &task) { fill_rows<Erp>(task); }
SIMILITUDE_CLONES inline void edr(const Task &task) { fill_rows<Edr>(task); }
SIMILITUDE_CLONES inline void lcss(const Task &task) { fill_rows<Lcss>(task); }
SIMILITUDE_CLONES inline void msm(const Task &task) { fill_rows<Msm<true>>(task); }
SIMILITUDE_CLONES inline void dependent_msm(const Task &task) { fill_rows<DependentMsm>(task); }
SIMILITUDE_CLONES inline void twe(const Task &task) { fill_rows<Twe>(task); }
SIMILITUDE_CLONES inline void shape_dtw(const Task &task) { fill_rows<ShapeDtw>(task); }

// The Euclidean distance over the steps that both series have.
SIMILITUDE_CLONES inline void euclidean(const Task &task) {
    for (Index first = 0; first < task.Z.size(); first += kLanes) {
        const Pack pack(task.Z, first);
        const Vector<const double> z = pack.view();
        const Index channels = task.Z.channels, shortest = *std::min_element(pack.lengths, pack.lengths + kLanes);
        for (Index i = task.start; i < task.stop && !(task.half && i >= first + pack.count); ++i) {
            const Vector<const double> x = task.X[i];
            const Index shared = std::min(x.n, shortest * channels);
            Lanes sum = all_lanes(0.0);
            for (Index q = 0; q < shared; ++q) {
                const Lanes d = all_lanes(x[q]) - load(z, (channels + q) * kLanes);
                sum = sum + d * d;
            }
            double sums[kLanes];
            store(sum, {sums, kLanes}, 0);
            for (Index l = 0; l < pack.count; ++l) {
                for (Index q = shared; q < std::min(x.n, pack.lengths[l] * channels); ++q) {
                    const double d = x[q] - z[(channels + q) * kLanes + l];
                    sums[l] += d * d;
                }
                if (task.half && first + l < i) continue;
                task.out(i, first + l) = std::sqrt(sums[l]);
                if (task.half) task.out(first + l, i) = task.out(i, first + l);
            }
        }
    }
}

struct NamedMeasure {
    const char *name;
    Index parameters;
    void (*fill)(const Task &);
};

inline constexpr NamedMeasure kMeasures[] = {
    {"dtw", 0, dtw},
    {"wdtw", 1, wdtw},
    {"adtw", 1, adtw},
    {"erp", 1, erp},
    {"edr", 1, edr},
    {"lcss", 1, lcss},
    {"msm", 1, msm},
    {"twe", 2, twe},
    {"dependent_msm", 1, dependent_msm},
    {"shape_dtw", 1, shape_dtw},
    {"euclidean", 0, euclidean},
};

}  // namespace similitude::elastic

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
