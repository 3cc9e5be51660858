// What similitude.numerics calls.
#include "common/arrays.hpp"
#include "numerics/cholesky.hpp"
#include "numerics/lapack.hpp"
#include "numerics/machine_path.hpp"
#include "numerics/smo.hpp"
#include "numerics/topk.hpp"
#include "numerics/votes.hpp"

namespace similitude {

void load_lapack() {
    if (dsyevd != nullptr) return;
    const nb::object table = nb::module_::import_("scipy.linalg.cython_lapack").attr("__pyx_capi__");
    const nb::object capsule = table["dsyevd"];
    const char *signature = PyCapsule_GetName(capsule.ptr());
    // The name of the capsule is the type of the function; a SciPy with other integers would have another one.
    if (signature == nullptr || std::string(signature).find("int *, __pyx_t_5scipy") == std::string::npos) {
        throw std::runtime_error(std::string("scipy.linalg.cython_lapack.dsyevd has an unknown type: ") +
                                 (signature == nullptr ? "none" : signature));
    }
    dsyevd = reinterpret_cast<Dsyevd>(PyCapsule_GetPointer(capsule.ptr(), signature));
}

namespace {

template <class T>
void best_columns(Matrix<const T> S, Vector<const T> thresholds, Matrix<Index> columns) {
    check_length("the number of thresholds", thresholds.n, S.rows);
    check_length("the number of rows of columns", columns.rows, S.rows);
    need(columns.columns <= S.columns, "columns must have at most as many columns as S.");
    collect_best(S, thresholds, columns);
}

void totals_by_class(Matrix<const Index> labels, Matrix<const double> similarities, Matrix<const double> weights,
                     Matrix<const double> beyond, Vector<const Index> sizes, Cube<double> totals) {
    check_shape("similarities", similarities, labels.rows, labels.columns);
    check_shape("weights", weights, labels.rows, labels.columns);
    check_shape("beyond", beyond, labels.rows, totals.columns);
    check_sizes("sizes", sizes, labels.columns);
    check_range("labels", labels, 0, totals.columns);
    check_shape("totals", totals, labels.rows, sizes.n, totals.columns);
    class_totals(labels, similarities, weights, beyond, sizes, totals);
}

template <class T>
void classes_of_tied(Strided<const T> S, Vector<const T> values, Vector<const Index> labels, Matrix<double> counts) {
    check_length("the number of values", values.n, S.rows);
    check_length("the number of labels", labels.n, S.columns);
    check_length("the number of rows of counts", counts.rows, S.rows);
    check_range("labels", labels, 0, counts.columns);
    tied_classes(S, values, labels, counts);
}

void sums_by_class(Matrix<const Index> labels, Cube<const double> weights, Cube<double> totals) {
    check_length("the first axis of weights", weights.depth, labels.rows);
    need(weights.columns <= labels.columns, "weights must have at most as many neighbours as labels.");
    check_range("labels", labels, 0, totals.columns);
    check_shape("totals", totals, labels.rows, weights.rows, totals.columns);
    class_sums(labels, weights, totals);
}

void winners_of_votes(Cube<const double> scores, Matrix<const Index> labels, Matrix<const double> similarities,
                      Cube<const double> counts, Matrix<const Index> sizes, Vector<const Index> class_sizes,
                      double tolerance, Matrix<Index> winners) {
    check_length("the first axis of scores", scores.depth, labels.rows);
    need(scores.columns > 0, "scores must have at least one class.");
    check_range("labels", labels, 0, scores.columns);
    check_shape("similarities", similarities, labels.rows, labels.columns);
    check_shape("counts", counts, labels.rows, scores.rows, scores.columns);
    check_shape("sizes", sizes, labels.rows, scores.rows);
    check_range("sizes", sizes, 0, labels.columns + 1);
    check_length("the number of class_sizes", class_sizes.n, scores.columns);
    check_shape("winners", winners, labels.rows, scores.rows);
    break_ties(scores, Voters{labels, similarities, counts, sizes}, class_sizes, tolerance, winners);
}

void scores_of_pairs(Matrix<const double> decisions, Matrix<const bool> later, bool first_of_tied,
                     Matrix<double> scores) {
    check_shape("later", later, decisions.rows, decisions.columns);
    check_length("the number of rows of scores", scores.rows, decisions.rows);
    check_length("the number of pairs", decisions.columns, scores.columns * (scores.columns - 1) / 2);
    one_vs_one_rows(decisions, later, first_of_tied, scores);
}

Index factored(Matrix<const double> A, double share, double ridge, double least, Index n, Matrix<double> U,
               Vector<double> signs) {
    need(n >= 0 && n <= A.rows && n <= A.columns && n <= U.rows && n <= U.columns && n <= signs.n,
         "n must be at most the number of rows and columns of A and U, and of signs.");
    return factor(A, share, ridge, least, n, U, signs);
}

template <void (*solve)(Matrix<const double>, Index, Vector<double>)>
void solved(Matrix<const double> U, Index n, Vector<double> x) {
    need(n >= 0 && n <= U.rows && n <= U.columns && n <= x.n, "n must be at most the number of rows of U and of x.");
    solve(U, n, x);
}

void machine_path(Matrix<const double> K, Vector<const Index> codes, Vector<const double> weights,
                  Vector<const double> costs, int exponent, bool semidefinite, Cube<double> coefficients,
                  Matrix<double> offsets, Matrix<double> objectives, Matrix<double> gaps, Matrix<Index> steps) {
    const Index n = K.rows, n_classes = coefficients.rows + 1, n_pairs = n_classes * (n_classes - 1) / 2;
    check_shape("K", K, n, n);
    check_length("the length of codes", codes.n, n);
    check_length("the length of weights", weights.n, n);
    check_range("codes", codes, 0, n_classes);
    for (double weight : weights) need(weight >= 0.0 && std::isfinite(weight), "weights must be 0 or more.");
    for (Index c = 0; c < costs.n; ++c) {
        need(costs[c] > (c > 0 ? costs[c - 1] : 0.0), "costs must be positive and ascending.");
    }
    check_shape("coefficients", coefficients, costs.n, n_classes - 1, n);
    check_shape("offsets", offsets, costs.n, n_pairs);
    check_shape("objectives", objectives, costs.n, n_pairs);
    check_shape("gaps", gaps, costs.n, n_pairs);
    check_shape("steps", steps, costs.n, n_pairs);
    solve_machines(K, codes, n_classes, weights, costs, exponent, semidefinite,
                   {coefficients, offsets, objectives, gaps, steps});
}

}  // namespace

void bind_numerics(nb::module_ &module) {
    using namespace nb::literals;
    const char *collected = "Write the columns of the k largest values of each row into ``columns``, ascending.";
    module.def("collect_best", &best_columns<double>, "S"_a, "thresholds"_a, "columns"_a, unlocked(), collected);
    module.def("collect_best", &best_columns<float>, "S"_a, "thresholds"_a, "columns"_a, unlocked(), collected);
    module.def("class_totals", &totals_by_class, "labels"_a, "similarities"_a, "weights"_a, "beyond"_a, "sizes"_a,
               "totals"_a, unlocked(),
               "Write the sums of the neighbours' weights per class at each size into ``totals``; equally similar ones "
               "share the last places.");
    const char *tied = "Write how many columns of each class are equal to the value of their row into ``counts``.";
    module.def("tied_classes", &classes_of_tied<double>, "S"_a, "values"_a, "labels"_a, "counts"_a, unlocked(), tied);
    module.def("tied_classes", &classes_of_tied<float>, "S"_a, "values"_a, "labels"_a, "counts"_a, unlocked(), tied);
    module.def("class_sums", &sums_by_class, "labels"_a, "weights"_a, "totals"_a, unlocked(),
               "Add the weights per class of each of several weightings to ``totals``.");
    module.def(
        "break_ties", &winners_of_votes, "scores"_a, "labels"_a, "similarities"_a, "counts"_a, "sizes"_a,
        "class_sizes"_a, "tolerance"_a, "winners"_a, unlocked(),
        "Write the best class of each row and place of a grid into ``winners``; of tied classes the one with the "
        "most similar neighbour, then the larger one.");
    module.def("one_vs_one_rows", &scores_of_pairs, "decisions"_a, "later"_a, "first_of_tied"_a, "scores"_a, unlocked(),
               "Write the scores of the classes of each row, from votes of pairs of classes.");
    module.def("testing_factor", &factored, "A"_a, "share"_a, "ridge"_a, "least"_a, "n"_a, "U"_a, "signs"_a, unlocked(),
               "Factor at most n rows of ``A + diag(share * A_ii + ridge)`` into U; return how many were factored.");
    module.def("testing_forward", &solved<forward>, "U"_a, "n"_a, "y"_a, unlocked(), "Solve ``U^T x = y`` in place.");
    module.def("machine_path", &machine_path, "K"_a, "codes"_a, "weights"_a, "costs"_a, "exponent"_a, "semidefinite"_a,
               "coefficients"_a, "offsets"_a, "objectives"_a, "gaps"_a, "steps"_a, unlocked(),
               "Solve the support vector machines of all pairs of classes for ascending ``costs``.");
    module.def("testing_backward", &solved<backward>, "U"_a, "n"_a, "z"_a, unlocked(), "Solve ``U x = z`` in place.");
}

}  // namespace similitude
