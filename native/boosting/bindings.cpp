// What similitude.boosting calls.
#include "boosting/cut_search.hpp"
#include "boosting/dboost.hpp"
#include "boosting/proximity_forest.hpp"
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

template <class I>
Tree<I> tree_at(Matrix<I> kinds, Matrix<I> first, Matrix<I> counts, Matrix<I> exemplars, Index t) {
    return {kinds[t], first[t], counts[t], exemplars[t]};
}

void grown(Cube<const double> similarities, Vector<const Index> codes, Index n_classes, Index n_candidates,
           Vector<const std::uint64_t> seeds, Matrix<std::int32_t> kinds, Matrix<std::int32_t> first,
           Matrix<std::int32_t> counts, Matrix<std::int32_t> exemplars, Vector<Index> sizes, Matrix<double> gains) {
    need(codes.n > 0 && codes.n < Index(1) << 30, "there must be samples, and fewer than 2^30.");
    need(similarities.depth > 0 && n_candidates > 0, "there must be at least one similarity and one candidate.");
    check_shape("similarities", similarities, similarities.depth, codes.n, codes.n);
    check_range("codes", codes, 0, n_classes);
    for (const auto &[name, part] : {std::pair{"kinds", kinds}, {"first", first}, {"counts", counts}}) {
        check_shape(name, part, seeds.n, 2 * codes.n - 1);
    }
    check_shape("exemplars", exemplars, seeds.n, 2 * codes.n - 1);
    check_length("the length of sizes", sizes.n, seeds.n);
    check_shape("gains", gains, seeds.n, similarities.depth);
    TreeGrowing growing(similarities, codes, n_classes, n_candidates);
    for (Index t = 0; t < seeds.n; ++t) {
        sizes[t] = growing.grow(seeds[t], tree_at(kinds, first, counts, exemplars, t), gains[t]);
    }
}

// Raise a ValueError unless every child comes after its parent, and every class, similarity and column exists.
void check_tree(const Tree<const std::int32_t> &tree, Index n_similarities, Index n_columns, Index n_classes) {
    const Index n = tree.kinds.n;
    need(n > 0, "a tree must have at least one node.");
    for (Index i = 0; i < n; ++i) {
        const Index kind = tree.kinds[i], first = tree.first[i], count = tree.counts[i];
        if (kind == leaf) {
            need(first >= 0 && first < n_classes, "first must be a class where the node is a leaf.");
            continue;
        }
        need(kind >= shared && kind < n_similarities, "kinds must be numbers of similarities, -1 or -2.");
        need(count > 0 && first > i && first <= n - count, "the children of a node must come after it.");
        if (kind == shared) continue;
        const Index k = count - (tree.exemplars[first + count - 1] < 0);
        need(k > 0, "a node with a similarity must have exemplars.");
        for (Index e = first; e < first + k; ++e) {
            need(tree.exemplars[e] >= 0 && tree.exemplars[e] < n_columns, "exemplars must be columns of rows.");
        }
    }
}

void voted(Cube<const double> rows, Vector<const std::int32_t> kinds, Vector<const std::int32_t> first,
           Vector<const std::int32_t> counts, Vector<const std::int32_t> exemplars, Vector<const Index> starts,
           Matrix<double> votes) {
    check_length("the number of rows of votes", votes.rows, rows.rows);
    check_length("the length of first", first.n, kinds.n);
    check_length("the length of counts", counts.n, kinds.n);
    check_length("the length of exemplars", exemplars.n, kinds.n);
    check_range("starts", starts, 0, kinds.n + 1);
    TreeVote vote;
    for (Index t = 0; t + 1 < starts.n; ++t) {
        const Index start = starts[t], stop = starts[t + 1];
        need(start < stop, "starts must be ascending.");
        const Tree<const std::int32_t> tree{kinds.part(start, stop), first.part(start, stop), counts.part(start, stop),
                                            exemplars.part(start, stop)};
        check_tree(tree, rows.depth, rows.columns, votes.columns);
        for (Index i = 0; i < rows.rows; ++i) vote.add(tree, rows, i, votes[i]);
    }
}

}  // namespace

void bind_boosting(nb::module_ &module) {
    bind_dboost<double>(module);
    bind_dboost<float>(module);
    using namespace nb::literals;
    module.def(
        "grow_trees", &grown, "similarities"_a, "codes"_a, "n_classes"_a, "n_candidates"_a, "seeds"_a, "kinds"_a,
        "first"_a, "counts"_a, "exemplars"_a, "sizes"_a, "gains"_a, unlocked(),
        "Grow one tree of exemplars for each of ``seeds``; ``sizes`` become the numbers of nodes, and ``gains``, "
        "which must be 0, the decreases of the Gini impurity by each similarity.");
    module.def("vote_trees", &voted, "rows"_a, "kinds"_a, "first"_a, "counts"_a, "exemplars"_a, "starts"_a, "votes"_a,
               unlocked(), "Add the votes of the trees, whose nodes begin at ``starts``, to ``votes``.");
}

}  // namespace similitude
