// A setting of the test module, which is a variable of the environment, for a while.
#pragma once

#include <cstdlib>

namespace orrery {

/// Sets it while it lives, for this program and for those that are started meanwhile.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

}  // namespace orrery
