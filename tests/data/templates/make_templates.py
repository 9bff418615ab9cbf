"""Renders chat templates with transformers and writes what must come out to templates.json.

families/*.jinja are templates in the style of published families, each rendered for every conversation below;
language.txt holds short templates, one feature each, rendered for the first one. Cases that transformers renders only
with `tools` undefined say so. Needs transformers 5 and Jinja2 3.1.6: python make_templates.py
"""

import datetime
import json
import pathlib

import jinja2
from transformers.utils import chat_template_utils

FOLDER = pathlib.Path(__file__).parent
NOW = datetime.datetime(2025, 3, 9, 14, 5, 7)


class FixedClock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


def function(name, description, properties, required=None):
    parameters = {"type": "object", "properties": properties}
    if required is not None:
        parameters["required"] = required
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def call(name, arguments, identity="a1b2c3d4e"):
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


TOOLS = [
    function(
        "weather",
        "The weather of a place.\nToday only.",
        {
            "place": {"type": "string", "description": "city, \"country\""},
            "unit": {"type": "string", "enum": ["°C", "°F"], "default": "°C"},
            "days": {"type": "integer", "default": 1},
        },
        ["place"],
    ),
    function(
        "search",
        "Looks for <texts> & more",
        {
            "words": {"type": "array", "items": {"type": "string"}},
            "weights": {"type": ["number", "null"]},
            "filter": {"type": "object", "properties": {"lang": {"type": "string", "nullable": True}}, "required": []},
            "any": {"oneOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "integer"}}]},
        },
    ),
    function("now", "No arguments", {}),
]
SYSTEM = {"role": "system", "content": "Be brief. "}
ASK = {"role": "user", "content": " What's 2+2?\n"}
CONVERSATIONS = {
    "turns": {
        "messages": [
            SYSTEM, ASK, {"role": "assistant", "content": "<think>\nsum\n</think>\n\nFour"},
            {"role": "user", "content": 'Übung "x" 日本 😀'},
        ]
    },
    "one": {"messages": [{"role": "user", "content": "Hi"}]},
    "complete": {"messages": [ASK, {"role": "assistant", "content": "4"}], "add_generation_prompt": False},
    "empty": {"messages": [{"role": "system", "content": ""}, {"role": "user", "content": ""},
                           {"role": "assistant", "content": ""}, {"role": "user", "content": "\n\n"}]},
    "tools": {"messages": [SYSTEM, {"role": "user", "content": "Weather in Zürich?"}], "tools": TOOLS},
    "call": {
        "messages": [
            {"role": "user", "content": "Weather in Zürich?"},
            {"role": "assistant", "content": "", "tool_calls": [call("weather", {"place": "Zürich", "days": 2})]},
            {"role": "tool", "name": "weather", "tool_call_id": "a1b2c3d4e", "content": '{"sky": "blau", "t": 21.5}'},
            {"role": "assistant", "content": "Sunny."},
            {"role": "user", "content": "Thanks"},
        ],
        "tools": TOOLS[:1],
    },
    "calls": {
        "messages": [
            SYSTEM,
            {"role": "user", "content": "Both"},
            {"role": "assistant", "content": None, "reasoning_content": "two things\n",
             "tool_calls": [call("weather", {"place": "A\nB"}), call("now", {}, "zzzzzzzz9")]},
            {"role": "tool", "tool_call_id": "a1b2c3d4e", "content": "rain"},
            {"role": "tool", "tool_call_id": "zzzzzzzz9", "content": "12:00"},
        ],
        "tools": TOOLS,
    },
    "thinking": {
        "messages": [ASK, {"role": "assistant", "content": "4", "thinking": "2 and 2"}, {"role": "user", "content": "And 3+3?"}],
        "variables": {"enable_thinking": False, "reasoning_effort": "high", "thinking": True},
    },
    "parts": {
        "messages": [
            {"role": "system", "content": [{"type": "text", "text": "See."}]},
            {"role": "user", "content": [{"type": "text", "text": " What is "}, {"type": "image"}, {"type": "text", "text": "this?"}]},
        ]
    },
    "documents": {
        "messages": [{"role": "user", "content": "Who?"}],
        "documents": [{"title": "One", "text": "Ada."}, {"doc_id": 7, "title": "Two", "text": "Grace \"G\"."}],
        "variables": {"controls": {"citations": True, "length": "short"}},
    },
    "disorder": {"messages": [{"role": "assistant", "content": "I begin"}, {"role": "user", "content": "No"}]},
}


def as_transformers(source, given, variables):
    texts, _ = chat_template_utils.render_jinja_template(
        conversations=[given["messages"]], tools=given.get("tools"), chat_template=source, **variables)
    return texts[0]


def without_tools(source, given, variables):
    return chat_template_utils._compile_jinja_template(source).render(messages=given["messages"], **variables)


def attempt(how, source, given):
    """The text, or why there is none: of raise_exception what it says."""
    variables = {"documents": given.get("documents"), "add_generation_prompt": given.get("add_generation_prompt", True),
                 "bos_token": "<s>", "eos_token": "</s>", **given.get("variables", {})}
    try:
        return {"expected": how(source, given, variables)}
    except jinja2.exceptions.TemplateError as error:
        ours = type(error) is jinja2.exceptions.TemplateError
        return {"refused": str(error) if ours else ""}
    except (TypeError, ValueError, OverflowError, AttributeError, LookupError, RecursionError):
        return {"refused": ""}


def render(source, conversation):
    """Where transformers fails and there are no tools, `tools` is left undefined."""
    given = CONVERSATIONS[conversation]
    case = attempt(as_transformers, source, given)
    if "expected" in case or given.get("tools"):
        return case
    without = attempt(without_tools, source, given)
    return {"undefined": "tools", **without} if "expected" in without else case


def main():
    chat_template_utils.datetime = FixedClock
    cases = []
    for path in sorted((FOLDER / "families").glob("*.jinja")):
        for conversation in CONVERSATIONS:
            cases.append({"family": path.name, "conversation": conversation, **render(path.read_text(), conversation)})
    for section in ("\n" + (FOLDER / "language.txt").read_text()).split("\n=== ")[1:]:
        name, _, source = section.partition("\n")
        cases.append({"name": name, "template": source, "conversation": "turns", **render(source, "turns")})
    document = {"now": NOW.isoformat(), "conversations": CONVERSATIONS, "cases": cases}
    (FOLDER / "templates.json").write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    print(len(cases), "cases,", sum("refused" in case for case in cases), "refused")


main()
