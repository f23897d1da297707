"""conf.py: how Sphinx makes the site.  pages.py has collected the pages; it defines the version in version.txt."""
import importlib.util

project = "trisolve-sparse"
author = "The trisolve-sparse developers"
release = version = open("version.txt", encoding="utf-8").read().strip()
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
nitpicky = True
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]
smartquotes = False
# furo has light and dark colours and suits phones; alabaster comes with Sphinx
html_theme = "furo" if importlib.util.find_spec("furo") else "alabaster"
html_title = f"trisolve-sparse {version}"
html_show_copyright = False
html_copy_source = False
pygments_style = "default"
highlight_language = "none"
# examples in documents are shortened with ..., which is no Python or C
suppress_warnings = ["misc.highlighting_failure"]
