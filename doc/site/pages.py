#!/usr/bin/env python3
"""pages.py SOURCE BUILD OUT: collect the pages of the site in OUT, for Sphinx.

The Markdown files of the tree keep their places, so that their links stay as they are.  Everything else is made from
what is already there: manual pages (those of functions come from the public headers), docstrings of the Python package,
the JSON Schema, CITATION.cff.  The programs of BUILD draw the pictures.
"""

import ast
import csv
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # beside report.py, where nothing may be written
SOURCE, BUILD, OUT = (Path(p).resolve() for p in sys.argv[1:4])
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
NAMED = re.compile(r"(\*\*|)((?:trs|TRS)(?:\\?_\w+?)+|trisolve-[a-z-]+)(\*\*|)\((\d?)\)")
TOPICS = "plans solve factors matrix-market errors".split()
FRAMES = {"jax": "jax/__init__.py", "jax.lineax": "jax/lineax.py", "torch": "torch.py"}
PROGRAMS = {"sparse": "trisolve-sparse-program", "info": "trisolve-info", "bench": "trisolve-bench", "gen": "trisolve-gen"}


def write(name, words):
    target = OUT / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(words, encoding="utf-8")


# ---- the Markdown files of the tree ---------------------------------------------------------------

def copy_documents():
    """Those that the first page leads to, by one link after another, and the files that they link."""
    site = SOURCE / "doc/site"
    shutil.copy(site / "conf.py", OUT)
    index = (site / "index.md").read_text(encoding="utf-8")
    toctree = [name.strip(">") + ".md" for name in re.findall(r"^(?:.* <)?([A-Za-z/]+>?)$", index, re.M)]
    write("index.md", index)
    shutil.copy(SOURCE / "README.md", OUT)  # of which the first page includes a part
    wanted = [name for name in toctree if not name.startswith("reference/")]
    for name in wanted:  # which grows
        text = (SOURCE / name).read_text(encoding="utf-8")
        for link, _ in LINK.findall(re.sub(r"```.*?```", "", text, flags=re.S)):
            target = os.path.normpath(os.path.join(os.path.dirname(name), link))
            if re.match("[a-z]+:", link) or target in wanted:
                continue
            if (SOURCE / target).is_file() and target.endswith(".md") and target != "README.md":
                wanted.append(target)
            elif (SOURCE / target).is_file():
                (OUT / target).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(SOURCE / target, OUT / target)
        text = re.sub(r"^<!-- \w+: .*-->\n", "", text, flags=re.M)  # notes for the tests
        orphan = "" if name in toctree else "---\norphan: true\n---\n"
        write(name, orphan + text)


# ---- manual pages -------------------------------------------------------------------------------

def manual_text(file):
    page = subprocess.run(["mandoc", "-T", "markdown", file], check=True, capture_output=True, text=True).stdout
    lines = page.split("\n")[2:]
    while not lines[-1].strip() or re.search(r" - \w+ \d+, \d{4}$", lines[-1]):
        lines.pop()
    return "\n".join(lines) + "\n"


def fence(match, language):
    """Code is what mandoc has indented after an empty line; indented paragraphs of lists are text."""
    body = "\n".join(line[1:] for line in match[1].strip("\n").split("\n"))
    return f"\n```{language}\n{body}\n```\n"


def define(text):
    """Terms with a quotation below are definitions; quotations may have such terms in turn."""
    def definition(match):
        inner = define("\n".join(re.sub("^> ?", "", line) for line in match[2].rstrip("\n").split("\n")) + "\n")
        return f"{match[1]}\n: " + "\n".join("  " + line if line else "" for line in inner.rstrip("\n").split("\n")).lstrip() + "\n"
    return re.sub(r"^([^>#\s`].*)\n\n((?:>.*\n)+)", definition, text, flags=re.M)


def manual(file, name, links, language, own_pages=(), more=""):
    """A page; one of functions is a target for links by their names."""
    text = manual_text(file)
    title, about = re.search(r"# NAME\n\n(\*\*.*?) - (.*?)\n\n", text, re.S).groups()
    title = " ".join(title.replace("**", "").split())
    labels = title.replace("\\", "").split(", ") if file.stem in own_pages else [name]
    text = text[text.index("\n# ", 5) + 1:]
    text = re.sub(r"^(#+) (.*)$", lambda m: heading(m, language, own_pages), text, flags=re.M)
    if language == "c":
        text = re.sub(r"\n((?:\t.*\n|\n(?=\t))+)", lambda m: fence(m, "c"), text)
    else:
        text = re.sub(r"\n(\t\$ .*\n(?:\t.*\n)*)", lambda m: fence(m, "text"), text)
        text = re.sub(r"^\t+", lambda m: "> " * len(m[0]), text, flags=re.M)
    text = define(re.sub(r"'`([^`]*)`'", lambda m: "`" + re.sub(r"\\(.)|\*", r"\1", m[1]) + "`", text))
    parts = re.split(r"(```.*?```|`[^`]*`)", text, flags=re.S)  # code, in which there are no links, at odd places
    text = "".join(part if k % 2 else NAMED.sub(lambda m: cross(m, links), part) for k, part in enumerate(parts))
    write(f"reference/{name}.md", "".join(f"({label})=\n" for label in labels) + f"# {title}: {about}\n\n{text}{more}")


def heading(match, language, own_pages):
    """A heading of functions or of a type is a target for links, unless these have pages of their own."""
    names = [n.strip().replace("\\", "") for n in match[2].split(",")]
    if language == "c" and len(match[1]) == 2 and all(n.startswith(("trs_", "mm_")) for n in names):
        return "".join(f"({n})=\n" for n in names if n not in own_pages) + f"### {match[2]}"
    words = match[2].capitalize() if match[2].isupper() else match[2]
    return f"#{match[1]} {words}"


def cross(match, links):
    name = match[2].replace("\\", "")
    section = match[4]
    key = name + (f"({section})" if name.startswith("trisolve-") else "")
    if key not in links:
        return match[0]
    return f"{{ref}}`{name}({section}) <{links[key]}>`"


def examples(names):
    """Links to what calls functions: sections of the guide, and programs."""
    found = ""
    sections = re.split(r"^#+ (.*)$", (SOURCE / "doc/guide.md").read_text(encoding="utf-8"), flags=re.M)
    called = re.compile(rf"\b({'|'.join(names)})\(")
    for title, words in zip(sections[1::2], sections[2::2]):
        if any(called.search(block) for block in re.findall(r"```c\n(.*?)```", words, re.S)):
            anchor = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
            found += f"- [{title}](../../doc/guide.md#{anchor})\n"
    for file in sorted((SOURCE / "examples").glob("*.c")):
        if called.search(file.read_text(encoding="utf-8")):
            shutil.copy(file, OUT / "examples")
            found += f"- [examples/{file.name}](../../examples/{file.name})\n"
    return f"\n## Examples\n\n{found}" if found else ""


def pages_of_functions(topic):
    """The manual pages of the functions of a topic, by name."""
    folder = OUT / "man3"
    folder.mkdir(exist_ok=True)
    headers = [SOURCE / f"lib/trisolve-{name}.h" for name in ("sparse", "suitesparse", "mmio")]
    subprocess.run(["sh", SOURCE / "build-aux/header-man", "--pages", folder, SOURCE / f"doc/trisolve-{topic}.3.in",
                    *headers], check=True)
    return {file.stem: file for file in sorted(folder.glob("*.3"))}


def first_sentence(words):
    """Of what describes a function or a type; code is indented by a tab."""
    paragraphs = [p for p in words.split("\n\n") if p.strip() and not p.lstrip("\n").startswith(("\t", ">", "*", "#"))]
    return re.split(r"(?<=[.:])\s", " ".join(paragraphs[0].split()))[0] if paragraphs else "a type"


def manuals():
    links = {f"trisolve-{p}(1)": name for p, name in PROGRAMS.items()}
    links.update({f"trisolve-{t}(3)": f"trisolve-{t}" for t in TOPICS})
    links["trisolve-sparse(3)"] = "functions"
    functions = {}  # and types, with their first sentences
    for topic in TOPICS:
        found = re.split(r"^## (.*)$", manual_text(BUILD / f"doc/trisolve-{topic}.3"), flags=re.M)
        for names, words in zip(found[1::2], found[2::2]):
            for name in names.replace("\\", "").split(", "):
                if name.startswith(("trs_", "mm_")):
                    functions[name] = first_sentence(words)
    links.update({n: n for n in functions})
    own_pages = {}
    for topic in TOPICS:
        own_pages |= pages_of_functions(topic)
    own_pages = {name: file for name, file in own_pages.items() if ".so man3/trisolve" not in file.read_text(encoding="utf-8")}
    for topic in TOPICS:
        manual(BUILD / f"doc/trisolve-{topic}.3", f"trisolve-{topic}", links, "c", own_pages)
    for name, file in own_pages.items():
        if not file.read_text(encoding="utf-8").startswith(".so"):
            names = re.findall(r"^\.Nm (\w+)", file.read_text(encoding="utf-8"), re.M)
            manual(file, f"functions/{name}", links, "c", own_pages, examples(names))
    for program, name in PROGRAMS.items():
        manual(SOURCE / f"doc/trisolve-{program}.1", name, links, "text")
    text = "(functions)=\n# C functions\n\nEvery function and type of the public headers, by name.\n\n"
    text += "```{toctree}\n:hidden:\n:glob:\n\nfunctions/*\n```\n\n"
    for name in sorted(functions, key=lambda n: (n.startswith("mm_"), n)):
        text += f"{{ref}}`{name} <{name}>`\n: {functions[name]}\n\n"
    write("reference/functions.md", text)


# ---- Python -------------------------------------------------------------------------------------

def signature(node):
    if isinstance(node, ast.ClassDef):
        init = next((f for f in node.body if isinstance(f, ast.FunctionDef) and f.name == "__init__"), None)
        arguments = init.args if init else None
    else:
        arguments = node.args
    if not arguments:
        return node.name
    for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs:
        a.annotation = None
    for a in (arguments.vararg, arguments.kwarg):
        if a:
            a.annotation = None
    return f"{node.name}({re.sub('^self(, )?', '', ast.unparse(arguments))})"


def python():
    defined = {}
    for file in sorted((SOURCE / "python/trisolve").glob("_*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                known = defined.get(node.name)  # of an overloaded function, the one with a docstring
                if not known or ast.get_docstring(node):
                    defined[node.name] = node
    init = (SOURCE / "python/trisolve/__init__.py").read_text(encoding="utf-8")
    public = ast.literal_eval(re.search(r"^__all__ = (\[.*?\])", init, re.M | re.S)[1])
    text = "# Python functions\n\nThe docstrings of the package `trisolve`. {doc}`/python/README` compares it with SciPy.\n"
    text += "".join(entry(name, defined[name]) for name in public if name in defined)
    for module, file in FRAMES.items():
        tree = ast.parse((SOURCE / "python/trisolve" / file).read_text(encoding="utf-8"))
        text += f"\n## trisolve.{module}\n\n```text\n{ast.get_docstring(tree)}\n```\n"
        for node in tree.body:
            if getattr(node, "name", "") in ("Solver", "spsolve", "triangular_solve", "SparseLinearOperator", "SparseLU"):
                text += entry(f"{module}.{node.name}", node)
    write("reference/python.md", text)


def entry(name, node):
    """A function, or a class with its methods."""
    text = f"\n## {name}\n\n" + docstring(node)
    for method in node.body if isinstance(node, ast.ClassDef) else []:
        if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
            text += f"\n### {name}.{method.name}\n\n" + docstring(method)
    return text


def docstring(node):
    words = ast.get_docstring(node) or ""
    return f"```python\n{signature(node)}\n```\n" + (f"\n```text\n{words}\n```\n" if words else "")


# ---- JSON and citation --------------------------------------------------------------------------

def kind_of(node):
    if "const" in node:
        return f"`{json.dumps(node['const'])}`"
    if "enum" in node:
        return " | ".join("null" if v is None else str(v) for v in node["enum"])
    kind = node.get("type", "")
    return " or ".join(kind) if isinstance(kind, list) else kind


def members(properties, definitions, prefix=""):
    rows = ""
    for name, node in properties.items():
        shared = definitions.get(node.get("$ref", "").rpartition("/")[2], {})
        node = {**shared, **node}
        about = node.get("description", "")
        if "properties" in shared:
            about += f" See {node['$ref'].rpartition('/')[2]} below."
        kind = kind_of(node)
        rows += f"`{prefix}{name}`" + (f" ({kind})" if kind else "") + f"\n: {about}\n\n"
        inner = node.get("items", node)
        if "properties" in inner and not shared:
            rows += members(inner["properties"], definitions, f"{prefix}{name}" + ("[]." if "items" in node else "."))
    return rows


def schema():
    document = json.loads((SOURCE / "doc/trisolve-1.schema.json").read_text(encoding="utf-8"))
    definitions = document["$defs"]
    text = f"# JSON of the programs\n\n{document['description']}\n\nThe file is installed as `share/trisolve-sparse/trisolve-1.schema.json`.\n"
    for name, node in definitions.items():
        if "properties" not in node or name == "document":
            continue
        text += f"\n## {name}\n\n{node.get('description', '')}\n\n"
        text += members(node["properties"], definitions)
    write("reference/json.md", text)


def citation():
    lines = (SOURCE / "CITATION.cff").read_text(encoding="utf-8")
    field = {key: re.search(rf'^{key}: "?(.*?)"?$', lines, re.M)[1] for key in ("title", "version", "date-released", "message")}
    author = re.search(r"- name: (.*)", lines)[1]
    year, month, _ = field["date-released"].split("-")
    write("version.txt", field["version"])
    write("reference/cite.md", f"""# How to cite

{field["message"]}

```bibtex
@software{{trisolve_sparse,
  title   = {{{field["title"]}}},
  author  = {{{{{author}}}}},
  version = {{{field["version"]}}},
  year    = {{{year}}},
  month   = {{{int(month)}}}
}}
```

`CITATION.cff` has the same for programs that read the Citation File Format.
""")


# ---- pictures -----------------------------------------------------------------------------------

def pictures():
    """Those of doc/levels.md and doc/guide.md, by the programs of this build."""
    folder = OUT / "doc/pictures"
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "TRISOLVE_NO_CALIBRATE": "1"}

    def run(*command, out=None):
        path = BUILD / "bin" / command[0]
        with open(folder / out if out else os.devnull, "w", encoding="utf-8") as stream:
            subprocess.run([path, *command[1:]], check=True, cwd=SOURCE, stdout=stream, env=environment)

    for name in "rdb3200l", "1138_bus":
        run("trisolve-info", f"matrices/{name}.mtx", f"--plot={folder}/{name}-levels.svg", f"--spy={folder}/{name}-spy.svg")
    solves = {"a": ["--factor=ic0"], "b": ["--factor=ic2", "--ilu-ordering=rcm"]}
    for name, options in solves.items():
        run("trisolve-sparse", "--json", "--krylov=cg", *options, "matrices/1138_bus.mtx", out=f"{name}.json")
    ratios(folder)
    report = [sys.executable, str(BUILD / "bin/report/trisolve-report")]
    subprocess.run([*report, *(str(folder / f"{name}.json") for name in solves), f"--plot={folder}"], check=True)


def ratios(folder):
    """The twelve problems of doc/performance.md, from their table in doc/results."""
    spec = importlib.util.spec_from_file_location("report", SOURCE / "bin/report/report.py")
    report = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(report)
    with open(SOURCE / "doc/results/compare/2026-11-22-twelve-problems.csv", encoding="utf-8") as stream:
        rows = list(csv.DictReader(line for line in stream if not line.startswith("#")))
    rows = [(row["problem"], float(row["ratio"])) for row in rows]
    plot = report.Plot("Time of cuSPARSE over ours, NVIDIA H200", [], (1, 2000, True), None, ("times as long", ""),
                       left=130, height=24 * len(rows))
    for k, (name, ratio) in enumerate(sorted(rows, key=lambda row: row[1])):
        y, end = plot.top + 24 * k, report.at(plot.x, ratio)
        plot.body += report.text(122, y + 16, name, 'text-anchor="end"')
        plot.body += f'<rect x="{plot.x.start}" y="{y + 4}" width="{end - plot.x.start:.1f}" height="16" fill="#4e79a7"/>\n'
        plot.body += report.text(end - 4, y + 16, f"{ratio:.3g}" if ratio < 1000 else f"{ratio:.0f}", 'text-anchor="end" font-size="11" fill="#fff"')
    (folder / "twelve-problems.svg").write_text(plot.figure("twelve-problems").svg, encoding="utf-8")


shutil.rmtree(OUT, ignore_errors=True)
OUT.mkdir(parents=True)
citation()
copy_documents()
manuals()
python()
schema()
pictures()
