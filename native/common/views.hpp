// Views of arrays that belong to someone else, and a matrix that owns its entries.
//
// A view is a pointer with its lengths. Its indices are checked only if SIMILITUDE_CHECKED is defined, as it is in the
// build that measures coverage; entries of the module check lengths once, before their loops.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <vector>

namespace similitude {

using Index = std::ptrdiff_t;  // NumPy's intp

inline void check_index([[maybe_unused]] Index i, [[maybe_unused]] Index n) {
#ifdef SIMILITUDE_CHECKED
    if (i < 0 || i >= n) {
        std::fprintf(stderr, "similitude: index %td is out of range for length %td\n", i, n);
        std::abort();
    }
#endif
}

template <class T>
struct Vector {
    T *data = nullptr;
    Index n = 0;

    Vector() = default;
    Vector(T *first, Index length) : data(first), n(length) {}
    // A view of constants may look at what can be changed.
    template <class U = T, class = std::enable_if_t<std::is_const_v<U>>>
    Vector(const Vector<std::remove_const_t<T>> &other) : data(other.data), n(other.n) {}

    T &operator[](Index i) const {
        check_index(i, n);
        return data[i];
    }
    Index size() const { return n; }
    T *begin() const { return data; }
    T *end() const { return data + n; }
    // The entries from start to before stop.
    Vector part(Index start, Index stop) const {
        check_index(start, stop + 1);
        check_index(stop, n + 1);
        return {data + start, stop - start};
    }
};

template <class T>
struct Matrix {
    T *data = nullptr;
    Index rows = 0, columns = 0;

    Matrix() = default;
    Matrix(T *first, Index m, Index k) : data(first), rows(m), columns(k) {}
    template <class U = T, class = std::enable_if_t<std::is_const_v<U>>>
    Matrix(const Matrix<std::remove_const_t<T>> &other) : data(other.data), rows(other.rows), columns(other.columns) {}

    Vector<T> operator[](Index i) const {
        check_index(i, rows);
        return {data + i * columns, columns};
    }
    T &operator()(Index i, Index j) const {
        check_index(i, rows);
        check_index(j, columns);
        return data[i * columns + j];
    }
    Matrix part(Index start, Index stop) const {
        check_index(start, stop + 1);
        check_index(stop, rows + 1);
        return {data + start * columns, stop - start, columns};
    }
};

// A matrix whose rows and columns may be any number of entries apart, for large matrices that are not to be copied.
template <class T>
struct Strided {
    T *data = nullptr;
    Index rows = 0, columns = 0, row_step = 0, column_step = 0;

    T &operator()(Index i, Index j) const {
        check_index(i, rows);
        check_index(j, columns);
        return data[i * row_step + j * column_step];
    }
};

// An array of matrices of the same shape.
template <class T>
struct Cube {
    T *data = nullptr;
    Index depth = 0, rows = 0, columns = 0;

    Cube() = default;
    Cube(T *first, Index d, Index m, Index k) : data(first), depth(d), rows(m), columns(k) {}
    template <class U = T, class = std::enable_if_t<std::is_const_v<U>>>
    Cube(const Cube<std::remove_const_t<T>> &o) : data(o.data), depth(o.depth), rows(o.rows), columns(o.columns) {}

    Matrix<T> operator[](Index i) const {
        check_index(i, depth);
        return {data + i * rows * columns, rows, columns};
    }
};

// An array of cubes of the same shape.
template <class T>
struct Tesseract {
    T *data = nullptr;
    Index length = 0, depth = 0, rows = 0, columns = 0;

    Tesseract() = default;
    Tesseract(T *first, Index l, Index d, Index m, Index k) : data(first), length(l), depth(d), rows(m), columns(k) {}

    Cube<T> operator[](Index i) const {
        check_index(i, length);
        return {data + i * depth * rows * columns, depth, rows, columns};
    }
};

// A vector that owns its entries.
template <class T>
class OwnedVector {
  public:
    explicit OwnedVector(Index n = 0, T value = T()) : entries_(static_cast<std::size_t>(n), value) {}

    operator Vector<T>() { return {entries_.data(), size()}; }
    operator Vector<const T>() const { return {entries_.data(), size()}; }
    Vector<T> view() { return *this; }
    Vector<T> part(Index start, Index stop) { return view().part(start, stop); }
    T &operator[](Index i) { return view()[i]; }
    const T &operator[](Index i) const { return Vector<const T>(*this)[i]; }
    Index size() const { return static_cast<Index>(entries_.size()); }
    void fill(T value) { entries_.assign(entries_.size(), value); }
    void clear() { entries_.clear(); }
    void push_back(T value) { entries_.push_back(value); }
    auto begin() { return entries_.begin(); }
    auto end() { return entries_.end(); }

  private:
    std::vector<T> entries_;
};

// A matrix that owns its entries, which are zero at the start.
template <class T>
class OwnedMatrix {
  public:
    OwnedMatrix(Index rows, Index columns)
        : entries_(static_cast<std::size_t>(rows * columns)), rows_(rows), columns_(columns) {}

    operator Matrix<T>() { return {entries_.data(), rows_, columns_}; }
    operator Matrix<const T>() const { return {entries_.data(), rows_, columns_}; }
    Matrix<T> view() { return *this; }
    Vector<T> operator[](Index i) { return view()[i]; }
    T &operator()(Index i, Index j) { return view()(i, j); }
    void fill(T value) { entries_.assign(entries_.size(), value); }

  private:
    std::vector<T> entries_;
    Index rows_, columns_;
};

// A CSR matrix; the columns of each row are ascending, and entries that are not stored are 0.
template <class T, class I>
struct Sparse {
    Vector<const T> data;
    Vector<const I> columns, starts;

    Index rows() const { return starts.n - 1; }

    // The entry (i, j).
    T operator()(Index i, Index j) const {
        Index low = starts[i], high = starts[i + 1];
        const Index stop = high;
        while (low < high) {
            const Index middle = low + (high - low) / 2;
            if (columns[middle] < j) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low < stop && columns[low] == j ? data[low] : T(0);
    }
};

}  // namespace similitude
