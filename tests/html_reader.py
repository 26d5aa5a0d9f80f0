"""What a page of HTML is made of, as a browser takes it apart."""

from collections import Counter
from html.parser import HTMLParser

LINKS = {"href", "src", "action", "xlink:href", "srcset", "data", "formaction"}


class Reader(HTMLParser):
    """Counts tags and (tag, attribute), and collects links, labels, text, comments, and tags that were not closed."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags = Counter()
        self.attributes = Counter()
        self.links = []
        self.labels = []
        self.open = []
        self.comments = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes.update((tag, name) for name, _ in attrs)
        self.links += [value or "" for name, value in attrs if name in LINKS]
        self.labels += [value or "" for name, value in attrs if name == "aria-label"]
        if tag not in ("br", "col", "hr", "link", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def handle_comment(self, data):
        self.comments.append(data)

    handle_pi = handle_comment
