// What similitude.finders calls.
#include "common/arrays.hpp"
#include "finders/graph.hpp"
#include "finders/stream.hpp"

namespace similitude {

namespace {

using graph::Position;

template <class T>
void offer_block(Matrix<const T> block, Index first, Matrix<T> values, Matrix<Index> places) {
    check_length("the number of rows of values", values.rows, block.rows);
    check_shape("places", places, values.rows, values.columns);
    stream::offer(block, first, values, places);
}

template <class T>
void offer_and_count(Matrix<const T> block, Index first, Matrix<T> values, Matrix<Index> places,
                     Vector<const Index> labels, Matrix<double> beyond) {
    check_length("the number of rows of values", values.rows, block.rows);
    need(values.columns > 0, "values must have at least one column.");
    check_shape("places", places, values.rows, values.columns);
    check_range("places", places, 0, labels.n + 1);
    need(0 <= first && first + block.columns <= labels.n, "labels must have an entry for each column.");
    check_length("the number of rows of beyond", beyond.rows, block.rows);
    check_range("labels", labels, 0, beyond.columns);
    stream::offer_counting(block, first, values, places, labels, beyond);
}

Index insert_pairs(Vector<const Index> rows, Vector<const Index> columns, Vector<const double> values,
                   Matrix<Position> nearest, Matrix<double> closeness, Matrix<bool> fresh) {
    check_length("the number of columns", columns.n, rows.n);
    check_length("the number of values", values.n, rows.n);
    check_range("rows", rows, 0, nearest.rows);
    check_range("columns", columns, 0, Index(std::numeric_limits<Position>::max()) + 1);
    check_shape("closeness", closeness, nearest.rows, nearest.columns);
    check_shape("fresh", fresh, nearest.rows, nearest.columns);
    return graph::insert(rows, columns, values, {nearest, closeness, fresh});
}

void link_both_directions(Matrix<const Position> nearest, Matrix<const bool> fresh, Matrix<Position> links,
                          Matrix<bool> new_links) {
    check_range("nearest", nearest, -1, nearest.rows);
    check_shape("fresh", fresh, nearest.rows, nearest.columns);
    need(links.columns >= nearest.columns, "links must have at least as many columns as nearest.");
    check_shape("links", links, nearest.rows, links.columns);
    check_shape("new", new_links, links.rows, links.columns);
    graph::both_directions(nearest, fresh, links, new_links);
}

void propose_rows(Matrix<const Position> links, Matrix<const bool> new_links, Matrix<const Position> nearest,
                  Matrix<const float> codes, Index first, Matrix<Position> proposed) {
    const Index n = nearest.rows;
    check_range("links", links, -1, n);
    check_range("nearest", nearest, -1, n);
    check_length("the number of rows of links", links.rows, n);
    check_shape("new", new_links, links.rows, links.columns);
    check_length("the number of rows of codes", codes.rows, n);
    need(first >= 0 && first <= n && proposed.rows <= n - first, "first and proposed must be rows of nearest.");
    graph::propose(links, new_links, nearest, codes, first, proposed);
}

Index walk_edges(Matrix<const Position> pool, Matrix<bool> waiting, Matrix<const Position> edges, Index steps,
                 Matrix<bool> visited, Matrix<Position> found) {
    const Index n = edges.rows;
    check_range("pool", pool, -1, n);
    check_shape("waiting", waiting, pool.rows, pool.columns);
    check_shape("visited", visited, pool.rows, n);
    check_length("the number of rows of found", found.rows, pool.rows);
    // A row finds the ends of the edges of its steps, each of the n samples at most once.
    const Index expanded = std::min(steps, pool.columns);
    need(found.columns >= n || expanded <= 0 || found.columns / expanded >= edges.columns,
         "found must have a column for each edge of the steps.");
    return graph::walk(pool, waiting, edges, steps, visited, found);
}

}  // namespace

void bind_finders(nb::module_ &module) {
    using namespace nb::literals;
    const char *offered =
        "Update the k best columns of a few rows with the columns ``first, first + 1, ...`` of a block.";
    module.def("offer", &offer_block<double>, "block"_a, "first"_a, "values"_a, "places"_a, unlocked(), offered);
    module.def("offer", &offer_block<float>, "block"_a, "first"_a, "values"_a, "places"_a, unlocked(), offered);
    const char *counted =
        "Do the same, and count the columns that are left out although they equal the k-th best, by class.";
    module.def("offer_counting", &offer_and_count<double>, "block"_a, "first"_a, "values"_a, "places"_a, "labels"_a,
               "beyond"_a, unlocked(), counted);
    module.def("offer_counting", &offer_and_count<float>, "block"_a, "first"_a, "values"_a, "places"_a, "labels"_a,
               "beyond"_a, unlocked(), counted);
    module.def("insert_neighbors", &insert_pairs, "rows"_a, "columns"_a, "values"_a, "nearest"_a, "closeness"_a,
               "fresh"_a, unlocked(),
               "Insert each column into the list of its row if it is close enough; return how many were inserted.");
    module.def("both_directions", &link_both_directions, "nearest"_a, "fresh"_a, "links"_a, "new"_a, unlocked(),
               "Write each sample's neighbours, then the samples whose neighbour it is, into ``links``.");
    module.def("propose_neighbors", &propose_rows, "links"_a, "new"_a, "nearest"_a, "codes"_a, "first"_a, "proposed"_a,
               unlocked(),
               "Write the neighbours' neighbours with the most similar codes, reached by a fresh link, into\n"
               "``proposed``.");
    module.def("walk_graph", &walk_edges, "pool"_a, "waiting"_a, "edges"_a, "steps"_a, "visited"_a, "found"_a,
               unlocked(),
               "Write the unvisited neighbours of each row's best waiting samples into ``found``; return how many.");
}

}  // namespace similitude
