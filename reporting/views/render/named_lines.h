#pragma once
// Sections of names and values for a terminal, the values of a section below each other.

#include <string>
#include <utility>
#include <vector>

namespace deft::reporting {

// Names and values may come from a database or a child process, and are made printable.
class NamedLines {
 public:
    void section(const std::string& title);
    // An empty value prints as a dash.
    void add(const std::string& name, const std::string& value);
    // Each line of it by itself, without a name, after what was added before.
    void add_lines(const std::string& value);
    std::string take();

 private:
    static constexpr int kLeastWidth = 22;

    void close();

    std::string text_;
    std::vector<std::pair<std::string, std::string>> entries_;  // not written yet
    int width_ = kLeastWidth;
};

}  // namespace deft::reporting
