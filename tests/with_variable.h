#pragma once
// An environment variable that has another value until the test ends.

#include <cstdlib>
#include <optional>
#include <string>

namespace deft::test {

class WithVariable {
 public:
    WithVariable(const char* name, const std::string& value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        ::setenv(name, value.c_str(), 1);
    }
    ~WithVariable() {
        if (before_)
            ::setenv(name_, before_->c_str(), 1);
        else
            ::unsetenv(name_);
    }
    WithVariable(const WithVariable&) = delete;
    WithVariable& operator=(const WithVariable&) = delete;

 private:
    const char* name_;
    std::optional<std::string> before_;
};

}  // namespace deft::test
