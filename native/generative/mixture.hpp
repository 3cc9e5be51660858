// Expectation maximisation for mixtures of maximum-entropy distributions, with one component for each centroid.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/views.hpp"
#include "generative/max_entropy.hpp"

namespace similitude::generative {

// A mixture of the distributions of the similarities s_il of samples i to centroids l:
//
//     maximise  sum over i of log(sum over l of w_l P_l(s_il))
//
// The similarities (n, c) are given by their distances from the two ends of Omega.
struct Mixture {
    Matrix<const double> below, above;
    Vector<double> weights;
    Matrix<double> means;  // (2, c), the mean distances from the two ends
    NewPmfs pmfs;

    // Fit the mixture from equal responsibilities on, and write the log-likelihood after each step into history.
    //
    // Return the number of steps, after the last of which the log-likelihood changed by no more than tol of itself, or
    // one more than history has room for.
    Index fit(const MaximumEntropy &family, double tol, Vector<double> history) const {
        const Index c = below.columns;
        OwnedMatrix<double> shares(below.rows, c);
        for (Index i = 0; i < below.rows; ++i) {
            for (Index l = 0; l < c; ++l) shares(i, l) = 1.0 / static_cast<double>(c);
        }
        for (Index step = 0; step < history.n; ++step) {
            maximise(shares);
            family.solve(means[0], means[1], pmfs);
            history[step] = expect(shares);
            if (c == 1 || (step > 0 && std::abs(history[step] - history[step - 1]) <= tol * std::abs(history[step]))) {
                return step + 1;
            }
        }
        return history.n + 1;
    }

  private:
    // Compute weights and means from the components' shares in the samples.
    void maximise(Matrix<const double> shares) const {
        for (Index l = 0; l < below.columns; ++l) {
            double total = 0.0, low = 0.0, high = 0.0;
            for (Index i = 0; i < below.rows; ++i) {
                total += shares(i, l);
                low += shares(i, l) * below(i, l);
                high += shares(i, l) * above(i, l);
            }
            weights[l] = total / static_cast<double>(below.rows);
            means(0, l) = total > 0.0 ? low / total : 0.5;
            means(1, l) = total > 0.0 ? high / total : 0.5;
        }
    }

    // Compute the components' shares in each sample; return the log-likelihood of all samples.
    double expect(Matrix<double> shares) const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const Pmfs fitted{pmfs.rates, pmfs.log_z, pmfs.from_above};
        const Index c = below.columns;
        OwnedVector<double> log_weights(c);
        for (Index l = 0; l < c; ++l) log_weights[l] = weights[l] > 0.0 ? std::log(weights[l]) : -infinity;
        double total = 0.0;
        for (Index i = 0; i < below.rows; ++i) {
            const Vector<double> share = shares[i];
            double largest = -infinity, mass = 0.0;
            for (Index l = 0; l < c; ++l) {
                share[l] = log_weights[l];
                if (weights[l] > 0.0) share[l] = fitted.log_mass(l, below(i, l), above(i, l)) + log_weights[l];
                largest = std::max(largest, share[l]);
            }
            for (Index l = 0; l < c; ++l) {
                share[l] = std::exp(share[l] - largest);
                mass += share[l];
            }
            for (Index l = 0; l < c; ++l) share[l] /= mass;
            total += largest + std::log(mass);
        }
        return total;
    }
};

}  // namespace similitude::generative
