"""How Sphinx makes the site; ``build.py`` beside it gathers the pages first."""

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

import mixoracle

FUNCTION = re.compile(r"(?<!<msub>)(?<!<msup>)(<mi>(?:log|exp|dim)</mi>)(?=<m(?:i|n|frac|sub|sup))")

project = "mixoracle"
author = "The mixoracle developers"
copyright = "the mixoracle developers, MIT licence"
version = release = mixoracle.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["site"]

myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_use_ivar = False
napoleon_preprocess_types = False

html_theme = "furo"
html_title = "mixoracle"
html_static_path = ["static"]
html_css_files = ["extra.css"]
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#2a5db0",
        "color-brand-content": "#2a5db0",
    },
    "dark_css_variables": {
        "color-brand-primary": "#8ab4f8",
        "color-brand-content": "#8ab4f8",
    },
}
pygments_style = "default"
pygments_dark_style = "github-dark"
highlight_language = "none"
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True


def mathml(formula: str, display: str = "inline") -> str:
    """A formula as MathML, with the thin space after 'log' that the converter leaves out."""
    return FUNCTION.sub(r"\1<mspace width='0.17em'/>", convert(formula, display=display))


def inline_formula(translator: Any, node: nodes.math) -> None:
    """A formula in a line, drawn by the browser itself: nothing has to be loaded."""
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def block_formula(translator: Any, node: nodes.math_block) -> None:
    """A formula on a line of its own."""
    formula = mathml(node.astext(), display="block")
    translator.body.append(f'<div class="formula">{formula}</div>')
    raise nodes.SkipNode


def is_left_out(_app: Sphinx, _what: str, name: str, *rest: Any) -> bool | None:
    """Leave out the methods that scikit-learn adds to pass metadata on."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def setup(app: Sphinx) -> None:
    """Make formulas MathML, and leave out methods that are not ours."""
    app.connect("autodoc-skip-member", is_left_out)
    app.add_html_math_renderer("mathml", (inline_formula, None), (block_formula, None))
