"""check.py SCHEMA LINES: checks that each line of a file fits the schema, and that each shape of the schema occurs."""

import json
import sys

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
Draft202012Validator.check_schema(schema)


def of(shape):
    return Draft202012Validator({"$ref": shape["$ref"], "$defs": schema["$defs"]})


shapes = {shape["$ref"].rsplit("/")[-1]: of(shape) for shape in schema["oneOf"]}
seen, count, wrong = dict.fromkeys(shapes, 0), 0, []
with open(sys.argv[2], encoding="utf-8") as lines:
    for line in lines:
        count += 1
        try:
            value = json.loads(line)
        except ValueError as error:
            wrong.append(f"not JSON: {error}: {line[:300]}")
            continue
        fits = [name for name, validator in shapes.items() if validator.is_valid(value)]
        for name in fits:
            seen[name] += 1
        if len(fits) != 1:
            why = best_match(Draft202012Validator(schema).iter_errors(value)) if not fits else None
            wrong.append(f"{', '.join(fits) or why.message[:300]}: {line[:500].strip()}")
missing = [name for name, times in seen.items() if times == 0]
print(f"{count} lines of JSON, {len(wrong)} that the schema does not describe")
if missing:
    print("no test has printed: " + ", ".join(missing))
for line in wrong[:20]:
    print(line)
sys.exit(1 if wrong or missing or count == 0 else 0)
