// The symmetric eigendecomposition of small matrices by LAPACK's dsyevd, which SciPy has loaded.
#pragma once

#include <stdexcept>

#include "common/views.hpp"

namespace similitude {

// dsyevd(jobz, uplo, n, a, lda, w, work, lwork, iwork, liwork, info)
using Dsyevd = void (*)(char *, char *, int *, double *, int *, double *, double *, int *, int *, int *, int *);

inline Dsyevd dsyevd = nullptr;

// Find dsyevd in SciPy, the first time; call this with the GIL, before a function that decomposes matrices.
void load_lapack();

// The eigenvalues of a symmetric matrix, ascending, and its eigenvectors as rows.
struct Eigen {
    OwnedVector<double> values;
    OwnedMatrix<double> vectors{0, 0};

    bool empty() const { return values.size() == 0; }
};

// Decompose the leading block of k rows and columns.
inline Eigen eigh(Matrix<const double> A, Index k) {
    Eigen found{OwnedVector<double>(k), OwnedMatrix<double>(k, k)};
    const Matrix<double> vectors = found.vectors;
    for (Index a = 0; a < k; ++a) {
        for (Index b = 0; b < k; ++b) vectors(a, b) = A(a, b);
    }
    if (k == 0) return found;
    char job = 'V', part = 'L';
    int n = static_cast<int>(k), n_work = 1 + 6 * n + 2 * n * n, n_integers = 3 + 5 * n, info = 0;
    OwnedVector<double> work(n_work);
    OwnedVector<int> integers(n_integers);
    dsyevd(&job, &part, &n, vectors.data, &n, found.values.view().data, work.view().data, &n_work, integers.view().data,
           &n_integers, &info);
    if (info != 0) throw std::runtime_error("LAPACK's dsyevd did not converge.");
    return found;  // LAPACK's columns are rows here
}

}  // namespace similitude
