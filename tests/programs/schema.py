"""schema.py SCHEMA DOCUMENT...: the documents follow the schema, and have no other members than those that it describes."""
import json
import sys

from jsonschema import Draft202012Validator


def close(node):
    """Members that the schema does not describe may come with a later version; those of this one are all described."""
    if isinstance(node, dict):
        if "required" in node and "properties" in node and "allOf" not in node:
            node["additionalProperties"] = False
        for inner in node.values():
            close(inner)
    elif isinstance(node, list):
        for inner in node:
            close(inner)


schema = json.load(open(sys.argv[1], encoding="utf-8"))
Draft202012Validator.check_schema(schema)
close(schema["$defs"])
bad = 0
for name in sys.argv[2:]:
    for error in Draft202012Validator(schema).iter_errors(json.load(open(name, encoding="utf-8"))):
        print(f"{name}: {error.json_path}: {error.message[:300]}", file=sys.stderr)
        bad = 1
sys.exit(bad)
