// What similitude.transform calls.
#include "common/arrays.hpp"
#include "transform/forward.hpp"

namespace similitude {

namespace {

template <class T>
void check_nearest(Matrix<const T> S, Vector<double> best, Vector<Index> at) {
    check_shape("S", S, S.rows, S.rows);
    check_length("the length of best", best.n, S.rows);
    check_length("the length of at", at.n, S.rows);
}

template <class T>
void candidates(Matrix<const T> S, Vector<const std::int64_t> labels, Vector<double> best, Vector<Index> at,
                double unit, Index start, Index stop, Vector<std::int64_t> errors, Vector<double> totals) {
    check_nearest(S, best, at);
    check_range("at", at, -1, S.rows);
    check_length("the length of labels", labels.n, S.rows);
    check_length("the length of errors", errors.n, S.rows);
    check_length("the length of totals", totals.n, S.rows);
    need(0 <= start && start <= stop && stop <= S.rows, "start and stop must be ascending, from 0 to len(S).");
    weigh_candidates(S, labels, {best, at}, unit, start, stop, errors, totals);
}

template <class T>
void taken(Matrix<const T> S, Index j, Vector<double> best, Vector<Index> at) {
    check_nearest(S, best, at);
    check_range("j", &j, 1, 0, S.rows);
    take_prototype(S, j, {best, at});
}

template <class T>
void bind_forward(nb::module_ &module) {
    using namespace nb::literals;
    module.def("weigh_candidates", &candidates<T>, "S"_a, "labels"_a, "best"_a, "at"_a, "unit"_a, "start"_a, "stop"_a,
               "errors"_a, "totals"_a, unlocked(),
               "Add to ``errors`` and ``totals`` what all samples contribute if each candidate became a prototype.");
    module.def("take_prototype", &taken<T>, "S"_a, "j"_a, "best"_a, "at"_a, unlocked(),
               "Make sample j a prototype: update the nearest prototypes of all samples.");
}

}  // namespace

void bind_transform(nb::module_ &module) {
    bind_forward<double>(module);
    bind_forward<float>(module);
}

}  // namespace similitude
