// NumPy arrays as arguments of the module's functions, and the checks of their lengths.
//
// A function that takes a Vector, Matrix, Cube or Tesseract is called with a contiguous array of exactly that type and
// number of dimensions; a Strided may be any matrix of its type. Nothing is converted or copied: other arrays, and
// read-only ones where entries are written, are refused with a TypeError that shows what the function takes. Lengths
// that do not fit together, and indices out of range, are a ValueError.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>
#include <string>

#include "common/views.hpp"

namespace nb = nanobind;

namespace similitude {

template <class T, std::size_t N>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

inline void need(bool condition, const char *message) {
    if (!condition) throw std::invalid_argument(message);
}

// Raise a ValueError unless a length is the one needed.
inline void check_length(const char *what, Index found, Index needed) {
    if (found != needed) {
        throw std::invalid_argument(std::string(what) + " must be " + std::to_string(needed) + "; got " +
                                    std::to_string(found) + ".");
    }
}

template <class T>
void check_shape(const char *name, const Matrix<T> &matrix, Index rows, Index columns) {
    if (matrix.rows != rows || matrix.columns != columns) {
        throw std::invalid_argument(std::string(name) + " must have the shape (" + std::to_string(rows) + ", " +
                                    std::to_string(columns) + "); got (" + std::to_string(matrix.rows) + ", " +
                                    std::to_string(matrix.columns) + ").");
    }
}

template <class T>
void check_shape(const char *name, const Cube<T> &cube, Index depth, Index rows, Index columns) {
    check_length((std::string("the first axis of ") + name).c_str(), cube.depth, depth);
    check_length((std::string("the second axis of ") + name).c_str(), cube.rows, rows);
    check_length((std::string("the third axis of ") + name).c_str(), cube.columns, columns);
}

// Raise a ValueError unless first <= index < stop for every index.
template <class I>
void check_range(const char *name, const I *indices, Index n, Index first, Index stop) {
    for (Index i = 0; i < n; ++i) {
        if (indices[i] < first || indices[i] >= stop) {
            throw std::invalid_argument(std::string(name) + " must be from " + std::to_string(first) + " to " +
                                        std::to_string(stop - 1) + "; got " + std::to_string(indices[i]) + ".");
        }
    }
}

template <class I>
void check_range(const char *name, Vector<I> indices, Index first, Index stop) {
    check_range(name, indices.data, indices.n, first, stop);
}

template <class I>
void check_range(const char *name, Matrix<I> indices, Index first, Index stop) {
    check_range(name, indices.data, indices.rows * indices.columns, first, stop);
}

// Raise a ValueError unless the sizes are ascending, from 1 to most.
inline void check_sizes(const char *name, Vector<const Index> sizes, Index most) {
    check_range(name, sizes, 1, most + 1);
    for (Index g = 1; g < sizes.n; ++g) {
        if (sizes[g] < sizes[g - 1]) throw std::invalid_argument(std::string(name) + " must be ascending.");
    }
}

// The same for the sizes of each row.
inline void check_sizes(const char *name, Matrix<const Index> sizes, Index most) {
    for (Index row = 0; row < sizes.rows; ++row) check_sizes(name, sizes[row], most);
}

// Raise a ValueError unless the arrays of a CSR matrix fit together.
template <class T, class I>
void check_sparse(const Sparse<T, I> &S, Index n_columns) {
    need(S.starts.n > 0 && S.starts[0] == 0, "indptr must start with 0.");
    check_length("the number of indices", S.columns.n, S.data.n);
    for (Index i = 1; i < S.starts.n; ++i) need(S.starts[i] >= S.starts[i - 1], "indptr must be ascending.");
    check_length("the last entry of indptr", S.starts[S.starts.n - 1], S.data.n);
    check_range("indices", S.columns, 0, n_columns);
}

template <class T>
void check_shape(const char *name, const Tesseract<T> &tesseract, Index length, Index depth, Index rows,
                 Index columns) {
    check_length((std::string("the first axis of ") + name).c_str(), tesseract.length, length);
    check_length((std::string("the second axis of ") + name).c_str(), tesseract.depth, depth);
    check_length((std::string("the third axis of ") + name).c_str(), tesseract.rows, rows);
    check_length((std::string("the fourth axis of ") + name).c_str(), tesseract.columns, columns);
}

// Raise a ValueError unless the starts of groups of entries, of which there are n, are ascending from 0 to n.
template <class I>
void check_starts(const char *name, Vector<const I> starts, Index n) {
    const std::string what(name);
    if (starts.n == 0 || starts[0] != 0) throw std::invalid_argument(what + " must start with 0.");
    for (Index p = 1; p < starts.n; ++p) {
        if (starts[p] < starts[p - 1]) throw std::invalid_argument(what + " must be ascending.");
    }
    check_length(("the last entry of " + what).c_str(), starts[starts.n - 1], n);
}

}  // namespace similitude

namespace nanobind::detail {

// The caster of all views: that of nanobind's array without its conversions.
template <class View, class Given>
struct uncopied_caster {
    using Inner = make_caster<Given>;
    static constexpr auto Name = Inner::Name;
    template <class U>
    using Cast = View;

    bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
        return inner.from_python(source, flags & ~static_cast<uint32_t>(cast_flags::convert), cleanup);
    }
    template <class U>
    bool can_cast() const noexcept {
        return true;
    }
    similitude::Index length(std::size_t axis) const { return static_cast<similitude::Index>(inner.value.shape(axis)); }
    similitude::Index step(std::size_t axis) const { return static_cast<similitude::Index>(inner.value.stride(axis)); }

    Inner inner;
};

template <class View, class T, std::size_t N>
struct view_caster : uncopied_caster<View, similitude::Array<T, N>> {
    explicit operator View() {
        T *data = this->inner.value.data();
        if constexpr (N == 1) return {data, this->length(0)};
        if constexpr (N == 2) return {data, this->length(0), this->length(1)};
        if constexpr (N == 3) return {data, this->length(0), this->length(1), this->length(2)};
        if constexpr (N == 4) return {data, this->length(0), this->length(1), this->length(2), this->length(3)};
    }
};

template <class T>
struct type_caster<similitude::Vector<T>> : view_caster<similitude::Vector<T>, T, 1> {};
template <class T>
struct type_caster<similitude::Matrix<T>> : view_caster<similitude::Matrix<T>, T, 2> {};
template <class T>
struct type_caster<similitude::Strided<T>>
    : uncopied_caster<similitude::Strided<T>, ndarray<numpy, T, ndim<2>, device::cpu>> {
    explicit operator similitude::Strided<T>() {
        return {this->inner.value.data(), this->length(0), this->length(1), this->step(0), this->step(1)};
    }
};
template <class T>
struct type_caster<similitude::Cube<T>> : view_caster<similitude::Cube<T>, T, 3> {};
template <class T>
struct type_caster<similitude::Tesseract<T>> : view_caster<similitude::Tesseract<T>, T, 4> {};

}  // namespace nanobind::detail

namespace similitude {

using unlocked = nb::call_guard<nb::gil_scoped_release>;  // for functions that touch no Python object

}  // namespace similitude
