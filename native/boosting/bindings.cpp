// What similitude.boosting calls.
#include "boosting/cut_search.hpp"
#include "boosting/dboost.hpp"
#include "common/arrays.hpp"

namespace similitude {

namespace {

template <class T>
void boosted(Matrix<const T> columns, Index n_positive, Cube<const double> uniforms, bool real, double start,
             double slope, std::int32_t least, int shift, Vector<const std::int32_t> table, bool atoms,
             Index n_buckets, Vector<double> weights, Matrix<Index> pairs, Vector<double> cuts,
             Matrix<double> outputs) {
    const Index n_rounds = uniforms.depth;
    check_shape("columns", columns, weights.n, weights.n);
    need(n_positive > 0 && n_positive < weights.n, "n_positive must be from 1 to the number of samples minus 1.");
    need(weights.n < Index(1) << 31, "there must be fewer than 2^31 samples.");
    need(uniforms.rows > 0 && uniforms.columns == 2, "uniforms must have the shape (rounds, pairs, 2), pairs > 0.");
    need(n_buckets > 0 && n_buckets < 1 << 20, "n_buckets must be positive, and below 2^20.");
    need(least >= 0 && shift >= 0 && shift < 31, "least must not be negative, and shift must be from 0 to 30.");
    need(table.n == 0 || (table.n % 2 == 1 && table.n < 1 << 20), "table must be empty or have an odd length.");
    check_range("table", table, 0, n_buckets);
    check_shape("pairs", pairs, n_rounds, 2);
    check_length("the number of cuts", cuts.n, n_rounds);
    check_shape("outputs", outputs, n_rounds, 2);
    const Scale scale{start, slope, least, shift, table, atoms};
    const Rounds<Index, double> rounds{pairs, cuts, outputs};
    if (real) {
        Boosting<T, true>(columns, n_positive, scale, n_buckets, weights).run(uniforms, rounds);
    } else {
        Boosting<T, false>(columns, n_positive, scale, n_buckets, weights).run(uniforms, rounds);
    }
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
               "least"_a, "shift"_a, "table"_a, "atoms"_a, "n_buckets"_a, "weights"_a, "pairs"_a, "cuts"_a,
               "outputs"_a, unlocked(),
               "Run one round of boosting for each of ``uniforms``, and fill ``pairs``, ``cuts`` and ``outputs``; "
               "``weights`` change.");
    module.def("decide", &decided<T>, "rows"_a, "pairs"_a, "cuts"_a, "outputs"_a, "stages"_a, "totals"_a,
               "decisions"_a, unlocked(),
               "Write the sums of outputs after the first ``stages`` rounds, added to ``totals``, into ``decisions``.");
}

}  // namespace

void bind_boosting(nb::module_ &module) {
    bind_dboost<double>(module);
    bind_dboost<float>(module);
}

}  // namespace similitude
