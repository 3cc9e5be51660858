// Edge lists as text: the ends of each edge as numbers of names, and its score, from blocks of lines.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/views.hpp"

namespace similitude::edges {

using Code = std::int32_t;

// The names of the samples, each with the number of its first appearance. The texts lie one after the other in one
// string, and a table with open addressing finds them.
class Names {
  public:
    Names() : slots_(1024, -1) { starts_.push_back(0); }

    Code code(std::string_view name) {
        const std::size_t hash = std::hash<std::string_view>{}(name);
        std::size_t place = hash & (slots_.size() - 1);
        while (slots_[place] >= 0) {
            if (hashes_[slots_[place]] == hash && (*this)[slots_[place]] == name) return slots_[place];
            place = (place + 1) & (slots_.size() - 1);
        }
        if (hashes_.size() == std::size_t(std::numeric_limits<Code>::max())) {
            throw std::invalid_argument("there are more than 2,147,483,647 samples.");
        }
        const Code code = Code(hashes_.size());
        slots_[place] = code;
        hashes_.push_back(hash);
        text_.append(name);
        starts_.push_back(text_.size());
        if (2 * hashes_.size() > slots_.size()) grow();
        return code;
    }

    std::string_view operator[](Code code) const {
        return std::string_view(text_).substr(starts_[code], starts_[code + 1] - starts_[code]);
    }

    Index size() const { return Index(hashes_.size()); }

  private:
    void grow() {
        std::vector<Code> slots(2 * slots_.size(), -1);
        for (std::size_t code = 0; code < hashes_.size(); ++code) {
            std::size_t place = hashes_[code] & (slots.size() - 1);
            while (slots[place] >= 0) place = (place + 1) & (slots.size() - 1);
            slots[place] = Code(code);
        }
        slots_.swap(slots);
    }

    std::string text_;
    std::vector<std::size_t> starts_, hashes_;
    std::vector<Code> slots_;
};

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

inline std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

// Return whether the text is a number, and write it; numbers too small for a double are 0, too large ones infinite.
inline bool number(std::string_view text, double &value) {
    if (!text.empty() && text.front() == '+') text.remove_prefix(1);
    if (text.empty() || text.front() == '+') return false;
#if defined(__cpp_lib_to_chars)
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc()) return end == text.data() + text.size();
    if (error != std::errc::result_out_of_range || end != text.data() + text.size()) return false;
#endif
    for (const char c : text) {
        if (c == 'x' || c == 'X' || c == '(') return false;
    }
    const std::string copy(text);
    char *last = nullptr;
    value = std::strtod(copy.c_str(), &last);
    return last == copy.c_str() + copy.size();
}

// Where the parts of an edge are among the cells of a line, from 0.
struct Columns {
    Index query, target, score;
};

// Reads the lines of an edge list. A line has `width` cells; a blank line, and one that begins with # and has another
// number of cells, is left out. A delimiter of ' ' means any run of blanks.
class EdgeLines {
  public:
    EdgeLines(char delimiter, Columns columns, Index width, Index line)
        : delimiter_(delimiter), columns_(columns), width_(width), line_(line), cells_(std::size_t(width)),
          unquoted_(std::size_t(width)) {}

    // Write the edges of whole lines, and return their number; there is room for one edge a line.
    Index read(std::string_view block, Vector<Code> queries, Vector<Code> targets, Vector<double> scores) {
        Index n = 0;
        while (!block.empty()) {
            const std::size_t end = block.find('\n');
            std::string_view line = block.substr(0, end);
            block.remove_prefix(end == std::string_view::npos ? block.size() : end + 1);
            ++line_;
            if (trimmed(line).empty()) continue;
            const Index found = split(line);
            if (found != width_) {
                if (line.front() == '#') continue;
                throw std::invalid_argument("row " + std::to_string(line_) + " has " + std::to_string(found) +
                                            (found == 1 ? " cell" : " cells") + "; the first row has " +
                                            std::to_string(width_) + ".");
            }
            if (n >= queries.n) throw std::invalid_argument("there are more lines than places for edges.");
            queries[n] = code(columns_.query, last_query_);
            targets[n] = code(columns_.target, last_target_);
            scores[n] = score(cells_[std::size_t(columns_.score)]);
            ++n;
        }
        return n;
    }

    const Names &names() const { return names_; }

  private:
    // Cut the line into cells, and return their number, of which at most `width` are kept.
    Index split(std::string_view line) {
        Index n = 0;
        if (delimiter_ == ' ') {
            line = trimmed(line);
            while (!line.empty()) {
                std::size_t end = 0;
                while (end < line.size() && !is_blank(line[end])) ++end;
                keep(n++, line.substr(0, end));
                line = trimmed(line.substr(end));
            }
            return n;
        }
        while (true) {
            const std::size_t first = line.find_first_not_of(' ');
            if (first != std::string_view::npos && line[first] == '"') {
                line = keep_quoted(n++, line.substr(first + 1));
            } else {
                const std::size_t end = line.find(delimiter_);
                keep(n++, trimmed(line.substr(0, end)));
                line = end == std::string_view::npos ? std::string_view{} : line.substr(end);
            }
            if (line.empty()) return n;
            line.remove_prefix(1);
        }
    }

    // Keep a cell that began with a quote, and return the line from the next delimiter on.
    std::string_view keep_quoted(Index n, std::string_view line) {
        if (n >= width_) return {};
        std::string &text = unquoted_[std::size_t(n)];
        text.clear();
        while (true) {
            const std::size_t quote = line.find('"');
            if (quote == std::string_view::npos) {
                throw std::invalid_argument("row " + std::to_string(line_) + ": a quote is not closed.");
            }
            text.append(line.substr(0, quote));
            line.remove_prefix(quote + 1);
            if (line.empty() || line.front() != '"') break;
            text.push_back('"');
            line.remove_prefix(1);
        }
        keep(n, trimmed(text));
        const std::size_t end = line.find(delimiter_);
        return end == std::string_view::npos ? std::string_view{} : line.substr(end);
    }

    void keep(Index n, std::string_view cell) {
        if (n < width_) cells_[std::size_t(n)] = cell;
    }

    Code code(Index column, std::pair<std::string, Code> &last) {
        const std::string_view name = cells_[std::size_t(column)];
        if (name.empty()) {
            throw std::invalid_argument("row " + std::to_string(line_) + ", column " + std::to_string(column + 1) +
                                        " is empty; an id is needed.");
        }
        // Hits of one query usually follow one another.
        if (last.second < 0 || last.first != name) last = {std::string(name), names_.code(name)};
        return last.second;
    }

    double score(std::string_view text) const {
        double value = 0;
        const bool is_number = number(text, value);
        if (is_number && std::isfinite(value)) return value;
        throw std::invalid_argument("row " + std::to_string(line_) + ", column " + std::to_string(columns_.score + 1) +
                                    ": '" + std::string(text.substr(0, 40)) + "' is not a " +
                                    (is_number ? "finite " : "") + "number.");
    }

    char delimiter_;
    Columns columns_;
    Index width_, line_;
    std::vector<std::string_view> cells_;
    std::vector<std::string> unquoted_;  // the texts of cells with quotes, to which the cells point
    Names names_;
    std::pair<std::string, Code> last_query_{"", -1}, last_target_{"", -1};
};

}  // namespace similitude::edges
