"""Write the ctypes view of the public headers: enumerators, structures and prototypes.

    python3 generate_abi.py HEADER... >_abi.py

The headers are plain C of one style, which this reads with a few regular expressions; tests/test_abi.py compares
the result with what a C compiler makes of them.  What is not understood is an error, never left out.
"""

import re
import sys

SCALARS = {"char": "c_char", "int": "c_int", "unsigned": "c_uint", "double": "c_double", "size_t": "c_size_t",
           "int8_t": "c_int8", "int32_t": "c_int32", "int64_t": "c_int64", "void": None}


class Header:
    """The declarations of several headers, in their order."""

    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        self.version = re.search(r'#define TRS_VERSION\s+"(.*?)"', text)[1]
        text = re.sub(r"^#.*?(?<!\\)$", " ", text, flags=re.M | re.S)
        text = re.sub(r'extern\s+"C"\s*\{', " ", text)
        self.constants, self.structs, self.functions = {}, {}, {}
        self.enums, self.opaque = set(), {"struct trs_core"}
        for name, body in re.findall(r"(?:typedef\s+)?enum\s*(\w*)\s*\{(.*?)\}", text, flags=re.S):
            self.read_enum(name, body)
        self.opaque.update(re.findall(r"typedef struct (\w+) \1\s*;", text))
        for name, body in re.findall(r"typedef struct (\w+)\s*\{(.*?)\}\s*\1\s*;", text, flags=re.S):
            self.structs[name] = [field for line in body.split(";") if line.strip() for field in self.fields(line)]
        for result, name, arguments in re.findall(r"TRS_API\s+([\w\s*]+?)\b(\w+)\((.*?)\)\s*;", text, flags=re.S):
            self.functions[name] = self.ctype(result), self.arguments(arguments)

    def read_enum(self, name, body):
        self.enums.add(name)
        value = -1
        for item in filter(None, map(str.strip, body.split(","))):
            key, _, number = item.partition("=")
            value = int(number, 0) if number else value + 1
            self.constants[key.strip()] = value

    def ctype(self, declaration):
        """The ctypes name of a C type, as of "const trs_plan **"."""
        stars = declaration.count("*")
        base = " ".join(word for word in declaration.replace("*", " ").split() if word != "const")
        if base in self.opaque or base == "void" and stars:
            base, stars = "c_void_p", stars - 1
        elif base == "char" and stars:
            base, stars = "c_char_p", stars - 1
        elif base in self.enums:
            base = "c_int"
        elif base in SCALARS:
            base = SCALARS[base]
        elif base not in self.structs:
            raise ValueError(f"unknown type: {declaration!r}")
        for _ in range(stars):
            base = f"POINTER({base})"
        return base

    def fields(self, line):
        """The (name, ctypes name) of each member of "const trs_plan *l, *u"."""
        line = " ".join(line.split())
        if "(*" in line:
            return [(re.search(r"\(\*(\w+)\)", line)[1], "c_void_p")]
        kind, declarators = re.fullmatch(r"((?:const )?\w+) ?(.*)", line).groups()
        result = []
        for declarator in declarators.split(","):
            stars, name, length = re.fullmatch(r"\s*(\**)\s*(\w+)(?:\[(\d+)\])?", declarator).groups()
            result.append((name, self.ctype(kind + stars) + (f" * {length}" if length else "")))
        return result

    def arguments(self, text):
        text = re.sub(r"\w[\w\s]*\(\*(\w+)\)\([^)]*\)", r"void *\1", " ".join(text.split()))  # a function
        text = re.sub(r"(\w+)\[\d*\]", r"*\1", text)  # an array
        return [] if text == "void" else [self.ctype(re.sub(r"\w+$", "", item.strip())) for item in text.split(",")]

    def python(self):
        """The text of the module."""
        yield '"""Generated from the public headers by generate_abi.py."""'
        names = sorted({"POINTER", "Structure", "c_char_p", "c_void_p", *filter(None, SCALARS.values())})
        yield f"from ctypes import {', '.join(names)}\n"
        yield f"VERSION = {self.version!r}\n"
        for name, value in self.constants.items():
            yield f"{name} = {value}"
        for name, fields in self.structs.items():
            yield f"\n\nclass {name}(Structure):\n    _fields_ = ["
            yield from (f"        ({field!r}, {kind})," for field, kind in fields)
            yield "    ]"
        yield "\n\nPROTOTYPES = {"
        for name, (result, arguments) in self.functions.items():
            yield f"    {name!r}: ({result}, [{', '.join(arguments)}]),"
        yield "}"


def generate(paths):
    texts = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    return "\n".join(Header("\n".join(texts)).python()) + "\n"


if __name__ == "__main__":
    sys.stdout.write(generate(sys.argv[1:]))
