// Result<T>: a value, or every problem that kept it from being made. Control plane only.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace eddy {

// One problem, ready to print: "file:line:column: what, what would be valid" or just the text.
using Problems = std::vector<std::string>;

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}               // NOLINT(google-explicit-constructor)
  Result(Problems problems) : state_(std::move(problems)) {}  // NOLINT(google-explicit-constructor)
  static Result failure(std::string problem) { return Result(Problems{std::move(problem)}); }

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }
  T& value() { return std::get<T>(state_); }
  const T& value() const { return std::get<T>(state_); }
  const Problems& problems() const { return std::get<Problems>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Problems> state_;
};

}  // namespace eddy
