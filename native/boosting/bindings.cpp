// What similitude.boosting calls.
#include "boosting/cut_search.hpp"
#include "boosting/dboost.hpp"
#include "common/arrays.hpp"

namespace similitude {

namespace {

// The arguments that all functions for rounds of boosting share.
template <class T>
struct Problem {
    Matrix<const T> columns;
    Index n_positive;
    Scale scale;
    Index n_buckets;
    Vector<double> weights;
    Rounds<Index, double> rounds;

    void check() const {
        check_length("the number of columns", columns.columns, weights.n);
        need(n_positive > 0 && n_positive < weights.n, "n_positive must be from 1 to the number of samples minus 1.");
        need(weights.n < Index(1) << 31, "there must be fewer than 2^31 samples.");
        need(n_buckets > 0 && n_buckets < 1 << 20, "n_buckets must be positive, and below 2^20.");
        need(scale.least >= 0 && scale.shift >= 0 && scale.shift < 31,
             "least must not be negative, and shift must be from 0 to 30.");
        need(scale.table.n == 0 || (scale.table.n % 2 == 1 && scale.table.n < 1 << 20),
             "table must be empty or have an odd length.");
        check_range("table", scale.table, 0, n_buckets);
        check_shape("pairs", rounds.pairs, rounds.cuts.n, 2);
        check_shape("outputs", rounds.outputs, rounds.cuts.n, 2);
    }

    template <bool real>
    Boosting<T, real> boosting() const {
        return {columns, n_positive, scale, n_buckets, weights};
    }

    template <class Pairs>
    void run_among(const Pairs &candidates, bool real) const {
        if (real) {
            boosting<true>().run_among(candidates, rounds);
        } else {
            boosting<false>().run_among(candidates, rounds);
        }
    }
};

template <class T>
void boosted(Matrix<const T> columns, Index n_positive, Cube<const double> uniforms, bool real, double start,
             double slope, std::int32_t least, int shift, Vector<const std::int32_t> table, bool atoms, Index n_buckets,
             Vector<double> weights, Matrix<Index> pairs, Vector<double> cuts, Matrix<double> outputs) {
    const Problem<T> problem{columns,   n_positive, {start, slope, least, shift, table, atoms},
                             n_buckets, weights,    {pairs, cuts, outputs}};
    check_shape("columns", columns, weights.n, weights.n);
    need(uniforms.rows > 0 && uniforms.columns == 2, "uniforms must have the shape (rounds, pairs, 2), pairs > 0.");
    check_length("the number of cuts", cuts.n, uniforms.depth);
    problem.check();
    if (real) {
        problem.template boosting<true>().run(uniforms, problem.rounds);
    } else {
        problem.template boosting<false>().run(uniforms, problem.rounds);
    }
}

template <class T>
void boosted_all(Matrix<const T> columns, Index n_positive, Index n_plus, bool real, double start, double slope,
                 std::int32_t least, int shift, Vector<const std::int32_t> table, bool atoms, Index n_buckets,
                 Vector<double> weights, Matrix<Index> pairs, Vector<double> cuts, Matrix<double> outputs) {
    const Problem<T> problem{columns,   n_positive, {start, slope, least, shift, table, atoms},
                             n_buckets, weights,    {pairs, cuts, outputs}};
    problem.check();
    need(n_plus > 0 && n_plus < columns.rows, "n_plus must be from 1 to the number of rows of columns minus 1.");
    problem.run_among(AllPairs{n_plus, columns.rows - n_plus}, real);
}

template <class T>
void boosted_among(Matrix<const T> columns, Index n_positive, Matrix<const Index> candidates, bool real, double start,
                   double slope, std::int32_t least, int shift, Vector<const std::int32_t> table, bool atoms,
                   Index n_buckets, Vector<double> weights, Matrix<Index> pairs, Vector<double> cuts,
                   Matrix<double> outputs) {
    const Problem<T> problem{columns,   n_positive, {start, slope, least, shift, table, atoms},
                             n_buckets, weights,    {pairs, cuts, outputs}};
    problem.check();
    need(candidates.rows > 0 && candidates.columns == 2, "candidates must have the shape (pairs, 2), pairs > 0.");
    check_range("candidates", candidates, 0, columns.rows);
    problem.run_among(ListedPairs{candidates}, real);
}

template <class T>
void decided(Matrix<const T> rows, Matrix<const Index> pairs, Vector<const double> cuts, Matrix<const double> outputs,
             Vector<const Index> stages, Vector<double> totals, Matrix<double> decisions) {
    check_shape("pairs", pairs, cuts.n, 2);
    check_range("pairs", pairs, 0, rows.columns);
    check_shape("outputs", outputs, cuts.n, 2);
    check_range("stages", stages, 0, cuts.n + 1);
    check_length("the length of totals", totals.n, rows.rows);
    check_shape("decisions", decisions, rows.rows, stages.n);
    decide(rows, {pairs, cuts, outputs}, stages, totals, decisions);
}

template <class T>
void bind_dboost(nb::module_ &module) {
    using namespace nb::literals;
    module.def("boost", &boosted<T>, "columns"_a, "n_positive"_a, "uniforms"_a, "real"_a, "start"_a, "slope"_a,
               "least"_a, "shift"_a, "table"_a, "atoms"_a, "n_buckets"_a, "weights"_a, "pairs"_a, "cuts"_a, "outputs"_a,
               unlocked(),
               "Run one round of boosting for each of ``uniforms``, and fill ``pairs``, ``cuts`` and ``outputs``; "
               "``weights`` change.");
    module.def("boost_all", &boosted_all<T>, "columns"_a, "n_positive"_a, "n_plus"_a, "real"_a, "start"_a, "slope"_a,
               "least"_a, "shift"_a, "table"_a, "atoms"_a, "n_buckets"_a, "weights"_a, "pairs"_a, "cuts"_a, "outputs"_a,
               unlocked(),
               "Run rounds of boosting that search all pairs of the first ``n_plus`` rows of ``columns`` with the "
               "others, and fill ``pairs``, ``cuts`` and ``outputs``; ``weights`` change.");
    module.def("boost_among", &boosted_among<T>, "columns"_a, "n_positive"_a, "candidates"_a, "real"_a, "start"_a,
               "slope"_a, "least"_a, "shift"_a, "table"_a, "atoms"_a, "n_buckets"_a, "weights"_a, "pairs"_a, "cuts"_a,
               "outputs"_a, unlocked(),
               "Run rounds of boosting that search the pairs ``candidates`` of rows of ``columns``, and fill "
               "``pairs``, ``cuts`` and ``outputs``; ``weights`` change.");
    module.def("decide", &decided<T>, "rows"_a, "pairs"_a, "cuts"_a, "outputs"_a, "stages"_a, "totals"_a, "decisions"_a,
               unlocked(),
               "Write the sums of outputs after the first ``stages`` rounds, added to ``totals``, into ``decisions``.");
}

}  // namespace

void bind_boosting(nb::module_ &module) {
    bind_dboost<double>(module);
    bind_dboost<float>(module);
}

}  // namespace similitude
