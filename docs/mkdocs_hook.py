"""Lets the site show pages that link to files outside docs/, as they do on a forge.

Pictures of evidence join the site. Other links to source files become plain text, or links to the repository where
mkdocs.yml names one as repo_url.
"""
import pathlib
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURES = "evidence/"


def on_files(files, config):
    for picture in sorted((ROOT / PICTURES).glob("*.svg")):
        files.append(File(PICTURES + picture.name, str(ROOT), config["site_dir"], config["use_directory_urls"]))
    return files


def on_page_markdown(markdown, page, config, files):
    def link(found):
        words, target = found["words"], found["target"]
        if target.startswith(PICTURES) and target.endswith(".svg"):
            return f"{found['picture']}[{words}]({target})"
        return f"[{words}]({config['repo_url']}/blob/main/{target})" if config["repo_url"] else words
    return re.sub(r"(?P<picture>!?)\[(?P<words>[^\]]*)\]\(\.\./(?P<target>[^)\s]+)\)", link, markdown)
