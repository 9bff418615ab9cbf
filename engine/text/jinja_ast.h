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
    filter,       // children[0] | text ( children[1..] , named )
    test,         // children[0] is text ( children[1..] )
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

struct Statement;
using Block = std::vector<std::unique_ptr<const Statement>>;

struct Statement {
  enum class Kind {
    text,       // text
    output,     // value
    condition,  // branches in order; a null condition is the else
    loop,       // for names in value if filter: body; else
    set,        // names = value; with `attribute`: names[0].attribute = value
    capture,    // {% set name %} body {% endset %}
    group,      // body, nothing else
    loop_break,
    loop_continue,
  };
  Kind kind;
  int line = 1;
  std::string text, attribute;
  std::vector<std::string> names;
  ExpressionPtr value, filter;
  std::vector<std::pair<ExpressionPtr, Block>> branches;
  Block body, otherwise;
};

}  // namespace orrery::text::jinja
