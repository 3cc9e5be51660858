// What the solvers of the weights of neighbours have in common.
#pragma once

#include "common/views.hpp"
#include "neighbors/local_spectrum.hpp"

namespace similitude {

// Weights of neighbours for many neighbourhood sizes and values of reg.
class WeightSolver {
  public:
    virtual ~WeightSolver() = default;

    // Write the weights of the first k = sizes[g] neighbours at regs[t] into the first k entries of weights[g][t];
    // return the number of unsolved problems. Sizes and regs are ascending.
    virtual Index solve(Neighborhood given, Vector<const Index> sizes, Vector<const double> regs,
                        Cube<double> weights) = 0;
};

}  // namespace similitude
