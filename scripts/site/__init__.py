"""The pages of docs/ as a site: what mkdocs.yml cannot say, what is made from the code, and what is drawn."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
