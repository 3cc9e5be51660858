// What similitude.proximity calls.
#include "common/arrays.hpp"
#include "proximity/edge_lines.hpp"

namespace similitude {

namespace {

using edges::Code;
using edges::EdgeLines;

void make_edge_lines(EdgeLines *self, nb::bytes delimiter, Index query, Index target, Index score, Index width,
                     Index line) {
    need(delimiter.size() == 1, "delimiter must be one byte.");
    need(width > 0 && width <= 1'000'000, "width must be from 1 to 1000000.");
    for (const Index column : {query, target, score}) {
        need(column >= 0 && column < width, "query, target and score must be columns, from 0 to width - 1.");
    }
    new (self) EdgeLines(delimiter.c_str()[0], {query, target, score}, width, line);
}

Index read_edges(EdgeLines &self, nb::bytes block, Vector<Code> queries, Vector<Code> targets, Vector<double> scores) {
    check_length("the number of targets", targets.n, queries.n);
    check_length("the number of scores", scores.n, queries.n);
    const std::string_view text(block.c_str(), block.size());
    nb::gil_scoped_release released;
    return self.read(text, queries, targets, scores);
}

nb::list edge_names(const EdgeLines &self, Index first) {
    need(first >= 0, "first must not be negative.");
    nb::list found;
    for (Index i = first; i < self.names().size(); ++i) {
        const std::string_view name = self.names()[Code(i)];
        found.append(nb::bytes(name.data(), name.size()));
    }
    return found;
}

}  // namespace

void bind_proximity(nb::module_ &module) {
    using namespace nb::literals;
    nb::class_<EdgeLines>(module, "EdgeLines", "Reads an edge list from blocks of whole lines of text.")
        .def("__init__", &make_edge_lines, "delimiter"_a, "query"_a, "target"_a, "score"_a, "width"_a, "line"_a,
             "Take the delimiter, the columns (from 0) of the ends and the score, the number of cells in a line, and "
             "the number of lines before the first.")
        .def("read", &read_edges, "block"_a, "queries"_a, "targets"_a, "scores"_a,
             "Write the ends of the edges as positions in ``names()``, and their scores; return their number.")
        .def("names", &edge_names, "first"_a = 0,
             "Return the names of the samples in the order of their first appearance, from this position on.");
}

}  // namespace similitude
