// Trees whose nodes send a sample to the branch of the exemplar that it is most similar to.
//
// A node draws a similarity and one exemplar of each of its classes, a few times, and keeps the draw that leaves the
// least Gini impurity. A sample that is equally similar to several of the exemplars goes to a branch of its own, so
// that the order of classes and samples decides nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/views.hpp"

namespace similitude {

// The numbers of splitmix64, which are the same on all machines.
class SplitMix {
  public:
    explicit SplitMix(std::uint64_t seed) : state_(seed) {}

    // A number from 0 to n - 1, with n < 2^32.
    Index below(Index n) {
        state_ += 0x9E3779B97F4A7C15u;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        z ^= z >> 31;
        return static_cast<Index>(((z >> 32) * static_cast<std::uint64_t>(n)) >> 32);
    }

  private:
    std::uint64_t state_;
};

// What a node does, if it is not the number of a similarity.
enum Kind : std::int32_t { leaf = -1, shared = -2 };

// The nodes of a tree. The children of a node follow each other; the last may be the branch of ties, without exemplar.
template <class I>
struct Tree {
    Vector<I> kinds;      // the similarity of a node; leaf; or shared, if a row counts in equal parts in all children
    Vector<I> first;      // the first child; the class of a leaf
    Vector<I> counts;     // the number of children
    Vector<I> exemplars;  // the exemplar by whose branch the node is reached; -1 if there is none
};

class TreeGrowing {
  public:
    TreeGrowing(Cube<const double> similarities, Vector<const Index> codes, Index n_classes, Index n_candidates)
        : similarities_(similarities), codes_(codes), n_(codes.n), n_candidates_(n_candidates),
          samples_(static_cast<std::size_t>(n_)), sorted_(samples_), branches_(samples_), best_branches_(samples_),
          sizes_(static_cast<std::size_t>(n_classes)), local_(sizes_) {}

    // Grow a tree; gains are added to those of the similarities, and the number of nodes is returned.
    Index grow(std::uint64_t seed, const Tree<std::int32_t> &tree, Vector<double> gains) {
        SplitMix random(seed);
        for (Index i = 0; i < n_; ++i) samples_[at(i)] = i;
        starts_.assign(1, 0);
        stops_.assign(1, n_);
        tree.exemplars[0] = -1;
        for (Index node = 0; node < static_cast<Index>(starts_.size()); ++node) split(node, random, tree, gains);
        return static_cast<Index>(starts_.size());
    }

  private:
    static std::size_t at(Index i) { return static_cast<std::size_t>(i); }

    void split(Index node, SplitMix &random, const Tree<std::int32_t> &tree, Vector<double> gains) {
        const Index start = starts_[at(node)], stop = stops_[at(node)];
        sort_by_class(start, stop);
        const Index k = static_cast<Index>(present_.size());
        if (k == 1) {
            set(tree, node, leaf, present_[0], 0);
            return;
        }
        double least = std::numeric_limits<double>::infinity();
        Index chosen = -1;
        for (Index draw = 0; draw < n_candidates_; ++draw) {
            const Index v = random.below(similarities_.depth);
            exemplars_.clear();
            for (Index g = 0; g < k; ++g) {
                const Index first = class_starts_[at(g)];
                exemplars_.push_back(samples_[at(first + random.below(class_starts_[at(g + 1)] - first))]);
            }
            const double impurity = assign(similarities_[v], start, stop);
            if (impurity < least) {
                least = impurity;
                chosen = v;
                best_exemplars_ = exemplars_;
                best_branches_.swap(branches_);
            }
        }
        if (chosen < 0) {
            share(node, start, stop, tree);
            return;
        }
        gains[chosen] += own_impurity(start, stop) - least;
        branch(node, start, stop, chosen, tree);
    }

    static void set(const Tree<std::int32_t> &tree, Index node, Index kind, Index first, Index count) {
        tree.kinds[node] = static_cast<std::int32_t>(kind);
        tree.first[node] = static_cast<std::int32_t>(first);
        tree.counts[node] = static_cast<std::int32_t>(count);
    }

    // Sort the samples of a node by class, without changing their order within a class.
    void sort_by_class(Index start, Index stop) {
        std::fill(sizes_.begin(), sizes_.end(), 0);
        for (Index i = start; i < stop; ++i) ++sizes_[at(codes_[samples_[at(i)]])];
        present_.clear();
        class_starts_.assign(1, start);
        for (Index g = 0; g < static_cast<Index>(sizes_.size()); ++g) {
            if (sizes_[at(g)] == 0) continue;
            local_[at(g)] = static_cast<Index>(present_.size());
            present_.push_back(g);
            class_starts_.push_back(class_starts_.back() + sizes_[at(g)]);
        }
        places_.assign(class_starts_.begin(), class_starts_.end() - 1);
        for (Index i = start; i < stop; ++i) {
            const Index sample = samples_[at(i)];
            sorted_[at(places_[at(local_[at(codes_[sample])])]++)] = sample;
        }
        std::copy(sorted_.begin() + start, sorted_.begin() + stop, samples_.begin() + start);
    }

    double own_impurity(Index start, Index stop) const {
        double squares = 0.0;
        for (std::size_t g = 0; g + 1 < class_starts_.size(); ++g) {
            const double size = static_cast<double>(class_starts_[g + 1] - class_starts_[g]);
            squares += size * size;
        }
        const double total = static_cast<double>(stop - start);
        return total - squares / total;
    }

    // Assign samples to the branches of the exemplars, and return the impurity that is left: infinite if all samples
    // but the exemplars are tied.
    double assign(Matrix<const double> S, Index start, Index stop) {
        const Index k = static_cast<Index>(exemplars_.size());
        table_.assign(at((k + 1) * k), 0);
        Index others = 0, tied = 0;
        for (Index g = 0; g < k; ++g) {
            for (Index i = class_starts_[at(g)]; i < class_starts_[at(g + 1)]; ++i) {
                const Index sample = samples_[at(i)];
                Index branch = g;
                if (sample != exemplars_[at(g)]) {
                    branch = nearest(S[sample]);
                    ++others;
                    tied += branch == k;
                }
                branches_[at(i)] = branch;
                ++table_[at(branch * k + g)];
            }
        }
        if (others > 0 && tied == others) return std::numeric_limits<double>::infinity();
        double impurity = 0.0;
        for (Index b = 0; b <= k; ++b) {
            double total = 0.0, squares = 0.0;
            for (Index g = 0; g < k; ++g) {
                const double size = static_cast<double>(table_[at(b * k + g)]);
                total += size;
                squares += size * size;
            }
            if (total > 0.0) impurity += total - squares / total;
        }
        return impurity;
    }

    // The branch of the most similar exemplar, or the branch of ties.
    Index nearest(Vector<const double> row) const {
        const Index k = static_cast<Index>(exemplars_.size());
        Index best = 0;
        bool tied = false;
        double largest = row[exemplars_[0]];
        for (Index e = 1; e < k; ++e) {
            const double value = row[exemplars_[at(e)]];
            if (value > largest) {
                largest = value;
                best = e;
                tied = false;
            } else if (value == largest) {
                tied = true;
            }
        }
        return tied ? k : best;
    }

    // Make a child for each branch.
    void branch(Index node, Index start, Index stop, Index chosen, const Tree<std::int32_t> &tree) {
        const Index k = static_cast<Index>(best_exemplars_.size());
        places_.assign(at(k + 2), 0);
        for (Index i = start; i < stop; ++i) ++places_[at(best_branches_[at(i)] + 1)];
        const bool ties = places_[at(k + 1)] > 0;
        places_[0] = start;
        for (Index b = 0; b <= k; ++b) places_[at(b + 1)] += places_[at(b)];
        const Index first = static_cast<Index>(starts_.size()), count = k + ties;
        for (Index b = 0; b < count; ++b) {
            tree.exemplars[first + b] = b < k ? static_cast<std::int32_t>(best_exemplars_[at(b)]) : -1;
            starts_.push_back(places_[at(b)]);
            stops_.push_back(places_[at(b + 1)]);
        }
        for (Index i = start; i < stop; ++i) sorted_[at(places_[at(best_branches_[at(i)])]++)] = samples_[at(i)];
        std::copy(sorted_.begin() + start, sorted_.begin() + stop, samples_.begin() + start);
        set(tree, node, chosen, first, count);
    }

    // Make a leaf for each sample of a node whose samples cannot be told apart.
    void share(Index node, Index start, Index stop, const Tree<std::int32_t> &tree) {
        const Index first = static_cast<Index>(starts_.size());
        for (Index i = start; i < stop; ++i) {
            tree.exemplars[first + i - start] = -1;
            starts_.push_back(i);
            stops_.push_back(i + 1);
        }
        set(tree, node, shared, first, stop - start);
    }

    Cube<const double> similarities_;
    Vector<const Index> codes_;
    Index n_, n_candidates_;
    std::vector<Index> samples_, sorted_, branches_, best_branches_;  // by place; those of a node follow each other
    std::vector<Index> sizes_, local_;                                // by class
    std::vector<Index> present_, class_starts_, exemplars_, best_exemplars_, places_, table_;  // of a node
    std::vector<Index> starts_, stops_;                                                        // by node
};

// Add the votes of a tree for one row, whose similarities to the exemplars are the columns of rows.
class TreeVote {
  public:
    void add(const Tree<const std::int32_t> &tree, Cube<const double> rows, Index row, Vector<double> votes) {
        waiting_.assign(1, {0, 1.0});
        while (!waiting_.empty()) {
            const auto [node, weight] = waiting_.back();
            waiting_.pop_back();
            const std::int32_t kind = tree.kinds[node], first = tree.first[node], count = tree.counts[node];
            if (kind == leaf) {
                votes[first] += weight;
            } else if (kind == shared) {
                for (std::int32_t c = 0; c < count; ++c) waiting_.push_back({first + c, weight / count});
            } else {
                follow(tree, rows[kind][row], first, count, weight);
            }
        }
    }

  private:
    struct Part {
        Index node;
        double weight;
    };

    void follow(const Tree<const std::int32_t> &tree, Vector<const double> similarities, Index first, Index count,
                double weight) {
        const bool ties = tree.exemplars[first + count - 1] < 0;
        const Index k = count - ties;
        double largest = -std::numeric_limits<double>::infinity();
        Index best = 0, n_best = 0;
        for (Index e = 0; e < k; ++e) {
            const double value = similarities[tree.exemplars[first + e]];
            if (value > largest) {
                largest = value;
                best = e;
                n_best = 1;
            } else if (value == largest) {
                ++n_best;
            }
        }
        if (n_best == 1) {
            waiting_.push_back({first + best, weight});
        } else if (ties) {
            waiting_.push_back({first + k, weight});
        } else {
            for (Index e = 0; e < k; ++e) {
                if (similarities[tree.exemplars[first + e]] == largest) {
                    waiting_.push_back({first + e, weight / static_cast<double>(n_best)});
                }
            }
        }
    }

    std::vector<Part> waiting_;
};

}  // namespace similitude
