"""The pictures of the pages, drawn anew by the scripts in examples/ when the site is built.

docs/images holds copies for readers of the plain files. The site shows what the scripts draw now.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.display import status_iterator

DOCS = Path(__file__).parents[1]
EXAMPLES = DOCS.parent / "examples"
NOT_HERE = ("plot_usps.py",)
"""Scripts that need data which does not ship: the site shows the copies."""

_log = logging.getLogger(__name__)


def _folder(app) -> Path:
    return Path(app.outdir).parent / "pictures"


def _newest_source() -> float:
    """When the package, or what the scripts share, last changed."""
    sources = [*(DOCS.parent / "src").rglob("*.py"), *EXAMPLES.glob("_*.py")]
    return max(path.stat().st_mtime for path in sources)


def draw(app):
    """Run the scripts whose pictures are older than the package or than the script itself."""
    if app.builder.format != "html":
        return
    changed = _newest_source()
    scripts = [script for script in sorted(EXAMPLES.glob("plot_*.py")) if script.name not in NOT_HERE]
    for script in status_iterator(scripts, "drawing pictures... ", "darkgreen", len(scripts), stringify_func=_name):
        folder = _folder(app) / script.stem
        done = [picture.stat().st_mtime for picture in folder.glob("*.png")]
        if done and min(done) > max(changed, script.stat().st_mtime):
            continue
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, str(script), str(folder)]
        run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MPLBACKEND": "Agg"})
        if run.returncode:
            raise ExtensionError(f"examples/{script.name} failed:\n{run.stderr}")


def _name(script) -> str:
    return script.name


def replace(app, exception):
    """Put what was drawn in the place of the copies."""
    if exception is not None or app.builder.format != "html":
        return
    known = {Path(source).name: names for source, (_, names) in app.env.images.items()}
    for picture in sorted(_folder(app).glob("*/*.png")):
        if picture.name in known:
            shutil.copyfile(picture, Path(app.outdir) / "_images" / known[picture.name])
        else:
            _log.warning("no page shows %s", picture.name)


def setup(app):
    """Called by Sphinx."""
    app.connect("builder-inited", draw)
    app.connect("build-finished", replace)
    return {"parallel_read_safe": True}
