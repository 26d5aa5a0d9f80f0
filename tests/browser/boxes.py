"""Words by the browser's own boxes: what overlaps, what leaves its cell or the window."""

from __future__ import annotations

from playwright.sync_api import Page

_SCRIPT = """
(root) => {
  const slack = 1, boxes = [], found = [];
  const walker = document.createTreeWalker(document.querySelector(root), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const words = node.textContent.trim(), own = node.parentElement;
    if (!words || !own.checkVisibility() || own.closest(".unseen, script, style, title, desc")) continue;
    const cell = own.closest("td, th, .c1, .c2, .c3, .c4, .c5, dt, dd, svg, .scroll"), range = document.createRange();
    range.selectNodeContents(node);
    for (const {left, right, top, bottom} of range.getClientRects()) {
      if (right - left < 1) continue;
      const whole = {words: words.slice(0, 40), left, right, top, bottom, own, cell};
      boxes.push(whole);
      const room = cell ? cell.getBoundingClientRect() : {left: 0, right: innerWidth};
      const over = Math.max(room.left - left, right - room.right);
      if (over > slack) found.push(`'${whole.words}' leaves its cell by ${over.toFixed(1)} px`);
    }
  }
  boxes.sort((a, b) => a.top - b.top);
  boxes.forEach((a, i) => {
    for (let j = i + 1; j < boxes.length && boxes[j].top < a.bottom - slack; j++) {
      const b = boxes[j], across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const along = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > slack && along > slack + (a.own === b.own ? 3 : 0))
        found.push(`'${a.words}' and '${b.words}' overlap, ${across.toFixed(1)} by ${along.toFixed(1)} px`);
    }
  });
  return boxes.length ? found : ["nothing is written"];
}
"""


def collisions(page: Page, inside: str = "body") -> list[str]:
    """Return what is wrong with the words inside an element."""
    messages: list[str] = page.evaluate(_SCRIPT, inside)
    return messages
