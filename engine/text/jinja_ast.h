// The tree of a parsed template. Immutable, so that one template can be rendered from several threads.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/text/jinja_value.h"

namespace orrery::text::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;

struct Expression {
  enum class Kind {
    constant,     // value
    name,         // text
    list,         // children; text "tuple" or empty
    dict,         // children: key, value, key, value, ...
    unary,        // text "not" "-" "+"; children[0]
    binary,       // text "+" "-" "*" "/" "//" "%" "**" "~" "and" "or"
    compare,      // operators[i] between children[i] and children[i + 1]
    conditional,  // children: then, condition, else (may be null)
    attribute,    // children[0] . text
    subscript,    // children[0] [ children[1] ]
    slice,        // children[0] [ children[1] : children[2] : children[3] ], each may be null
    call,         // children[0] ( children[1..] , named )
    filter,       // children[0] | text ( children[1..] , named ); children[0] null in a filter block
    test,         // children[0] is text ( children[1..] )
    spread,       // * children[0], among the arguments of a call; ** is `named` with an empty name
  };
  Kind kind;
  int line = 1;
  int depth = 1;
  std::string text;
  Value value;
  std::vector<ExpressionPtr> children;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  std::vector<std::string> operators;
};

/// What a value is bound to: a name, an attribute of a namespace, or parts that take it apart.
struct Target {
  std::string name, attribute;
  std::vector<Target> parts;
};

/// The parameters of a macro; the last ones have defaults. What its body names beside them it also takes.
struct Signature {
  std::vector<std::string> names;
  std::vector<ExpressionPtr> defaults;
  bool varargs = false, kwargs = false, caller = false;
};

struct Statement;
using Block = std::vector<std::unique_ptr<const Statement>>;

struct Statement {
  enum class Kind {
    text,        // text
    output,      // value
    condition,   // branches in order; a null condition is the else
    loop,        // for target in value if filter: body; else; recursive
    set,         // target = value
    capture,     // {% set target | filter %} body {% endset %}
    with,        // bindings: target = value of each, around body
    filtered,    // {% filter ... %} body
    macro,       // text is its name: signature, body
    call,        // {% call(signature) value %} body
    generation,  // body, in a scope of its own
    loop_break,
    loop_continue,
  };
  Kind kind;
  int line = 1;
  std::string text;
  Target target;
  bool recursive = false;
  ExpressionPtr value, filter;  // filter: a condition of a loop; a chain of filters of the text elsewhere
  std::vector<std::pair<Target, ExpressionPtr>> bindings;
  std::vector<std::pair<ExpressionPtr, Block>> branches;
  Signature signature;
  Block body, otherwise;
};

}  // namespace orrery::text::jinja
